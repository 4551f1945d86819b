"""Steps of `OnlineHDP`: the bound against the twin, batch laps, the order of the sticks, merging by threshold."""

import itertools

import numpy as np
import pytest
from baselines.tests.online.franchise import twin
from scipy.special import betaln

from stickbreak.corpus import planted_lda, toy_bars
from stickbreak.fitting.executor import ThreadExecutor
from stickbreak_baselines import OnlineHDP
from stickbreak_baselines.minibatch import Minibatch
from stickbreak_baselines.online.franchise.local_step import TOPICS, LocalSettings
from stickbreak_baselines.online.franchise.merging import merge_alike
from stickbreak_baselines.online.franchise.steps import FranchiseSteps
from stickbreak_baselines.online.franchise.sticks import (
    expected_beta,
    expected_log_beta,
    objective_of_sticks,
    order_of_sticks,
    sticks,
)
from stickbreak_baselines.online.laps import Rules
from stickbreak_baselines.online.state import OnlineState
from stickbreak_baselines.topics import objective_of_topics, words_of_topics

RULES = Rules(alpha=0.8, gamma=1.4, eta=0.3, decay=0.6, offset=1.0, seed=0)


@pytest.fixture
def drawn(seed):
    return planted_lda(60, 30, n_topics=4, mean_tokens=30, seed=seed)[0]


@pytest.fixture
def state(seed):
    rng = np.random.default_rng(seed)
    return OnlineState.of(rng.gamma(0.6, 4.0, (30, 5)), rng.gamma(2.0, 9.0, 5))


def steps(rules=RULES):
    return FranchiseSteps(rules, LocalSettings(4, TOPICS, 1e-9, 500), None, ThreadExecutor())


def test_expectations_of_sticks_are_those_of_the_twin_and_of_draws(state):
    a, b = twin.sticks_of(state.tables, 1.4)
    np.testing.assert_allclose(expected_log_beta(state.tables, 1.4), twin.log_sticks(a, b))
    assert objective_of_sticks(state.tables, 1.4) == pytest.approx(twin.kl_of_sticks(a, b, 1.4))
    u = np.random.default_rng(0).beta(a, b, (40_000, 4))
    beta = np.column_stack([u, np.ones(len(u))]) * np.column_stack([np.ones(len(u)), np.cumprod(1 - u, axis=1)])
    np.testing.assert_allclose(expected_beta(state.tables, 1.4), beta.mean(axis=0), atol=4e-3)


def test_bound_of_topics_is_that_of_the_twin(state):
    halved = OnlineState(2 * state.counts, 0.5, state.tokens, state.tables, 0)
    for one in (state, halved):
        assert objective_of_topics(one, 0.3).sum() == pytest.approx(twin.bound_of_topics(state.S(), 0.3))
        np.testing.assert_allclose(words_of_topics(one, np.arange(30), 0.3), twin.log_topics(state.S(), 0.3))


def test_objective_of_a_minibatch_is_the_whole_bound_at_the_globals_before_the_step(drawn, state):
    minibatch, before = Minibatch.from_corpus(drawn), state.copy()
    found = steps().visit(state, minibatch)
    lap = steps().once(state, minibatch, 3 * drawn.n_documents)
    S, a_b = before.S(), twin.sticks_of(before.tables, RULES.gamma)
    log_phi, log_beta = twin.log_topics(S, RULES.eta)[minibatch.words], twin.log_sticks(*a_b)
    documents = found.own + (found.S * log_phi).sum() + found.tables @ log_beta
    expected = 3 * documents + twin.bound_of_topics(S, RULES.eta) + twin.kl_of_sticks(*a_b, RULES.gamma)
    assert lap.objective == pytest.approx(expected / (3 * drawn.n_tokens))


def test_step_moves_towards_the_scaled_statistics(drawn, state):
    minibatch, before, one = Minibatch.from_corpus(drawn), state.copy(), steps()
    found = one.visit(state, minibatch)
    state.n_steps = 6
    order = one.move(state, minibatch, found, 3 * drawn.n_documents)
    order = np.arange(5) if order is None else order
    step, S, tables = 8.0**-0.6, (1 - 8.0**-0.6) * before.S(), (1 - 8.0**-0.6) * before.tables
    S[minibatch.words] += step * 3 * found.S
    np.testing.assert_allclose(state.S(), S[:, order])
    np.testing.assert_allclose(state.tables, (tables + step * 3 * found.tables)[order])
    np.testing.assert_allclose(state.tokens, state.S().sum(axis=0))


def test_batch_laps_never_lower_the_bound():
    corpus, _ = toy_bars(n_documents=80, tokens=40, seed=2)
    model = OnlineHDP(
        n_topics=12, n_tables=8, n_laps=25, batch_size=80, learning_decay=1e-12, local_tolerance=0.0,
        local_sweeps=2000, random_state=0,
    ).fit(corpus)  # fmt: skip
    objective = model.trace_["objective"]
    assert (np.diff(objective) >= -1e-9).all()
    assert objective[-1] > objective[0] + 0.5


@pytest.mark.parametrize("gamma", [0.4, 1.0])
def test_order_of_the_sticks_is_the_best_of_all_orders_but_for_the_last_places(gamma):
    tables = np.sort(np.random.default_rng(1).gamma(1.0, 6.0, 5))
    value = {order: betaln(*sticks(tables[list(order)], gamma)).sum() for order in itertools.permutations(range(5))}
    chosen = order_of_sticks(tables, gamma)
    assert chosen.tolist() == [4, 3, 2, 1, 0]
    first_of = {order: value[order] for order in value if order[-1] == 0}  # the smallest has the last place
    assert max(first_of, key=first_of.get) == tuple(chosen)
    assert value[tuple(chosen)] > value[0, 1, 2, 3, 4]
    assert order_of_sticks(tables[chosen], gamma) is None


def test_order_stays_where_the_last_place_is_the_better_one_for_a_large_topic():
    tables = np.array([3.0, 2.0, 6.0])
    here, there = (betaln(*sticks(M, 20.0)).sum() for M in (tables, np.sort(tables)[::-1]))
    assert here > there
    assert order_of_sticks(tables, 20.0) is None


def test_topics_that_are_alike_merge_into_the_larger_and_others_stay():
    S = np.array([[6.0, 0, 3, 0.1], [0, 5, 0.1, 0], [4, 0, 2, 0], [0, 5, 0, 9]])
    state = OnlineState.of(np.hstack([S, S[:, :1]]), np.arange(1.0, 6))
    assert merge_alike(state, eta=0.1, threshold=0.99) == 2
    assert state.tables.tolist() == [1 + 3 + 5, 2, 4]
    np.testing.assert_allclose(state.S()[:, 0], 2 * S[:, 0] + S[:, 2])
    np.testing.assert_allclose(state.S()[:, 1:], S[:, [1, 3]])
    assert state.tokens.tolist() == state.S().sum(axis=0).tolist()
    assert merge_alike(state, eta=0.1, threshold=0.99) == 0


def test_fit_with_a_threshold_merges_topics_that_were_given_twice():
    corpus, truth = toy_bars(n_documents=300, seed=1)
    train, test = corpus[:250], corpus[250:]
    twice = np.vstack([truth.topic_word, truth.topic_word])
    kept, merged = (
        OnlineHDP(init=twice, n_laps=4, batch_size=50, merge_threshold=threshold, random_state=0).fit(train)
        for threshold in (None, 0.7)
    )
    assert (kept.n_topics_, merged.n_topics_) == (20, 10)
    assert merged.trace_["merges"].sum() == 10
    assert (merged.trace_["moved"] == (merged.trace_["merges"] > 0)).all()
    assert merged.score(test) > kept.score(test) - 0.01
