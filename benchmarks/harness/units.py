"""What every system of the benchmarks does: it learns a unit of work at a time, and says what it has learned."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus import Corpus

Float = NDArray[np.float64]
# Word distributions (K, W), and concentrations alpha_k or other weights (K,).
Answer = tuple[Float, Float]


class System(Protocol):
    """Learns from documents a unit at a time."""

    passes: float  # over the documents, so far

    def work(self) -> Iterator[float]:
        """Learn; yield the processor seconds of each unit, after it."""

    def answer(self) -> Answer:
        """Return the word distributions and the weights of the topics at this moment."""


def processor_seconds(work: Callable[[], Any]) -> float:
    """Return the processor seconds of all threads of this process."""
    began = time.process_time()
    work()
    return time.process_time() - began


def minibatches(n_documents: int, size: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Yield the rows of minibatches without end, all of one size, out of shuffled passes one after another."""
    rng, size = np.random.default_rng(seed), min(size, n_documents)
    order = np.zeros(0, dtype=np.int64)
    while True:
        if order.size < size:
            order = np.concatenate([order, rng.permutation(n_documents)])
        yield order[:size]
        order = order[size:]


def stream(model: Any, corpus: Corpus, rows: NDArray[np.int64]) -> float:
    """Give a minibatch to `partial_fit`; return the processor seconds.

    A further pass over the documents begins a further stream: none may be longer than `total_documents`.
    """
    if getattr(model, "n_documents_seen_", 0) + rows.size > corpus.n_documents:
        model.n_documents_seen_ = 0
    minibatch = corpus[rows]
    return processor_seconds(lambda: model.partial_fit(minibatch))


def bags(corpus: Corpus) -> list[list[tuple[int, int]]]:
    """Return the documents as lists of pairs (word, count)."""
    counts = corpus.counts
    pairs = list(zip(counts.indices.tolist(), counts.data.astype(np.int64).tolist(), strict=True))
    return [pairs[first:last] for first, last in zip(counts.indptr[:-1], counts.indptr[1:], strict=True)]
