"""The lines of text files in UTF-8, many at once, and what is done with bytes and rows that are wrong."""

from __future__ import annotations

import codecs
import io
import logging
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np

from stickbreak.corpus.reading.files import (
    DEFAULT_LIMITS,
    ReadLimits,
    open_binary,
    packing_of,
    reading,
    start_of,
    unpacks_too_far,
)
from stickbreak.exceptions import InputError, ReadError
from stickbreak.storage.plain_files import open_file
from stickbreak.storage.urls import Location

_LOG = logging.getLogger("stickbreak")
_MARKS = (  # the longer ones first: that of UTF-32 begins as that of UTF-16
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NAME_IT = "name its encoding with --encoding (in Python: encoding)"
_REPLACE = "replace such bytes with --encoding-errors replace (in Python: encoding_errors='replace')"
_SKIP = "leave such rows out with --bad-rows skip (in Python: bad_rows='skip')"
_SHOWN = 3  # places
_SIGN = "\ufffd".encode()  # in place of bytes that are not of an encoding
_BLOCK = 1 << 20  # bytes of lines
_ALWAYS_LINES, _LEAST_OF_A_LINE = 1_000_000, 32  # a line of a packed file counts for as many bytes at least


class NotDecoded(ReadError):
    """A file is not in the encoding in which it is read."""

    problem = ""  # where, and what is wrong


def _not_decoded(problem: str, advice: str) -> NotDecoded:
    error = NotDecoded(f"{problem}; {advice}")
    error.problem = problem
    return error


@dataclass(slots=True)
class Dirt:
    """What is wrong with texts: refused, or passed over, counted and told."""

    skip_rows: bool = False  # else rows that cannot be read are refused
    replace_bytes: bool = False  # else bytes that are not of the encoding are refused
    settable: bool = False  # whether who reads may ask for both
    n_rows: int = 0  # left out
    n_replaced: int = 0  # lines in which bytes were replaced
    rows: list[str] = field(default_factory=list)  # the first places
    replaced: list[str] = field(default_factory=list)
    mistaken: list[str] = field(default_factory=list)  # the first files in UTF-8 for which another was asked for

    def row(self, what: str, repair: str) -> None:
        """Note a row that cannot be read."""
        if not self.skip_rows:
            raise ReadError(f"{what}; {repair}, or {_SKIP}" if self.settable else f"{what}; {repair}")
        self.n_rows += 1
        if len(self.rows) < _SHOWN:
            self.rows.append(f"{what:.200}")

    def bytes_of(self, where: str) -> None:
        """Note a line with bytes that were replaced."""
        self.n_replaced += 1
        if len(self.replaced) < _SHOWN:
            self.replaced.append(where)

    def in_utf8(self, path: str) -> None:
        """Note a file that is read in another encoding, though it is in UTF-8."""
        if path not in self.mistaken and len(self.mistaken) < _SHOWN:
            self.mistaken.append(path)

    def add(self, other: Dirt) -> None:
        """Add what another part of the texts has."""
        self.n_rows, self.n_replaced = self.n_rows + other.n_rows, self.n_replaced + other.n_replaced
        self.rows = [*self.rows, *other.rows][:_SHOWN]
        self.replaced = [*self.replaced, *other.replaced][:_SHOWN]
        for path in other.mistaken:
            self.in_utf8(path)

    def sentences(self) -> tuple[str, ...]:
        """Say what was passed over: nothing, or a sentence for each kind."""
        kinds = (
            (self.n_rows, "rows that cannot be read and were left out", self.rows),
            (self.n_replaced, "lines with bytes that are not of their encoding, which were replaced", self.replaced),
        )
        return tuple(
            f"{what}: {n:,} ({'; '.join(places)}{'; ...' if n > len(places) else ''})" for n, what, places in kinds if n
        )

    def tell(self) -> None:
        """Log it."""
        for sentence in self.sentences():
            _LOG.warning("%s", sentence)
        if self.mistaken:
            _LOG.warning(
                "%s seems to be UTF-8, but is read in another encoding: letters with accents become two wrong ones; "
                "leave out --encoding (in Python: encoding)", ", ".join(self.mistaken),
            )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Span:
    """Whole lines of a file that is not packed: first byte, the one after the last, number of the first line."""

    begin: int
    end: int
    line: int = 1


def checked_encoding(encoding: object) -> str:
    """Return the name of an encoding of text that Python knows."""
    if not isinstance(encoding, str):
        raise InputError(f"encoding is {encoding!r:.40}; give a name such as 'utf-8' or 'latin-1'")
    try:
        "\n".encode(encoding)
        codecs.getincrementaldecoder(encoding)
    except (LookupError, ValueError) as error:  # ValueError: a name that holds a zero byte, or "undefined"
        raise InputError(
            f"encoding {encoding!r:.40} is unknown; give --encoding (in Python: encoding) a name such as 'utf-8'"
        ) from error
    return encoding


def encoding_of(start: bytes, asked: str, where: str) -> str:
    """Return the encoding of a file: the one asked for, unless a byte order mark says another."""
    name = codecs.lookup(asked).name
    marked = next((encoding for mark, encoding in _MARKS if start.startswith(mark)), None)
    if name in ("utf-16", "utf-32") and marked is None:
        advice = f"{_NAME_IT}, such as '{name}-le', '{name}-be' or 'utf-8'"
        raise _not_decoded(f"{where} has no byte order mark", advice)
    if name not in ("utf-8", "utf-8-sig", "ascii"):
        return "utf-8" if marked == "utf-8" else asked
    if marked is None and len(start) > 7 and start.count(0) > len(start) / 4:
        zeros = start[1::2].count(0)
        wide = "utf-16-le" if zeros > start[0::2].count(0) else "utf-16-be"
        raise _not_decoded(f"{where} looks like UTF-16 without a byte order mark", f"{_NAME_IT}, {wide!r}")
    return marked or ("utf-8" if name == "utf-8-sig" else name)


def is_wide(encoding: str) -> bool:
    """Tell whether a line of this encoding does not end with the byte 10 alone."""
    end = "\n".encode(encoding)
    return not (end == b"\n" or end == codecs.BOM_UTF8 + b"\n")


def line_blocks(
    path: Location,
    encoding: str = "utf-8",
    limits: ReadLimits = DEFAULT_LIMITS,
    dirt: Dirt | None = None,
    span: Span | None = None,
) -> Iterator[tuple[int, bytes]]:
    """Give the lines of a text file, unpacked and in UTF-8, about a mebibyte of them at once, with their number."""
    dirt, most, number = dirt or Dirt(), math.inf, 1
    found = encoding_of(start_of(path), checked_encoding(encoding), str(path))
    wide, first = is_wide(found), span is None or span.begin == 0
    undecided = found not in ("utf-8", "ascii") and not wide
    if packing_of(path) is not None:
        with reading(path):
            most = limits.most_unpacked(path.stat().st_size)
    with open_binary(path, limits) as file:
        source: Any = _InUtf8(file, found, "replace" if dirt.replace_bytes else "strict") if wide else file
        try:
            for number, block in _blocks(source, path, limits, span):
                if undecided and not block.isascii():
                    undecided = False
                    if is_utf8(block):
                        dirt.in_utf8(str(path))
                lines = _noted(block, path, number, dirt) if wide else _in_utf8(block, found, path, number, dirt)
                if number > _ALWAYS_LINES and number * _LEAST_OF_A_LINE > most:  # a gigabyte packs into a megabyte
                    raise unpacks_too_far(path, most)
                yield number, lines.removeprefix(codecs.BOM_UTF8) if first else lines
                first = False
        except UnicodeError as error:  # of a wide encoding
            raise _undecodable(error, found, f"{path}, line {number} or after it,", dirt) from error


class _InUtf8:
    """A file in an encoding whose ends of lines are not the byte 10 alone, read as UTF-8."""

    def __init__(self, file: BinaryIO, encoding: str, errors: str) -> None:
        self._text = io.TextIOWrapper(file, encoding, errors, newline="\n")

    def read(self, size: int) -> bytes:
        return self._text.read(size).encode("utf-8", "replace")

    def readline(self, size: int) -> bytes:
        return self._text.readline(size).encode("utf-8", "replace")


def _blocks(file: Any, path: Location, limits: ReadLimits, span: Span | None) -> Iterator[tuple[int, bytes]]:
    """Cut a file into blocks of whole lines; none is held that has a line longer than the limit."""
    longest = limits.document_bytes
    number, left = 1, math.inf
    if span is not None:
        file.seek(span.begin)
        number, left = span.line, span.end - span.begin
    while left > 0:
        block = file.read(int(min(_BLOCK, left))) if longest >= _BLOCK else b""
        if not block.endswith(b"\n"):
            block += file.readline(longest + 1)
        if not block:
            return
        left -= len(block)
        n_ends = count_line_ends(block)
        begin = block.rfind(b"\n", 0, -1) + 1  # of the last line
        if len(block) - begin > longest:
            if begin:
                yield number, block[:begin]
            closed = block.endswith(b"\n")
            raise limits.too_long(f"line {number + n_ends - closed} of {path}")
        yield number, block
        number += n_ends


def _noted(block: bytes, path: Location, number: int, dirt: Dirt) -> bytes:
    """Return lines as they are; note those with signs in place of bytes."""
    if dirt.replace_bytes and _SIGN in block:
        for line_number, line in enumerate(io.BytesIO(block), start=number):
            if _SIGN in line:
                dirt.bytes_of(f"{path}, line {line_number}")
    return block


def count_line_ends(block: bytes) -> int:
    """Count the ends of lines; threads go on meanwhile, as they do not with `bytes.count`."""
    return int(np.count_nonzero(np.frombuffer(block, np.uint8) == ord("\n")))


def _in_utf8(block: bytes, encoding: str, path: Location, number: int, dirt: Dirt) -> bytes:
    """Return lines in UTF-8: as they are where they are that, line by line where one is not of the encoding."""
    if encoding == "utf-8":
        if is_utf8(block):
            return block
    else:
        try:
            return block.decode(encoding).encode("utf-8", "replace")
        except UnicodeError:
            pass
    lines = []
    for line_number, line in enumerate(io.BytesIO(block), start=number):
        try:
            lines.append(line.decode(encoding))
        except UnicodeError as error:
            lines.append(_replaced(line, encoding, f"{path}, line {line_number}", dirt, error))
    return "".join(lines).encode("utf-8", "replace")


def _replaced(content: bytes, encoding: str, where: str, dirt: Dirt, error: UnicodeError) -> str:
    """Decode bytes with a sign for each that is not of the encoding, and note it; or refuse them."""
    if not dirt.replace_bytes:
        raise _undecodable(error, encoding, where, dirt) from error
    try:
        text = content.decode(encoding, "replace")
    except UnicodeError:  # of a codec that cannot
        raise _undecodable(error, encoding, where, dirt) from error
    dirt.bytes_of(where)
    return text


def is_utf8(content: bytes) -> bool:
    """Tell whether bytes are valid UTF-8; other threads go on while Arrow looks."""
    import pyarrow as pa

    ends = pa.py_buffer(np.array([0, len(content)], np.int64))
    try:
        pa.Array.from_buffers(pa.large_string(), 1, [None, ends, pa.py_buffer(content)]).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _undecodable(error: UnicodeError, encoding: str, where: str, dirt: Dirt) -> NotDecoded:
    said = f"{error!s:.80}"
    if isinstance(error, UnicodeDecodeError):
        said = f"byte 0x{error.object[error.start]:02x}"
    other = _REPLACE if dirt.settable else "save this file as UTF-8"
    return _not_decoded(
        f"{where} is not {encoding.upper()} ({said})",
        f"{_NAME_IT}, such as 'cp1252' or 'latin-1', if all that is read has it, or {other}",
    )


def decoded_lines(
    path: Location, encoding: str = "utf-8", limits: ReadLimits = DEFAULT_LIMITS, dirt: Dirt | None = None
) -> Iterator[str]:
    """Give the lines of a text file one at a time, with their ends; errors as of `line_blocks`."""
    for _, block in line_blocks(path, encoding, limits, dirt):
        yield from io.StringIO(block.decode(), newline="\n")


def decoded_file(path: Location, encoding: str, limits: ReadLimits, dirt: Dirt) -> str:
    """Read a whole text file that is one document; errors as of `line_blocks`."""
    with open_binary(path, limits) as file:
        content = file.read(limits.document_bytes + 1)
    if len(content) > limits.document_bytes:
        raise limits.too_long(f"the document {path}")
    found = encoding_of(content[:4096], encoding, str(path))
    if found not in ("utf-8", "ascii") and not is_wide(found) and not content.isascii() and is_utf8(content):
        dirt.in_utf8(str(path))
    try:
        text = content.decode(found)
    except UnicodeError as error:
        text = _replaced(content, found, f"{path}", dirt, error)
    return text.removeprefix("\ufeff")


def lines_before(path: Location, end: int) -> int:
    """Count the lines before a byte of a file."""
    n_lines = 0
    with reading(path), open_file(path) as file:
        while end > 0 and (block := file.read(min(end, 1 << 20))):
            n_lines, end = n_lines + block.count(b"\n"), end - len(block)
    return n_lines
