"""The quadratic bound: below the exact normaliser, above the surrogate, and its gradient; the point likewise."""

import numpy as np
import pytest
from scipy.special import gammaln

from stickbreak import GaussianHDP, VariationalHDP
from stickbreak.corpus import toy_bars
from stickbreak.exceptions import InputError
from stickbreak.likelihoods import DirichletMultinomial
from stickbreak.variational.global_step import optimise_sticks, stick_objective, sticks_of
from stickbreak.variational.hdp import HDP
from stickbreak.variational.objective import (
    POINT,
    allocation_term,
    expected_log_normaliser,
    expected_squares,
    point_gain,
    point_slopes,
    quadratic_gain,
    quadratic_slopes,
    stick_term,
)
from stickbreak.variational.state import Summary, expected_beta

from . import reference
from .problems import assert_no_slope, assert_slopes_equal_central_differences, stick_problem


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


def test_expected_squares_are_the_moments_of_the_sticks():
    rng = np.random.default_rng(0)
    rho, omega = rng.uniform(0.1, 0.7, 8), rng.uniform(1.0, 25.0, 8)
    squares = (draws_of_beta(rng, rho, omega, 200_000) ** 2).sum(axis=1)
    value = expected_squares(rho, omega)[0]
    assert abs(squares.mean() - value) < 4 * squares.std() / np.sqrt(squares.size)
    np.testing.assert_allclose(value, reference.expected_squares(rho, omega).sum(), rtol=1e-13)


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


@pytest.mark.parametrize("n_topics", [1, 2, 7])
def test_gradient_of_squares_equals_central_differences(n_topics):
    rho, omega, *_ = stick_problem(n_topics, n_topics)
    _, by_rho, by_omega = expected_squares(rho, omega)
    for k in range(n_topics):
        step = 1e-5 * np.eye(n_topics)[k]
        numeric = [
            reference.expected_squares(*up).sum() - reference.expected_squares(*down).sum()
            for up, down in (
                ((rho + step, omega), (rho - step, omega)),
                ((rho, omega * (1 + step)), (rho, omega * (1 - step))),
            )
        ]
        np.testing.assert_allclose(numeric[0] / 2e-5, by_rho[k], rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(numeric[1] / 2e-5, by_omega[k] * omega[k], rtol=1e-6, atol=1e-9)


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


def test_cases_of_the_gradient_lie_on_both_sides_of_the_larger_bound():
    gains = []
    for seed in range(4):
        rho, omega, *_ = stick_problem(seed, alpha=2.5)
        gains.append(reference.quadratic_gain(rho, 1 + omega % 50, 2.5))
    assert min(gains) == 0.0 < max(gains)


def test_gain_and_its_slopes_are_zero_where_the_surrogate_is_the_larger():
    assert quadratic_gain(20.0, 1.0) == 0.0
    assert quadratic_slopes(20.0, 1.0) == (0.0, 0.0)
    assert quadratic_gain(20.0, 0.02) > 0.0
    for alpha in (0.2, 3.0, 20.0):
        by_alpha, by_squares = quadratic_slopes(alpha, 0.02)
        h = 1e-5
        numeric = (quadratic_gain(alpha + h, 0.02) - quadratic_gain(alpha - h, 0.02)) / (2 * h)
        np.testing.assert_allclose(by_alpha, numeric, rtol=1e-6)
        numeric = (quadratic_gain(alpha, 0.02 + h) - quadratic_gain(alpha, 0.02 - h)) / (2 * h)
        np.testing.assert_allclose(by_squares, numeric, rtol=1e-6)


@pytest.mark.parametrize("seed", range(10))
def test_optimise_sticks_under_the_quadratic_bound_is_never_worse_and_stationary(seed):
    rho, omega, *fixed = stick_problem(seed, n_topics=5)
    found = optimise_sticks(*fixed, rho, omega, bound="quadratic")
    value = stick_objective(*found, *fixed, "quadratic")[0]
    assert value >= stick_objective(rho, omega, *fixed, "quadratic")[0]
    surrogate = optimise_sticks(*fixed, rho, omega)
    assert value >= stick_objective(*surrogate, *fixed, "quadratic")[0] - 1e-6 * fixed[1]
    if reference.quadratic_gain(*found, fixed[2]) > 1e-6:  # not at the edge, where the slope jumps
        assert_no_slope(found, fixed, "quadratic")


def test_allocation_term_gains_once_for_every_document():
    rho, omega, T, n_documents, alpha, _ = stick_problem(3, alpha=1.2)
    totals = Summary.zeros(0, rho.size)
    totals.n_documents, totals.T = n_documents, T
    low, high = (allocation_term(totals, rho, omega, alpha, bound) for bound in ("surrogate", "quadratic"))
    np.testing.assert_allclose(high - low, n_documents * reference.quadratic_gain(rho, omega, alpha), rtol=1e-9)
    assert expected_beta(rho).size == T.size


@pytest.mark.parametrize("seed", range(6))
def test_stick_objective_of_a_point_and_its_gradient_equal_the_twin(seed):
    rho, omega, *fixed = stick_problem(seed, n_topics=1 + seed)
    value, _, by_omega = stick_objective(rho, omega, *fixed, POINT)
    np.testing.assert_allclose(value, reference.stick_objective(rho, omega, *fixed, POINT), rtol=1e-11)
    assert not by_omega.any()
    assert_slopes_equal_central_differences(rho, omega, fixed, POINT)


def test_a_point_is_where_the_quadratic_bound_and_the_exact_expectation_meet_as_omega_grows():
    rho, _, *_ = stick_problem(4)
    certain = np.full(rho.size, 1e12)
    low, at = (expected_log_normaliser(rho, certain, 0.3, bound) for bound in ("surrogate", POINT))
    np.testing.assert_allclose(at - low, point_gain(0.3, expected_beta(rho)), rtol=1e-6)
    assert low < expected_log_normaliser(rho, certain, 0.3, "quadratic") < at


def test_slopes_of_the_gain_of_a_point_equal_central_differences():
    beta, h = expected_beta(stick_problem(2)[0]), 1e-5
    by_alpha, by_beta = point_slopes(1.7, beta)
    np.testing.assert_allclose((point_gain(1.7 + h, beta) - point_gain(1.7 - h, beta)) / (2 * h), by_alpha, rtol=1e-7)
    for k, step in enumerate(h * np.eye(beta.size)):
        numeric = (point_gain(1.7, beta + step) - point_gain(1.7, beta - step)) / (2 * h)
        np.testing.assert_allclose(numeric, by_beta[k], rtol=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_optimise_sticks_of_a_point_is_never_worse_and_stationary_and_leaves_omega(seed):
    rho, omega, *fixed = stick_problem(seed, n_topics=5)
    found = optimise_sticks(*fixed, rho, omega, bound=POINT)
    assert stick_objective(*found, *fixed, POINT)[0] >= stick_objective(rho, omega, *fixed, POINT)[0]
    assert_no_slope(found, fixed, POINT)
    np.testing.assert_array_equal(found[1], omega)
    wide = np.full(rho.size, 1e12)  # beyond the limit that a distribution has
    np.testing.assert_array_equal(optimise_sticks(*fixed, rho, wide, bound=POINT)[1], wide)


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


def test_stochastic_step_of_a_point_mixes_the_sticks_themselves():
    rho, omega, T, n_documents, alpha, gamma = stick_problem(3)
    totals = Summary.zeros(0, rho.size)
    totals.n_documents, totals.T = n_documents, T
    model = HDP(DirichletMultinomial(0.1, 0), alpha, gamma, POINT)
    best = model.best_sticks(totals, rho, omega)[0]
    moved, wide = model.step_sticks(totals, rho, omega, 0.25, "interpolate")
    np.testing.assert_allclose(moved, 0.75 * rho + 0.25 * best, rtol=1e-12)
    np.testing.assert_allclose(wide, omega, rtol=1e-12)


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


def test_the_natural_gradient_of_a_point_is_refused():
    corpus, _ = toy_bars(10, size=4, n_bars=4, tokens=10, seed=0)
    with pytest.raises(InputError, match="stick_rule is 'natural', which needs a distribution"):
        VariationalHDP(bound=POINT, stick_rule="natural", schedule="stochastic").fit(corpus)
    with pytest.raises(InputError, match="bound='point' has only their values"):
        GaussianHDP(bound=POINT, stick_rule="natural").fit([np.eye(2)])
