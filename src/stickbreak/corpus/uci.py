"""UCI bag of words: three header lines (D, W, number of entries), then lines "document word count" from 1."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from stickbreak.corpus.files import decoded_lines, open_binary
from stickbreak.corpus.limits import DEFAULT_LIMITS, ReadLimits
from stickbreak.exceptions import ReadError

__all__ = ["read_uci"]

_BLOCK_BYTES = 1 << 24
_MOST_DIGITS = 19  # of a number that can be meant; Python refuses to convert thousands of digits


def read_uci(path: Path, limits: ReadLimits = DEFAULT_LIMITS) -> sp.csr_matrix:
    """Read a docword file of the UCI bag-of-words collection.

    Parameters
    ----------
    path : Path
        The file, perhaps gzipped. It is read in blocks; the entries are held once, then sorted into rows.

    Returns
    -------
    csr_matrix of shape (D, W), int32
        D and W as the header says, so with the documents that have no entry.

    Raises
    ------
    ReadError
        When the file cannot be read, or its header disagrees with the entries; the line is named.
    """
    header = _header(path)
    entries = _entries_quickly(path, header)
    if entries is None:  # something is unusual: read line by line, which is slow but can tell what and where
        entries = _entries_by_line(path, header)
    D, W, _ = header
    row, column, count = entries
    return sp.csr_matrix((count, (row - 1, column - 1)), shape=(D, W))


def _header(path: Path) -> tuple[int, int, int]:
    lines = [line.strip() for line in islice(decoded_lines(path), 3)]
    if len(lines) < 3 or not all(line.isdecimal() for line in lines):
        raise ReadError(
            f"{path} does not begin with three lines of one number each (documents, words, entries), so it "
            "is no UCI bag of words; give another format"
        )
    for number, line in enumerate(lines, start=1):
        if len(line.lstrip("0")) > _MOST_DIGITS:
            raise ReadError(f"{path}, line {number} declares a number of {len(line)} digits; repair this line")
    D, W, n_entries = (int(line[-_MOST_DIGITS:]) for line in lines)
    if D == 0 or W == 0 or max(D, W) >= 2**31:
        raise ReadError(f"{path} declares {D} documents and {W} words; both must be at least 1 and below 2^31")
    return D, W, n_entries


Entries = tuple[np.ndarray, np.ndarray, np.ndarray]


def _entries_quickly(path: Path, header: tuple[int, int, int]) -> Entries | None:
    """Parse all entries with pyarrow; None when anything is not as it should be."""
    import pyarrow as pa
    from pyarrow import csv

    names = ["document", "word", "count"]
    blocks: list[Any] = []
    with open_binary(path) as file:
        for _ in range(3):
            file.readline()
        try:
            reader = csv.open_csv(
                file,
                read_options=csv.ReadOptions(column_names=names, block_size=_BLOCK_BYTES),
                parse_options=csv.ParseOptions(delimiter=" ", quote_char=False, ignore_empty_lines=False),
                convert_options=csv.ConvertOptions(column_types=dict.fromkeys(names, pa.int32()), null_values=[]),
            )
            for batch in reader:
                blocks.append([batch.column(i).to_numpy(zero_copy_only=True) for i in range(3)])
        except pa.ArrowInvalid:
            return None
    if not blocks:
        return None
    row, column, count = (np.concatenate([block[i] for block in blocks]) for i in range(3))
    D, W, n_entries = header
    sound = (
        row.size == n_entries
        and row.min() >= 1
        and row.max() <= D
        and column.min() >= 1
        and column.max() <= W
        and count.min() >= 0
    )
    return (row, column, count) if sound else None


def _entries_by_line(path: Path, header: tuple[int, int, int]) -> Entries:
    """Parse line by line: any blanks between numbers, empty lines passed over, faults named by line."""
    D, W, n_entries = header
    numbers: list[tuple[int, int, int]] = []
    for number, line in _numbered(path):
        where = f"{path}, line {number}"
        fields = line.split()
        try:
            document, word, count = (int(field) for field in fields)
            if max(map(len, fields)) > _MOST_DIGITS:
                raise ValueError("a number is too long to be shown")
        except ValueError as error:
            raise ReadError(
                f"{where} is {line.strip()!r:.60}; it must hold three whole numbers below 2^31 (document, word, count)"
            ) from error
        if not 1 <= document <= D:
            raise ReadError(f"{where} names document {document} but the header declares {D}; they count from 1")
        if not 1 <= word <= W:
            raise ReadError(f"{where} names word {word} but the header declares {W}; they count from 1")
        if not 0 <= count < 2**31:
            raise ReadError(f"{where} holds the count {count}; a count is at least 0 and below 2^31")
        numbers.append((document, word, count))
    if len(numbers) != n_entries:
        raise ReadError(
            f"{path} holds {len(numbers)} entries but its header declares {n_entries}; the file is cut off "
            "or its third line is wrong"
        )
    table = np.array(numbers, dtype=np.int32).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]


def _numbered(path: Path) -> Iterator[tuple[int, str]]:
    lines = enumerate(decoded_lines(path), start=1)
    return ((number, line) for number, line in islice(lines, 3, None) if line.strip())
