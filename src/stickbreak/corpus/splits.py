"""Which documents, or groups, are selected or held out, and the split of their tokens in two halves."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from stickbreak.corpus.csr import mixed, row_sums
from stickbreak.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def selected_rows(selection: ArrayLike, n_rows: int, what: str) -> np.ndarray:
    """Return the rows that an array of int or a mask selects; `what` they are ("document") is for the message."""
    rows = np.asarray(selection)
    if rows.dtype == bool:
        if rows.shape != (n_rows,):
            raise InputError(f"a mask of shape {rows.shape} cannot select from {n_rows} {what}s; give one bool each")
        return np.flatnonzero(rows)
    if rows.size == 0:
        return np.zeros(0, dtype=np.int64)
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise InputError(f"{what}s are selected by a slice, a flat array of int or a mask, not by {selection!r}")
    if rows.min() < -n_rows or rows.max() >= n_rows:
        raise InputError(f"there is no {what} {rows.max() if rows.max() >= n_rows else rows.min()}; there are {n_rows}")
    return rows


def checked_seed(seed: Any, *, negative: bool = False) -> int:
    """Return the seed of a split, which may be a number of NumPy; an InputError for what is none."""
    if not isinstance(seed, Integral) or (seed < 0 and not negative):
        raise InputError(f"seed is {seed!r:.40}; give a whole number{'' if negative else ' from 0 upwards'}")
    return int(seed)


def held_out_rows(n_rows: int, held_out: Any, seed: int, what: str) -> np.ndarray:
    """Draw the rows to hold out."""
    is_number = isinstance(held_out, Real) and not isinstance(held_out, bool)
    if not is_number or not (0 < held_out < 1 or (1 <= held_out < n_rows and held_out == int(held_out))) or n_rows < 2:
        raise InputError(
            f"cannot hold out {held_out!r:.40} of {n_rows} {what}s; give a share between 0 and 1, or a number "
            f"from 1 to one less than there are {what}s"
        )
    n_held = min(max(round(held_out * n_rows) if held_out < 1 else int(held_out), 1), n_rows - 1)
    held = np.zeros(n_rows, dtype=bool)
    held[np.random.default_rng(checked_seed(seed)).permutation(n_rows)[:n_held]] = True
    return held


_TOKENS_AT_ONCE = 4_000_000
_LONGEST_LISTED = 1_000_000  # tokens of a document; those of a longer one are not listed one by one
_ROW_BITS = 24  # rows of one chunk fit; the other 40 bits of a key order the tokens of a document


def split_halves(counts: sp.csr_matrix, seed: int) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Split every document in two halves of its tokens, at random.

    Token i of document d gets the random key hash(seed, d, i); the (n + 1) // 2 tokens of the smallest keys
    are the first half. Of a document of very many tokens only the numbers are drawn, by a generator of its own.
    So a document's split depends on the seed, its row and its own counts, on nothing else.
    """
    first = np.empty_like(counts.data)
    for start, stop in _chunks(row_sums(counts)):
        a, b = int(counts.indptr[start]), int(counts.indptr[stop])
        row = np.repeat(np.arange(start, stop), np.diff(counts.indptr[start : stop + 1]))
        first[a:b] = _first_half(counts.data[a:b], row, seed)
    second = counts.data - first
    return _without_zeros(counts, first), _without_zeros(counts, second)


def first_halves(offsets: np.ndarray, seed: int) -> np.ndarray:
    """Choose a random half of every group of rows.

    Row i of group g gets the random key hash(seed, g, i), as the tokens of a document do; the (n + 1) // 2 rows of the
    smallest keys are the first half.
    """
    chosen = np.zeros(int(offsets[-1]), dtype=bool)
    for g, (start, stop) in enumerate(pairwise(offsets.tolist())):
        keys = _hash(seed, np.full(stop - start, g), np.arange(stop - start))
        chosen[start + np.argsort(keys, kind="stable")[: (stop - start + 1) // 2]] = True
    return chosen


def _first_half(values: np.ndarray, row: np.ndarray, seed: int) -> np.ndarray:
    """Give how much of each entry goes to the first half; the entries of some consecutive documents `row`."""
    whole = np.floor(values).astype(np.int64)
    long = _entries_of_long(whole, row)
    listed = whole.copy()
    for entries in long:
        listed[entries] = 0
    entry = np.repeat(np.arange(values.size), listed)  # of each token
    local = row[entry] - (row[0] if row.size else 0)
    lengths = np.bincount(local)
    position = np.arange(entry.size) - (np.cumsum(lengths) - lengths)[local]  # of each token in its document
    keys = _hash(seed, row[entry], position) >> np.uint64(_ROW_BITS)
    # The row leads the key, so documents stay together; within one, the order is random.
    order = np.argsort((local.astype(np.uint64) << np.uint64(64 - _ROW_BITS)) | keys, kind="stable")
    chosen = order[position < ((lengths + 1) // 2)[local]]
    half: np.ndarray = np.bincount(entry[chosen], minlength=values.size)
    for entries in long:
        half[entries] = _half_of_many(whole[entries], seed, int(row[entries.start]))
    if values.dtype.kind == "i":
        half = half.astype(values.dtype)
        return half
    nth = np.arange(values.size) - np.searchsorted(row, row)  # entry of its document
    coin = _hash(seed, row, -1 - nth) >> np.uint64(63)
    first: np.ndarray = half + (values - whole) * coin
    return first


def _entries_of_long(whole: np.ndarray, row: np.ndarray) -> list[slice]:
    """Find the documents of more than _LONGEST_LISTED tokens; give their entries."""
    starts = np.flatnonzero(np.diff(row, prepend=-1))
    tokens = np.add.reduceat(whole, starts) if starts.size else starts
    stops = np.append(starts[1:], row.size)
    return [slice(int(starts[i]), int(stops[i])) for i in np.flatnonzero(tokens > _LONGEST_LISTED)]


def _half_of_many(tokens: np.ndarray, seed: int, row: int) -> np.ndarray:
    """Give how many tokens of each entry are in a random half of a document, without listing its tokens.

    A fair coin for every token makes the first half; then as many tokens as it has too many (or too few), drawn
    without replacement, change sides. What a set of a random size holds is uniform given its size, and stays so:
    this is the multivariate hypergeometric law, for numbers that NumPy's own sampler does not take. The tokens that
    change sides are of the order of the square root of all.
    """
    rng = np.random.default_rng([seed % 2**64, row])
    first = rng.binomial(tokens, 0.5).astype(np.int64)
    surplus = int(first.sum()) - (int(tokens.sum()) + 1) // 2
    side = first if surplus > 0 else tokens - first
    ends = np.cumsum(side)
    changing = rng.choice(int(ends[-1]), abs(surplus), replace=False, shuffle=False)
    moved = np.bincount(np.searchsorted(ends, changing, side="right"), minlength=tokens.size)
    half: np.ndarray = first - moved if surplus > 0 else first + moved
    return half


def _chunks(lengths: np.ndarray) -> Iterator[tuple[int, int]]:
    """Cut the documents in runs of about _TOKENS_AT_ONCE tokens, so that memory stays bounded."""
    total, start = np.cumsum(lengths), 0
    while start < lengths.size:
        done = total[start - 1] if start else 0
        stop = int(np.searchsorted(total, done + _TOKENS_AT_ONCE, side="right"))
        stop = min(max(stop, start + 1), start + 2**_ROW_BITS - 1, lengths.size)
        yield start, stop
        start = stop


def _without_zeros(pattern: sp.csr_matrix, data: np.ndarray) -> sp.csr_matrix:
    half = sp.csr_matrix((data, pattern.indices.copy(), pattern.indptr.copy()), shape=pattern.shape)
    half.eliminate_zeros()
    half.has_canonical_format = True
    return half


def _hash(seed: int, row: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Hash three integers to uniform 64 bits."""
    state = mixed(np.array([seed % 2**64], dtype=np.uint64))
    state = mixed(state ^ row.astype(np.uint64))
    return mixed(state ^ position.astype(np.uint64))
