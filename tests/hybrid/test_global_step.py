"""A step of the globals."""

import numpy as np
import pytest

from stickbreak.corpus import planted_lda
from stickbreak.corpus.tokens import Tokens
from stickbreak.hybrid import global_step
from stickbreak.hybrid.document_sampler import Found, Sweeps, TableFactors, sample, words_of
from stickbreak.hybrid.global_step import take_step
from stickbreak.hybrid.starts import random_state
from stickbreak.hybrid.state import HybridState, Priors
from stickbreak.hybrid.word_weights import weigh

from .problems import ONE_THREAD


def found_of(seed, n_words=8, n_topics=4, n_tokens=30, n_saved=3):
    """Return saved sweeps of made-up documents over the words 1, 3, 4 and 6."""
    rng = np.random.default_rng(seed)
    words, word = np.array([1, 3, 4, 6], np.int32), rng.integers(4, size=n_tokens).astype(np.int32)
    z = rng.integers(n_topics, size=(n_saved, n_tokens)).astype(np.int32)
    tables = rng.integers(1, 9, n_topics)
    return Found(words, word, z, np.bincount(z.ravel(), minlength=n_topics), tables, -1.0)


def state_of(seed):
    counts = np.random.default_rng(seed).gamma(1.0, 5.0, (8, 4))
    return HybridState(counts, 0.5, 0.5 * counts.sum(axis=0), np.full(4, 7.0), 0)


def test_lazy_step_is_the_dense_one(seed):
    state, found, share, size = state_of(seed), found_of(seed), 12.0, 0.3
    N = np.zeros((8, 4))
    for z in found.z:
        np.add.at(N, (found.words[found.word], z), 1.0)
    expected = 0.7 * 0.5 * state.counts + 0.3 * share / 3 * N
    tables = 0.7 * state.tables + 0.3 * share / 3 * found.tables
    untouched = state.counts[[0, 2, 5, 7]].copy()
    take_step(state, found, share, size)
    np.testing.assert_allclose(state.scale * state.counts, expected, rtol=1e-12)
    np.testing.assert_allclose(state.tokens, expected.sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(state.tables, tables, rtol=1e-12)
    np.testing.assert_array_equal(state.counts[[0, 2, 5, 7]], untouched)
    assert state.n_steps == 1
    state.check()


def test_many_steps_do_not_underflow(seed, monkeypatch):
    states = [state_of(seed), state_of(seed)]
    for smallest, state in zip((1e-100, 1e-3), states, strict=True):
        monkeypatch.setattr(global_step, "SMALLEST_SCALE", smallest)
        for t in range(20):
            take_step(state, found_of(seed + t), 12.0, 0.5)
        state.check()
    assert states[0].scale < 1e-3 < states[1].scale
    np.testing.assert_allclose(*(state.scale * state.counts for state in states), rtol=1e-12)
    take_step(states[0], found_of(seed), 12.0, 1.0)
    assert states[0].scale == 1.0


@pytest.mark.parametrize("sweeps", [Sweeps(5, 2), Sweeps(1, 4)], ids=str)
def test_step_of_size_one_leaves_the_tokens_of_the_minibatch_scaled_up(sweeps):
    corpus, _ = planted_lda(20, 30, n_topics=4, mean_tokens=30, seed=1)
    tokens, state = Tokens.from_corpus(corpus), random_state(corpus, 6, 0, 1.0)
    words, word = words_of(tokens)
    weights = weigh(words, state, Priors(1.0, 1.0, 0.1), ONE_THREAD, sparse=True)
    found = sample(tokens, word, weights, state, TableFactors(), sweeps, np.uint64(3), ONE_THREAD)
    take_step(state, found, 10.0, 1.0)
    assert state.tokens.sum() == pytest.approx(10.0 * corpus.n_tokens)
    np.testing.assert_allclose(state.scale * state.counts.sum(axis=1), 10.0 * corpus.counts.toarray().sum(axis=0))
    assert 20 * 10 <= state.tables.sum() <= state.tokens.sum()
