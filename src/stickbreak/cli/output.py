"""What the commands print: results on standard output, everything else on standard error."""

import json
import math
import re
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import typer

__all__ = [
    "MOST_LEAVES",
    "TOPICS_SHOWN",
    "Line",
    "TopicLine",
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
    "words_as_json",
]


TOPICS_SHOWN = 20  # of a table, unless more are asked for
MOST_LEAVES = 100  # of a tree, unless more are asked for
_STEERING = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_UNREADABLE = "\ufffd"


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
    """Return words and their probabilities for `print_json`.

    Parameters
    ----------
    words : iterable of (str, float)
        In the order of printing.
    """
    return [{"word": word, "probability": probability} for word, probability in words]


def describe_topics(model: Any, n_words: int, most: int = MOST_LEAVES) -> list[TopicLine]:
    """Return the topics of a fitted model, those of seeds first, then the largest; of a tree its largest leaves.

    Parameters
    ----------
    model : fitted model
        Any family.
    n_words : int
        Top words of each topic.
    most : int
        Most leaves of a tree.

    Returns
    -------
    list of TopicLine
    """
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
    """Print a table of topics: ruled and folded on a terminal, one line a topic elsewhere.

    Parameters
    ----------
    topics : sequence of Line
        In the order of printing.
    columns : sequence of str
        The head of the table: of the number, the size and the cells.
    verbose : bool, default=False
        Print the cells for experts; the columns are those of these.
    """
    rows = [(str(t.id), f"{t.size:.2%}", *map(printable, t.expert_cells if verbose else t.cells)) for t in topics]
    print_rows(columns, rows, left=(len(columns) - 1,), least=(5, 7))


def print_rows(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, left: Sequence[int], least: Sequence[int] = ()
) -> None:
    """Print a table: ruled and folded on a terminal, one line a row elsewhere.

    Parameters
    ----------
    columns : sequence of str
        The head of the table.
    rows : sequence of sequences of str
        Cells that can be printed as they are.
    left : sequence of int
        Columns of words; the others, of numbers, are to the right.
    least : sequence of int
        Least widths of the first columns, where the output does not go to a terminal.
    """
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
    """Say how many topics a table leaves out, and how to see them.

    Parameters
    ----------
    n_more : int
        Nothing is printed for 0.
    folder : Path
        Of the model.
    """
    if n_more > 0:
        show(f"and {n_more:,} more: {shlex.join(['stickbreak', 'topics', str(folder), '--all'])}")


def next_lines(commands: Iterable[tuple[str, Sequence[str]]]) -> list[str]:
    """Return lines that name the next commands. Nobody wraps them: a command that is cut into lines cannot be copied.

    Parameters
    ----------
    commands : iterable of (str, sequence of str)
        What each command gives, and its words.

    Examples
    --------
    >>> next_lines([("see all topics", ["stickbreak", "topics", "my model"])])
    ["Next   see all topics: stickbreak topics 'my model'"]
    """
    told = [f"{gives}: {shlex.join(command)}" for gives, command in commands]
    return [f"{'' if i else 'Next':<7}{line}" for i, line in enumerate(told)]


def printable(text: str, *, keep: str = "") -> str:
    """Replace what could steer a terminal in a name or word that was read from a file.

    These are the control characters, line and paragraph separators, the overrides and isolates of the direction of
    writing, and halves of characters.

    Parameters
    ----------
    text : str
        Anything.
    keep : str, default=""
        Of these, the characters to leave as they are.

    Returns
    -------
    str
        In one line, unless line ends are kept.

    Examples
    --------
    >>> printable("naïve" + chr(27) + "[31m")
    'naïve\ufffd[31m'
    """
    return _STEERING.sub(lambda found: found[0] if found[0] in keep else _UNREADABLE, text)


def print_json(value: Mapping[str, Any], *, indent: int | None = 2) -> None:
    """Print strict JSON on standard output; what is not finite becomes null.

    Parameters
    ----------
    value : mapping
        Nested dicts, lists, str and numbers.
    indent : int or None, default=2
        None for a single line.
    """
    show(strict_json(_strict(value), indent=indent))


def strict_json(value: Any, *, indent: int | None = None) -> str:
    """Return strict JSON in ASCII without a control character (of which JSON itself lets one pass, delete).

    Parameters
    ----------
    value : object
        Nested dicts, lists, str and finite numbers.
    indent : int or None, default=None
        None for a single line.

    Returns
    -------
    str
    """
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
    """Print a result on standard output.

    Parameters
    ----------
    text : str
        A few lines; what could steer a terminal is replaced.
    """
    typer.echo(printable(text, keep="\n"))


def say(text: str) -> None:
    """Print a message on standard error.

    Parameters
    ----------
    text : str
        A sentence or a few lines; what could steer a terminal is replaced.
    """
    typer.echo(printable(text, keep="\n"), err=True)


def complain(text: str) -> None:
    """Print an error, in one line.

    Parameters
    ----------
    text : str
        One sentence.
    """
    say(f"Error: {printable(' '.join(text.split()))}")
