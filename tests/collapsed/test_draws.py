"""Sampled passes word by word: a slow twin, the exact posterior, and what becomes of the shards."""

from itertools import product
from math import lgamma

import numpy as np
import pytest
from scipy import stats
from scipy.special import psi

from stickbreak.collapsed.cvb0 import Update, add_up, draw, random_start, sweep
from stickbreak.collapsed.packing import Counts
from stickbreak.collapsed.shards import ONE_DRAW, Shard, Shares, joined, shares_apart
from stickbreak.collapsed.state import Priors
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.fitting.executor import ThreadExecutor
from stickbreak.numerics.keys import key_of

from .problems import BY_WORD, small_corpus
from .reference import draws_word_by_word, expected_tables

PRIORS, ONE = Priors(alpha=0.9, gamma=2.0, eta=0.2), ThreadExecutor(1)


def shard_of(counts, z, first=0):
    """Return documents as one shard, each stored count in one topic."""
    stored = Corpus.from_counts(counts).counts
    n = stored.nnz
    shares = Shares(np.arange(n + 1), np.asarray(z, np.uint16), np.ones(n, np.float32))
    indptr, word = stored.indptr.astype(np.int64), stored.indices.astype(np.int32)
    return Shard(first, indptr, word, stored.data.astype(np.float64), shares)


def counts_of(shard, n_words, n_topics):
    S = np.zeros((n_words, n_topics))
    np.add.at(S, (shard.word, shard.shares.topic), shard.count)
    return Counts(S, S.sum(axis=0))


@pytest.mark.parametrize("eta", [0.2, BY_WORD])
@pytest.mark.parametrize("fractional", [False, True])
@pytest.mark.parametrize("n_topics", [3, 40])
def test_kernel_and_twin_draw_the_same(eta, fractional, n_topics):
    rng = np.random.default_rng(n_topics)
    counts = rng.poisson(0.8, (9, 12)).astype(float)
    counts[:, 3], counts[2] = 0, 0
    if fractional:
        counts *= rng.uniform(0.3, 2.6, counts.shape)
    shard = shard_of(counts, rng.integers(n_topics, size=np.count_nonzero(counts)), first=5)
    shard.count[4] = 0.0  # left aside
    priors, beta = Priors(1.7, 2.0, eta), rng.dirichlet(np.ones(n_topics + 1))[:-1]
    known = rng.integers(0, 3, (12, n_topics)).astype(float)  # of other documents
    now = counts_of(shard, 12, n_topics)
    given = Update(Counts(now.S + known, now.N + known.sum(axis=0)), 1.7 * beta, priors, ONE_DRAW, key_of(3, 1, "test"))
    for turn in range(6):
        before = given.counts.S.copy(), given.counts.N.copy()
        outcome = draw(given, shard)
        z, log_p = draws_word_by_word(shard, given)
        np.testing.assert_array_equal(outcome.shares.topic, z)
        assert outcome.sums[1] == pytest.approx(log_p, rel=1e-9)
        for was, stays in zip(before, (given.counts.S, given.counts.N), strict=True):
            np.testing.assert_array_equal(was, stays)
        shard.shares = outcome.shares
        now = counts_of(shard, 12, n_topics)
        counts = Counts(now.S + known, now.N + known.sum(axis=0))
        given = Update(counts, given.prior, priors, ONE_DRAW, key_of(3, turn + 2, "test"))


def test_tables_are_those_of_the_topics_that_were_drawn():
    rng = np.random.default_rng(0)
    counts = rng.poisson(1.5, (7, 6)).astype(float)
    counts[0] = 30.0
    shard, prior = shard_of(counts, rng.integers(4, size=np.count_nonzero(counts))), np.full(4, 0.3)
    outcome = draw(Update(counts_of(shard, 6, 4), prior, Priors(1.5, 1.0, 0.1), ONE_DRAW, key_of(0, 1, "test")), shard)
    r = np.zeros((7, 6, 4))
    rows, columns = np.nonzero(counts)
    r[rows, columns, outcome.shares.topic] = 1.0
    n = np.einsum("dw,dwk->dk", counts, r)
    np.testing.assert_allclose(outcome.sums[0], (prior * (psi(prior + n) - psi(prior))).sum(axis=0))
    np.testing.assert_allclose(outcome.sums[0], expected_tables(counts, r, prior))


def test_draws_have_the_exact_posterior():
    """One block alone is collapsed Gibbs sampling: every arrangement of topics comes as often as it is probable."""
    counts = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    prior, eta, K, W = np.array([0.5, 0.3]), 0.4, 2, 3
    rows, columns = np.nonzero(counts)

    def log_joint(z):
        n, S = np.zeros((2, K)), np.zeros((W, K))
        np.add.at(n, (rows, np.array(z)), 1)
        np.add.at(S, (columns, np.array(z)), 1)
        total = sum(lgamma(n[d, k] + prior[k]) for d in range(2) for k in range(K))
        total += sum(lgamma(S[w, k] + eta) for w in range(W) for k in range(K))
        return total - sum(lgamma(S[:, k].sum() + W * eta) for k in range(K))

    states = list(product(range(K), repeat=4))
    p = np.exp([log_joint(z) for z in states])
    shard, found = shard_of(counts, np.zeros(4)), dict.fromkeys(states, 0)
    priors = Priors(float(prior.sum()), 1.0, eta)
    for step in range(24_000):
        given = Update(counts_of(shard, W, K), prior, priors, ONE_DRAW, key_of(1, step, "test"))
        shard.shares = draw(given, shard).shares
        if step % 3 == 0:
            found[tuple(shard.shares.topic.tolist())] += 1
    seen = np.array([found[z] for z in states])
    assert stats.chisquare(seen, seen.sum() * p / p.sum()).pvalue > 1e-3


def test_shards_are_joined_and_parted():
    state = random_start(small_corpus(1), 5, 0)
    sweep(state, PRIORS, 1 / 15, 0, ONE)  # several topics a count
    shards = state.documents.shards
    whole = joined(shards)
    assert whole.first == shards[0].first
    assert whole.indptr.size == 1 + sum(shard.indptr.size - 1 for shard in shards)
    np.testing.assert_array_equal(whole.word, np.concatenate([shard.word for shard in shards]))
    lengths = np.concatenate([np.diff(shard.indptr) for shard in shards])
    np.testing.assert_array_equal(np.diff(whole.indptr), lengths)
    for shard, shares in zip(shards, shares_apart(whole.shares, [shard.word.size for shard in shards]), strict=True):
        for name in ("start", "topic", "share"):
            np.testing.assert_array_equal(getattr(shares, name), getattr(shard.shares, name))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_sampled_passes_are_the_same_with_any_number_of_threads(threads):
    corpus = planted_lda(3000, 60, n_topics=4, mean_tokens=40, seed=0)[0]
    found = []
    for executor in (ONE, ThreadExecutor(threads)):
        state = random_start(corpus, 7, 0)
        for _ in range(3):
            sweep(state, PRIORS, ONE_DRAW, 0, executor)
        add_up(state, executor)
        found.append((state.S, state.beta, state.log_p))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
