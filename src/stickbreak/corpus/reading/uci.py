"""UCI bag of words: three header lines (D, W, number of entries), then lines "document word count" from 1."""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

import scipy.sparse as sp

from stickbreak.corpus.reading.files import open_binary
from stickbreak.corpus.reading.limits import DEFAULT_LIMITS, ReadLimits
from stickbreak.corpus.reading.number_lines import Column, read_columns, short_line
from stickbreak.exceptions import ReadError

__all__ = ["read_uci"]

_MOST_DIGITS = 19  # of a number that can be meant; Python refuses to convert thousands of digits
_LARGEST = 2**31 - 1


def read_uci(path: Path, limits: ReadLimits = DEFAULT_LIMITS) -> Any:
    """Read a docword file of the UCI bag-of-words collection.

    Parameters
    ----------
    path : Path
        The file, perhaps gzipped. It is read in blocks; the entries are held once.
    limits : ReadLimits
        How far its header is believed.

    Returns
    -------
    coo_matrix of shape (D, W), int32
        D and W as the header says, so with the documents that have no entry. Two entries of one place are counts to be
        added up.

    Raises
    ------
    ReadError
        If the file cannot be read, its header disagrees with the entries, or it declares more than its bytes
        make credible; the line is named.
    """
    with open_binary(path, limits) as file:
        header, n_header_bytes = _header(file, path)
        D, W, n_entries = header
        columns = (Column("int32", 1, D), Column("int32", 1, W), Column("int32", 0, _LARGEST))
        arrays, n_bytes = read_columns(file, path, 3, columns, lambda line, where: _entry(line, where, D, W), limits)
    row, column, count = arrays
    if row.size != n_entries:
        raise ReadError(
            f"{path} holds {row.size} entries but its header declares {n_entries}; the file is cut off "
            "or its third line is wrong"
        )
    limits.check_shape(path, (D, W), n_header_bytes + n_bytes)
    row -= 1
    column -= 1
    return sp.coo_matrix((count, (row, column)), shape=(D, W))


def _header(file: BinaryIO, path: Path) -> tuple[tuple[int, int, int], int]:
    """Read D, W and the number of entries, and say how many bytes that took."""
    raw = [short_line(file, f"{path}, line {number}") for number in (1, 2, 3)]
    lines = [line.decode("utf-8", "backslashreplace").removeprefix("\ufeff").strip() for line in raw]
    if not all(line.isdecimal() for line in lines):
        raise ReadError(
            f"{path} does not begin with three lines of one number each (documents, words, entries), so it "
            "is not a UCI bag of words; give another format"
        )
    for number, line in enumerate(lines, start=1):
        if len(line.lstrip("0")) > _MOST_DIGITS:
            raise ReadError(f"{path}, line {number} declares a number of {len(line)} digits; repair this line")
    D, W, n_entries = (int(line[-_MOST_DIGITS:]) for line in lines)
    if D == 0 or W == 0 or max(D, W) > _LARGEST:
        raise ReadError(f"{path} declares {D} documents and {W} words; both must be at least 1 and below 2^31")
    return (D, W, n_entries), sum(map(len, raw))


def _entry(line: bytes, where: str, D: int, W: int) -> tuple[int, int, int]:
    """Parse a line with any blanks between its three numbers, or say what is wrong with it."""
    text = line.decode("utf-8", "backslashreplace")
    fields = text.split()
    try:
        document, word, count = (int(field) for field in fields)
        if max(map(len, fields)) > _MOST_DIGITS:
            raise ValueError("a number is too long to be shown")
    except ValueError as error:
        raise ReadError(
            f"{where} is {text.strip()!r:.60}; it must hold three whole numbers below 2^31 (document, word, count)"
        ) from error
    if not 1 <= document <= D:
        raise ReadError(f"{where} names document {document} but the header declares {D}; they count from 1")
    if not 1 <= word <= W:
        raise ReadError(f"{where} names word {word} but the header declares {W}; they count from 1")
    if not 0 <= count <= _LARGEST:
        raise ReadError(f"{where} holds the count {count}; a count is at least 0 and below 2^31")
    return document, word, count
