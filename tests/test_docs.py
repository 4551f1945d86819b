"""The documentation says what the code does: labels, parameters, help texts, links, and every block of code."""

import importlib.util
import inspect
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from stickbreak import ESTIMATORS, VECTOR_ESTIMATORS
from stickbreak.cli.app import app
from stickbreak.corpus import FORMATS, VECTOR_FORMATS, TextOptions

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
_LABEL = r"\(([A-Z]\d+)\)"
_BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_LOADED = re.compile(r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["']?(?:https?:)?//[^>]*>"""
                     r"""|<link\b[^>]*\bhref=["']?(?:https?:)?//[^>]*>""")  # fmt: skip


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def defined_labels(math: str) -> Counter[str]:
    """Labels that a heading of the page defines, with how often."""
    return Counter(re.findall(rf"^#+ {_LABEL}", math, re.MULTILINE))


def cited_labels() -> dict[str, list[str]]:
    """Labels that the code cites, with the files that do."""
    cited: dict[str, list[str]] = {}
    for file in sorted((ROOT / "src").rglob("*.py")):
        for line in file.read_text(encoding="utf-8").splitlines():
            if "math.md" in line:
                for label in re.findall(_LABEL, line.split("math.md", 1)[1]):
                    cited.setdefault(label, []).append(str(file.relative_to(ROOT)))
    return cited


def generate_cli() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_cli", DOCS / "generate_cli.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_math_defines_every_label_once():
    labels = defined_labels(page("math.md"))
    assert labels
    assert [label for label, times in labels.items() if times > 1] == []


def test_math_and_code_have_the_same_labels():
    defined, cited = set(defined_labels(page("math.md"))), cited_labels()
    assert {label: cited[label] for label in set(cited) - defined} == {}, "cited in src, not defined in docs/math.md"
    assert defined - set(cited) == set(), "defined in docs/math.md, cited nowhere in src"


def test_math_shows_the_label_beside_its_equation():
    math = page("math.md")
    for label in defined_labels(math):
        after = re.split(rf"^#+ \({label}\)", math, maxsplit=1, flags=re.MULTILINE)[1]
        section = re.split(r"^#+ ", after, maxsplit=1, flags=re.MULTILINE)[0]
        assert re.search(rf"^    .*\({label}\)$", section, re.MULTILINE), label


def test_notation_has_every_parameter_of_every_estimator():
    notation = page("notation.md")
    for name, module in {**ESTIMATORS, **VECTOR_ESTIMATORS}.items():
        estimator = getattr(import_module(module), name)
        rows = set(re.findall(r"^\| `(\w+)` ", notation, re.MULTILINE))
        assert set(estimator().get_params()) <= rows


def test_notation_has_no_parameter_that_does_not_exist():
    parameters: set[str] = set()
    for name, module in {**ESTIMATORS, **VECTOR_ESTIMATORS}.items():
        parameters |= set(getattr(import_module(module), name)().get_params())
    tables = page("notation.md").split("## Sizes")[0]
    assert set(re.findall(r"^\| `(\w+)` ", tables, re.MULTILINE)) <= parameters


def test_cli_help_texts_are_those_of_the_program():
    text = page("cli.md")
    assert generate_cli().renewed(text) == text, "run make cli-docs"


def test_cli_page_has_every_command():
    commands = {f"stickbreak {name}" for name in get_command(app).commands}
    assert generate_cli().documented(page("cli.md")) == {"stickbreak", *commands}


def test_cli_page_shows_a_file_of_options_that_fit_takes(tmp_path):
    (example,) = re.findall(r"^```toml\n(.*?)^```$", page("cli.md"), re.DOTALL | re.MULTILINE)
    (tmp_path / "fit.toml").write_text(example.replace("reviews.jsonl", "nowhere.jsonl"), encoding="utf-8")
    result = CliRunner().invoke(app, ["fit", "--config", str(tmp_path / "fit.toml")], prog_name="stickbreak")
    assert "nowhere.jsonl, the input that" in result.stderr  # all of it was taken, up to the input


def test_formats_page_has_every_format_and_text_option():
    text = page("formats.md")
    named = set(re.findall(r"`(\w+)`", text))
    assert {*FORMATS, *VECTOR_FORMATS} <= named
    assert {field.name for field in fields(TextOptions)} <= named


def test_readme_links_lead_somewhere():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
    assert targets
    missing = [target for target in targets if not target.startswith("http") and not (ROOT / target).exists()]
    assert missing == []


def test_tutorial_blocks_run_in_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    outputs = [_run(language, block, names) for language, block in _BLOCK.findall(page("tutorial.md"))]
    fit = next(output for output in outputs if output.startswith("topic "))
    assert "5 (started with 20)" in fit
    assert (tmp_path / "reviews-topics" / "report.html").is_file()
    for other in (ROOT / "README.md", DOCS / "index.md", DOCS / "formats.md"):  # with the reviews of the tutorial
        for language, block in _BLOCK.findall(other.read_text(encoding="utf-8")):
            _run(language, block, {})


def _run(language: str, block: str, names: dict[str, object]) -> str:
    """Run a block of Python in `names`, or commands of ours in this process; return what the commands print."""
    if language == "python":
        exec(compile(block, "tutorial", "exec"), names)
        return ""
    printed = ""
    for line in block.splitlines():
        program, *arguments = shlex.split(line, comments=True) or ["stickbreak", "--version"]
        assert program == "stickbreak", f"the tests cannot run {line!r}"
        result = CliRunner().invoke(app, arguments, prog_name="stickbreak")
        assert result.exit_code == 0, f"{line}\n{result.output}"
        printed += result.stdout
    return printed


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The built documentation; the build fails for a link or an anchor that leads nowhere."""
    if importlib.util.find_spec("mkdocs") is None or importlib.util.find_spec("mkdocstrings") is None:
        pytest.skip("mkdocs is not installed (it is one of the development requirements)")
    target = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(target)]  # --quiet hides warnings
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return target


def test_site_has_every_page(site):
    files = (file.relative_to(DOCS) for file in DOCS.rglob("*.md"))
    pages = {file.with_suffix(".html") for file in files if "generated" not in file.parts}
    assert pages <= {file.relative_to(site) for file in site.rglob("*.html")}


def test_site_loads_nothing_from_another_host(site):
    for file in site.rglob("*.html"):
        assert _LOADED.findall(file.read_text(encoding="utf-8")) == [], file.name
    imported = re.compile(r"(?:@import|url\()\s*[\"']?(?:https?:)?//")
    for file in site.rglob("*.css"):
        assert imported.findall(file.read_text(encoding="utf-8")) == [], file.name


def test_the_check_for_other_hosts_can_fail():
    assert _LOADED.findall('<script src="https://example.org/x.js"></script>')
    assert _LOADED.findall('<link rel="stylesheet" href="//example.org/x.css">')
    assert not _LOADED.findall('<script src="assets/x.js"></script><a href="https://example.org">x</a>')


@pytest.mark.parametrize("name", sorted([*ESTIMATORS, *VECTOR_ESTIMATORS]))
def test_docstrings_name_the_defaults_of_the_signature(name):
    kind = getattr(import_module("stickbreak"), name)
    defaults = {key: one.default for key, one in inspect.signature(kind).parameters.items()}
    stated = {}
    for names, text in re.findall(r"^    (\w[\w, ]*) : .*default=(.+)$", kind.__doc__, re.MULTILINE):
        keys, value = names.split(", "), eval(text.replace(" and ", ", "))
        one_for_all = len(keys) == 1 or not isinstance(value, tuple) or text.startswith("(")
        stated |= dict.fromkeys(keys, value) if one_for_all else dict(zip(keys, value, strict=True))
    assert len(stated) > 0.8 * len(defaults)
    assert stated == {key: defaults[key] for key in stated}
