"""Arrays whose references are not counted are the same arrays, and nothing is counted."""

from __future__ import annotations

import sys
from typing import NamedTuple

import numba
import numpy as np
import pytest

from stickbreak import HybridHDP
from stickbreak.corpus import planted_lda
from stickbreak.hybrid.kernels.documents import sample_documents
from stickbreak.numerics.borrowing import borrowed
from stickbreak.numerics.compiling import njit

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
def counting(pair, rest):
    """Hand arrays on as they come."""
    total = 0.0
    for i in range(pair.n):
        total += near(pair.counts, pair.weights, i) + near(rest, pair.weights, i)
    return total


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


def test_borrowed_arrays_are_the_same_memory() -> None:
    (pair, rest), (twin, other) = arguments(), arguments()
    assert borrowing(pair, rest) == counting(twin, other) == 60.0
    assert pair.counts.tolist() == twin.counts.tolist() == [1] * 6
    assert rest.tolist() == other.tolist() == [1] * 6


def test_borrowed_arrays_stay_with_their_owners() -> None:
    pair, rest = arguments()
    before = sys.getrefcount(pair.counts), sys.getrefcount(rest)
    for _ in range(100):
        borrowing(pair, rest)
    assert (sys.getrefcount(pair.counts), sys.getrefcount(rest)) == before


@pytest.mark.parametrize(("kernel", "counts"), [(counting, True), (borrowing, False)])
def test_references_to_borrowed_arrays_are_not_counted(kernel, counts: bool) -> None:
    kernel(*arguments())
    (code,) = kernel.inspect_llvm().values()
    body = code[code.index("define") :]
    own = body[: body.index("\n}")]  # of the kernel itself: the rest is its wrapper, which Python calls
    assert ("NRT_incref" in own) == ("NRT_decref" in own) == counts


def test_sweep_of_the_hybrid_counts_no_references_in_its_loops() -> None:
    corpus, _ = planted_lda(20, 30, n_topics=3, mean_tokens=10, seed=0)
    HybridHDP(n_topics=3, n_laps=1, init="random", random_state=0).fit(corpus)
    signature = sample_documents.signatures[0]
    again = numba.jit(**sample_documents.targetoptions)(sample_documents.py_func)  # of a cached one Numba shows nothing
    again.compile(signature)
    code = again.inspect_llvm(signature)
    assert code.count("call void @NRT_incref") <= 6, "the six arrays that are not in tuples"
