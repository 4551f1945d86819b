"""Matrix Market: a banner, comments, a line of sizes, then lines "row column value" from 1, or the values of columns.

SciPy's own reader is not used: it ends the process for some broken files.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from stickbreak.corpus.reading.files import open_binary, too_long
from stickbreak.corpus.reading.limits import DEFAULT_LIMITS, ReadLimits
from stickbreak.corpus.reading.number_lines import Column, read_columns, shown
from stickbreak.exceptions import ReadError

__all__ = ["read_matrix_market"]

_BANNERS = (b"%%MatrixMarket", b"%MatrixMarket")
_DTYPES = {"real": "float64", "double": "float64", "integer": "int64", "unsigned-integer": "uint64", "pattern": ""}
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")
_SIZE = re.compile(rb"\d{1,19}")
_WHOLE = re.compile(rb"[+-]?0*\d{1,20}(?:\.0*)?")
_REAL = re.compile(rb"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[ed][+-]?\d+)?|inf|infinity|nan)", re.IGNORECASE)
_FORTRAN = bytes.maketrans(b"dD", b"ee")  # it writes 1.5D+02


@dataclass(frozen=True, slots=True)
class _Header:
    dense: bool
    dtype: str  # of the values; empty: none are given
    symmetry: str
    shape: tuple[int, int]
    n_stored: int  # values in the file
    n_lines: int
    n_bytes: int


def read_matrix_market(path: Path, limits: ReadLimits = DEFAULT_LIMITS) -> Any:
    """Read a Matrix Market file.

    Parameters
    ----------
    path : Path
        The file, perhaps gzipped; sparse ("coordinate") or dense ("array"), of real or whole numbers or of a
        pattern (each entry is 1), with any symmetry. It is read in blocks; the entries are held once.
    limits : ReadLimits
        How far its header is believed.

    Returns
    -------
    scipy sparse matrix of shape (D, W)
        Entries as they come: two of one place are counts to be added up.

    Raises
    ------
    ReadError
        If the file cannot be read or is malformed, or declares more than its bytes make credible; the line is
        named.
    """
    with open_binary(path, limits) as file:
        header = _header(file, path, limits)
        D, W = header.shape
        index = "int32" if max(D, W) < 2**31 else "int64"
        columns = [] if header.dense else [Column(index, 1, D), Column(index, 1, W)]
        columns += [Column(header.dtype)] if header.dtype else []
        arrays, n_bytes = read_columns(
            file, path, header.n_lines, columns, lambda line, where: _numbers(line, where, header), limits
        )
    if arrays[0].size != header.n_stored:
        raise ReadError(
            f"{path} is a Matrix Market file of {arrays[0].size} entries, but its line {header.n_lines} asks for "
            f"{header.n_stored}; the file is cut off or that line is wrong"
        )
    limits.check_shape(path, header.shape, header.n_bytes + n_bytes)
    if header.dense and header.symmetry == "general":
        return sp.csr_matrix(arrays[0].reshape(header.shape, order="F"))
    if header.dense:  # the lower triangle, column by column
        column, row = np.triu_indices(D, 1 if header.symmetry == "skew-symmetric" else 0)
        return _mirrored(row, column, arrays[0], header, path)
    row, column = arrays[0], arrays[1]
    row -= 1
    column -= 1
    values = arrays[2] if header.dtype else np.ones(row.size)
    if header.symmetry == "general":
        return sp.coo_matrix((values, (row, column)), shape=header.shape)
    return _mirrored(row, column, values, header, path)


def _header(file: BinaryIO, path: Path, limits: ReadLimits) -> _Header:
    n_bytes = number = 0
    banner: list[bytes] = []
    while line := file.readline(limits.document_bytes + 1):
        n_bytes += len(line)
        number += 1
        if len(line) > limits.document_bytes:
            raise too_long(f"line {number} of {path}", limits)
        content = line.strip()
        if number == 1:
            banner = _banner(content, path)
        elif content and not content.startswith(b"%"):
            return _sizes(content.split(), banner, f"{path}, line {number}", number, n_bytes)
    raise ReadError(
        f"{path} is a Matrix Market file that ends before its line of sizes; it is cut off, so fetch it again"
    )


def _banner(line: bytes, path: Path) -> list[bytes]:
    """Check the first line and return its four words: object, format, field, symmetry."""
    words = line.split()
    if not words or words[0] not in _BANNERS:
        raise ReadError(
            f"{path} begins with {shown(line)}, so it is not a Matrix Market file, which begins with "
            "'%%MatrixMarket'; give another format"
        )
    return [word.lower() for word in words[1:5]]


def _sizes(sizes: list[bytes], banner: list[bytes], where: str, n_lines: int, n_bytes: int) -> _Header:
    path = where.rpartition(",")[0]
    if len(banner) < 4 or banner[0] != b"matrix" or banner[1] not in (b"coordinate", b"array"):
        raise ReadError(
            f"{path}, line 1 must read '%%MatrixMarket matrix coordinate integer general' or the like, not "
            f"{shown(b' '.join(banner))}; repair this line"
        )
    dense, field, symmetry = banner[1] == b"array", banner[2].decode("latin-1"), banner[3].decode("latin-1")
    if field == "complex":
        raise ReadError(f"{path} holds complex numbers; counts must be real")
    if field not in _DTYPES or symmetry not in _SYMMETRIES or (dense and field == "pattern"):
        raise ReadError(
            f"{path}, line 1 names {shown(banner[2] + b' ' + banner[3])}; a Matrix Market file of counts is real, "
            f"integer or pattern, and {', '.join(_SYMMETRIES)}"
        )
    names = "rows and columns" if dense else "rows, columns and entries"
    if len(sizes) != (2 if dense else 3) or not all(_SIZE.fullmatch(size) for size in sizes):
        raise ReadError(f"{where} is {shown(b' '.join(sizes))}; here a Matrix Market file must give its {names}")
    D, W = int(sizes[0]), int(sizes[1])
    if max(D, W) >= 2**63:
        raise ReadError(f"{where} declares {D} rows and {W} columns; both must be below 2^63")
    if symmetry != "general" and D != W and dense:
        raise ReadError(f"{where} declares {D} rows and {W} columns; a {symmetry} matrix has as many rows as columns")
    n_stored = int(sizes[-1])
    if dense:
        n_stored = D * W if symmetry == "general" else D * (D - 1 if symmetry == "skew-symmetric" else D + 1) // 2
    return _Header(dense, _DTYPES[field], symmetry, (D, W), n_stored, n_lines, n_bytes)


def _numbers(line: bytes, where: str, header: _Header) -> list[int | float]:
    """Parse a line with any blanks between its numbers, or say what is wrong with it; what follows them is ignored."""
    fields = line.split()
    n_places = 0 if header.dense else 2
    n_fields = n_places + bool(header.dtype)
    if len(fields) < n_fields or not all(_SIZE.fullmatch(field) for field in fields[:n_places]):
        wanted = "a value" if header.dense else "row, column, value" if header.dtype else "row, column"
        raise ReadError(f"{where} is {shown(line)}; an entry of this Matrix Market file must read: {wanted}")
    numbers: list[int | float] = [int(field) for field in fields[:n_places]]
    for place, size, what in zip(numbers, header.shape, ("row", "column"), strict=False):
        if not 1 <= place <= size:
            raise ReadError(f"{where} names {what} {place}, but the Matrix Market file has {size}; they count from 1")
    if header.dtype:
        numbers.append(_value(fields[n_places], where, header.dtype))
    return numbers


def _value(field: bytes, where: str, dtype: str) -> int | float:
    if dtype == "float64":
        if _REAL.fullmatch(field):
            return float(field.translate(_FORTRAN) if field[-1:].isdigit() else field)
        raise ReadError(f"{where} holds {shown(field)} where this Matrix Market file must have a number")
    if _WHOLE.fullmatch(field):
        value = int(field.partition(b".")[0])
        if np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
            return value
    raise ReadError(f"{where} holds {shown(field)} where this Matrix Market file must have a whole number below 2^63")


def _mirrored(row: np.ndarray, column: np.ndarray, values: np.ndarray, header: _Header, path: Path) -> Any:
    """Add the other triangle, which a symmetric file leaves out."""
    n = min(header.shape)
    if row.size and max(row.max(), column.max()) >= n:
        raise ReadError(f"{path} is not square, so it cannot be {header.symmetry}; repair its first line")
    beside = row != column
    mirrored = values[beside]
    if header.symmetry == "skew-symmetric":
        mirrored = -(mirrored.astype(np.float64) if mirrored.dtype.kind == "u" else mirrored)
    places = np.concatenate([row, column[beside]]), np.concatenate([column, row[beside]])
    return sp.coo_matrix((np.concatenate([values, mirrored]), places), shape=header.shape)
