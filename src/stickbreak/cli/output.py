"""What the commands print: results on standard output, everything else on standard error."""

import json
import logging
import math
import re
import shlex
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import typer

from stickbreak.exceptions import WriteError
from stickbreak.storage.urls import Location

__all__ = [
    "MOST_LEAVES",
    "TOPICS_SHOWN",
    "Line",
    "TopicLine",
    "check_output",
    "complain",
    "describe_topics",
    "next_lines",
    "print_json",
    "print_rows",
    "print_topics",
    "printable",
    "say",
    "show",
    "show_rest",
    "strict_json",
    "tell_notice",
    "tell_notices",
    "words_as_json",
]


TOPICS_SHOWN = 20  # of a table, unless more are asked for
MOST_LEAVES = 100  # of a tree, unless more are asked for
_STEERING = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_UNREADABLE = "\ufffd"
_PARTS_OF_A_MODEL = ("model.json", "arrays.safetensors")


class Line(Protocol):
    """A topic or component as it is printed."""

    @property
    def id(self) -> int:
        """Its row in the model."""

    @property
    def size(self) -> float:
        """Its share of the tokens; of a component, its weight."""

    @property
    def cells(self) -> tuple[str, ...]:
        """What a table has beside number and size."""

    @property
    def expert_cells(self) -> tuple[str, ...]:
        """The same of a table with all numbers."""

    def as_json(self) -> dict[str, Any]:
        """Return it for `print_json`."""


@dataclass(frozen=True, slots=True)
class TopicLine:
    """A topic as it is printed: row, share of the tokens, corpus weight, top words with probabilities, given label."""

    id: int
    size: float
    weight: float
    words: tuple[str, ...]
    probabilities: tuple[float, ...]
    label: str | None = None

    @property
    def cells(self) -> tuple[str, ...]:
        """What a table has beside number and share: the words, after the label that was given."""
        words = " ".join(self.words)
        return (words if self.label is None else f"{self.label}: {words}",)

    @property
    def expert_cells(self) -> tuple[str, ...]:
        """The corpus weight, too."""
        return f"{self.weight:.2%}", *self.cells

    def as_json(self) -> dict[str, Any]:
        """Return the topic for `print_json`."""
        words = words_as_json(zip(self.words, self.probabilities, strict=True))
        label = {} if self.label is None else {"label": self.label}
        return {"id": self.id, **label, "share": self.size, "corpus_weight": self.weight, "words": words}


def words_as_json(words: Iterable[tuple[str, float]]) -> list[dict[str, Any]]:
    """Return words and their probabilities for `print_json`."""
    return [{"word": word, "probability": probability} for word, probability in words]


def describe_topics(model: Any, n_words: int, most: int = MOST_LEAVES) -> list[TopicLine]:
    """Return the topics of a fitted model, those of seeds first, then the largest; of a tree its largest leaves."""
    shown, labels = model.shown_topics(n_words, most=most), model.labels_
    lines = [
        TopicLine(
            int(number),
            float(share),
            float(weight),
            tuple(word for word, _ in words),
            tuple(probability for _, probability in words),
            labels.get(int(number)),
        )
        for number, share, weight, words in zip(shown.numbers, shown.shares, shown.weights, shown.words, strict=True)
    ]
    of_seeds = set(model.seed_topics_.values())
    return sorted(lines, key=lambda line: (line.id not in of_seeds, -line.size))


def print_topics(topics: Sequence[Line], columns: Sequence[str], *, verbose: bool = False) -> None:
    """Print a table of topics: ruled and folded on a terminal, one line a topic elsewhere."""
    rows = [(str(t.id), f"{t.size:.2%}", *map(printable, t.expert_cells if verbose else t.cells)) for t in topics]
    print_rows(columns, rows, left=(len(columns) - 1,), least=(5, 7))


def print_rows(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, left: Sequence[int], least: Sequence[int] = ()
) -> None:
    """Print a table: ruled and folded on a terminal, one line a row elsewhere."""
    if not sys.stdout.isatty():
        lines = [tuple(columns), *rows]
        widths = [max(len(line[j]) for line in lines) for j in range(len(columns))]
        widths[: len(least)] = map(max, least, widths)
        for line in lines:
            cells = (
                f"{cell:<{w}}" if j in left else f"{cell:>{w}}"
                for j, (cell, w) in enumerate(zip(line, widths, strict=True))
            )
            show("  ".join(cells).rstrip())
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for j, name in enumerate(columns):
        table.add_column(name, justify="left" if j in left else "right", overflow="fold", style=None if j else "bold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))  # Text: words are no markup
    Console().print(table)


def show_rest(n_more: int, folder: Path) -> None:
    """Say how many topics a table leaves out, and how to see them."""
    if n_more > 0:
        show(f"and {n_more:,} more: {shlex.join(['stickbreak', 'topics', str(folder), '--all'])}")


def next_lines(commands: Iterable[tuple[str, Sequence[str]]]) -> list[str]:
    """Return lines that name the next commands, each unwrapped: a command that is cut into lines cannot be copied."""
    told = [f"{gives}: {shlex.join(command)}" for gives, command in commands]
    return [f"{'' if i else 'Next':<7}{line}" for i, line in enumerate(told)]


def printable(text: str, *, keep: str = "") -> str:
    """Replace what could steer a terminal in a name or word that was read from a file.

    These are the control characters, line and paragraph separators, the overrides and isolates of the direction of
    writing, and halves of characters.
    """
    return _STEERING.sub(lambda found: found[0] if found[0] in keep else _UNREADABLE, text)


def print_json(value: Mapping[str, Any], *, indent: int | None = 2) -> None:
    """Print strict JSON on standard output; what is not finite becomes null."""
    show(strict_json(_strict(value), indent=indent))


def strict_json(value: Any, *, indent: int | None = None) -> str:
    """Return strict JSON in ASCII without a control character (of which JSON itself lets one pass, delete)."""
    return json.dumps(value, allow_nan=False, indent=indent).replace("\x7f", "\\u007f")


def _strict(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _strict(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(entry) for entry in value]
    return value


def show(text: str) -> None:
    """Print a result on standard output."""
    typer.echo(printable(text, keep="\n"))


def say(text: str) -> None:
    """Print a message on standard error."""
    typer.echo(printable(text, keep="\n"), err=True)


def complain(text: str) -> None:
    """Print an error, in one line."""
    say(f"Error: {printable(' '.join(text.split()))}")


class _Notices(logging.Handler):
    """Tells what the library logs as a warning, once each: a command may read a file several times."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._told: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if text not in self._told:
            self._told.add(text)
            tell_notice(text)


def tell_notices() -> None:
    """Tell from now on, for the rest of this process, each warning and each line of the log at WARNING in one line."""

    def tell(message: Warning | str, *where: Any, **how: Any) -> None:
        tell_notice(str(message))

    warnings.showwarning = tell
    logging.getLogger("stickbreak").addHandler(_Notices())


def tell_notice(text: str) -> None:
    """Tell in one line what a user should know, also one who asked for no messages."""
    say("Note: " + " ".join(text.split()))


def check_output(path: Path, *inputs: Location) -> None:
    """Refuse a file that would take the place of what is read, or of a part of a model."""
    for source in inputs:
        if isinstance(source, Path) and path.exists() and source.exists() and path.samefile(source):
            raise WriteError(f"cannot write {path}: it is also the input; choose another name")
    if path.name in _PARTS_OF_A_MODEL:
        raise WriteError(f"cannot write {path}: {path.name} is the name of a part of a model; choose another name")
