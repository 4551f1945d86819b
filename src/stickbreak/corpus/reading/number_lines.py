"""Lines of numbers, read in blocks: a regular block at once, any other line by line, to name what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from stickbreak.corpus.reading.files import too_long
from stickbreak.corpus.reading.limits import ReadLimits
from stickbreak.exceptions import ReadError

__all__ = ["Column", "LineOfNumbers", "read_columns", "short_line", "shown"]

_BLOCK_BYTES = 1 << 24
_SHORT = 1 << 16  # bytes of a line that can hold but a few numbers
_BLANKS = bytes.maketrans(b"\t\r\v\f", b"    ")

LineOfNumbers = Callable[[bytes, str], Sequence[int | float]]
"""Reads the numbers of a line, whose place is given for messages; raises ReadError."""


@dataclass(frozen=True, slots=True)
class Column:
    """What the numbers of a column may be.

    Attributes
    ----------
    dtype : {"int32", "int64", "uint64", "float64"}
        Their type.
    lowest, highest : int or None
        Their range; None: all that the type can hold.
    """

    dtype: str
    lowest: int | None = None
    highest: int | None = None

    def holds(self, numbers: np.ndarray) -> bool:
        """Return whether all numbers are in the range."""
        if not numbers.size:
            return True
        above = self.lowest is None or int(numbers.min()) >= self.lowest
        return above and (self.highest is None or int(numbers.max()) <= self.highest)


def short_line(file: BinaryIO, where: str) -> bytes:
    """Read a line that is not long, such as one of a header.

    Parameters
    ----------
    file : binary file
        From where it stands.
    where : str
        File and line, for the message.

    Returns
    -------
    bytes
        With its end; empty at the end of the file.

    Raises
    ------
    ReadError
        If the line has more than 65,536 bytes.
    """
    line = file.readline(_SHORT + 1)
    if len(line) > _SHORT:
        raise ReadError(f"{where} has more than {_SHORT} bytes where a few numbers are expected; repair this line")
    return line


def read_columns(
    file: BinaryIO, path: Path, n_before: int, columns: Sequence[Column], careful: LineOfNumbers, limits: ReadLimits
) -> tuple[list[np.ndarray], int]:
    """Read the rest of a file that holds the same numbers on each line.

    Parameters
    ----------
    file : binary file
        Behind its header.
    path : Path
        Its name, for messages.
    n_before : int
        Lines of the header.
    columns : sequence of Column
        The numbers of a line. Lines of blanks are passed over.
    careful : callable
        Reads one line of a block that is not regular. What it returns is in the ranges of the columns.
    limits : ReadLimits
        `document_bytes` of it holds for lines that are longer than a block of 16 MiB.

    Returns
    -------
    arrays : list of ndarray of shape (n_lines,)
        One for each column.
    n_bytes : int
        What was read.

    Raises
    ------
    ReadError
        For a line that is too long, and what `careful` raises.
    """
    parts: list[list[np.ndarray]] = [[np.zeros(0, column.dtype)] for column in columns]
    number, n_bytes = n_before + 1, 0
    for block in _blocks(file, path, number, limits):
        arrays = _at_once(block, columns) or _line_by_line(block, columns, careful, path, number)
        for part, array in zip(parts, arrays, strict=True):
            part.append(array)
        number += block.count(b"\n")
        n_bytes += len(block)
    whole = []
    while parts:  # one column after another, so that only one is held twice
        whole.append(np.concatenate(parts.pop(0)))
    return whole, n_bytes


def shown(content: bytes) -> str:
    """Return the start of a line or a word as a message shows it."""
    return repr(content[:61].decode("utf-8", "backslashreplace").strip())[:60]


def _blocks(file: BinaryIO, path: Path, number: int, limits: ReadLimits) -> Iterator[bytes]:
    """Cut a file into blocks of whole lines, each with its end."""
    rest: list[bytes] = []
    while chunk := file.read(_BLOCK_BYTES):
        end = chunk.rfind(b"\n") + 1
        if end:
            block = b"".join([*rest, chunk[:end]])
            yield block
            number += block.count(b"\n")
            rest, chunk = [], chunk[end:]
        rest.append(chunk)
        if sum(map(len, rest)) > max(limits.document_bytes, _BLOCK_BYTES):
            raise too_long(f"line {number} of {path}", limits)
    last = b"".join(rest)
    if last:
        yield last + b"\n"


def _at_once(block: bytes, columns: Sequence[Column]) -> list[np.ndarray] | None:
    """Parse a block with pyarrow; None when anything is not as it should be."""
    if b"x" in block or b"X" in block:  # pyarrow takes hexadecimal numbers
        return None
    arrays = None if b"\r" in block else _parsed(block, columns)
    if arrays is None:
        arrays = _parsed(_single_blanks(block), columns)
    if arrays is None or not all(column.holds(array) for column, array in zip(columns, arrays, strict=True)):
        return None
    return arrays


def _parsed(block: bytes, columns: Sequence[Column]) -> list[np.ndarray] | None:
    import pyarrow as pa
    from pyarrow import csv

    names = [str(number) for number in range(len(columns))]
    types = {name: pa.type_for_alias(column.dtype) for name, column in zip(names, columns, strict=True)}
    try:
        table = csv.read_csv(
            pa.BufferReader(block),
            read_options=csv.ReadOptions(column_names=names),
            parse_options=csv.ParseOptions(delimiter=" ", quote_char=False),
            convert_options=csv.ConvertOptions(column_types=types, null_values=[]),
        )
    except pa.ArrowInvalid:
        return None
    return [np.asarray(table.column(name).to_numpy()) for name in names]


def _single_blanks(block: bytes) -> bytes:
    """Leave one blank between two numbers, and none at the ends of lines."""
    block = block.translate(_BLANKS)
    while b"  " in block:
        block = block.replace(b"  ", b" ")
    return block.replace(b" \n", b"\n").replace(b"\n ", b"\n").removeprefix(b" ")


def _line_by_line(
    block: bytes, columns: Sequence[Column], careful: LineOfNumbers, path: Path, number: int
) -> list[np.ndarray]:
    rows: list[Any] = [
        careful(line, f"{path}, line {at}") for at, line in enumerate(block.split(b"\n"), start=number) if line.strip()
    ]
    return [np.array([row[i] for row in rows], dtype=column.dtype) for i, column in enumerate(columns)]
