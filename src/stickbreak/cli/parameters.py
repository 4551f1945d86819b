"""A parameter of an estimator as the command line sees it: its default, a sentence on it, the values it takes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from stickbreak.cli.wording import joined
from stickbreak.exceptions import ReadError
from stickbreak.storage.plain_files import read_text

__all__ = ["NOTHING", "Kind", "Parameter"]

NOTHING = "none"  # how the command line writes an empty sequence

Value = str | int | float | bool | None | tuple[str, ...] | tuple[int, ...] | tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of value that a parameter takes.

    Attributes
    ----------
    type : {"name", "int", "float", "bool", "path"}
        Of one value. Paths of names, "science/physics", are in a file, one a line.
    names : tuple of str
        Those that are known, of names.
    least, most : float or None
        The range of a number. None sets no limit.
    above : bool
        Whether `least` itself is outside.
    infinity : bool
        Whether a number may be infinite, too.
    several : bool
        Whether it is a sequence of such values.
    length : int or None
        How many. None: any number of them.
    """

    type: Literal["name", "int", "float", "bool", "path"]
    names: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    above: bool = False
    infinity: bool = False
    several: bool = False
    length: int | None = None

    def read(self, text: str) -> Value:
        """Return the value that a text stands for.

        Raises
        ------
        ValueError
            If it is not of this kind.
        ReadError
            If it is a file that cannot be read.
        """
        if self.type == "path":
            return _paths_in(text)
        if not self.several:
            return self._read_one(text)
        parts = [] if text == NOTHING else [part.strip() for part in text.replace("\n", ",").split(",")]
        if self.length not in (None, len(parts)):
            raise ValueError(text)
        return tuple(self._read_one(part) for part in parts)

    def _read_one(self, text: str) -> Any:
        if self.type == "name":
            return self.names[self.names.index(text)]
        if self.type == "bool":
            return ("no", "yes").index(text) == 1
        value = (int if self.type == "int" else float)(text)
        if not self._is_within(value):
            raise ValueError(text)
        return value

    def _is_within(self, value: float) -> bool:
        if value == float("inf"):
            return self.infinity
        low = self.least is None or (value > self.least if self.above else value >= self.least)
        return low and (self.most is None or value <= self.most) and value == value

    def __str__(self) -> str:
        """Say what to give."""
        if self.type == "name":
            known = joined(self.names, "or")
            return f"one or more of {known}, as {','.join(self.names[:2])}, or {NOTHING}" if self.several else known
        if self.type == "bool":
            return "yes or no"
        if self.type == "path":
            return "a file with one path of names a line, as science/physics"
        whole = "whole " if self.type == "int" else ""
        if self.several:
            count = "" if self.length is None else f"{self.length} "
            example = ",".join(("3", "6", "6")[: self.length] if whole else ("0.5", "1.5")[: self.length])
            return f"{count}{whole}numbers, as {example}"
        return f"a {whole}number{self._range()}"

    def _range(self) -> str:
        low = "" if self.least is None else f" {'above' if self.above else 'from'} {self.least:,.10g}"
        if self.most is None:
            return low + (" up" if low and not self.above else "")
        return f"{low} {'and at most' if self.above or not low else 'to'} {self.most:,.10g}"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an estimator.

    Attributes
    ----------
    name : str
    default : value
        Of the signature.
    text : str
        First sentence of its description.
    none : str or None
        What None stands for; None where the parameter does not take it.
    kinds : tuple of Kind
        Values that can be written on a command line, out of those that it takes.
    stream_only : bool
        Whether only `partial_fit` uses it.
    """

    name: str
    default: Value
    text: str
    none: str | None
    kinds: tuple[Kind, ...]
    stream_only: bool = False

    @property
    def none_word(self) -> str | None:
        """How the command line writes None; None where it need not, as leaving the option out says it."""
        if self.none is None or self.default is None:
            return None
        return "all" if any(kind.type == "int" for kind in self.kinds) else NOTHING

    @property
    def names(self) -> tuple[str, ...]:
        """The names out of which its value, or each of its values, can be."""
        return tuple(name for kind in self.kinds for name in kind.names)

    def read(self, option: str, text: str) -> Value:
        """Return the value that a text on the command line stands for.

        Parameters
        ----------
        option : str
            Where the text was given, for the message.
        text : str

        Raises
        ------
        ValueError
            With one sentence, if no kind of value is written so, or it is a file that cannot be read.
        """
        if text == self.none_word:
            return None
        for kind in self.kinds:
            try:
                return kind.read(text)
            except ReadError:
                raise
            except ValueError:
                pass
        known = [*map(str, self.kinds), *([self.none_word] if self.none_word else [])]
        plain = len(known) == 1 and not self.names
        raise ValueError(f"{option} is {text if plain else repr(text)}; give {', or '.join(known)}")


def _paths_in(file: str) -> tuple[str, ...]:
    """Return the lines of a file that are not empty; those of a text of several lines, as `--config` has them."""
    if "\n" in file:
        return tuple(file.split("\n"))
    place = Path(file)
    if not place.exists():
        raise ValueError(file)
    try:
        lines = tuple(filter(None, map(str.strip, read_text(place, "utf-8-sig").splitlines())))
    except OSError as error:
        raise ReadError(
            f"{file} cannot be read ({error.strerror}); give a file with one path of names a line"
        ) from error
    except UnicodeDecodeError as error:
        raise ReadError(f"{file} is not UTF-8 text; give a file with one path of names a line") from error
    if not lines:
        raise ReadError(f"{file} has no path; write one path of names a line, as science/physics")
    return lines
