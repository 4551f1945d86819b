"""What the commands print: results on standard output, everything else on standard error."""

import json
import logging
import math
import os
import re
import shlex
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from stickbreak.exceptions import WriteError
from stickbreak.storage.urls import Location

__all__ = [
    "MOST_LEAVES",
    "TOPICS_SHOWN",
    "check_output",
    "complain",
    "next_lines",
    "print_json",
    "printable",
    "say",
    "several",
    "show",
    "show_rest",
    "strict_json",
    "tell_notice",
    "tell_notices",
]


TOPICS_SHOWN = 20  # of a table, unless more are asked for
MOST_LEAVES = 100  # of a tree, unless more are asked for
_STEERING = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_UNREADABLE = "\ufffd"
_PARTS_OF_A_MODEL = ("model.json", "arrays.safetensors")


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


def check_output(path: Path, *inputs: Location, made: Path | None = None) -> None:
    """Refuse, before the work, a file that could not be written, or would replace what is read or a part of a model.

    The folder `made` is one that the work will make.
    """
    parent = path.absolute().parent
    for source in inputs:
        if isinstance(source, Path) and path.exists() and source.exists() and path.samefile(source):
            raise WriteError(f"cannot write {path}: it is also the input; choose another name")
    if path.name in _PARTS_OF_A_MODEL:
        raise WriteError(f"cannot write {path}: {path.name} is the name of a part of a model; choose another name")
    if path.is_dir():
        raise WriteError(f"cannot write {path}: it is a folder; give the name of a file")
    if path.exists() and not path.is_file():
        raise WriteError(f"cannot write {path}: it is a device or a pipe; give the name of a file")
    if made is not None and parent == made.absolute():
        return
    if not parent.is_dir():
        raise WriteError(f"cannot write {path}: its parent folder does not exist; create it first")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise WriteError(f"cannot write {path}: permission denied; choose a place that you may write to")


def several(n: int, noun: str) -> str:
    """Return a number with its noun: "1 topic", "2,000 topics"."""
    return f"{n:,} {noun}{'s' * (n != 1)}"
