"""Arrays whose references are not counted are the same arrays, and nothing is counted."""

from __future__ import annotations

import sys
from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba.core.errors import TypingError

from stickbreak.numerics.borrowed_arrays import borrowed
from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_pseudo_counts import of_word

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")


class Pair(NamedTuple):
    """Arrays and a number."""

    counts: np.ndarray
    weights: np.ndarray
    n: int


@njit(cache=False, nogil=True)
def far(counts, weights, i):
    """Be called, not inlined: it divides by a remainder and raises."""
    if i > 1 << 40:
        raise ValueError("too many")
    counts[i] += 1
    return weights[i, 0]


@njit(cache=False, nogil=True, forceinline=True)
def near(counts, weights, i):
    """Be inlined."""
    return far(counts, weights, i) if counts[i] < 1 << 40 else 0.0


@njit(cache=False, nogil=True)
def borrowing(pair, rest):
    """Hand borrowed arrays on."""
    pair, (rest, n) = borrowed(pair), borrowed((rest, pair.n))
    total = 0.0
    for i in range(n):
        total += near(pair.counts, pair.weights, i) + near(rest, pair.weights, i)
    return total


def arguments() -> tuple[Pair, np.ndarray]:
    """Return arrays of three kinds."""
    weights = np.asfortranarray(np.arange(12.0).reshape(6, 2))
    return Pair(np.zeros(6, np.int32), weights, 6), np.zeros(12, np.int64)[::2]


def test_borrowed_arrays_stay_with_their_owners() -> None:
    pair, rest = arguments()
    before = sys.getrefcount(pair.counts), sys.getrefcount(rest)
    for _ in range(100):
        borrowing(pair, rest)
    assert (sys.getrefcount(pair.counts), sys.getrefcount(rest)) == before


def test_what_is_only_written_to_a_borrowed_array_arrives() -> None:
    """Numba looks for stores that nobody sees where it has inlined a function of a type."""

    @njit(cache=False)
    def of_tuple(pair, eta):
        pair = borrowed(pair)
        for i in range(pair.counts.size):
            pair.weights[i] = pair.counts[i] * of_word(eta, i)

    @njit(cache=False)
    def of_arrays(counts, weights, eta):
        counts, weights = borrowed((counts, weights))
        for i in range(counts.size):
            weights[i] = counts[i] * of_word(eta, i)

    for kernel in (of_tuple, lambda pair, eta: of_arrays(pair.counts, pair.weights, eta)):
        pair = Pair(np.arange(4.0), np.zeros(4), 0)
        kernel(pair, 0.5)
        assert pair.weights.tolist() == [0.0, 0.5, 1.0, 1.5]


def test_what_holds_references_and_is_no_array_is_not_borrowed() -> None:
    @njit(cache=False)
    def kernel(values):
        return len(borrowed(values))

    with pytest.raises(TypingError, match="borrow arrays, and tuples of arrays and numbers"):
        kernel(numba.typed.List([1.0, 2.0]))
