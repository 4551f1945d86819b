"""What fixed topics of Pachinko allocation say of documents: weights, and the probability of the next token."""

from __future__ import annotations

import numpy as np

from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import Engine, shards
from stickbreak.numerics.arrays import Float, for_kernels
from stickbreak.prediction.left_to_right import Particles, Sequences
from stickbreak_baselines.pachinko.kernels import sequences as sequence_kernels
from stickbreak_baselines.pachinko.kernels import weights as weight_kernels

TOLERANCE, SWEEPS = 1e-4, 300
_SHARD_COUNTS = 16_384  # stored counts of a shard


def weights_of(corpus: Corpus, topic_word: Float, a: Float, b: Float, engine: Engine) -> tuple[Float, Float]:
    """Return the weights of documents whose topics are fixed.                                         docs/math (P5)

    Parameters
    ----------
    corpus : Corpus
        D documents over W words.
    topic_word : ndarray of shape (T, W)
    a : ndarray of shape (S,)
    b : ndarray of shape (S, T)
    engine : Engine

    Returns
    -------
    of_super : ndarray of shape (D, S)
    of_topic : ndarray of shape (D, T)
        Rows of both sum to one.
    """
    counts = corpus.counts
    indptr, count = counts.indptr.astype(np.int64), counts.data.astype(np.float64)
    words, word = np.unique(counts.indices, return_inverse=True)
    topics, word = np.ascontiguousarray(topic_word[:, words].T), for_kernels(word.astype(counts.indices.dtype))
    of_super, of_topic = np.empty((corpus.n_documents, a.size)), np.empty((corpus.n_documents, b.shape[1]))

    def run(rows: tuple[int, int]) -> None:
        first, last = rows
        weight_kernels.document_weights(
            indptr[first : last + 1], word, count, topics, a, b, TOLERANCE, SWEEPS, of_super[first:last],
            of_topic[first:last],
        )  # fmt: skip

    engine.map(run, shards(np.diff(indptr), _SHARD_COUNTS))
    return of_super, of_topic


class PathRule:
    """Paths to topics: p(s, k | paths before) = (a_s + n_s)(b_sk + n_sk) / ((a + n)(b_s + n_s)).        docs/math (P6)

    Parameters
    ----------
    topic_word : ndarray of shape (T, W)
        Word distributions.
    a : ndarray of shape (S,)
    b : ndarray of shape (S, T)
        0 where there is no path.
    """

    def __init__(self, topic_word: Float, a: Float, b: Float) -> None:
        self._topic_word, self._a, self._b = topic_word, a, b

    @property
    def numbers_per_word(self) -> int:
        """Doubles that are gathered for each different word of a shard: phi_kw, and sum_k b_sk phi_kw."""
        return sum(self._b.shape)

    def log_probabilities(self, documents: Sequences, particles: Particles) -> tuple[Float, Float]:
        """Return both estimates of the log probability of each document, (D,) and (D,).       docs/math (P6), (D4)"""
        words, row = np.unique(documents.word, return_inverse=True)
        by_word = np.ascontiguousarray(self._topic_word[:, words].T)
        printed, unbiased = (np.empty(documents.content.size) for _ in range(2))
        sequence_kernels.score_documents(
            documents.start, row.ravel(), documents.content, particles.key, particles.n, particles.resample, by_word,
            by_word @ self._b.T, self._a, self._b, printed, unbiased,
        )  # fmt: skip
        return printed, unbiased
