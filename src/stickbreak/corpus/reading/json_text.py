"""JSON text that is read piece by piece: one value of a large file is in memory at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from stickbreak.corpus.reading.files import too_long
from stickbreak.corpus.reading.limits import ReadLimits
from stickbreak.exceptions import ReadError
from stickbreak.storage.urls import Location

__all__ = ["JsonText", "parsed_json"]

_BLANKS = re.compile(r"[ \t\r\n]*")
_END_OF_SCALAR = re.compile(r"[ \t\r\n,\]}]")
_NEAR = 16  # characters: an error farther from the end of what is there does not go away with more text
_DECODER = json.JSONDecoder()
_FIRST_PIECE = 1 << 16


def parsed_json(text: str, where: str) -> Any:
    """Parse one JSON value.

    Parameters
    ----------
    text : str
        A line, say.
    where : str
        File and line, for messages.

    Returns
    -------
    object

    Raises
    ------
    ReadError
        If it is not valid JSON, holds a number of thousands of digits, or is nested too deeply.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ReadError(
            f"{where} is not valid JSON ({error.msg} at column {error.colno}); repair or remove this line"
        ) from error
    except (ValueError, RecursionError) as error:
        raise _hostile(error, where) from error


def _hostile(error: ValueError | RecursionError, where: str) -> ReadError:
    if isinstance(error, RecursionError):
        return ReadError(f"{where} is nested too deeply to be a document; repair or remove it")
    return ReadError(f"{where} holds a number of too many digits; repair or remove it")  # Python refuses to convert it


class JsonText:
    """A JSON text of any length, of which one value is decoded at a time.

    Parameters
    ----------
    pieces : iterator of str
        The text, cut anywhere.
    path : Location
        The file, for messages.
    limits : ReadLimits
        How long a value may be.
    """

    def __init__(self, pieces: Iterator[str], path: Location, limits: ReadLimits) -> None:
        self._pieces, self._path, self._limits = pieces, path, limits
        self._text, self._at = "", 0
        self._line, self._counted = 1, 0  # of the line ends in memory, those before this place are counted

    @property
    def line(self) -> int:
        """Number of the line that is being read."""
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def _grow(self) -> bool:
        """Read on, to twice the text that is not decoded yet; False at the end of the file."""
        self._line, parts = self.line, [self._text[self._at :]]
        have = size = len(parts[0])
        while size < max(2 * have, _FIRST_PIECE):
            piece = next(self._pieces, "")
            if not piece:
                break
            parts.append(piece)
            size += len(piece)
        self._text, self._at, self._counted = "".join(parts), 0, 0
        return size > have

    def peek(self) -> str:
        """Pass over blanks and return the next character; "" at the end."""
        while True:
            found = _BLANKS.match(self._text, self._at)
            self._at = self._at if found is None else found.end()
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._grow():
                return ""

    def take(self, wanted: str, where: str) -> None:
        """Pass over the next character, which must be `wanted`.

        Parameters
        ----------
        wanted : str
            A single character.
        where : str
            For the message.

        Raises
        ------
        ReadError
            If another one stands there, or the file ends.
        """
        found = self.peek()
        if found != wanted:
            problem = f"{found!r} stands where {wanted!r} is needed" if found else "the file ends too early"
            raise ReadError(f"{where} is not valid JSON ({problem}, line {self.line}); repair or fetch the file again")
        self._at += 1

    def value(self, where: str) -> Any:
        """Decode the next value.

        Parameters
        ----------
        where : str
            File and place, for messages.

        Returns
        -------
        object

        Raises
        ------
        ReadError
            If it is not valid JSON, or longer than the limit.
        """
        first = self.peek()
        if not first:
            raise ReadError(f"{where} is missing: the file ends too early; fetch it again")
        scalar = first not in '{["'
        while True:
            try:
                value, end = self._scalar(where) if scalar else _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                near = error.pos >= len(self._text) - _NEAR or error.msg.startswith("Unterminated string")
                self._check_length(len(self._text), where)
                if not (near and self._grow()):
                    raise ReadError(
                        f"{where} is not valid JSON ({error.msg}, line {self.line}); repair or fetch the file again"
                    ) from error
            except (ValueError, RecursionError) as error:
                raise _hostile(error, where) from error
            else:
                self._check_length(end, where)
                self._at = end
                return value

    def _scalar(self, where: str) -> tuple[Any, int]:
        """Decode a number or a name, which ends only where something else begins."""
        while (found := _END_OF_SCALAR.search(self._text, self._at)) is None and self._grow():
            self._check_length(len(self._text), where)
        end = len(self._text) if found is None else found.start()
        value, length = _DECODER.raw_decode(self._text[self._at : end])
        if length < end - self._at:
            raise json.JSONDecodeError("Extra data", self._text, self._at + length)
        return value, end

    def _check_length(self, end: int, where: str) -> None:
        if end - self._at > self._limits.document_bytes:
            raise too_long(where, self._limits)
