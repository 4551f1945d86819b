"""Prior weights of topics in documents with labels, for kernels; a NumPy twin in tests/sampling/test_labels.py."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stickbreak.numerics.compiling import njit


class LabelRows(NamedTuple):
    """Labels of documents, and what they make of alpha beta; a tuple, so that kernels can take it."""

    start: NDArray[np.int64]  # (D + 1,)  document d has the labels topic[start[d]:start[d + 1]]; (1,): none has any
    topic: NDArray[np.int32]
    n_labels: int  # L: topics 0 .. L - 1 are those of labels
    own: float  # alpha times what all labels of a document have together
    scale: float  # by which alpha beta_k of the other topics is multiplied


NO_LABELS = LabelRows(np.zeros(1, np.int64), np.zeros(0, np.int32), 0, 0.0, 1.0)


@njit(cache=True, nogil=True, inline="always")
def labels_in(labels, d):
    """Return how many labels document d has."""
    return labels.start[d + 1] - labels.start[d] if d + 1 < labels.start.size else 0


@njit(cache=True, nogil=True, error_model="numpy")
def fill_prior(labels, d, n_topics, prior):
    """Make of prior, alpha beta_k for k < n_topics, that of document d, in place.                  math.md (G16)"""
    n_own = labels_in(labels, d)
    if n_own == 0:
        return
    for k in range(labels.n_labels):
        prior[k] = 0.0
    for s in range(labels.start[d], labels.start[d + 1]):
        prior[labels.topic[s]] = labels.own / n_own
    for k in range(labels.n_labels, n_topics):
        prior[k] *= labels.scale
