"""`SplitMergeOnlineHDP`: its bound, local step, splits and merges against an independent twin; planted topics."""

import numpy as np
import pytest
from baselines.tests.online.direct import twin

from stickbreak.corpus import Corpus, toy_bars
from stickbreak.fitting.engine import Engine
from stickbreak_baselines import SplitMergeOnlineHDP
from stickbreak_baselines.minibatch import Minibatch
from stickbreak_baselines.online.direct.splits import Split
from stickbreak_baselines.online.direct.steps import DirectSteps, Settings
from stickbreak_baselines.online.direct.weights import prior_of
from stickbreak_baselines.online.laps import Rules
from stickbreak_baselines.online.state import OnlineState

RULES = Rules(alpha=0.8, gamma=3.0, eta=0.3, decay=0.5, offset=1.0, seed=0)
D, W, K = 9, 7, 4


@pytest.fixture
def counts(seed):
    return np.random.default_rng(seed).poisson(1.6, (D, W)) + (np.arange(W) == 0)


@pytest.fixture
def state(seed):
    rng = np.random.default_rng(seed + 1)
    return OnlineState.of(rng.gamma(0.7, 9.0, (W, K)), rng.gamma(3.0, 5.0, K))


def steps(sweeps=100, tolerance=1e-10, threads=None):
    return DirectSteps(RULES, Settings(tolerance, sweeps), Engine(threads))


def visit_of(state, counts, **options):
    return steps(**options).visit(state, Minibatch.from_corpus(Corpus.from_counts(counts)))


def responsibilities(visit):
    """Return r of a visit, (D, W, K); every word occurs in the counts of these tests."""
    r = np.zeros((D, W, visit.prior.size))
    for k in range(visit.prior.size):
        r[visit.document, visit.minibatch.word, k] = visit.tokens_of(k) / visit.minibatch.count
    return r


def weights(tables):
    beta = np.append(tables, RULES.gamma - 1) / (tables.sum() + RULES.gamma - 1)
    return beta, twin.sticks(beta)


@pytest.mark.parametrize("sweeps", [1, 3, 40])
def test_local_step_is_that_of_the_slow_twin(counts, state, sweeps):
    visit = visit_of(state, counts, sweeps=sweeps, tolerance=-1.0)
    slow = twin.local_step(counts, state.S(), prior_of(state.tables, RULES.alpha, RULES.gamma), RULES.eta, sweeps)
    np.testing.assert_allclose(responsibilities(visit)[counts > 0], slow[counts > 0], rtol=1e-8)
    np.testing.assert_allclose(visit.S, np.einsum("dw,dwk->wk", counts, slow), rtol=1e-8)
    np.testing.assert_allclose(visit.N, np.einsum("dw,dwk->dk", counts, slow), rtol=1e-8)


def test_sweeps_never_lower_the_bound(counts, state):
    values = [visit_of(state, counts, sweeps=n, tolerance=-1.0).value for n in range(1, 30)]
    assert (np.diff(values) >= -1e-10).all()
    assert values[-1] > values[0] + 1e-3


def test_split_shares_tokens_and_tables_out_to_the_halves(counts, state):
    visit, before = visit_of(state, counts), state.copy()
    words = np.random.default_rng(0).gamma(1.0, 2.0, (2, W))
    steps()._take_split(state, visit, 2, Split(1.0, words, np.array([0.7, 0.3])))
    first = (RULES.eta + words[0]) / (2 * RULES.eta + words.sum(axis=0))
    expected = np.column_stack([before.S(), before.S()[:, 2] * (1 - first)])
    expected[:, 2] *= first
    np.testing.assert_allclose(state.S(), expected)
    np.testing.assert_allclose(state.tokens, expected.sum(axis=0))
    np.testing.assert_allclose(state.tables, [*before.tables[:2], 0.7 * before.tables[2], before.tables[3],
                                              0.3 * before.tables[2]])  # fmt: skip


@pytest.mark.parametrize("n_topics", [1, 30])
def test_planted_topics_are_recovered_from_one_and_from_too_many(n_topics):
    corpus, truth = toy_bars(n_documents=600, seed=3)
    train, test = corpus[:500], corpus[500:]
    fit = {"n_laps": 8, "batch_size": 100, "max_topics": 40, "random_state": 0}
    model = SplitMergeOnlineHDP(n_topics=n_topics, **fit).fit(train)
    assert model.n_topics_ in (10, 11)
    moves = "split_accepted" if n_topics == 1 else "merge_accepted"
    assert model.trace_[moves].sum() >= 9
    cosine = (model.topic_word_ / np.linalg.norm(model.topic_word_, axis=1)[:, None]) @ (
        truth.topic_word / np.linalg.norm(truth.topic_word, axis=1)[:, None]
    ).T
    assert (cosine.max(axis=0) > 0.9).all()
    given = SplitMergeOnlineHDP(init=truth.topic_word, split_trials=0, merge_trials=0, **fit).fit(train)
    assert model.score(test) > given.score(test) - 0.02
    without = SplitMergeOnlineHDP(n_topics=n_topics, **fit, split_trials=0, merge_trials=0).fit(train)
    assert model.score(test) > without.score(test)
    assert not without.trace_["moved"].any()
