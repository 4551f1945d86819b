"""Weights of documents under fixed topics, by zero-order collapsed inference: deterministic, and with one solution."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from stickbreak.corpus import Corpus
from stickbreak.fitting.executor import Executor, shards
from stickbreak.numerics.arrays import Float, for_kernels
from stickbreak.prediction.kernels import weights as weight_kernels

TOLERANCE, SWEEPS = 1e-4, 300
_SHARD_COUNTS = 16_384  # stored counts of a shard

# The probabilities of some words in all topics, (n, K): what a model can say without a table of all its words.
WordRows = Callable[[NDArray[np.integer] | slice], Float]


def collapsed_weights(
    corpus: Corpus,
    topic_word: Float | WordRows,
    prior: Float,
    executor: Executor,
    *,
    tolerance: float = TOLERANCE,
    max_sweeps: int = SWEEPS,
) -> Float:
    """Return the weights of documents whose topics are fixed.                                     docs/math (D1)

    Parameters
    ----------
    corpus : Corpus
        D documents over W words.
    topic_word : ndarray of shape (K, W), or callable
        Positive word distributions, or what returns them for some words, (n, K). Of few documents only their words are
        looked at.
    prior : ndarray of shape (K,)
        Positive concentrations, alpha beta_k.
    executor : Executor
    tolerance : float, default=1e-4
        A document ends when no expected count N_dk changes by more.
    max_sweeps : int, default=300
        Most sweeps of a document.

    Returns
    -------
    ndarray of shape (D, K)
        (N_dk + prior_k) / (N_d + sum of the prior); rows sum to one, the row of an empty document is the prior.
    """
    counts = corpus.counts
    indptr, count = counts.indptr.astype(np.int64), counts.data.astype(np.float64)
    words, word = _words_of(counts)
    topics = np.ascontiguousarray(topic_word(words) if callable(topic_word) else topic_word[:, words].T)
    out = np.empty((corpus.n_documents, prior.size))

    def run(rows: tuple[int, int]) -> None:
        first, last = rows
        weight_kernels.document_weights(
            indptr[first : last + 1], word, count, topics, prior, tolerance, max_sweeps, out[first:last]
        )

    executor.map(run, shards(np.diff(indptr), _SHARD_COUNTS))
    return out


def _words_of(counts: sp.csr_matrix) -> tuple[NDArray[np.integer] | slice, NDArray[np.integer]]:
    """Return the words of documents, or all where they have most of them; and which of these each count is of."""
    found = np.zeros(counts.shape[1], bool)
    found[counts.indices] = True
    words = np.flatnonzero(found)
    if 2 * words.size > found.size:
        return slice(None), for_kernels(counts.indices)
    place = np.empty(found.size, counts.indices.dtype)
    place[words] = np.arange(words.size)
    return words, place[counts.indices]


def prior_and_rest(alpha: float, weights: Float) -> Float:
    """Return alpha times the corpus weights of topics, and what is left of alpha for the inactive ones, (K + 1,)."""
    prior = alpha * weights
    return np.append(prior, max(alpha - float(prior.sum()), 0.0))


def weights_and_rest(
    corpus: Corpus,
    topic_word: Float | WordRows,
    prior: Float,
    executor: Executor,
    *,
    tolerance: float = TOLERANCE,
    max_sweeps: int = SWEEPS,
) -> Float:
    """Return the weights of documents with those of the inactive topics last, which take no tokens.    docs/math (D1)

    Parameters
    ----------
    corpus : Corpus
        D documents over W words.
    topic_word : ndarray of shape (K, W), or callable
        As in `collapsed_weights`.
    prior : ndarray of shape (K + 1,)
        Concentrations a_k of the documents, that of the inactive topics last (`prior_and_rest`).
    executor : Executor
    tolerance, max_sweeps
        As in `collapsed_weights`.

    Returns
    -------
    ndarray of shape (D, K + 1)
        (N_dk + a_k) / (N_d + a); rows sum to one.
    """
    active = collapsed_weights(corpus, topic_word, prior[:-1], executor, tolerance=tolerance, max_sweeps=max_sweeps)
    lengths = np.asarray(corpus.document_lengths, dtype=np.float64)
    rest = prior[-1] / (lengths + prior.sum())
    return np.column_stack([active * (1.0 - rest)[:, None], rest])
