"""The document sampler on corpora drawn at random, under globals drawn at random, against the law of every document.

What stood before are three enumerated documents under given weights, and a twin; here the weights come from a state of
the hybrid by formulas of their own, and the law from guests that sit down one after the other: no Stirling number.
"""

import numpy as np
import pytest
from scipy.special import digamma

from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import Tokens
from stickbreak.hybrid.document_sampler import SAMPLERS, SweepSettings
from stickbreak.hybrid.state import Priors
from stickbreak.hybrid.word_weights import G_WEIGHTS

from ..sampling.laws import BLOCKS, largest_z, z_scores
from .problems import found_under, state_of

COPIES, SAVED = 60, 2
BURN_IN = 60  # enough for weights e of the size of one; a document with smaller ones goes slowly from topic to topic


def law(words, e, phi):
    """Return {(z, m): probability}: a guest joins a table of a topic (n_k ways), or opens one."""
    weight = {((), (0,) * len(e)): 1.0}
    for w in words:
        longer = {}
        for (z, m), p in weight.items():
            for k in range(len(e)):
                digamma_gain = (*m[:k], m[k] + 1, *m[k + 1 :])
                for tables, ways in ((m, z.count(k)), (digamma_gain, e[k])):
                    if ways > 0:
                        state = (*z, k), tables
                        longer[state] = longer.get(state, 0.0) + p * ways * phi[k, w]
        weight = longer
    total = sum(weight.values())
    return {state: p / total for state, p in weight.items()}


def problem(seed, g_weight):
    """Return documents, a state, priors, and e (K,) and phi (K, W) by docs/math (B1) and (B7)."""
    rng = np.random.default_rng(seed)
    W, K, unbounded = int(rng.integers(2, 5)), int(rng.integers(2, 4)), bool(rng.integers(2))
    counts = rng.gamma(0.5, 4.0, (W, K)) * (rng.random((W, K)) < 0.6)
    counts[rng.integers(W, size=K), np.arange(K)] += 0.1  # no topic without tokens
    tables = rng.gamma(1.0, 1.0, K) + 1.0
    alpha, gamma, eta = 1.0 + rng.gamma(2.0, 0.7), rng.gamma(2.0, 0.7), rng.gamma(2.0, 0.2)
    phi_weight = ("mean_field", "ratio")[rng.integers(2)]
    a = tables if unbounded else tables + gamma / K
    total = a.sum() + gamma * unbounded
    g = {
        "mean_field": np.exp(digamma(a) - digamma(total)),
        "ratio": a / total,
        "printed": a**2 / ((a + 1) * (a.sum() + gamma)),
    }[g_weight]
    tau = counts.T + eta
    phi = tau / tau.sum(axis=1, keepdims=True)
    if phi_weight == "mean_field":
        phi = np.exp(digamma(tau) - digamma(tau.sum(axis=1, keepdims=True)))
    if unbounded:  # the column of a new topic, and one that weighs nothing
        g, phi = np.append(g, gamma / total), np.vstack([phi, np.full(W, 1 / W)])
        counts, tables = np.hstack([counts, np.zeros((W, 2))]), np.append(tables, [0.0, 0.0])
    documents = [np.sort(rng.integers(W, size=n)) for n in (5, 1, 3, int(rng.integers(2, 5)))]
    priors = Priors(alpha, gamma, eta, g_weight=g_weight, phi_weight=phi_weight)
    return documents, state_of(counts, tables, unbounded=unbounded), priors, alpha * g, phi


def told(z, K):
    """Return what is compared of a document's topics z (..., N): each token's, equal pairs, how many there are."""
    topics = [z == k for k in range(K)]
    first, second = np.triu_indices(z.shape[-1], 1)
    number = sum(of_topic.any(axis=-1) for of_topic in topics)[..., None] == np.arange(1, z.shape[-1] + 1)
    return np.concatenate([*topics, z[..., first] == z[..., second], number], axis=-1).astype(float)


def scores(seed, sampler, g_weight):
    """Return z-scores of the frequencies of topics, and of the tables of each topic."""
    documents, state, priors, e, phi = problem(seed, g_weight)
    K, W = phi.shape
    exact, error, tables, spread = [], [], np.zeros(K), np.zeros(K)
    for words in documents:
        found = law(words.tolist(), e, phi)
        p = np.array(list(found.values()))
        z, m = (np.array([key[i] for key in found]) for i in (0, 1))
        mean = p @ told(z, K)
        exact.append(mean)
        error.append(np.sqrt(np.maximum(mean * (1 - mean), 0.0) / (BLOCKS * COPIES * SAVED)))
        tables += p @ m
        spread += p @ m**2 - (p @ m) ** 2
    counts = np.tile([np.bincount(words, minlength=W) for words in documents], (COPIES, 1))
    tokens, rows = Tokens.from_corpus(Corpus.from_counts(counts)), []
    ends = np.cumsum([words.size for words in documents])
    for block in range(BLOCKS):  # independent chains: nothing is to be known of how long they remember
        found = found_under(tokens, state, priors, SweepSettings(BURN_IN, SAVED, sampler), 1000 * seed + block)
        z = found.z.reshape(SAVED, COPIES, ends[-1])
        parts = [told(part, K).mean(axis=(0, 1)) for part in np.split(z, ends[:-1], axis=2)]
        assert found.tables[K:].sum() == 0
        rows.append(np.concatenate([*parts, found.tables[:K] / (SAVED * COPIES)]))
    least = np.concatenate([*error, np.sqrt(spread / (BLOCKS * COPIES * SAVED))])
    return z_scores(rows, np.concatenate([*exact, tables]), least_error=least)


@pytest.mark.parametrize("g_weight", G_WEIGHTS)
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_frequencies_are_those_of_the_enumerated_law(sampler, g_weight, seed):
    z = np.concatenate([scores(2 * seed + case, sampler, g_weight) for case in range(2)])
    assert np.abs(z).max() < largest_z(z.size)
    assert np.sqrt(np.mean(z**2)) < 1.5
