"""Weights of documents under fixed topics, by zero-order collapsed inference: deterministic, and with one solution."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.fitting.engine import Engine, shards
from stickbreak.numerics.arrays import Float, for_kernels
from stickbreak.prediction.kernels import weights as weight_kernels
from stickbreak.prediction.words import document_blocks

TOLERANCE, SWEEPS = 1e-4, 300
LEAST = 1e-3  # weight that a sparse table holds
_SHARD_COUNTS = 16_384  # stored counts of a shard

# The probabilities of some words in all topics, (n, K): what a model can say without a table of all its words.
WordRows = Callable[[NDArray[np.integer] | slice], Float]


def collapsed_weights(
    corpus: Corpus,
    topic_word: Float | WordRows,
    prior: Float,
    engine: Engine,
    *,
    strength: float = math.inf,
    tolerance: float = TOLERANCE,
    max_sweeps: int = SWEEPS,
) -> Float:
    """Return the weights of documents whose topics are fixed.                              docs/math (D1), (L25)

    Parameters
    ----------
    corpus : Corpus
        D documents over W words.
    topic_word : ndarray of shape (K, W), or callable
        Positive word distributions, or what returns them for some words, (n, K). Of few documents only their words are
        looked at.
    prior : ndarray of shape (K,) or (D, K)
        Positive concentrations, alpha beta_k, or those of each document.
    engine : Engine
    strength : float, default=inf
        Of the topics against the words that a document has; infinite without bursts.
    tolerance : float, default=1e-4
        A document ends when no expected count N_dk changes by more.
    max_sweeps : int, default=300
        Most sweeps of a document.

    Returns
    -------
    ndarray of shape (D, K)
        (N_dk + prior_k) / (N_d + sum of the prior), of tokens that are no repeats; rows sum to one, the row of an empty
        document is the prior.
    """
    counts = corpus.counts
    indptr, count = counts.indptr.astype(np.int64), counts.data.astype(np.float64)
    words, word = _words_of(counts)
    topics = np.ascontiguousarray(topic_word(words) if callable(topic_word) else topic_word[:, words].T)
    out, priors = np.empty((corpus.n_documents, prior.shape[-1])), np.ascontiguousarray(np.atleast_2d(prior))

    def run(rows: tuple[int, int]) -> None:
        first, last = rows
        own = priors if prior.ndim == 1 else priors[first:last]
        weight_kernels.document_weights(
            indptr[first : last + 1], word, count, topics, own, strength, tolerance, max_sweeps, out[first:last]
        )

    engine.map(run, shards(np.diff(indptr), _SHARD_COUNTS))
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


def table_of_weights(
    weights: Callable[[Any], Float], documents: Any, n_topics: int, *, sparse: bool, dtype: Any, least: float
) -> Any:
    """Return weights (D, K) of documents or groups as `transform` does; a dense table of doubles is not made.

    `weights` makes those of some of the documents. A `sparse` table lacks what is below `least`.
    """
    parts = (weights(documents[rows]) for rows in document_blocks(len(documents), n_topics))
    if not sparse:
        table, first = np.empty((len(documents), n_topics), dtype), 0
        for part in parts:
            table[first : first + len(part)] = part
            first += len(part)
        return table
    rows = [sp.csr_array(np.where(part >= least, part, 0.0).astype(dtype)) for part in parts]
    return sp.vstack(rows, format="csr") if rows else sp.csr_array((0, n_topics), dtype=dtype)


def checked_dtype(dtype: Any) -> np.dtype:
    """Return the dtype of weights; refuse all but single and double precision."""
    if dtype not in ("float32", "float64", np.float32, np.float64, np.dtype("float32"), np.dtype("float64")):
        raise InputError(f"dtype is {dtype!r:.40}; give 'float32' or 'float64'.")
    return np.dtype(dtype)


def checked_least(least: Any) -> float:
    """Return the least weight of a sparse table; refuse what is no share."""
    if not isinstance(least, int | float | np.number) or not 0 <= least < 1:
        raise InputError(f"least is {least!r:.40}; give a number from 0 to less than 1.")
    return float(least)


def prior_and_rest(alpha: float, weights: Float) -> Float:
    """Return alpha times the corpus weights of topics, and what is left of alpha for the inactive ones, (K + 1,)."""
    prior = alpha * weights
    return np.append(prior, max(alpha - float(prior.sum()), 0.0))


def weights_and_rest(
    corpus: Corpus,
    topic_word: Float | WordRows,
    prior: Float,
    engine: Engine,
    *,
    strength: float = math.inf,
    tolerance: float = TOLERANCE,
    max_sweeps: int = SWEEPS,
) -> Float:
    """Return the weights of documents with those of the inactive topics last, which take no tokens.    docs/math (D1)

    (N_dk + a_k) / (N_d + a), (D, K + 1): as `collapsed_weights`, with the concentrations of `prior_and_rest`, (K + 1,),
    or of each document, (D, K + 1).
    """
    options: dict[str, Any] = {"strength": strength, "tolerance": tolerance, "max_sweeps": max_sweeps}
    active = collapsed_weights(corpus, topic_word, prior[..., :-1], engine, **options)
    lengths = np.asarray(corpus.document_lengths, dtype=np.float64)
    rest = prior[..., -1] / (lengths + prior.sum(axis=-1))
    return np.column_stack([active * (1.0 - rest)[:, None], rest])
