"""`SplitMergeOnlineHDP`: its bound, local step, splits and merges against an independent twin; planted topics."""

import numpy as np
import pytest
from baselines.tests.online.direct import twin

from stickbreak.corpus import Corpus, toy_bars
from stickbreak.fitting.executor import ThreadExecutor
from stickbreak_baselines import SplitMergeOnlineHDP
from stickbreak_baselines.minibatch import Minibatch
from stickbreak_baselines.online.direct.merges import candidates, gain_of
from stickbreak_baselines.online.direct.splits import Part, Split, halves, judge
from stickbreak_baselines.online.direct.steps import DirectSteps, Settings
from stickbreak_baselines.online.direct.weights import objective_of_weights, prior_of
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
    return DirectSteps(RULES, Settings(tolerance, sweeps), ThreadExecutor(threads))


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


def slow_bound(counts, r, S, beta, share):
    return twin.bound(counts, r, S, beta, twin.sticks(beta), RULES.alpha, RULES.gamma, RULES.eta, share)


@pytest.mark.parametrize("sweeps", [1, 3, 40])
def test_local_step_is_that_of_the_slow_twin(counts, state, sweeps):
    visit = visit_of(state, counts, sweeps=sweeps, tolerance=-1.0)
    slow = twin.local_step(counts, state.S(), prior_of(state.tables, RULES.alpha, RULES.gamma), RULES.eta, sweeps)
    np.testing.assert_allclose(responsibilities(visit)[counts > 0], slow[counts > 0], rtol=1e-8)
    np.testing.assert_allclose(visit.S, np.einsum("dw,dwk->wk", counts, slow), rtol=1e-8)
    np.testing.assert_allclose(visit.N, np.einsum("dw,dwk->dk", counts, slow), rtol=1e-8)


def test_objective_is_the_bound_of_the_slow_twin_and_its_sticks_need_no_order(counts, state):
    before = state.copy()
    visit = visit_of(state, counts)
    lap = steps().once(state, Minibatch.from_corpus(Corpus.from_counts(counts)), 5 * D)
    beta, u = weights(before.tables)
    assert objective_of_weights(before.tables, RULES.gamma) == pytest.approx(
        (np.log(RULES.gamma) + (RULES.gamma - 1) * np.log1p(-u)).sum()
    )
    expected = slow_bound(counts, responsibilities(visit), before.S(), beta, 5)
    assert lap.objective == pytest.approx(expected / (5 * counts.sum()))


def test_sweeps_never_lower_the_bound(counts, state):
    values = [visit_of(state, counts, sweeps=n, tolerance=-1.0).value for n in range(1, 30)]
    assert (np.diff(values) >= -1e-10).all()
    assert values[-1] > values[0] + 1e-3


def test_gain_of_a_merge_is_the_difference_of_two_bounds_of_the_scaled_minibatch(counts, state):
    visit, share = visit_of(state, counts), 5.0
    r, (beta, _) = responsibilities(visit), weights(state.tables)
    joined, beta_joined = r[..., [0, 2, 3]].copy(), beta[[0, 2, 3, 4]].copy()
    joined[..., 0] += r[..., 1]
    beta_joined[0] += beta[1]
    bounds = [
        slow_bound(counts, parts, share * np.einsum("dw,dwk->wk", counts, parts), weights_of, share)
        for parts, weights_of in ((joined, beta_joined), (r, beta))
    ]
    assert gain_of(visit, 0, 1, share, RULES, W) == pytest.approx(bounds[0] - bounds[1])


def test_gain_of_a_split_is_the_difference_of_two_bounds_of_the_scaled_minibatch(counts, state, monkeypatch):
    monkeypatch.setattr("stickbreak_baselines.online.direct.splits.LEAST_TOKENS", 0.0)
    visit, share, k = visit_of(state, counts), 5.0, 2
    part, prior = Part.of(visit, k), visit.prior[k]
    half = halves(part, prior, share, RULES.eta, W * RULES.eta, np.random.default_rng(0))
    split = judge(part, half, prior, share, RULES.eta, RULES.gamma, W * RULES.eta)
    r, (beta, _) = responsibilities(visit), weights(state.tables)
    halved = np.concatenate([r, np.zeros((D, W, 1))], axis=2)
    halved[part.document, part.word, k] *= half
    halved[part.document, part.word, K] = r[part.document, part.word, k] * (1 - half)
    tokens = np.einsum("dw,dwk->k", counts, halved)[[k, K]]
    beta_halved = np.insert(beta, K, beta[k] * tokens[1] / tokens.sum())
    beta_halved[k] *= tokens[0] / tokens.sum()
    bounds = [
        slow_bound(counts, parts, share * np.einsum("dw,dwk->wk", counts, parts), weights_of, share)
        for parts, weights_of in ((halved, beta_halved), (r, beta))
    ]
    assert split.gain == pytest.approx(bounds[0] - bounds[1])
    np.testing.assert_allclose(split.words, np.einsum("dw,dwk->kw", counts, halved)[[k, K]])
    np.testing.assert_allclose(split.tables, tokens / tokens.sum())


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


def test_halves_of_a_topic_of_two_kinds_of_documents_are_these_kinds_and_worth_a_split():
    rng = np.random.default_rng(2)
    kinds = np.repeat([0, 1], 30)
    counts = rng.poisson(np.where(kinds[:, None] == np.arange(6) // 3, 4.0, 0.05))
    state = OnlineState.of(counts.sum(axis=0)[:, None] * 1.0, np.array([60.0]))
    visit = visit_of(state, counts)
    part = Part.of(visit, 0)
    half = halves(part, visit.prior[0], 1.0, RULES.eta, 6 * RULES.eta, rng)
    of_kinds = [np.average(half[kinds[part.document] == kind], weights=part.tokens[kinds[part.document] == kind])
                for kind in (0, 1)]  # fmt: skip
    assert abs(of_kinds[0] - of_kinds[1]) > 0.9
    assert judge(part, half, visit.prior[0], 1.0, RULES.eta, RULES.gamma, 6 * RULES.eta).gain > 100
    same = rng.poisson(2.0, (60, 6))
    visit = visit_of(OnlineState.of(same.sum(axis=0)[:, None] * 1.0, np.array([60.0])), same)
    part = Part.of(visit, 0)
    half = halves(part, visit.prior[0], 1.0, RULES.eta, 6 * RULES.eta, rng)
    assert judge(part, half, visit.prior[0], 1.0, RULES.eta, RULES.gamma, 6 * RULES.eta).gain < 0


def test_candidates_are_the_pairs_that_occur_together():
    N = np.array([[5.0, 4, 0, 1], [4, 5, 1, 0], [0, 1, 6, 1], [1, 0, 5, 0]])
    assert candidates(N, 1) == [(0, 1)]
    assert set(candidates(N, 6)) <= {(0, 1), (0, 3), (1, 3), (2, 3)}
    assert (0, 2) not in candidates(N, 6)


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


def test_splits_stop_at_the_most_topics():
    corpus, _ = toy_bars(n_documents=200, seed=0)
    model = SplitMergeOnlineHDP(max_topics=4, n_laps=4, batch_size=50, random_state=0).fit(corpus)
    assert model.trace_["n_topics"].max() <= 4


def test_numbers_do_not_depend_on_the_number_of_threads(monkeypatch):
    monkeypatch.setattr("stickbreak_baselines.minibatch.SHARD_COUNTS", 50)
    corpus, _ = toy_bars(n_documents=60, seed=0)
    one, four = (SplitMergeOnlineHDP(n_laps=3, batch_size=30, n_jobs=n, random_state=0).fit(corpus) for n in (1, 4))
    assert (one.components_ == four.components_).all()


def test_gamma_below_one_is_refused():
    with pytest.raises(ValueError, match="'gamma' parameter"):
        SplitMergeOnlineHDP(gamma=0.9).fit(toy_bars(n_documents=5, seed=0)[0])
