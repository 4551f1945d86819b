"""Starts of local steps in which every observation has a topic of its document that can explain it."""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.arrays import Float
from stickbreak.variational.documents import DocumentTopics
from stickbreak.variational.kernels import statistics as statistics_kernels
from stickbreak.variational.observations import Observations

EXPLAINS = 1e-130  # of the largest weight of an observation: with less the responsibilities could underflow


def with_explanations(batch: Observations, start: DocumentTopics, weights: Float, least: float) -> DocumentTopics:
    """Return a start with the best topic of each observation that none of its document's topics explains.

    Densities of vectors differ by hundreds of nats, so such an observation gains more by it than all others of its
    document can lose.

    Parameters
    ----------
    batch : Observations
    start : DocumentTopics
    weights : ndarray of shape (rows, K)
        The largest of each row is 1.
    least : float
        Weight from which on a topic explains an observation.

    Returns
    -------
    DocumentTopics
    """
    best = np.empty(batch.word.size, np.int64)
    statistics_kernels.best_unexplained(batch.indptr, batch.word, start.indptr, start.topic, weights, least, best)
    lost = np.flatnonzero(best >= 0)
    if not lost.size:
        return start
    document = np.repeat(np.arange(batch.n_documents), np.diff(batch.indptr))[lost]
    sizes = np.bincount(document, minlength=batch.n_documents)
    more = DocumentTopics(
        np.concatenate(([0], np.cumsum(sizes))).astype(np.int64), best[lost].astype(np.int32), np.ones(lost.size)
    )
    return start.added(more, weights.shape[1])
