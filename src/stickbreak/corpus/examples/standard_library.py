"""Real text that every machine has: the documentation strings of Python's standard library."""

from __future__ import annotations

import ast
import csv
import inspect
import os
import sysconfig
import tokenize
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from stickbreak.corpus.stop_word_lists import stop_words_of
from stickbreak.exceptions import ReadError
from stickbreak.storage.atomic import replace_file

_SKIPPED_FOLDERS = frozenset(
    "__pycache__ __phello__ _bundled dist-packages idle_test idlelib lib-dynload lib2to3 pydoc_data "
    "site-packages test tests turtledemo".split()
)
DOCSTRING_STOP_WORDS = tuple(
    """
    allow allows arg args argument arguments associated attribute attributeerror attributes available bar
    bool boolean call called calling calls class classes cls contain containing contains corresponding
    create created creates current currently def default defaults define defined defines dict different
    does example false following foo func function functions given gives implement implementation
    implemented implements instance instances instead int just keyerror keyword keywords kwargs like list
    lists make makes means method methods needed new non none note number numbers obj object objects
    optional optionally override param parameter parameters pass passed possible provide provided
    provides python raise raised raises result results return returned returning returns self set sets
    simple specific specified specify standard str subclass subclasses support supported supports true
    tuple tuples typ type typeerror types use used useful user uses using usually value valueerror values
    want way work works
    """.split()
)
"""Words of nearly every documentation string of Python code, whatever it is about."""
_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def english_and(words: Iterable[str]) -> tuple[str, ...]:
    """Join words to the English stop words."""
    return tuple(sorted(stop_words_of("english") | set(words)))


def standard_library_docstrings(folder: Path | None = None, *, min_words: int = 20) -> tuple[list[str], list[str]]:
    """Collect the docstrings of the installed standard library. Its source is parsed, never run.

    A document is the docstring of a module, class or function. A docstring that is too short for a document joins
    that of the class or module around it, so only the text of very short modules is lost. Tests, bundled packages and
    copies of a text are left out.

    Examples
    --------
    >>> names, texts = standard_library_docstrings()
    >>> "textwrap.TextWrapper" in names
    True
    """
    root = Path(sysconfig.get_path("stdlib")) if folder is None else folder
    found: dict[str, str] = {}  # text to name: copies of a text appear once
    for module, file in sorted(_modules(root)):
        tree = _parsed(file)
        if tree is not None:
            for name, text in _collect(tree, module).documents(min_words):
                if _n_words(text) >= min_words:
                    found.setdefault(text, name)
    if not found:
        raise ReadError(
            f"{root} holds no documented Python source: this Python is installed without the source of its "
            "standard library; use another Python or a collection of your own"
        )
    return list(found.values()), list(found)


@dataclass(slots=True)
class _Entry:
    """A module, class or function: its name, what it says of itself, and what is defined in it."""

    name: str
    text: str
    members: list[_Entry] = field(default_factory=list)

    def documents(self, min_words: int) -> list[tuple[str, str]]:
        """Return the documents in here; only the first, this one's own, may have fewer words."""
        inside: list[tuple[str, str]] = []
        parts = [self.text] if self.text else []
        for member in self.members:
            for name, text in member.documents(min_words):
                if _n_words(text) < min_words:
                    parts.append(text)
                else:
                    inside.append((name, text))
        own = "\n\n".join(parts)
        return [(self.name, own), *inside] if own else inside


def _n_words(text: str) -> int:
    return len(text.split())


def _collect(node: _Documented, name: str) -> _Entry:
    """Gather the documentation strings of a parsed module, class or function and of all that is in it."""
    entry = _Entry(name, inspect.cleandoc(ast.get_docstring(node, clean=False) or ""))
    for child in _definitions(node):
        entry.members.append(_collect(child, f"{name}.{child.name}"))
    return entry


def _definitions(node: ast.AST) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the classes and functions defined directly in a node, also under `if` and `try`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield child
        elif isinstance(child, ast.stmt | ast.ExceptHandler):
            yield from _definitions(child)


def _modules(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield the name and the file of every module that is not a test."""
    for file in root.rglob("*.py"):
        parts = file.relative_to(root).with_suffix("").parts
        if _SKIPPED_FOLDERS.isdisjoint(parts[:-1]) and not parts[-1].startswith("test_"):
            yield ".".join(parts).removesuffix(".__init__"), file


def _parsed(file: Path) -> ast.Module | None:
    """Parse a file; None for what is no Python of this version."""
    try:
        with warnings.catch_warnings(), tokenize.open(file) as source:
            warnings.simplefilter("ignore")  # about old escapes in its strings
            return ast.parse(source.read())
    except (OSError, SyntaxError, ValueError):
        return None


_MOST_DOCUMENTS = 2000


def write_sample(path: str | os.PathLike[str]) -> int:
    """Write a CSV file with some documentation strings of Python's standard library.

    The columns are "title" (the name of the module, class or function) and "text". The texts are
    spread evenly over the library. The same Python gives the same file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "sample.csv"
    >>> 500 < write_sample(path) <= 2000
    True
    >>> path.read_text(encoding="utf-8").splitlines()[0]
    'title,text'
    """
    names, texts = standard_library_docstrings()
    step = -(-len(names) // _MOST_DOCUMENTS)
    documents = list(zip(names, texts, strict=True))[::step]
    with replace_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["title", "text"])
        table.writerows(documents)
    return len(documents)
