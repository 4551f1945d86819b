"""What SciPy does to CSR arrays only with a copy or a scan, or not at all; a corpus on disk needs it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

_BLOCK = 1 << 20  # entries


def assemble_csr(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, n_words: int) -> sp.csr_matrix:
    """Make a CSR matrix of arrays known to be canonical, neither copied nor looked at (they may be on disk)."""
    matrix = sp.csr_matrix((len(indptr) - 1, n_words), dtype=data.dtype)
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    matrix.has_canonical_format = True
    return matrix


def entries_of(counts: sp.csr_matrix, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the entries of some rows; of a few rows, faster than SciPy does."""
    rows = rows.astype(np.int64, copy=False)
    begin = counts.indptr[rows].astype(np.int64)
    sizes = counts.indptr[rows + 1] - begin
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    return ends, np.repeat(begin - ends[:-1], sizes) + np.arange(ends[-1])


def rows_of(counts: sp.csr_matrix, rows: np.ndarray) -> sp.csr_matrix:
    """Return some rows of a canonical matrix, as `entries_of` finds them."""
    (ends, places), n_words = entries_of(counts, rows), counts.shape[1]
    dtype = np.int32 if max(places.size, n_words) < 2**31 else np.int64
    indices = counts.indices[places].astype(dtype, copy=False)
    return assemble_csr(counts.data[places], indices, ends.astype(dtype), n_words)


def in_columns(counts: sp.csr_matrix, column_of: np.ndarray, n_words: int) -> sp.csr_matrix:
    """Put counts into other columns."""
    dtype = np.int32 if max(counts.nnz, n_words) < 2**31 else np.int64
    column: np.ndarray = column_of.astype(dtype, copy=False)[counts.indices]
    inside = np.greater_equal(column, 0)
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(inside)])[counts.indptr]
    moved = assemble_csr(counts.data[inside], column[inside], ends.astype(dtype), n_words)
    moved.has_sorted_indices = False
    moved.sort_indices()
    moved.has_canonical_format = True
    return moved


def row_sums(counts: sp.csr_matrix) -> np.ndarray:
    """Sum each row without overflow."""
    dtype = np.float64 if counts.data.dtype.kind == "f" else np.int64
    sums = np.zeros(counts.shape[0], dtype)
    for rows in row_blocks(counts, _BLOCK):  # reduceat makes a copy in the other dtype first
        pointers = counts.indptr[rows.start : rows.stop + 1]
        begin, filled = int(pointers[0]), np.flatnonzero(np.diff(pointers))
        if filled.size:  # it sums up to the next start: right because the empty rows are left out
            data = counts.data[begin : int(pointers[-1])]
            sums[rows.start + filled] = np.add.reduceat(data, pointers[filled] - begin, dtype=dtype)
    return sums


def row_keys(counts: sp.csr_matrix) -> np.ndarray:
    """Return 64 bits of each row (D,): the same for rows of the same values in the same columns, in any order."""
    keys = np.zeros(counts.shape[0], np.uint64)
    for rows in row_blocks(counts, _BLOCK):
        pointers = counts.indptr[rows.start : rows.stop + 1]
        begin, end = int(pointers[0]), int(pointers[-1])
        value = counts.data[begin:end].astype(np.float64).view(np.uint64)
        bits = mixed(mixed(counts.indices[begin:end].astype(np.uint64)) ^ value)
        filled = np.flatnonzero(np.diff(pointers))
        if filled.size:
            keys[rows.start + filled] = np.add.reduceat(bits, pointers[filled] - begin)
    return keys


def mixed(bits: np.ndarray) -> np.ndarray:
    """Mix 64 bits by a round of SplitMix64 (Steele, Lea, Flood 2014)."""
    bits = bits + np.uint64(0x9E3779B97F4A7C15)  # arrays wrap around without a warning
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def row_blocks(counts: sp.csr_matrix, n_entries: int) -> Iterator[slice]:
    """Cut rows into runs that are small enough to be worked on in memory."""
    first, indptr = 0, counts.indptr
    while first < counts.shape[0]:
        most = indptr.dtype.type(min(int(indptr[first]) + n_entries, int(indptr[-1])))  # another dtype: a copy
        last = max(int(np.searchsorted(indptr, most, side="right")) - 1, first + 1)
        yield slice(first, last)
        first = last


def row_of_entry(counts: sp.csr_matrix, at: int) -> int:
    """Find the row that owns the stored entry number `at`."""
    return int(np.searchsorted(counts.indptr, at, side="right")) - 1
