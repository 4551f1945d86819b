"""The quadratic bound: below the exact normaliser, above the surrogate, and its gradient; the point likewise."""

import numpy as np
import pytest
from scipy.special import gammaln

from stickbreak import VariationalHDP
from stickbreak.corpus import toy_bars
from stickbreak.variational.global_step import stick_objective, sticks_of
from stickbreak.variational.objective import (
    POINT,
    allocation_term,
    expected_log_normaliser,
    expected_squares,
    quadratic_gain,
    stick_term,
)
from stickbreak.variational.state import Summary, expected_beta

from . import reference
from .problems import assert_slopes_equal_central_differences, stick_problem


def draws_of_beta(rng, rho, omega, size):
    u = rng.beta(rho * omega, (1 - rho) * omega, size=(size, rho.size))
    rest = np.cumprod(np.concatenate([np.ones((size, 1)), 1 - u], axis=1), axis=1)
    return np.maximum(np.concatenate([u, np.ones((size, 1))], axis=1) * rest, 1e-300)


@pytest.mark.parametrize("alpha", [0.1, 0.5, 1.0, 2.0, 5.0, 20.0])
def test_quadratic_gain_stays_below_what_the_surrogate_leaves_out(alpha):
    """At a point beta (omega to infinity) the gap is log Gamma(1 + alpha) - sum log Gamma(1 + alpha beta_k)."""
    rng = np.random.default_rng(int(alpha * 10))
    recovered = []
    for _ in range(300):
        beta = rng.dirichlet(np.full(rng.integers(1, 60) + 1, 10 ** rng.uniform(-2, 1.5)))
        gap = gammaln(1 + alpha) - gammaln(1 + alpha * beta).sum()
        gain = quadratic_gain(alpha, float((beta**2).sum()))
        assert 0.0 <= gain <= gap + 1e-12 * (1 + alpha)
        recovered.append((gain, gap))
    gain, gap = np.mean(recovered, axis=0)
    assert gain > {0.1: 0.95, 0.5: 0.93, 1.0: 0.88, 2.0: 0.8, 5.0: 0.6, 20.0: 0.4}[alpha] * gap


@pytest.mark.parametrize("alpha", [0.5, 2.0, 5.0])
def test_quadratic_bound_is_between_the_surrogate_and_the_exact_expectation(alpha):
    rng = np.random.default_rng(1)
    rho, omega = rng.uniform(0.1, 0.4, 10), rng.uniform(20.0, 90.0, 10)
    beta = draws_of_beta(rng, rho, omega, 40_000)
    exact = gammaln(alpha) - gammaln(alpha * beta).sum(axis=1)
    low, high = (expected_log_normaliser(rho, omega, alpha, bound) for bound in ("surrogate", "quadratic"))
    noise = 4 * exact.std() / np.sqrt(exact.size)
    assert low < high < exact.mean() + noise
    assert high - low > 0.7 * (exact.mean() - low)


@pytest.mark.parametrize("seed", range(6))
def test_squares_and_their_gradient_hold_far_down_the_sticks_and_for_any_omega(seed):
    """Hundreds of topics (prefixes far below the smallest double), omega from e^-20 to 1e12."""
    rng = np.random.default_rng(seed)
    rho = rng.uniform(1e-10, 1 - 1e-10, 900) if seed % 2 else rng.uniform(0.0, 0.02, 900) + 1e-10
    omega = np.exp(rng.uniform(-20.0, 27.0, 900))
    value, by_rho, by_omega = expected_squares(rho, omega)
    np.testing.assert_allclose(value, reference.expected_squares(rho, omega).sum(), rtol=1e-11)
    assert 1 / 901 <= value <= 1 + 1e-12
    assert np.isfinite(by_rho).all()
    assert np.isfinite(by_omega).all()
    assert (by_omega <= 0).all()  # a wider stick has a larger square


@pytest.mark.parametrize("seed", range(8))
def test_stick_objective_with_the_quadratic_bound_equals_the_twin(seed):
    arguments = stick_problem(seed, n_topics=1 + seed)
    value = stick_objective(*arguments, "quadratic")[0]
    np.testing.assert_allclose(value, reference.stick_objective(*arguments, "quadratic"), rtol=1e-11)
    assert value >= stick_objective(*arguments)[0]


@pytest.mark.parametrize("alpha", [0.3, 1.5, 2.5, 8.0])  # at 2.5 the gain is 0 for some of these sticks
@pytest.mark.parametrize("seed", range(4))
def test_stick_gradient_with_the_quadratic_bound_equals_central_differences(seed, alpha):
    rho, omega, *fixed = stick_problem(seed, alpha=alpha)
    assert_slopes_equal_central_differences(rho, 1 + omega % 50, fixed, "quadratic")


@pytest.mark.parametrize("seed", range(6))
def test_stick_objective_of_a_point_and_its_gradient_equal_the_twin(seed):
    rho, omega, *fixed = stick_problem(seed, n_topics=1 + seed)
    value, _, by_omega = stick_objective(rho, omega, *fixed, POINT)
    np.testing.assert_allclose(value, reference.stick_objective(rho, omega, *fixed, POINT), rtol=1e-11)
    assert not by_omega.any()
    assert_slopes_equal_central_differences(rho, omega, fixed, POINT)


def test_objective_of_a_point_does_not_depend_on_the_order_of_the_topics():
    """The prior is a function of the rest alone, as prod_k (1 - u_k) = beta_{>K}.          docs/math (V23)"""
    rho, omega, T, n_documents, alpha, gamma = stick_problem(1)
    order = np.random.default_rng(0).permutation(rho.size)
    moved, values = sticks_of(expected_beta(rho)[:-1][order], omega)[0], []
    for sticks, sums in ((rho, T), (moved, T[np.append(order, rho.size)])):
        totals = Summary.zeros(0, rho.size)
        totals.n_documents, totals.T = n_documents, sums
        values.append(allocation_term(totals, sticks, omega, alpha, POINT) + stick_term(sticks, omega, gamma, POINT))
    np.testing.assert_allclose(*values, rtol=1e-12)
    np.testing.assert_allclose(
        stick_term(rho, omega, gamma, POINT),
        rho.size * np.log(gamma) + (gamma - 1) * np.log(expected_beta(rho)[-1]),
        rtol=1e-12,
    )


@pytest.mark.parametrize("schedule", ["memoized", "stochastic"])
def test_fit_of_a_point_finds_the_bars(schedule):
    corpus, truth = toy_bars(60, size=4, n_bars=4, tokens=40, seed=0)
    model = VariationalHDP(n_topics=8, bound=POINT, schedule=schedule, n_laps=8, n_batches=2, random_state=0).fit(
        corpus
    )
    near = np.abs(model.topic_word_[:, None] - truth.topic_word).sum(axis=2).min(axis=0)
    assert near.max() < 0.4
    if schedule == "memoized":
        assert (np.diff(model.trace_["objective"]) > -1e-9).all()
