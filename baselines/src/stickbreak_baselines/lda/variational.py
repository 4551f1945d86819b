"""Variational inference for LDA, in batch and in minibatches (docs/math (L5) to (L8); Hoffman, Blei and Bach 2010)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import digamma, polygamma

from stickbreak.corpus import Corpus
from stickbreak.fitting.checkpoint import is_table, require, whole_number
from stickbreak.fitting.engine import Engine, shards
from stickbreak.fitting.loop import Packed
from stickbreak.fitting.step_sizes import step_size
from stickbreak.numerics.arrays import Float, for_kernels
from stickbreak.numerics.maximum import maximiser
from stickbreak.numerics.pseudo_counts import Eta, by_word
from stickbreak.numerics.ranges import ETA_LIMITS, MEAN_FIELD_ETA, are_sums, is_concentration
from stickbreak.numerics.streams import stream
from stickbreak.sparse_gibbs.priors import FIRST_LAP, Priors
from stickbreak_baselines.lda import objective
from stickbreak_baselines.lda.kernels import ascent

SHARD_COUNTS = 16_384  # stored counts of the documents that a thread takes at a time
START_SHAPE = 100.0  # of the Gamma distribution of the first topics: nearly alike
LIMITS = (MEAN_FIELD_ETA, ETA_LIMITS[1])
NEWTON, STEPS = 5, 5  # steps of the inverse of psi, and of the fixed point of a


@dataclass(frozen=True, slots=True)
class Local:
    """When the local step of a document ends."""

    sweeps: int
    tolerance: float


@dataclass(frozen=True, slots=True)
class Online:
    """Steps on minibatches."""

    batch_size: int
    decay: float
    offset: float


@dataclass(frozen=True, slots=True)
class Visit:
    """What a local step finds of documents."""

    statistics: Float  # (W, K)  expected counts
    bound: float  # the part of the documents
    mean_log: Float  # (K,)  mean E log theta


def near_uniform(n_words: int, n_topics: int, seed: int) -> Float:
    """Return parameters of the first topics, (W, K)."""
    return stream(seed, "topics of LDA").gamma(START_SHAPE, 1.0 / START_SHAPE, size=(n_words, n_topics))


def even_weights(corpus: Corpus, a: Float) -> Float:
    """Return parameters of the weights of documents before they are visited, (D, K)."""
    return a + np.asarray(corpus.document_lengths, np.float64)[:, None] / a.size


def visit(corpus: Corpus, topics: Float, a: Float, gamma: Float, local: Local, engine: Engine) -> Visit:
    """Do the local step of documents; change gamma (D, K) in place.                            docs/math (L5), (L6)

    Parameters
    ----------
    corpus : Corpus
    topics : ndarray of shape (W, K)
        Parameters of the topics.
    a : ndarray of shape (K,)
    gamma : ndarray of shape (D, K)
    local : Local
    engine : Engine
    """
    counts = corpus.counts
    indptr, word, count = counts.indptr.astype(np.int64), for_kernels(counts.indices), counts.data.astype(np.float64)
    weights = np.exp(objective.expected_log(topics.T)).T.copy()
    theta, norm = np.empty_like(gamma), np.empty(count.size)

    def run(rows: tuple[int, int]) -> None:
        first, last = rows
        of_rows = indptr[first : last + 1], word, count, weights, a, local.tolerance, local.sweeps
        ascent.ascend(*of_rows, gamma[first:last], theta[first:last], norm)

    engine.map(run, shards(np.diff(indptr), SHARD_COUNTS))
    parts = sp.csr_array((count / norm, counts.indices, counts.indptr), shape=counts.shape)
    mean_log = objective.expected_log(gamma).mean(axis=0)
    return Visit(weights * (parts.T @ theta), objective.of_documents(count, norm, gamma, a), mean_log)


class Variational:
    """Parameters of the topics, and in batch those of the weights of all documents.

    Parameters
    ----------
    corpus : Corpus
    n_topics : int
    seed : int
    local : Local
    online : Online or None
        None: a lap is one step on all documents, and the objective never falls.
    engine : Engine
    pseudo : csr_array of shape (W, n_kept), optional
        Pseudo-counts of the first topics, with which the start begins.
    """

    def __init__(
        self,
        corpus: Corpus,
        n_topics: int,
        seed: int,
        local: Local,
        online: Online | None,
        engine: Engine,
        pseudo: sp.csr_array | None = None,
    ) -> None:
        self._corpus, self._n_topics, self._seed, self._engine = corpus, n_topics, seed, engine
        self._local, self._online, self.window = local, online, 0 if online else 1
        self._n_steps, self._bound, self._pseudo = 0, 0.0, pseudo
        self._eta: Eta = 0.0  # of the last step
        self._topics: Float  # (W, K)
        self._gamma = np.zeros((0, n_topics))  # (D, K) in batch, before the first lap none
        self._mean_log = np.zeros(0)  # (K,)  mean E log theta, before the first lap none

    def begin(self) -> None:
        """Draw topics; those with pseudo-counts have them."""
        self._topics = near_uniform(self._corpus.n_words, self._n_topics, self._seed)
        if self._pseudo is not None:
            self._topics[:, : self._pseudo.shape[1]] += self._pseudo.toarray()

    def lap(self, number: int, priors: Priors) -> float:
        """Visit all documents; return the bound, in nats per token.                                  docs/math (L6)"""
        self._eta = priors.eta
        bound = self._batch(priors) if self._online is None else self._minibatches(number, priors, self._online)
        return bound / float(self._corpus.n_tokens)

    def _batch(self, priors: Priors) -> float:
        """Visit all documents from even weights, or from where they stood if that would lower the bound."""
        prior = priors.of_words()
        of_topics = objective.of_topics(self._topics.T, prior)
        gamma = even_weights(self._corpus, priors.a)
        found = visit(self._corpus, self._topics, priors.a, gamma, self._local, self._engine)
        if self._gamma.size and found.bound + of_topics < self._bound:
            gamma = self._gamma
            found = visit(self._corpus, self._topics, priors.a, gamma, self._local, self._engine)
        self._gamma, self._mean_log, self._bound = gamma, found.mean_log, found.bound + of_topics
        self._topics = prior + found.statistics
        return self._bound

    def _minibatches(self, number: int, priors: Priors, online: Online) -> float:
        n_documents, bound = self._corpus.n_documents, 0.0
        order = stream(self._seed, f"order of the documents in lap {number}").permutation(n_documents)
        for rows in np.array_split(order, -(-n_documents // online.batch_size)):
            minibatch = self._corpus[np.sort(rows)]
            self._n_steps += 1
            size, share = step_size(self._n_steps, online.decay, online.offset), n_documents / rows.size
            self._topics, found = step(minibatch, self._topics, priors, size, share, self._local, self._engine)
            self._mean_log, bound = moved(self._mean_log, found.mean_log, size), bound + found.bound
        return bound + objective.of_topics(self._topics.T, priors.of_words())

    def learned(self, priors: Priors, names: Collection[str], number: int) -> Priors:
        """Return the priors that maximise the bound further.                                          docs/math (L8)"""
        if self._online is None and number < FIRST_LAP:
            return priors
        return learned(priors, names, self._topics, self._mean_log)

    def counts(self) -> Float:
        """Return the expected counts of words in topics, (W, K)."""
        counts = self._topics - by_word(self._eta)
        if self._pseudo is not None:
            counts[:, : self._pseudo.shape[1]] -= self._pseudo.toarray()
        return np.maximum(counts, 0.0)

    def snapshot(self) -> Packed:
        """Return the parameters."""
        values: dict[str, Any] = {"n_steps": self._n_steps, "bound": self._bound}
        arrays = {"topics": self._topics.copy(), "gamma": self._gamma.copy(), "mean_log": self._mean_log.copy()}
        if isinstance(self._eta, np.ndarray):
            return {**arrays, "eta_of_topics": self._eta}, values
        return arrays, {**values, "eta_of_topics": self._eta}

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any]) -> None:
        """Take up what `snapshot` returned."""
        topics, gamma, K = arrays["topics"], arrays["gamma"], self._n_topics
        self._n_steps, self._bound = whole_number("n_steps", values["n_steps"]), values["bound"]
        self._eta = arrays["eta_of_topics"] if "eta_of_topics" in arrays else values["eta_of_topics"]
        sound = is_table(self._eta, self._corpus.n_words) if np.ndim(self._eta) else is_concentration(self._eta)
        require(sound, "its eta is out of its range")
        require(isinstance(self._bound, float) and are_sums(self._bound, signed=True), "its bound cannot be")
        require(
            is_table(topics, self._corpus.n_words, K) and are_sums(topics), "its topics are not those of these words"
        )
        rows = self._corpus.n_documents if self._online is None else 0
        require(is_table(gamma, rows, K) and are_sums(gamma), "its documents are not these")
        require(float(topics.min(initial=1.0)) > 0 and float(gamma.min(initial=1.0)) > 0, "a parameter is 0")
        mean_log = arrays["mean_log"]
        require(is_table(mean_log, K) and float(mean_log.max()) < 0, "its mean weights are not those of its topics")
        self._topics, self._gamma, self._mean_log = topics.copy(), gamma.copy(), mean_log.copy()


def step(
    minibatch: Corpus, topics: Float, priors: Priors, size: float, share: float, local: Local, engine: Engine
) -> tuple[Float, Visit]:
    """Return topics nearer to those that a minibatch, scaled up, asks for, and what was found in it.  docs/math (L7)

    Parameters
    ----------
    minibatch : Corpus
    topics : ndarray of shape (W, K)
    priors : Priors
    size : float
        Of the step.
    share : float
        Documents of all to those of the minibatch.
    local : Local
    engine : Engine
    """
    found = visit(minibatch, topics, priors.a, even_weights(minibatch, priors.a), local, engine)
    return (1.0 - size) * topics + size * (priors.of_words() + share * found.statistics), found


def moved(mean: Float, of_minibatch: Float, size: float) -> Float:
    """Return a mean after a step; there is none before the first."""
    return (1.0 - size) * mean + size * of_minibatch if mean.size else of_minibatch


def learned(priors: Priors, names: Collection[str], topics: Float, mean_log: Float) -> Priors:
    """Return the priors that maximise the bound, those that are not named as they were.             docs/math (L8)

    Parameters
    ----------
    priors : Priors
    names : collection of {"alpha", "eta"}
    topics : ndarray of shape (W, K)
        Parameters of the topics.
    mean_log : ndarray of shape (K,)
        Mean E log theta over the documents.
    """
    if "alpha" in names:
        priors = priors.with_weights(best_a(priors.a, mean_log))
    if "eta" not in names or isinstance(priors.eta, np.ndarray):
        return priors
    return replace(priors, eta=best_eta(topics, priors.eta, priors.pseudo))


def inverse_digamma(y: Float) -> Float:
    """Return x > 0 with psi(x) = y (Minka 2000, appendix C)."""
    x = np.where(y >= -2.22, np.exp(y) + 0.5, -1.0 / (y - digamma(1.0)))
    for _ in range(NEWTON):
        x = x - (digamma(x) - y) / polygamma(1, x)
    return x


def best_a(a: Float, mean_log: Float) -> Float:
    """Return a under which the weights of documents, of these mean E log theta (K,), are more probable.  docs/math (L8)

    Each step raises the bound.
    """
    for _ in range(STEPS):
        a = inverse_digamma(digamma(a.sum()) + mean_log)
    return a


def best_eta(topics: Float, start: float, pseudo: sp.csr_array | None = None) -> float:
    """Return the eta that maximises the bound, given q of topics with parameters (W, K).       docs/math (L8), (L9)

    The first topics have `pseudo`, counts (W, n_kept), beside eta.
    """
    n_words, n_topics = topics.shape
    total_log = float(objective.expected_log(topics.T).sum())

    def slope(eta: float) -> float:
        alike = n_topics * n_words * (digamma(n_words * eta) - digamma(eta)) + total_log
        return float(alike if pseudo is None else alike + more_slope(eta, pseudo))

    return maximiser(slope, start, LIMITS)


def more_slope(eta: float, pseudo: sp.csr_array) -> float:
    """Return how much the pseudo-counts (W, n_kept) add to the slope of the bound in eta.            docs/math (L9)"""
    n_words, of_words = pseudo.shape[0], pseudo.data
    of_totals = digamma(n_words * eta + pseudo.sum(axis=0)) - digamma(n_words * eta)
    return float(n_words * of_totals.sum() - (digamma(eta + of_words) - digamma(eta)).sum())
