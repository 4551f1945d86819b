"""CVB0 for the HDP topic model, one token type at a time (SPEC 1.14).

Teh, Kurihara and Welling (2008); the zero-order form of Asuncion et al. (2009). The topics and the document weights are
integrated out and only q(z) is kept, so that a document can change its mind about a topic longer than under mean field.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from stickbreak.collapsed import _kernels
from stickbreak.collapsed.state import CollapsedState, Float
from stickbreak.corpus import Corpus

SMALLEST_BETA = 1e-12


def cvb0(
    corpus: Corpus,
    n_topics: int,
    *,
    alpha: float,
    gamma: float,
    eta: float,
    rng: np.random.Generator | None = None,
    start: tuple[NDArray[np.float32], Float] | None = None,
) -> Iterator[CollapsedState]:
    """Yield the state after each sweep over all documents, without end.

    Starts with every (document, word) pair in one topic, drawn at random, or at given responsibilities. They are stored
    for all the given documents: 4 bytes for each pair and topic.

    Parameters
    ----------
    corpus : Corpus
        D documents, W words.
    n_topics : int
        Truncation K.
    alpha, gamma, eta : float
        Concentrations of the documents, of the corpus, and pseudo-count of a word in a topic.
    rng : Generator, optional
        Draws the start, if none is given.
    start : (r, beta), optional
        Responsibilities (nnz, K) of the stored counts, float32, rows summing to one, changed in place; and corpus
        weights (K,).

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
    if start is None:
        topic = np.random.default_rng(rng).integers(n_topics, size=word.size)
        r = np.zeros((word.size, n_topics), dtype=np.float32)
        r[np.arange(word.size), topic] = 1.0
        start = r, np.full(n_topics, 1 / (n_topics + 1))
    r, beta = start
    S, n_dk = _sums(word, n_words, count, r), _sums(document, n_documents, count, r)
    state = CollapsedState(r, S, S.sum(axis=0), n_dk, beta)
    while True:
        prior = alpha * state.beta
        _kernels.sweep(indptr, word, count, r, S, state.N, state.n_dk, prior, eta, n_words * eta)
        state.beta = corpus_weights(state.n_dk, prior, gamma)
        yield state


def corpus_weights(n_dk: Float, prior: Float, gamma: float) -> Float:
    """Return beta_k = M_k / (gamma + sum M) from the expected numbers of tables, (K,).     SPEC 1.14, math.md (C2)"""
    tables = _kernels.expected_tables(n_dk, prior)
    return np.maximum(tables / (gamma + tables.sum()), SMALLEST_BETA)


def responsibilities(corpus: Corpus, topic_word: Float, n_dk: Float, prior: Float) -> NDArray[np.float32]:
    """Return r of every stored count under given topics and expected counts of the documents, (nnz, K).

    r_dwk ∝ topic_word[w, k] (N_dk + prior_k): where another inference stands, as a start of this one.
    """
    counts = corpus.counts
    out = np.empty((counts.nnz, prior.size), np.float32)
    _kernels.responsibilities(counts.indptr.astype(np.int64), counts.indices, topic_word, n_dk + prior, out)
    return out


def _sums(rows: np.ndarray, n_rows: int, count: Float, r: NDArray[np.float32]) -> Float:
    """Return the sums of c r by row, (n_rows, K)."""
    out = np.zeros((n_rows, r.shape[1]))
    _kernels.add_rows(rows, count, r, out)
    return out
