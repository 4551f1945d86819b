"""What the globals are to the documents of a minibatch: weights of topics, and of the words that occur."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import digamma

from stickbreak.hybrid import _kernels
from stickbreak.hybrid.state import Float, HybridState, Int, Int32, Priors
from stickbreak.inference.executor import Executor, shards

WEIGHTS = ("mean_field", "ratio")
G_WEIGHTS = (*WEIGHTS, "printed")
_SHARD_ENTRIES = 1 << 19  # pairs (word, topic) of a shard


class TopicWeights(NamedTuple):
    """The topics, for all words alike."""

    e: Float  # (K,)  alpha g_k
    prob: Float  # (K,)  alias table of e_k base_k
    alias: Int32  # (K,)
    inverse_mean: Float  # (K,)  1 / sum of the Dirichlet of phi_k
    numbers: Float  # (4,)  sum of e_k base_k; scale of the counts; eta; alpha


class WordWeights(NamedTuple):
    """The B words of a minibatch; their alias tables have entries start[b] .. start[b + 1] - 1."""

    phi: Float  # (B, K)  exp(E log phi_kw), or E phi_kw
    start: Int  # (B + 1,)
    topic: Int32  # (L,)
    prob: Float  # (L,)
    alias: Int32  # (L,)
    own: Float  # (B,)  sum of e_k (phi_kw - base_k)
    mean: Float  # (B,)  alpha times sum_k E[G0_k] E[phi_kw]


@dataclass(frozen=True, slots=True)
class Weights:
    """All that the documents of a minibatch are sampled under."""

    words: Int32  # (B,)  the words, increasing
    of_topics: TopicWeights
    of_words: WordWeights


def topic_weights(state: HybridState, priors: Priors) -> Float:
    """Return g_k, what the corpus says to a new table of topic k, (K,).                       math.md (B1)"""
    found = state.tables + priors.gamma / state.n_topics
    total = found.sum()
    if priors.g_weight == "mean_field":
        return np.exp(digamma(found) - digamma(total))
    if priors.g_weight == "ratio":
        return found / total
    return found**2 / ((found + 1.0) * (total + priors.gamma))


def weigh(words: Int32, state: HybridState, priors: Priors, executor: Executor, *, sparse: bool) -> Weights:
    """Return the weights under the globals of now.                                       math.md (B1), (B3)

    Parameters
    ----------
    words : ndarray of shape (B,)
        Words of the minibatch, increasing.
    state : HybridState
    priors : Priors
    executor : Executor
    sparse : bool
        Whether alias tables are made.
    """
    K, eta, mean_field = state.n_topics, priors.eta, priors.phi_weight == "mean_field"
    total = state.tokens + eta * state.counts.shape[0]
    inverse = np.exp(-digamma(total)) if mean_field else 1.0 / total
    base = inverse * (np.exp(digamma(eta)) if mean_field else eta)
    e = priors.alpha * topic_weights(state, priors)
    prob, alias, spare = np.empty(K), np.empty(K, np.int32), np.empty((2, K), np.int32)
    smooth = _kernels.fill_alias(e * base, K, prob, alias, *spare)
    of_topics = TopicWeights(e, prob, alias, 1.0 / total, np.array([smooth, state.scale, eta, priors.alpha]))

    sizes = np.zeros(words.size, np.int64)
    _kernels.count_pairs(words, state.counts, sizes)
    start = np.concatenate(([0], np.cumsum(sizes)))
    n_entries = int(start[-1]) if sparse else 0
    entries = np.empty(n_entries, np.int32), np.empty(n_entries), np.empty(n_entries, np.int32)
    own, mean = np.zeros((2, words.size))
    of_words = WordWeights(np.empty((words.size, K)), start, *entries, own, mean)
    mean_e = priors.alpha * state.corpus_weights(priors.gamma)

    def fill(rows: tuple[int, int]) -> None:
        _kernels.weigh_words(
            *rows, words, state.counts, state.scale, eta, mean_field, inverse, base, e, mean_e, 1.0 / total,
            of_words, sparse,
        )  # fmt: skip

    executor.map(fill, shards(np.full(words.size, K), _SHARD_ENTRIES))
    return Weights(words, of_topics, of_words)
