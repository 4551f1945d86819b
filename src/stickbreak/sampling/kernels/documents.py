"""Topics and tables of documents under corpus weights, and what labels make of these.

NumPy twins in tests/sampling/test_labels.py, test_counts.py and test_sweeps.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_arrays import copy
from stickbreak.numerics.kernel_random import open_stream, uniform

SMALLEST = 1e-300  # a weight that underflowed: its topic has tokens, so the weight is positive


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
    """Make of prior, alpha beta_k for k < n_topics, that of document d, in place.                  docs/math (G16)"""
    n_own = labels_in(labels, d)
    if n_own == 0:
        return
    for k in range(labels.n_labels):
        prior[k] = 0.0
    for s in range(labels.start[d], labels.start[d + 1]):
        prior[labels.topic[s]] = labels.own / n_own
    for k in range(labels.n_labels, n_topics):
        prior[k] *= labels.scale


@njit(cache=True, nogil=True, error_model="numpy")
def assign(start, word, phi, prior, labels, rounds, z, rng, key):
    """Draw z_i in proportion to phi_wk (N_dk + prior_k), after `rounds` of N_dk = sum_i of them.       docs/math (D1)

    prior, alpha beta, is that of documents without labels.
    """
    n_topics = prior.size
    own, weight, expected, share = np.empty(n_topics), np.empty(n_topics), np.empty(n_topics), np.empty(n_topics)
    for d in range(start.size - 1):
        open_stream(rng, key, d)
        copy(prior, own)
        fill_prior(labels, d, n_topics, own)
        copy(own, weight)
        for _ in range(rounds):
            copy(own, expected)
            for i in range(start[d], start[d + 1]):
                row, total = phi[word[i]], 0.0
                for k in range(n_topics):
                    total += row[k] * weight[k]
                for k in range(n_topics):
                    expected[k] += row[k] * weight[k] / total
            copy(expected, weight)
        for i in range(start[d], start[d + 1]):
            row, total = phi[word[i]], 0.0
            for k in range(n_topics):
                share[k] = row[k] * weight[k]
                total += share[k]
            u, k = uniform(rng) * total - share[0], 0
            while u >= 0.0 and k < n_topics - 1:
                k += 1
                u -= share[k]
            z[i] = k


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def tables_of(n, a, rng):
    """Draw m = sum_{i < n} Bernoulli(a / (a + i)), the tables of n tokens.                           docs/math (G5)"""
    tables = 1
    for i in range(1, n):
        if uniform(rng) * (a + i) < a:
            tables += 1
    return tables


@njit(cache=True, nogil=True, error_model="numpy")
def draw_tables(start, documents, prior, labels, rng, key):
    """Draw m_jk of documents, a = prior_k = alpha beta_k.                                 docs/math (G5), (G16)"""
    for d in range(start.size - 1):
        open_stream(rng, key, d)
        n_own = labels_in(labels, d)
        for s in range(start[d], start[d] + documents.size[d]):
            k = documents.topic[s]
            a = prior[k]
            if n_own > 0:
                a = labels.own / n_own if k < labels.n_labels else a * labels.scale
            documents.m[s] = tables_of(documents.n[s], a, rng)
