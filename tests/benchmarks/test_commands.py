"""What stands on the pages of the benchmarks can be run, and what a page includes is there."""

import shlex
from pathlib import Path

import pytest
from benchmarks.harness import pages

from benchmarks import commands

ROOT = Path(__file__).parents[2]
ON_PAGES = [words for page in pages.pages(ROOT / pages.DOCS) for words in pages.commands(page)]


@pytest.mark.parametrize("words", ON_PAGES, ids=lambda words: shlex.join(words)[:60])
def test_command_on_a_page_parses(words):
    module, options = commands.parse(words)
    assert callable(module.run)
    assert options is not None


def test_every_table_is_written_by_a_command_of_a_page():
    written = {f"claims-{paper}" for paper in ("hughes", "burkhardt", "downey", "wang")}
    for words in ON_PAGES:
        if "--write" in words:
            written.add((words[words.index("--write") + 1 :] or words[:1])[0])
    assert {path.stem for path in (ROOT / pages.TABLES).iterdir()} <= written | {"claims"}


def test_a_failed_run_writes_nothing(tmp_path, monkeypatch, capsys):
    module = commands.parse(["bars"])[0]

    def run(options):
        raise pages.Incomplete("| half |")

    monkeypatch.setattr(module, "run", run)
    assert commands.main(["bars", "--tables", str(tmp_path), "--write"]) == 1
    assert capsys.readouterr().out == "| half |\n"
    assert list(tmp_path.iterdir()) == []
