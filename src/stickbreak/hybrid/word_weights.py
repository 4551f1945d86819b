"""What the globals are to the documents of a minibatch: weights of topics, and of the words that occur."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import digamma

from stickbreak.fitting.engine import Engine, shards
from stickbreak.hybrid.kernels import words as word_kernels
from stickbreak.hybrid.state import HybridState, Priors
from stickbreak.numerics.arrays import Float, Int, Int32
from stickbreak.numerics.pseudo_counts import factor_of, of_words, total_of

WEIGHTS = ("mean_field", "ratio")
G_WEIGHTS = (*WEIGHTS, "printed")
_SHARD_PAIRS = 1 << 15  # of words and topics


class TopicWeights(NamedTuple):
    """The topics, for all words alike; where eta is one for each word, by the unit of the word (docs/math (B3))."""

    e: Float  # (K,)  alpha g_k
    base: Float  # (K,)  phi_kw of words without tokens in the topic
    mean_base: Float  # (K,)  E phi_kw of them
    prob: Float  # (K,)  alias table of e_k base_k
    alias: Int32  # (K,)
    smooth: Float  # (1,)  sum of e_k base_k
    column: Int  # (K,)  where the topic stands in the tables of the words; 0: no word has tokens in it


class WordWeights(NamedTuple):
    """The B words of a minibatch, C columns; word b has tokens in topic[start[b]] .. topic[start[b + 1] - 1].

    Weights are by the unit of the word: 1, or what eta of the word alone is, so that words share `TopicWeights`.
    """

    delta: Float  # (B, C)  phi_kw - base_k: exp(E log phi_kw), or E phi_kw, above that of words without tokens
    mean_delta: Float  # (B, C)  the same of E phi_kw
    start: Int  # (B + 1,)
    topic: Int32  # (L,)
    sum: Float  # (L,)  running sums of e_k delta_wk over the topics of the word
    own: Float  # (B,)  the last of them
    mean: Float  # (B,)  alpha times sum_k E[G0_k] E[phi_kw]
    log_unit: Float  # (B,)  log of the unit of `mean` and `mean_delta`


class Weights(NamedTuple):
    """All that the documents of a minibatch are sampled under."""

    of_topics: TopicWeights
    of_words: WordWeights


def topic_weights(state: HybridState, priors: Priors) -> Float:
    """Return g_k, what the corpus says to a new table of topic k, (K,).                 docs/math (B1), (B7)

    An unbounded top level has gamma / (M + gamma) for the slot of a new topic, and nothing for other empty columns.
    """
    slot, found = state.slot, state.concentrations(priors.gamma)
    total = found.sum()
    if priors.g_weight == "mean_field":
        weights = np.exp(digamma(found) - digamma(total))
    elif priors.g_weight == "ratio":
        weights = found / total
    else:
        weights = found**2 / ((found + 1.0) * (total + priors.gamma * (slot is None)))
    if slot is not None:
        weights[slot] = priors.gamma / total
    return weights


class Tables:
    """Room for tables (B, C) that hold zeros between two minibatches: to clear what was written is cheaper."""

    def __init__(self) -> None:
        self._rooms = [np.zeros(0), np.zeros(0)]

    def take(self, n_words: int, n_columns: int, *, two: bool) -> tuple[Float, Float]:
        """Return two tables of zeros, (n_words, n_columns), or twice the same one."""
        size = n_words * n_columns
        for i in range(1 + two):
            if self._rooms[i].size < size:
                self._rooms[i] = np.zeros(size)
        first, second = (self._rooms[i][:size].reshape(n_words, n_columns) for i in (0, int(two)))
        return first, second

    def give_back(self, weights: Weights, engine: Engine) -> None:
        """Set back to zero what the minibatch has written."""
        of_words, column = weights.of_words, weights.of_topics.column

        def clear(rows: tuple[int, int]) -> None:
            for table in (of_words.delta, of_words.mean_delta):
                word_kernels.clear_words(*rows, of_words.start, of_words.topic, column, table)
                if of_words.mean_delta is of_words.delta:
                    break

        engine.map(clear, shards(np.diff(of_words.start), _SHARD_PAIRS))


def weigh(words: Int32, state: HybridState, priors: Priors, tables: Tables, engine: Engine, *, sparse: bool) -> Weights:
    """Return the weights under the current globals.                                       docs/math (B1), (B3)

    `words` (B,): words of the minibatch, increasing. `tables`: what it hands out is to be given back before it is asked
    again. `sparse`: whether topics that no word has tokens in share a column; otherwise topic k stands in column k.
    """
    K, mean_field = state.n_topics, priors.phi_weight == "mean_field"
    by_word = isinstance(priors.eta, np.ndarray)
    eta, factor, total_eta = of_words(priors.eta, words), factor_of(priors.eta), total_of(priors.eta, state.n_words)
    total = state.tokens + total_eta
    inverse_mean = 1.0 / total
    inverse = np.exp(-digamma(total)) if mean_field else inverse_mean
    base = inverse * (np.exp(digamma(eta)) if mean_field and not by_word else factor)
    if state.slot is not None:  # a new topic: the mean of the prior, whatever phi_weight is
        base[state.slot] = 1.0 / (total_eta if by_word else state.n_words)
    e = priors.alpha * topic_weights(state, priors)
    prob, alias, spare = np.empty(K), np.empty(K, np.int32), np.empty((2, K), np.int32)
    smooth = word_kernels.fill_alias(e * base, K, prob, alias, *spare)
    pairs = state.pairs
    held = pairs.holders > 0
    column = np.where(held, np.cumsum(held), 0) if sparse else np.arange(K)
    of_topics = TopicWeights(e, base, factor * inverse_mean, prob, alias, np.array([smooth]), column)

    start = np.concatenate(([0], np.cumsum(pairs.size[words])))
    entries = np.empty(int(start[-1]), np.int32), np.empty(int(start[-1]))
    own, mean, log_unit = np.zeros((3, words.size))
    if by_word:
        log_unit = np.log(eta)
    rooms = tables.take(words.size, int(column.max()) + 1, two=mean_field)
    found = WordWeights(*rooms, start, *entries, own, mean, log_unit)
    mean_e = priors.alpha * state.corpus_weights(priors.gamma)
    topics, weights = (inverse, mean_e, inverse_mean), Weights(of_topics, found)

    def fill(rows: tuple[int, int]) -> None:
        word_kernels.weigh_words(*rows, words, pairs.lists, pairs.scale, eta, by_word, mean_field, topics, weights)

    engine.map(fill, shards(np.diff(start), _SHARD_PAIRS))
    return weights
