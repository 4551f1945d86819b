"""CVB0 for the HDP topic model, one token type at a time (SPEC 1.14).

Teh, Kurihara and Welling (2008); the zero-order form of Asuncion et al. (2009). The topics and the document weights are
integrated out and only q(z) is kept, so that a document can change its mind about a topic longer than under mean field.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stickbreak.collapsed import _kernels
from stickbreak.collapsed.state import CollapsedState, Float
from stickbreak.corpus import Corpus

SMALLEST_BETA = 1e-12


def cvb0(
    corpus: Corpus, n_topics: int, *, alpha: float, gamma: float, eta: float, rng: np.random.Generator
) -> Iterator[CollapsedState]:
    """Yield the state after each sweep over all documents, without end.

    Starts with every (document, word) pair in one topic, drawn at random. The responsibilities of the given documents
    are stored: 4 bytes for each pair and topic.

    Parameters
    ----------
    corpus : Corpus
        D documents, W words.
    n_topics : int
        Truncation K.
    alpha, gamma, eta : float
        Concentrations of the documents, of the corpus, and pseudo-count of a word in a topic.
    rng : Generator
        Draws the start.

    Yields
    ------
    CollapsedState
        The same object each time, updated in place.
    """
    counts = corpus.counts
    n_documents, n_words = counts.shape
    indptr = counts.indptr.astype(np.int64)
    word, count = counts.indices.astype(np.int32), counts.data.astype(np.float64)
    document = np.repeat(np.arange(n_documents), np.diff(indptr))
    topic = rng.integers(n_topics, size=word.size)
    r = np.zeros((word.size, n_topics), dtype=np.float32)
    r[np.arange(word.size), topic] = 1.0
    S = _table(word, topic, count, (n_words, n_topics))
    state = CollapsedState(
        r,
        S,
        S.sum(axis=0),
        _table(document, topic, count, (n_documents, n_topics)),
        np.full(n_topics, 1 / (n_topics + 1)),
    )
    while True:
        prior = alpha * state.beta
        _kernels.sweep(indptr, word, count, r, S, state.N, state.n_dk, prior, eta, n_words * eta)
        state.beta = corpus_weights(state.n_dk, prior, gamma)
        yield state


def corpus_weights(n_dk: Float, prior: Float, gamma: float) -> Float:
    """Return beta_k = M_k / (gamma + sum M) from the expected numbers of tables, (K,).     SPEC 1.14, math.md (C2)"""
    tables = _kernels.expected_tables(n_dk, prior)
    return np.maximum(tables / (gamma + tables.sum()), SMALLEST_BETA)


def _table(rows: np.ndarray, columns: np.ndarray, values: Float, shape: tuple[int, int]) -> Float:
    """Return the sums of values at (row, column)."""
    flat = np.bincount(rows.astype(np.int64) * shape[1] + columns, weights=values, minlength=shape[0] * shape[1])
    return flat.astype(np.float64).reshape(shape)
