"""The contributor's guide names files, classes and functions that are there, each where the guide says it is."""

import ast
import builtins
import re
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from tests.test_contributing import BLOCK, GUIDE, ROOT
from tests.test_imports import ROOMS

PACKAGE = ROOT / "src" / "stickbreak"
PAGES = ("design", "laps", "add-a-likelihood", "add-a-move", "add-a-family")
FAMILIES = ("topics", "variational", "variational", "hybrid", "sampling", "backoff_tree", "baselines/lda")
"""The folders of the columns of the table in laps.md."""

FORBIDDEN = {"utils.py"}
"""What the guide names to forbid it."""

_TOKEN = re.compile(r"`([^`]+)`([^`]*)")
_PATH = re.compile(r"[\w.-]+(/[\w.-]+)*(\.py|\.md|\.yml|/)|\w+/[\w/]+")
_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


@dataclass(frozen=True)
class Mention:
    """A file or a name that a text mentions, and for a name the file that it is said to be in."""

    what: str
    file: str | None = None


def mentions(text: str) -> Iterator[Mention]:
    """Yield files and names; `a.py`: `f`, `f` (`a.py`) and `f` in `a.py` say which file the name is in."""
    tokens = [(re.sub(r"\s+", " ", token), after) for token, after in _TOKEN.findall(text)]
    file = None
    for i, (token, after) in enumerate(tokens):
        if _PATH.fullmatch(token):
            yield Mention(token)
            file = token if token.endswith(".py") and after.startswith(":") else None
        elif found := _NAME.match(token.removesuffix("()")):
            name, rest = found.group(), token[found.end() :]
            if not rest or rest.startswith("("):
                follows = tokens[i + 1][0] if re.fullmatch(r"\s(\(|in\s)", after) and i + 1 < len(tokens) else ""
                yield Mention(name, follows if follows.endswith(".py") else file)
        if ";" in after:
            file = None


@cache
def names_in(file: Path) -> frozenset[str]:
    """Return what a file defines: functions, classes, constants; members of classes as `Class.member`."""
    return frozenset(_defined(ast.parse(file.read_text(encoding="utf-8")), ""))


def _defined(node: ast.AST, prefix: str) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            yield prefix + child.name
        if isinstance(child, ast.ClassDef):
            yield from _defined(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.Assign | ast.AnnAssign):
            targets = child.targets if isinstance(child, ast.Assign) else [child.target]
            yield from (prefix + x.id for target in targets for x in ast.walk(target) if isinstance(x, ast.Name))
        elif isinstance(child, ast.FunctionDef | ast.If | ast.With):
            inner = _defined(child, prefix) if not isinstance(child, ast.FunctionDef) else _attributes(child, prefix)
            yield from inner


def _attributes(function: ast.FunctionDef, prefix: str) -> Iterator[str]:
    """Yield what a method sets on its object."""
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield prefix + node.attr


def is_defined(name: str, files: list[Path], more: frozenset[str] = frozenset()) -> bool:
    """Whether a name is defined in one of the files: `Class.member` as such, any other part by part."""
    known = more.union(*map(names_in, files)) if files else more
    if name in known or (name[0].isupper() and "." in name):
        return name in known
    parts = {part for each in known for part in each.split(".")}
    return all(part in parts for part in name.split("."))


def sources(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def found(path: str, folders: list[Path]) -> Path | None:
    """Return where a path leads from one of the folders."""
    return next((folder / path for folder in folders if (folder / path).exists()), None)


def missing_in_text(text: str, more: frozenset[str] = frozenset()) -> list[Mention]:
    """Return what is not there of what a text mentions; a bare file, or one in a folder, may be in any room."""
    files, wrong = sources(PACKAGE), []
    everywhere = [ROOT, ROOT / "src", *sorted({file.parent for file in files})]
    rooms = frozenset(path.name for path in everywhere) | more | set(dir(builtins)) | set(typing.__all__)
    for mention in mentions(text):
        if _PATH.fullmatch(mention.what):
            there = mention.what in FORBIDDEN or found(mention.what, everywhere)
        elif mention.file:
            file = found(mention.file, everywhere)
            there = file is not None and is_defined(mention.what, [file])
        else:
            there = is_defined(mention.what, files, rooms)
        if not there:
            wrong.append(mention)
    return wrong


def missing_in_cell(text: str, family: str) -> list[Mention]:
    """Return what is not there of what a cell of the table mentions, of a family or of the floors below it."""
    folder, wrong = PACKAGE / family, []
    for mention in mentions(text):
        if _PATH.fullmatch(mention.what):
            there = found(mention.what, [folder, PACKAGE])
        else:
            file = found(mention.file, [folder, PACKAGE]) if mention.file else None
            there = is_defined(mention.what, sources(folder) if mention.file is None else [file] if file else [])
        if not there:
            wrong.append(mention)
    return wrong


def page(name: str) -> tuple[str, str]:
    """Return the prose of a page and its blocks of code."""
    text = (GUIDE / f"{name}.md").read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return prose, "\n".join(block for _, block in BLOCK.findall(text))


def table_of(text: str) -> list[list[str]]:
    """Return the cells of the first table of a page, without its head."""
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line] for line in lines[2:]]


@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_names_is_there(name):
    prose, blocks = page(name)
    if name == "laps":
        prose = "\n".join(line for line in prose.splitlines() if not line.startswith("|"))
    in_blocks = frozenset(re.findall(r"\w+", blocks))
    assert len(list(mentions(prose))) > 20
    assert missing_in_text(prose, in_blocks) == []


def test_what_the_table_of_laps_names_is_there_in_the_family_of_its_column():
    rows = table_of(page("laps")[0])
    assert {len(row) for row in rows} == {len(FAMILIES) + 1}
    wrong = [
        (row[0], family, mention)
        for row in rows
        for family, cell in zip(FAMILIES, row[1:], strict=True)
        for mention in missing_in_cell(cell, family)
    ]
    assert wrong == []
    assert sum(len(list(mentions(cell))) for row in rows for cell in row[1:]) > 80


def test_table_of_the_house_has_every_room_and_no_other():
    rooms = {file.parent.name for file in PACKAGE.glob("*/__init__.py")}
    assert {row[0].strip("`/") for row in table_of(page("design")[0])} == rooms


def test_order_of_imports_is_that_of_the_rooms():
    sentence = page("design")[0].split("Imports point one way: ")[1].split(". ")[0]
    floors = [set(re.findall(r"`(\w+)`", floor)) for floor in sentence.split("→")]
    assert floors == [rooms for rooms in reversed(ROOMS) if not rooms & {"__main__", "exceptions"}]


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("`laps.py`: `TopicLaps`", []),
        ("`laps.py`: `TopicLap`", ["TopicLap"]),
        ("`start.py`: `TopicLaps`", ["TopicLaps"]),
        ("`merging.py`; `TopicLaps`", []),
        ("`merged.py`, after pass 40", ["merged.py"]),
        ("`kernels/merging.py`, `initialization/`", []),
        ("`moves.py`", ["moves.py"]),
        ("`TopicLaps.restore`", []),
        ("`TopicLaps.restored`", ["TopicLaps.restored"]),
        ("`HybridLaps`", ["HybridLaps"]),
    ],
)
def test_check_of_a_cell_finds_what_is_not_there(text, gone):
    assert [mention.what for mention in missing_in_cell(text, "topics")] == gone


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("`Estimator.fit` (`model/estimator.py`)", []),
        ("`Estimator.fits` (`model/estimator.py`)", ["Estimator.fits"]),
        ("`run_fit` (`fitting/loop.py`)", ["run_fit"]),
        ("`Laps` in `fitting/laps.py`", []),
        ("`Laps` in `fitting/lap.py`", ["Laps", "fitting/lap.py"]),
        ("`expanded()` gives, `put_back()` takes", ["put_back"]),
        ("`fitting/nothing/`", ["fitting/nothing/"]),
        ("`make test`, `# math.md (V7)`, `WORKERS=0`", []),
    ],
)
def test_check_of_a_text_finds_what_is_not_there(text, gone):
    assert [mention.what for mention in missing_in_text(text)] == gone
