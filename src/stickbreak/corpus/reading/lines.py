"""The lines of a text file, unpacked and decoded; every failure is a ReadError with its place."""

from __future__ import annotations

import codecs
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from stickbreak.corpus.reading.decoding import (
    checked_encoding,
    decoded,
    decoded_pieces,
    encoding_of,
    is_utf8,
    line_end_of,
)
from stickbreak.corpus.reading.files import is_packed, open_binary, reading, start_of, too_long, unpacks_too_far
from stickbreak.corpus.reading.limits import DEFAULT_LIMITS, ReadLimits
from stickbreak.storage.plain_files import open_file
from stickbreak.storage.urls import Location

__all__ = [
    "Span",
    "binary_lines",
    "count_line_ends",
    "decoded_blocks",
    "decoded_chunks",
    "decoded_lines",
    "line_starts",
    "utf8_blocks",
]

Lines = TypeVar("Lines", str, bytes)

_ALWAYS_LINES = 1_000_000  # that any packed file may have
_LEAST_OF_A_LINE = 32  # bytes that a line of a packed file counts for: reading one costs as much as that
_PIECE = 1 << 16  # bytes
_BLOCK = 1 << 20  # bytes of lines that are decoded at once
_TOGETHER = frozenset(("utf-8", "ascii", "iso8859-1"))  # lines of these decode alike, one by one or together


@dataclass(frozen=True, slots=True)
class Span:
    """Whole lines of a file that is not packed.

    Attributes
    ----------
    begin, end : int
        The first byte, and the one after the last.
    line : int
        Number of the first line, for messages.
    """

    begin: int
    end: int
    line: int = 1


def line_starts(path: Location, size: int, step: int) -> list[int]:
    """Cut a file into runs of whole lines.

    Parameters
    ----------
    path : Location
        A file that is not packed.
    size : int
        Its bytes.
    step : int
        Bytes of a run, about: each begins with the first line that begins at or after a multiple of this number.

    Returns
    -------
    list of int
        Where the runs begin, 0 first, and the size of the file last.
    """
    starts = [0]
    with reading(path), open_file(path) as file:
        for at in range(step, size, step):
            if at <= starts[-1]:
                continue
            file.seek(at - 1)
            while (piece := file.readline(_PIECE)) and not piece.endswith(b"\n"):
                pass
            if file.tell() < size:
                starts.append(file.tell())
    return [*starts, size]


def binary_lines(path: Location, limits: ReadLimits = DEFAULT_LIMITS) -> Iterator[bytes]:
    """Give the lines of a file as bytes, unpacked, with their ends; none is held that is longer than the limit.

    Parameters
    ----------
    path : Location
        The file.
    limits : ReadLimits
        How long a line may be.

    Yields
    ------
    bytes

    Raises
    ------
    ReadError
        If the file cannot be read or a line is too long.
    """
    with open_binary(path, limits) as file:
        number = 0
        while line := file.readline(limits.document_bytes + 1):
            number += 1
            if len(line) > limits.document_bytes:
                raise too_long(f"line {number} of {path}", limits)
            yield line


def decoded_lines(
    path: Location, encoding: str = "utf-8", limits: ReadLimits = DEFAULT_LIMITS, span: Span | None = None
) -> Iterator[str]:
    r"""Give the lines of a text file, unpacked and decoded, one at a time, with their ends.

    Parameters
    ----------
    path : Location
        The file. A byte order mark at its start is dropped; one of UTF-16 or UTF-32 tells the encoding.
    encoding : str
        Its encoding.
    limits : ReadLimits
        How long a line may be.
    span : Span, optional
        The lines to give; default: all.

    Yields
    ------
    str

    Raises
    ------
    ReadError
        If the file cannot be read, a line is too long, or the file is not in this encoding: line and byte are named.
    """
    for _, block in decoded_blocks(path, encoding, limits, span):
        yield from io.StringIO(block, newline="\n")


def decoded_blocks(
    path: Location, encoding: str = "utf-8", limits: ReadLimits = DEFAULT_LIMITS, span: Span | None = None
) -> Iterator[tuple[int, str]]:
    """Give the lines of a text file as `decoded_lines` does, but many of them in one string.

    Parameters
    ----------
    path, encoding, limits, span
        As of `decoded_lines`.

    Yields
    ------
    number : int
        Of the first line.
    lines : str
        Whole lines, with their ends.

    Raises
    ------
    ReadError
        As of `decoded_lines`, once all lines before have been given.
    """
    encoding = encoding_of(start_of(path), checked_encoding(encoding), str(path))
    lines_end = line_end_of(encoding) == b"\n"
    blocks = _decoded_blocks(path, encoding, limits, span) if lines_end else _wide_lines(path, encoding, limits)
    yield from _not_too_many(blocks, path, limits)


def utf8_blocks(
    path: Location, encoding: str = "utf-8", limits: ReadLimits = DEFAULT_LIMITS, span: Span | None = None
) -> Iterator[tuple[int, bytes]]:
    """Give the lines of a text file as `decoded_blocks` does, but in UTF-8: as they are in the file where it is UTF-8.

    Parameters
    ----------
    path, encoding, limits, span
        As of `decoded_lines`.

    Yields
    ------
    number : int
        Of the first line.
    lines : bytes
        Whole lines, with their ends; a half of a surrogate pair is three bytes.

    Raises
    ------
    ReadError
        As of `decoded_blocks`.
    """
    found = encoding_of(start_of(path), checked_encoding(encoding), str(path))
    if codecs.lookup(found).name == "utf-8":
        yield from _not_too_many(_checked_blocks(path, found, limits, span), path, limits)
        return
    for number, block in decoded_blocks(path, encoding, limits, span):
        yield number, block.encode("utf-8", "surrogatepass")


def _not_too_many(
    blocks: Iterator[tuple[int, Lines]], path: Location, limits: ReadLimits
) -> Iterator[tuple[int, Lines]]:
    """Refuse a packed file that has far too many lines."""
    most = _most_unpacked(path, limits)
    for number, block in blocks:
        if number > _ALWAYS_LINES and number * _LEAST_OF_A_LINE > most:  # a gigabyte of them packs into a megabyte
            raise unpacks_too_far(path, most)
        yield number, block


def _most_unpacked(path: Location, limits: ReadLimits) -> float:
    """Return how many bytes a packed file may hold; any other holds what it has."""
    with reading(path):
        return limits.most_unpacked(path.stat().st_size) if is_packed(path) else math.inf


def _decoded_blocks(path: Location, encoding: str, limits: ReadLimits, span: Span | None) -> Iterator[tuple[int, str]]:
    """Decode many lines at once; one at a time where that fails, for the message names the line."""
    together = codecs.lookup(encoding).name in _TOGETHER
    for number, offset, block in _binary_blocks(path, limits, span):
        try:
            text = block.decode(encoding) if together else None
        except UnicodeDecodeError:
            text = None
        if text is None:
            yield from _decoded_one_by_one(block, path, encoding, number, offset)
        else:
            yield number, text.removeprefix("\ufeff") if offset == 0 else text


def _decoded_one_by_one(
    block: bytes, path: Location, encoding: str, number: int, offset: int
) -> Iterator[tuple[int, str]]:
    for line in io.BytesIO(block):
        text = decoded(line, encoding, f"{path}, line {number}", offset)
        yield number, text.removeprefix("\ufeff") if offset == 0 else text
        number, offset = number + 1, offset + len(line)


def _checked_blocks(
    path: Location, encoding: str, limits: ReadLimits, span: Span | None
) -> Iterator[tuple[int, bytes]]:
    """Give lines that are UTF-8 as they are; the message about what is not names the line."""
    for number, offset, block in _binary_blocks(path, limits, span):
        if is_utf8(block):
            yield number, block.removeprefix(codecs.BOM_UTF8) if offset == 0 else block
        else:
            for line_number, line in _decoded_one_by_one(block, path, encoding, number, offset):
                yield line_number, line.encode("utf-8")


def count_line_ends(block: bytes) -> int:
    r"""Count the bytes "\n"; threads go on meanwhile, as they do not with `bytes.count`.

    Parameters
    ----------
    block : bytes

    Returns
    -------
    int
    """
    return int(np.count_nonzero(np.frombuffer(block, np.uint8) == ord("\n")))


def _binary_blocks(path: Location, limits: ReadLimits, span: Span | None) -> Iterator[tuple[int, int, bytes]]:
    """Give whole lines, about a mebibyte of them, with the number and place of the first.

    None is held that is longer than the limit.
    """
    longest = limits.document_bytes
    number, offset = (1, 0) if span is None else (span.line, span.begin)
    with open_binary(path, limits) as file:
        left: float = math.inf
        if span is not None:
            file.seek(span.begin)
            left = span.end - span.begin
        while left > 0:
            block = file.read(int(min(_BLOCK, left))) if longest >= _BLOCK else b""
            if not block.endswith(b"\n"):
                block += file.readline(longest + 1)
            if not block:
                break
            left -= len(block)
            begin = block.rfind(b"\n", 0, -1) + 1  # of the last line
            n_ends = count_line_ends(block)
            if len(block) - begin > longest:
                closed = block.endswith(b"\n")
                if begin:
                    yield number, offset, block[:begin]
                raise too_long(f"line {number + n_ends - closed} of {path}", limits)
            yield number, offset, block
            number, offset = number + n_ends, offset + len(block)


def _wide_lines(path: Location, encoding: str, limits: ReadLimits) -> Iterator[tuple[int, str]]:
    """Give the lines of an encoding whose ends of lines have more bytes than one, or another byte."""
    return enumerate(_lines_of_chunks(path, encoding, limits), start=1)


def _lines_of_chunks(path: Location, encoding: str, limits: ReadLimits) -> Iterator[str]:
    """Cut lines where an end of line has more bytes than one, or another byte."""
    most = limits.document_bytes // len(line_end_of(encoding))
    number, size = 1, 0
    parts: list[str] = []
    for chunk in decoded_chunks(path, encoding, limits):
        for piece in _cut(chunk):
            parts.append(piece)
            size += len(piece)
            if size > most:
                raise too_long(f"line {number} of {path}", limits)
            if piece.endswith("\n"):
                yield "".join(parts)
                parts.clear()
                number, size = number + 1, 0
    if parts:
        yield "".join(parts)


def _cut(chunk: str) -> Iterator[str]:
    """Cut a text behind each end of line, and nowhere else (as splitlines would)."""
    *ended, rest = chunk.split("\n")
    yield from (piece + "\n" for piece in ended)
    if rest:
        yield rest


def decoded_chunks(path: Location, encoding: str = "utf-8", limits: ReadLimits = DEFAULT_LIMITS) -> Iterator[str]:
    """Give a text file, unpacked and decoded, in pieces that end anywhere.

    Parameters
    ----------
    path, encoding, limits
        As of `decoded_lines`.

    Yields
    ------
    str

    Raises
    ------
    ReadError
        As of `decoded_lines`; the byte is named.
    """
    encoding = encoding_of(start_of(path), checked_encoding(encoding), str(path))
    with open_binary(path, limits) as file:
        yield from decoded_pieces(iter(lambda: file.read(_PIECE), b""), encoding, str(path))
