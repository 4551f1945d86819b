"""The lines of a text file, unpacked and decoded; every failure is a ReadError with its place."""

from __future__ import annotations

import codecs
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass

from stickbreak.corpus.reading.decoding import checked_encoding, decoded, decoded_pieces, encoding_of, line_end_of
from stickbreak.corpus.reading.files import is_packed, open_binary, reading, start_of, too_long, unpacks_too_far
from stickbreak.corpus.reading.limits import DEFAULT_LIMITS, ReadLimits
from stickbreak.storage.urls import Location

__all__ = ["Span", "binary_lines", "decoded_blocks", "decoded_chunks", "decoded_lines", "line_starts"]

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
    with reading(path), path.open("rb") as file:
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
    most = _most_unpacked(path, limits)
    lines_end = line_end_of(encoding) == b"\n"
    blocks = _decoded_blocks(path, encoding, limits, span) if lines_end else _wide_lines(path, encoding, limits)
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
    number, offset = (1, 0) if span is None else (span.line, span.begin)
    together = codecs.lookup(encoding).name in _TOGETHER
    for block in _binary_blocks(path, limits, span):
        try:
            text = block.decode(encoding) if together else None
        except UnicodeDecodeError:
            text = None
        if text is None:
            for line in io.BytesIO(block):
                text = decoded(line, encoding, f"{path}, line {number}", offset)
                yield number, text.removeprefix("\ufeff") if offset == 0 else text
                number, offset = number + 1, offset + len(line)
        else:
            yield number, text.removeprefix("\ufeff") if offset == 0 else text
            number, offset = number + block.count(b"\n"), offset + len(block)


def _binary_blocks(path: Location, limits: ReadLimits, span: Span | None) -> Iterator[bytes]:
    """Give whole lines, about a mebibyte of them; none is held that is longer than the limit."""
    longest = limits.document_bytes
    number = 1 if span is None else span.line
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
            number += block.count(b"\n", 0, begin)
            if len(block) - begin > longest:
                if begin:
                    yield block[:begin]
                raise too_long(f"line {number} of {path}", limits)
            number += block.endswith(b"\n")
            yield block


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
