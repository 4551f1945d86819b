"""What a model remembers of the files of its fit, of words or of vectors: format, encoding, delimiter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from stickbreak.storage.urls import Location

__all__ = ["FileReading", "checked_or_none"]

_CUT = ("csv", "tsv")  # formats with a delimiter


@dataclass(frozen=True, slots=True)
class FileReading:
    """How the file or folder of a fit was read.

    Attributes
    ----------
    format : str or None
        The one asked for.
    ending : str or None
        Of the name of the input, such as ".csv": `format` is that of files with this ending only. None: of none.
    encoding, delimiter : str or None
        Those asked for.
    """

    format: str | None = None
    ending: str | None = None
    encoding: str | None = None
    delimiter: str | None = None

    @classmethod
    def of(cls, path: Location | None, format: str | None, encoding: str | None, delimiter: str | None) -> Self:
        """Return what is to be remembered of an input and of the options that it was read with.

        Parameters
        ----------
        path : Location or None
            None where the documents were made.
        format, encoding, delimiter : str or None
        """
        return cls(format, None if path is None else _ending(path), encoding, delimiter)

    @classmethod
    def from_plain(cls, known: Mapping[str, Any]) -> Self:
        """Return what `as_plain` wrote.

        Parameters
        ----------
        known : mapping

        Raises
        ------
        KeyError, TypeError
            If it lacks something, or it is of another kind.
        """
        names = "format", "ending", "encoding", "delimiter"
        return cls(*(checked_or_none(known[name], str) for name in names))

    def as_plain(self) -> dict[str, str | None]:
        """Return it for JSON."""
        return asdict(self)

    def format_of(self, path: Location) -> str | None:
        """Return the format in which a new input is read.

        It is that of the fit if both names have the same ending. Otherwise it is None: the name of the input tells it.

        Parameters
        ----------
        path : Location
        """
        return self.format if _ending(path) == self.ending else None

    def delimiter_of(self, path: Location, format: str, encoding: str) -> str | None:
        """Return the delimiter to read a new input with, if it cuts the header; None: the rows tell theirs.

        Parameters
        ----------
        path : Location
        format, encoding : str
            As the input is read.
        """
        from stickbreak.corpus.reading.delimiters import checked_delimiter
        from stickbreak.corpus.reading.lines import decoded_lines

        delimiter = checked_delimiter(self.delimiter)
        if delimiter is None or format not in _CUT:
            return None
        return delimiter if delimiter in next(decoded_lines(path, encoding), "") else None


def checked_or_none(value: Any, kind: type) -> Any:
    """Return a remembered value that is None or of a kind.

    Parameters
    ----------
    value : object
    kind : type

    Raises
    ------
    TypeError
        If it is of another kind.
    """
    if value is not None and (isinstance(value, bool) or not isinstance(value, kind)):
        raise TypeError(f"it holds {value!r:.40}")
    return value


def _ending(path: Location) -> str:
    return Path(path.name.lower().removesuffix(".gz")).suffix
