"""The pages of the benchmarks: the commands that stand on them, and the parts that commands write.

A page is prose; its tables are files of `generated/`, which it includes. What a page says it runs is what stands on it
in blocks of shell: `python -m benchmarks pages` runs just that.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

DOCS = Path("docs/benchmarks")
GENERATED, PICTURES = "generated", "pictures"
PROGRAM = ["python", "-m", "benchmarks"]
_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_INCLUDED = re.compile(rf'^--8<-- "benchmarks/{GENERATED}/(.+)\.md"$', re.MULTILINE)


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


def included(page: Path) -> list[str]:
    """Return the names of the generated parts that a page includes."""
    return _INCLUDED.findall(page.read_text(encoding="utf-8"))


def write(name: str, text: str, docs: Path) -> Path:
    """Write a generated part; return its file."""
    path = docs / GENERATED / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.rstrip() + "\n", encoding="utf-8")
    return path
