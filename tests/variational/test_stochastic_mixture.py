"""The stochastic schedule of the DP mixture: steps against direct formulas and memoized laps, whole fits."""

import numpy as np
import pytest

from stickbreak import GaussianDPMixture
from stickbreak.fitting.engine import Engine
from stickbreak.likelihoods import Gaussian
from stickbreak.variational.local_step import LocalSettings, summarise
from stickbreak.variational.state import GlobalParameters
from stickbreak.variational.stochastic import StepRule, StreamState, learn_from
from stickbreak.variational.vectors import DPMixture, VectorBatch

from .test_gaussian_models import mixture, nearest
from .test_vectors import dense_r, direct_objective

GAMMA = 2.5


def blurred(seed=1, n=150):
    """Vectors of no clear components: coordinate steps go on for many laps."""
    return np.random.default_rng(seed).standard_t(4.0, size=(n, 2))


@pytest.mark.parametrize("likelihood", ["full", "diagonal", "zero_mean"])
@pytest.mark.parametrize("n_laps", [1, 2, 9])
def test_laps_of_whole_steps_over_one_batch_are_those_of_the_memoized_schedule(likelihood, n_laps):
    options = {"n_components": 6, "likelihood": likelihood, "gamma": GAMMA, "moves": (), "n_laps": n_laps}
    options |= {"tolerance": 0.0, "random_state": 2, "n_batches": 1}
    memoized = GaussianDPMixture(**options).fit(blurred())
    stochastic = GaussianDPMixture(schedule="stochastic", learning_decay=0.0, **options).fit(blurred())
    for name in ("statistics_", "counts_", "rho_", "omega_"):
        np.testing.assert_allclose(getattr(stochastic, name), getattr(memoized, name), rtol=1e-8, atol=1e-8)
    assert len(memoized.trace_["objective"]) == n_laps
    np.testing.assert_allclose(stochastic.trace_["objective"], memoized.trace_["objective"], rtol=1e-12)


def test_step_equals_the_dense_formulas():
    """S, N and the natural parameters of the sticks: (1 - xi) old + xi (what the batch scaled up asks for)."""
    X, _ = mixture(0, n=90)
    likelihood = Gaussian.from_data(X)
    model, rule, settings = DPMixture(likelihood, GAMMA), StepRule(0.6, 2.0), LocalSettings()
    R = np.random.default_rng(1).dirichlet(np.full(5, 0.3), size=90)
    S, N = likelihood.statistics(X, R), R.sum(axis=0)
    a, b = np.full(5, 3.0), np.arange(5.0, 0.0, -1.0)
    state = StreamState.from_parameters(GlobalParameters.of(likelihood, S, N, a / (a + b), a + b), model)
    for t, rows in enumerate([slice(0, 20), slice(20, 60), slice(60, 90), slice(0, 20)]):
        batch = VectorBatch(likelihood, X[rows], np.arange(len(X[rows]) + 1))
        before = GlobalParameters.of(likelihood, S, N, a / (a + b), a + b)
        of_batch = summarise(model.local_step(batch, before, None, settings, Engine()), Engine())
        xi, s = (t + 1 + 2.0) ** -0.6, 90 / batch.n_vectors
        S, N = (1 - xi) * S + xi * s * of_batch.S, (1 - xi) * N + xi * s * of_batch.N
        after = np.array([s * of_batch.N[k + 1 :].sum() for k in range(5)])
        a, b = (1 - xi) * a + xi * (1 + s * of_batch.N), (1 - xi) * b + xi * (GAMMA + after)
        learn_from(batch, state, model, rule, settings, Engine(), n_documents=90)
        found = state.parameters(model)
        for got, want in ((found.tau, S), (found.tau_sum, N), (found.rho, a / (a + b)), (found.omega, a + b)):
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)
    assert state.n_steps == 4


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("seed", range(5))
def test_planted_components_are_found_and_held_out_vectors_predicted(seed, dtype):
    X, means = mixture(seed, n=1500)
    train, held_out = X[:1000], X[1000:]
    options = {"n_components": 10, "random_state": seed, "dtype": dtype}
    model = GaussianDPMixture(schedule="stochastic", n_batches=10, n_laps=10, **options).fit(train)
    assert model.n_components_ == 10  # none is merged or deleted
    assert len(model.trace_["objective"]) == 10
    assert not model.converged_
    assert np.abs(model.means_[nearest(model.means_, means)] - means).max() < 0.6
    assert model.score(held_out) > GaussianDPMixture(**options).fit(train).score(held_out) - 0.05
    assert model.counts_.sum() == pytest.approx(1000)
    further = GaussianDPMixture(init=model, **options).fit(train)  # moves take it from there
    assert further.n_components_ == 4
    assert further.objective_ > model.objective_


@pytest.mark.parametrize("n_batches", [1, 4])
def test_objective_is_that_of_the_factors_of_the_lap_under_the_globals_at_its_end(n_batches):
    """Steps too small to move anything leave the start, for which it is summed vector by vector."""
    X, _ = mixture(4, n=200)
    options = {"n_components": 5, "learning_decay": 1.0, "learning_offset": 1e15, "moves": (), "random_state": 1}
    found = GaussianDPMixture(schedule="stochastic", n_batches=n_batches, n_laps=1, **options).fit(X)
    likelihood, sticks = found.likelihood_, (found.rho_, found.omega_)
    model, batch = DPMixture(likelihood, 1.0), VectorBatch(likelihood, X, np.arange(201))
    parameters = GlobalParameters.of(likelihood, found.statistics_, found.counts_, *sticks)
    result = model.local_step(batch, parameters, None, LocalSettings(), Engine())
    globals_ = (found.statistics_, found.counts_), *sticks
    direct = direct_objective(model, [batch], [dense_r(result)], globals_) / 200
    assert found.objective_ == pytest.approx(direct, rel=1e-9)
