"""Blocks of code of the documentation: which pages have them, and how they are run."""

import re
import shlex
import textwrap
from pathlib import Path

from typer.testing import CliRunner

from stickbreak.cli.app import app

DOCS = Path(__file__).parents[2] / "docs"
_BLOCK = re.compile(r"^( *)```(python|sh)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
# tests/test_contributing.py runs the first, and the commands of the second take hours
_ELSEWHERE = ("contributing/", "benchmarks")
_FIRST = ("../README.md", "start/first-fit.md")


def blocks_of(name: str) -> list[tuple[str, str]]:
    """Return the language and the code of each block of a page, in order."""
    text = (DOCS / name).read_text(encoding="utf-8")
    return [
        (language, textwrap.dedent(indent + block.removeprefix(indent)))
        for indent, language, block in _BLOCK.findall(text)
    ]


def pages_with_blocks(share: str) -> list[str]:
    """Return the pages of a share with code that is not run elsewhere.

    Workers of the tests take whole files, so each share has a file of its own.

    Parameters
    ----------
    share : str
        "howto" (pages on how to do something) or "rest" (and the README).
    """
    pages = ["../README.md", *(file.relative_to(DOCS).as_posix() for file in sorted(DOCS.rglob("*.md")))]
    return [name for name in pages if not name.startswith(_ELSEWHERE) and blocks_of(name) and _share(name) == share]


def _share(name: str) -> str:
    return "howto" if name.startswith("howto/") else "rest"


def has_all_passes(name: str) -> bool:
    """Whether fits of a page have all their passes: a page that a reader runs first, or one that asserts something."""
    return name in _FIRST or any("assert " in block for _, block in blocks_of(name))


def run(language: str, block: str, names: dict[str, object]) -> str:
    """Run a block of Python in `names`, or commands of ours in this process; return what the commands print."""
    if language == "python":
        exec(compile(block, "a page", "exec"), names)
        return ""
    printed = ""
    for line in block.splitlines():
        program, *arguments = shlex.split(line, comments=True) or ["stickbreak", "--version"]
        assert program == "stickbreak", f"the tests cannot run {line!r}"
        result = CliRunner().invoke(app, arguments, prog_name="stickbreak")
        assert result.exit_code == 0, f"{line}\n{result.output}"
        printed += result.stdout
    return printed


def run_page(name: str) -> None:
    """Run all blocks of a page, in order."""
    names: dict[str, object] = {}
    for language, block in blocks_of(name):
        run(language, block, names)
