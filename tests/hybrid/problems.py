"""Small problems of the hybrid."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import Tokens
from stickbreak.hybrid._kernels import fill_alias
from stickbreak.hybrid.document_sampler import Sweeps, TableFactors, sample
from stickbreak.hybrid.state import HybridState
from stickbreak.hybrid.word_weights import TopicWeights, Weights, WordWeights
from stickbreak.inference.executor import ThreadExecutor

EXACT = json.loads((Path(__file__).parents[1] / "data" / "hybrid.json").read_text(encoding="utf-8"))
ONE_THREAD = ThreadExecutor(1)


def alias_table(weight):
    """Return the sum of weights, and the two columns of their alias table."""
    prob, alias, spare = np.empty(weight.size), np.empty(weight.size, np.int32), np.empty((2, weight.size), np.int32)
    return fill_alias(np.asarray(weight, dtype=float), weight.size, prob, alias, *spare), prob, alias


def weights_of(e, phi, alpha=1.0):
    """Return `Weights` of given e (K,) and phi (K, W); a part of every phi belongs to the table of all words."""
    e, phi = np.asarray(e, dtype=float), np.asarray(phi, dtype=float)
    K, W = phi.shape
    base = 0.4 * phi.min(axis=1)
    smooth, prob, alias = alias_table(e * base)
    tables = [alias_table(e * (phi[:, w] - base)) for w in range(W)]
    own = np.array([total for total, _, _ in tables])
    of_topics = TopicWeights(e, prob, alias, np.ones(K), np.array([smooth, 1.0, 1e-3, alpha]))
    of_words = WordWeights(
        np.ascontiguousarray(phi.T), K * np.arange(W + 1), np.tile(np.arange(K, dtype=np.int32), W),
        np.concatenate([prob for _, prob, _ in tables]), np.concatenate([alias for _, _, alias in tables]),
        own, np.ones(W),
    )  # fmt: skip
    return Weights(np.arange(W, dtype=np.int32), of_topics, of_words)


def empty_state(n_words, n_topics):
    """Return a state without tokens, for documents whose weights are given."""
    return HybridState(np.zeros((n_words, n_topics)), 1.0, np.zeros(n_topics), np.ones(n_topics), 0)


def sample_copies(words, e, phi, n_copies, sweeps: Sweeps, key, executor=ONE_THREAD, tables=None):
    """Sample independent copies of a document; return what `sample` found and the words in its order."""
    counts = np.tile(np.bincount(words, minlength=len(phi[0])), (n_copies, 1))
    tokens = Tokens.from_corpus(Corpus.from_counts(counts))
    weights, state = weights_of(e, phi), empty_state(len(phi[0]), len(e))
    tables = tables or TableFactors()
    found = sample(tokens, tokens.word, weights, state, tables, sweeps, np.uint64(key), executor)
    return found, tokens.word[: len(words)]
