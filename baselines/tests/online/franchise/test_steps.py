"""Steps of `OnlineHDP`: the bound against the twin, batch laps, the order of the sticks, merging by threshold."""

import numpy as np
import pytest
from baselines.tests.online.franchise import twin

from stickbreak.corpus import toy_bars
from stickbreak.fitting.engine import Engine
from stickbreak_baselines import OnlineHDP
from stickbreak_baselines.online.franchise.local_step import TOPICS, LocalSettings
from stickbreak_baselines.online.franchise.steps import FranchiseSteps
from stickbreak_baselines.online.franchise.sticks import (
    expected_beta,
    expected_log_beta,
    objective_of_sticks,
)
from stickbreak_baselines.online.laps import Rules
from stickbreak_baselines.online.state import OnlineState

RULES = Rules(alpha=0.8, gamma=1.4, eta=0.3, decay=0.6, offset=1.0, seed=0)


@pytest.fixture
def state(seed):
    rng = np.random.default_rng(seed)
    return OnlineState.of(rng.gamma(0.6, 4.0, (30, 5)), rng.gamma(2.0, 9.0, 5))


def steps(rules=RULES):
    return FranchiseSteps(rules, LocalSettings(4, TOPICS, 1e-9, 500), None, Engine())


def test_expectations_of_sticks_are_those_of_the_twin_and_of_draws(state):
    a, b = twin.sticks_of(state.tables, 1.4)
    np.testing.assert_allclose(expected_log_beta(state.tables, 1.4), twin.log_sticks(a, b))
    assert objective_of_sticks(state.tables, 1.4) == pytest.approx(twin.kl_of_sticks(a, b, 1.4))
    u = np.random.default_rng(0).beta(a, b, (40_000, 4))
    beta = np.column_stack([u, np.ones(len(u))]) * np.column_stack([np.ones(len(u)), np.cumprod(1 - u, axis=1)])
    np.testing.assert_allclose(expected_beta(state.tables, 1.4), beta.mean(axis=0), atol=4e-3)


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
