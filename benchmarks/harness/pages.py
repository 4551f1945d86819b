"""The pages of the benchmarks: the commands that stand on them, and the tables that commands write.

A table that a page includes, or that a claim of a paper is judged from, is a file of `benchmarks/tables/`. What a page
says it runs stands on it in blocks of shell: `python -m benchmarks pages` runs just that.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

DOCS = Path("docs/benchmarks")
TABLES = Path("benchmarks/tables")
PROGRAM = ["python", "-m", "benchmarks"]
_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)


class Incomplete(Exception):
    """Some runs of a benchmark failed; the message is the Markdown of the others."""


def pages(docs: Path) -> list[Path]:
    """Return the pages, the index first."""
    return sorted(docs.glob("*.md"), key=lambda page: (page.stem != "index", page.stem))


def commands(page: Path) -> list[list[str]]:
    """Return the arguments of each `python -m benchmarks` in the blocks of shell of a page."""
    lines = [
        line
        for block in _BLOCK.findall(page.read_text(encoding="utf-8"))
        for line in block.replace("\\\n", " ").splitlines()
    ]
    words = [shlex.split(line, comments=True) for line in lines]
    return [line[len(PROGRAM) :] for line in words if line[: len(PROGRAM)] == PROGRAM]


def write(name: str, text: str, tables: Path) -> Path:
    """Write a table; return its file."""
    path = tables / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.rstrip() + "\n", encoding="utf-8")
    return path
