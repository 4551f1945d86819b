"""The commands of the benchmarks, and the pages of the documentation that hold them."""

import shlex
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from benchmarks.harness import pages

from benchmarks import commands
from benchmarks import pages as command_of_pages

ROOT = Path(__file__).parents[2]
DOCS = ROOT / pages.DOCS
# These have nothing to measure.
WITHOUT_PAGE = {"report", "pages"}
ON_PAGES = [(page.stem, words) for page in pages.pages(DOCS) for words in pages.commands(page)]


def written(page):
    """Return the parts that the commands of a page write."""
    return [part for words in pages.commands(page) for part in commands.parts(*commands.parse(words))]


@pytest.mark.parametrize("name", commands.COMMANDS)
def test_every_command_has_its_options(name, capsys):
    with pytest.raises(SystemExit) as ended:
        commands.main([name, "--help"])
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"usage: python -m benchmarks {name} ")
    assert ("--write" in printed) == commands.COMMANDS[name].writes


def test_help_has_one_line_for_each_command(capsys):
    assert commands.main(["--help"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    assert [line.split()[0] for line in lines] == list(commands.COMMANDS)
    assert all(len(line) <= 120 for line in lines)


def test_unknown_command_ends_with_one_sentence():
    with pytest.raises(SystemExit, match=r"^There is no benchmark 'speeed'; python -m benchmarks --help lists them\.$"):
        commands.main(["speeed"])


@pytest.mark.parametrize("words", [words for _, words in ON_PAGES], ids=lambda words: shlex.join(words)[:60])
def test_command_on_a_page_parses(words):
    module, options = commands.parse(words)
    assert callable(module.run)
    assert options is not None


def test_every_command_stands_on_a_page():
    assert {words[0] for _, words in ON_PAGES} == set(commands.COMMANDS) - WITHOUT_PAGE


def test_what_a_page_includes_is_what_its_commands_write():
    for page in pages.pages(DOCS):
        assert set(pages.included(page)) <= set(written(page)), page.name


def test_every_generated_part_is_included_once_and_written_by_some_command():
    there = sorted(path.stem for path in (DOCS / pages.GENERATED).iterdir())
    assert sorted(name for page in pages.pages(DOCS) for name in pages.included(page)) == there
    assert sorted({part for page in pages.pages(DOCS) for part in written(page)}) == there


def test_index_names_a_command_for_each_of_thirteen_answers():
    lines = (DOCS / "index.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")][1:]
    assert len(rows) == 13
    for row in rows:
        names, _, link = row[3].partition(": ")
        named = [name.strip("`") for name in names.split(", ")]
        assert set(named) <= set(commands.COMMANDS), row[0]
        page = link.split("](")[1].rstrip(")").partition("#")[0]
        assert set(named) <= {words[0] for words in pages.commands(DOCS / page)}, row[0]


@pytest.mark.parametrize(("target", "name"), [("bench", "pages"), ("bench-quick", "quick")])
def test_make_target_is_one_command(target, name):
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition(f"\n{target}:")[2].split("\n\n")[0]
    assert [line.strip() for line in recipe.splitlines()[1:]] == [f"$(BIN)/python -m benchmarks {name}"]


def test_pages_runs_what_stands_on_them(monkeypatch, capsys):
    ran = []
    monkeypatch.setattr(
        command_of_pages.subprocess,
        "run",
        lambda command, check: ran.append(command) or SimpleNamespace(returncode=0),
    )
    monkeypatch.chdir(ROOT)
    assert commands.main(["pages"]) == 0
    assert ran == [[sys.executable, "-m", "benchmarks", *words] for _, words in ON_PAGES]
    assert "failed" not in capsys.readouterr().out


def test_command_that_fails_is_named_and_the_rest_runs(monkeypatch, tmp_path, capsys):
    (tmp_path / "index.md").write_text("```sh\npython -m benchmarks one\npython -m benchmarks two \\\n  --more\n```\n")
    monkeypatch.setattr(
        command_of_pages.subprocess,
        "run",
        lambda command, check: SimpleNamespace(returncode=int("one" in command)),
    )
    assert commands.main(["pages", "--docs", str(tmp_path)]) == 1
    printed = capsys.readouterr().out
    assert printed == "failed: python -m benchmarks one\ndone: python -m benchmarks two --more\n"


def test_commands_outside_of_blocks_are_not_run(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("`python -m benchmarks run`\n\n```\npython -m benchmarks run\n```\n\n```sh\nls\n```\n")
    assert pages.commands(page) == []


def test_write_puts_the_table_into_a_part_with_where_it_ran(tmp_path, capsys):
    words = ["tree-large", "--tokens", "20000", "--words", "500", "--leaves", "108", "--part", "2000"]
    assert commands.main([*words, "--docs", str(tmp_path), "--write", "tiny"]) == 0
    text = (tmp_path / "generated" / "tiny.md").read_text(encoding="utf-8")
    assert text.startswith("- machine: ")
    assert text.split("\n\n", 1)[1] == capsys.readouterr().out
    assert "| random leaves | 20,000 | 108 |" in text


def test_nothing_is_written_where_a_run_failed(tmp_path, monkeypatch, capsys):
    module = commands.parse(["starts"])[0]

    def run(options):
        raise pages.Incomplete("| half |")

    monkeypatch.setattr(module, "run", run)
    assert commands.main(["starts", "--docs", str(tmp_path), "--write"]) == 1
    assert capsys.readouterr().out == "| half |\n"
    assert list(tmp_path.iterdir()) == []
