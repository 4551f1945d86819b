"""Small problems of the hybrid."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.engine import Engine
from stickbreak.hybrid.document_sampler import SweepSettings, TableFactors, in_own_words, sample
from stickbreak.hybrid.global_step import take_step
from stickbreak.hybrid.kernels.words import fill_alias
from stickbreak.hybrid.state import HybridState, WordTopics
from stickbreak.hybrid.word_weights import Tables, TopicWeights, Weights, WordWeights, weigh

EXACT = json.loads((Path(__file__).parents[1] / "data" / "hybrid.json").read_text(encoding="utf-8"))
ONE_THREAD = Engine(1)


def alias_table(weight):
    """Return the sum of weights, and the two columns of their alias table."""
    prob, alias, spare = np.empty(weight.size), np.empty(weight.size, np.int32), np.empty((2, weight.size), np.int32)
    return fill_alias(np.asarray(weight, dtype=float), weight.size, prob, alias, *spare), prob, alias


def weights_of(e, phi):
    """Return `Weights` of given e (K,) and phi (K, W); a part of every phi belongs to the table of all words."""
    e, phi = np.asarray(e, dtype=float), np.asarray(phi, dtype=float)
    K, W = phi.shape
    base = 0.4 * phi.min(axis=1)
    smooth, prob, alias = alias_table(e * base)
    delta = np.ascontiguousarray((phi - base[:, None]).T)
    sums = np.cumsum(e * delta, axis=1)
    of_topics = TopicWeights(e, base, np.full(K, 1e-3), prob, alias, np.array([smooth]), np.arange(K))
    topic = np.tile(np.arange(K, dtype=np.int32), W)
    own, mean, log_unit = sums[:, -1].copy(), np.ones(W), np.zeros(W)
    of_words = WordWeights(delta, delta, K * np.arange(W + 1), topic, sums.ravel(), own, mean, log_unit)
    return Weights(of_topics, of_words)


def state_of(counts, tables=None, scale=1.0, n_steps=0, *, unbounded=False):
    """Return the state with scale * counts (W, K) expected tokens."""
    counts = np.asarray(counts, dtype=float)
    pairs = WordTopics.from_dense(counts)
    pairs.scale = scale
    tables = np.ones(counts.shape[1]) if tables is None else np.asarray(tables, dtype=float)
    return HybridState(pairs, scale * counts.sum(axis=0), tables, n_steps, unbounded)


def expected_counts(state):
    """Return S, (W, K)."""
    return state.pairs.dense(np.arange(state.n_topics)).T


def found_under(tokens, state, priors, sweeps: SweepSettings, key, engine=ONE_THREAD):
    """Return what `sample` finds in documents under a state."""
    words, own = in_own_words(tokens.start, tokens.word)
    weights = weigh(words, state, priors, Tables(), engine, sparse=sweeps.sampler == "sparse")
    return sample(own, own.word, weights, priors.alpha, TableFactors(), sweeps, np.uint64(key), engine)


def step_to(state, tokens, found, *given):
    """Take a step on what was found in documents."""
    words, own = in_own_words(tokens.start, tokens.word)
    take_step(state, own, words, found, *given)


def sample_copies(words, e, phi, n_copies, sweeps: SweepSettings, key, engine=ONE_THREAD, tables=None):
    """Sample independent copies of a document; return what `sample` found and the words in its order."""
    counts = np.tile(np.bincount(words, minlength=len(phi[0])), (n_copies, 1))
    tokens = Tokens.from_corpus(Corpus.from_counts(counts))
    tables = tables or TableFactors()
    found = sample(tokens, tokens.word, weights_of(e, phi), 1.0, tables, sweeps, np.uint64(key), engine)
    return found, tokens.word[: len(words)]
