"""Learning alpha, gamma and eta: every step is a maximum of the whole objective, which never falls."""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from stickbreak.corpus import Corpus, toy_bars
from stickbreak.fitting.engine import Engine
from stickbreak.variational import hdp
from stickbreak.variational.hdp import GAMMA_LIMITS, best_gamma
from stickbreak.variational.objective import BOUNDS

from . import reference
from .problems import (
    Recorder,
    begin,
    direct_objective,
    gathered,
    ragged_corpus,
    run_laps,
    schedule,
)


def stopped(bound="surrogate", n_batches=3, n_laps=2, **options):
    """(schedule, state, documents, r, theta) after laps without learning."""
    corpus = ragged_corpus(7, n_documents=16)
    made, _ = schedule(corpus, n_batches, bound=bound, **options)
    recorder = Recorder()
    state, _ = run_laps(made, begin(corpus, 5), [recorder], n_laps)
    return made, state, *gathered(recorder)


def optimal_theta(state, alpha):
    """Alpha E[beta] + N of every document in batch order, (D, K + 1)."""
    n_topics = state.topic_ids.size
    n_dk = np.concatenate([documents.dense(n_topics) for documents in state.documents])
    return np.pad(n_dk, ((0, 0), (0, 1))) + alpha * reference.expected_beta(state.parameters.rho)


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("alpha", [0.05, 0.5, 4.0])
def test_learned_alpha_is_the_maximum_of_the_whole_objective_over_alpha_and_theta(bound, alpha):
    _, state, docs, r, _ = stopped(bound, alpha=alpha)
    before = deepcopy(state)

    def recomputed(log_alpha):
        model = replace(before.model, alpha=np.exp(log_alpha))
        return -direct_objective(docs, r, optimal_theta(before, model.alpha), before, model)

    best = minimize_scalar(recomputed, bounds=np.log([1e-3, 1e3]), method="bounded", options={"xatol": 1e-8})
    found = hdp.best_alpha(state, state.model.alpha, state.model.bound, Engine())
    np.testing.assert_allclose(found.alpha, np.exp(best.x), rtol=1e-4)
    assert recomputed(np.log(found.alpha)) <= best.fun + 1e-9 * abs(best.fun)
    assert abs(found.alpha - alpha) > 0.01 * alpha


@pytest.mark.parametrize("bound", BOUNDS)
def test_learned_gamma_is_the_maximum_of_the_whole_objective(bound):
    _, state, *q = stopped(bound)
    rho, omega = state.parameters.rho, state.parameters.omega
    gamma = best_gamma(rho, omega, 10.0, bound)

    def recomputed(log_gamma):
        return -direct_objective(*q, state, replace(state.model, gamma=np.exp(log_gamma)))

    best = minimize_scalar(recomputed, bounds=np.log(GAMMA_LIMITS), method="bounded", options={"xatol": 1e-8})
    np.testing.assert_allclose(gamma, np.exp(best.x), rtol=1e-4)
    assert abs(gamma - 10.0) > 0.1


def test_learned_eta_is_the_maximum_of_the_whole_objective():
    _, state, *q = stopped()
    before = state.objective
    state.model.learn(state, ("eta",), Engine())
    found = state.model.likelihood.eta

    def recomputed(log_eta):
        changed = deepcopy(state)
        model = state.model.with_hyperparameters({**state.model.hyperparameters, "eta": np.exp(log_eta)})
        changed.parameters.tau = state.totals.S + np.exp(log_eta)
        return -direct_objective(*q, changed, model)

    best = minimize_scalar(recomputed, bounds=np.log([1e-4, 1e2]), method="bounded", options={"xatol": 1e-8})
    np.testing.assert_allclose(found, np.exp(best.x), rtol=1e-4)
    np.testing.assert_allclose(state.objective, -best.fun, rtol=1e-10)
    np.testing.assert_allclose(state.parameters.tau, state.totals.S + found, rtol=1e-12)
    assert state.objective > before
    assert abs(found - 0.1) > 0.01


@pytest.mark.parametrize("bound", BOUNDS)
def test_learned_alpha_comes_near_the_one_that_made_the_documents(bound):
    """N_dk drawn from the model, known exactly (one word for each topic): the surrogate learns too small an alpha."""
    rng = np.random.default_rng(5)
    true_alpha, n_topics = 3.0, 8
    pi = rng.dirichlet(np.full(n_topics, true_alpha / n_topics), size=600)
    corpus = Corpus.from_counts(np.array([rng.multinomial(80, row) for row in pi]))
    made, _ = schedule(corpus, 2, bound=bound, learned=("alpha", "eta"), eta=0.01)
    start = begin(corpus, n_topics, eta=0.01)
    start.tau = 0.01 + 1e4 * np.eye(n_topics)
    start.tau_sum = start.tau.sum(axis=0)
    state, _ = run_laps(made, start, [], 12)
    if bound in ("quadratic", "point"):
        assert 2.6 < state.model.alpha < 3.4
    else:
        assert 0.5 < state.model.alpha < 2.6


@pytest.fixture(scope="module")
def corpus():
    return toy_bars(60, size=6, n_bars=4, tokens=50, seed=0)[0]
