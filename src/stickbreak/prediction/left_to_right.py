"""Left-to-right likelihood of new documents (Wallach et al. 2009): each token given those before it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stickbreak.corpus import Corpus
from stickbreak.corpus.sources import Source
from stickbreak.corpus.tokens import refuse_fractions, whole_counts
from stickbreak.exceptions import InputError
from stickbreak.fitting.checks import check_many
from stickbreak.fitting.engine import Engine, shards, threads_and_workers
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.streams import key_of, seed_from
from stickbreak.prediction.kernels import sequences as sequence_kernels

_SHARD_NUMBERS, _SHARD_DRAWS = 1 << 22, 1 << 18  # doubles that a shard gathers (32 MiB); draws of a shard
_SUM_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class LeftToRight:
    """Left-to-right likelihood of documents.                                                       docs/math (D4)

    Attributes
    ----------
    printed : float
        Nats per token by the estimate printed in Wallach et al.: the product over tokens of means over particles. Use
        it to compare with published figures. It is biased for any number of particles.
    unbiased : float
        Nats per token by the mean over particles of the product over tokens. The expectation of this mean is the
        probability of the document. (Its expected logarithm is lower, and comes closer with more particles.)
    n_tokens : int
        Number of tokens scored.
    n_documents : int
        Number of documents with tokens.
    printed_log_p, unbiased_log_p : ndarray of shape (D,)
        The log probability of each document in nats by each estimate; 0 for an empty document.
    """

    printed: float
    unbiased: float
    n_tokens: int
    n_documents: int
    printed_log_p: Float
    unbiased_log_p: Float

    @property
    def printed_perplexity(self) -> float:
        """Perplexity per token, ``exp(-printed)``."""
        return _perplexity(self.printed)

    @property
    def perplexity(self) -> float:
        """Perplexity per token, ``exp(-unbiased)`` (docs/math (D4))."""
        return _perplexity(self.unbiased)


def _perplexity(score: float) -> float:
    return math.exp(-score) if score > -700 else math.inf


class Sequences(NamedTuple):
    """Documents as sequences of words, in the order in which they are predicted."""

    start: Int  # (D + 1,)  document d has the words start[d] .. start[d + 1] - 1
    word: NDArray[np.integer]  # (N,)
    content: NDArray[np.uint64]  # (D,)  what random numbers of a document go by


class Particles(NamedTuple):
    """How many samples of each document there are, and how they are drawn."""

    n: int
    resample: bool
    key: np.uint64


class PredictiveRule(Protocol):
    """Topics that emit words, and the probability of each for the next token given the topics of those before."""

    @property
    def numbers_per_word(self) -> int:
        """Doubles that are gathered for each different word of a shard."""

    def log_probabilities(self, documents: Sequences, particles: Particles) -> tuple[Float, Float]:
        """Return both estimates of the log probability of each document, (D,) and (D,).         docs/math (D4)"""


class TopicRule:
    """K topics with a Dirichlet prior: p(k | topics before) is (a_k + n_k) / (a + n).        docs/math (D3), (L26)

    Parameters
    ----------
    topic_word : ndarray of shape (K, W)
        Word distributions.
    prior : ndarray of shape (K,)
        Concentrations a_k, their sum positive.
    strength : float, default=inf
        How many tokens of its document the topics are worth; infinite without bursts.
    """

    def __init__(self, topic_word: Float, prior: Float, strength: float = math.inf) -> None:
        self._topic_word, self._prior, self._strength = topic_word, prior, strength

    @property
    def numbers_per_word(self) -> int:
        """Doubles that are gathered for each different word of a shard: phi_kw, and sums of a_k phi_kw."""
        return 2 * self._prior.size

    def log_probabilities(self, documents: Sequences, particles: Particles) -> tuple[Float, Float]:
        """Return both estimates of the log probability of each document, (D,) and (D,).         docs/math (D4)"""
        words, row = np.unique(documents.word, return_inverse=True)
        by_word = np.ascontiguousarray(self._topic_word[:, words].T)
        running = np.cumsum(by_word * self._prior, axis=1)
        printed, unbiased = (np.empty(documents.content.size) for _ in range(2))
        documents, total = documents._replace(word=row.ravel()), float(self._prior.sum())
        strength = self._strength
        sequence_kernels.score_documents(documents, particles, by_word, running, total, strength, printed, unbiased)
        return printed, unbiased


def left_to_right(
    topic_word: ArrayLike,
    prior: ArrayLike,
    X: Any,
    *,
    n_particles: int = 20,
    resample: bool = True,
    random_state: int | np.random.RandomState | None = 0,
    n_jobs: int | None = None,
) -> LeftToRight:
    """Estimate the probability of documents under given topics, each token given those before it (Wallach et al. 2009).

    The topics may come from any source; fitted models of this library have a method of the same name. Use it to compare
    models from different libraries, for example latent Dirichlet allocation by its topics and its alpha.

    Parameters
    ----------
    topic_word : array-like of shape (n_topics, n_words)
        Word distributions of the topics; rows sum to one.
    prior : array-like of shape (n_topics,)
        Concentrations of the Dirichlet prior of a document's topic weights.
    X : Corpus, sparse matrix or array of shape (n_documents, n_words)
        Counts of words in documents, as whole numbers.
    n_particles : int, default=20
        Number of samples of the topics of each document.
    resample : bool, default=True
        Whether the topics of all earlier tokens are drawn again before a token is predicted. The work then grows with
        the square of the length of a document, otherwise in proportion to it. Both are unbiased; without, long
        documents need many particles.
    random_state : int, RandomState or None, default=0
        Seed of the word order in each document and of the samples. Both depend only on the words of the document: they
        are the same for any model and any position of the document.
    n_jobs : int or None, default=None
        Number of threads. None means 1, and -1 means all cores. The result does not depend on it.

    Returns
    -------
    LeftToRight
        Nats per token, by the printed and by the unbiased estimate, and the log probability of each document. It is
        ``-inf`` for a document with a word that no topic has.

    Raises
    ------
    InputError
        If the shapes do not fit, rows do not sum to one, the prior is negative or zero everywhere, counts are not whole
        numbers, or no document has a token.

    Examples
    --------
    >>> from stickbreak.evaluation import left_to_right
    >>> score = left_to_right([[0.9, 0.1], [0.2, 0.8]], [0.5, 0.5], [[1, 0], [0, 0]])
    >>> round(score.perplexity * (0.5 * 0.9 + 0.5 * 0.2), 12), score.n_documents
    (1.0, 1)
    """
    topics, a = _checked_topics(topic_word, prior)
    corpus = Corpus.from_counts(X)
    if corpus.n_words != topics.shape[1]:
        raise InputError(
            f"topic_word has {topics.shape[1]} words, but the documents have {corpus.n_words}; "
            "count the documents over the words of the topics."
        )
    with threads_and_workers(n_jobs) as engine:
        return score_sequences(TopicRule(topics, a), corpus, n_particles, resample, random_state, engine)


def _checked_topics(topic_word: ArrayLike, prior: ArrayLike) -> tuple[Float, Float]:
    """Return topics and prior as arrays, refuse what cannot be."""
    topics, a = np.asarray(topic_word, dtype=np.float64), np.asarray(prior, dtype=np.float64)
    if topics.ndim != 2 or a.shape != topics.shape[:1]:
        raise InputError(
            f"topic_word has shape {topics.shape} and prior has shape {a.shape}; "
            "give a row of word probabilities and a concentration for each topic."
        )
    if not (np.isfinite(a).all() and (a >= 0).all() and a.sum() > 0):
        raise InputError(
            "prior holds a negative or infinite number, or only zeros; give a concentration for each topic."
        )
    wrong = ~((topics >= 0).all(axis=1) & (np.abs(topics.sum(axis=1) - 1.0) <= _SUM_TOLERANCE))
    if wrong.any():
        k = int(np.flatnonzero(wrong)[0])
        raise InputError(
            f"row {k} of topic_word is not a distribution of words (its sum is {topics[k].sum():.6g}); "
            "give non-negative probabilities that sum to one."
        )
    return topics, a


def score_sequences(
    rule: PredictiveRule,
    corpus: Corpus,
    n_particles: int,
    resample: bool,
    random_state: int | np.random.RandomState | None,
    engine: Engine,
) -> LeftToRight:
    """Put documents in order and score them, in shards that need little memory; as `left_to_right`. docs/math (D4)"""
    check_many("n_particles", n_particles, 16)
    refuse_fractions(corpus)
    lengths, seed = corpus.document_lengths, seed_from(random_state)
    if not lengths.any():
        raise InputError("no document has a token, so there is nothing to score; give documents with words.")
    order, particles = (
        key_of(seed, 0, "order of words"),
        Particles(int(n_particles), bool(resample), key_of(seed, 0, "left to right")),
    )

    draws = particles.n * lengths * ((lengths + 1.0) / 2.0 if resample else 1.0)
    size = draws / _SHARD_DRAWS + np.diff(corpus.counts.indptr) * (rule.numbers_per_word / _SHARD_NUMBERS)
    source = engine.source(corpus)
    parts = engine.run(_scored, [source.part(slice(*rows)) for rows in shards(size, 1)], (rule, order, particles))
    printed, unbiased = (np.concatenate([part[form] for part in parts]) for form in (0, 1))
    n_tokens = int(lengths.sum())
    return LeftToRight(
        float(printed.sum() / n_tokens),
        float(unbiased.sum() / n_tokens),
        n_tokens,
        int(np.count_nonzero(lengths)),
        printed,
        unbiased,
    )


def _scored(shared: tuple[PredictiveRule, np.uint64, Particles], documents: Source) -> tuple[Float, Float]:
    """Return both estimates of the log probability of each document of a job."""
    rule, order, particles = shared
    return rule.log_probabilities(_in_order(documents.load(), order), particles)


def _in_order(corpus: Corpus, key: np.uint64) -> Sequences:
    """Write documents out, the words of each in a random order that only the key and they decide."""
    counts, whole = corpus.counts, whole_counts(corpus)
    word = np.repeat(counts.indices, whole).astype(np.int32)
    start = np.concatenate(([0], np.cumsum(whole)))[counts.indptr].astype(np.int64)
    content = np.empty(corpus.n_documents, np.uint64)
    sequence_kernels.order_words(start, word, key, content)
    return Sequences(start, word, content)
