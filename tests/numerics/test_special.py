"""The special functions of the kernels against SciPy over all the range that they promise; maxima of one number."""

import math

import numpy as np
import pytest
from scipy.special import gammaln, polygamma, psi

from stickbreak.numerics.maximum import maximiser
from stickbreak.numerics.special import digamma, exp_digamma, log_gamma, trigamma

WIDE = np.concatenate([np.logspace(-300, -10, 300), np.logspace(-10, 12, 2000), np.linspace(0.5, 30, 1000)])


@pytest.mark.parametrize(("fast", "exact"), [(digamma, psi), (log_gamma, gammaln)], ids=["digamma", "log_gamma"])
def test_special_function_equals_scipy(fast, exact):
    """The error is below 1e-13 max(1, |value|), as the module says."""
    found, want = np.array([fast(x) for x in WIDE]), exact(WIDE)
    error = np.abs(found - want) / np.maximum(1.0, np.abs(want))
    assert error.max() < 1e-13, f"at {WIDE[error.argmax()]:g}"


def test_trigamma_equals_scipy():
    x = WIDE[WIDE > 1e-150]  # below, 1 / x^2 passes the largest double
    found, want = np.array([trigamma(v) for v in x]), polygamma(1, x)
    np.testing.assert_allclose(found, want, rtol=1e-12)


def test_exp_digamma_equals_scipy():
    """Relative: an error of psi is magnified by nothing but |psi|."""
    x = WIDE[WIDE > 2e-3]
    found = np.array([exp_digamma(v) for v in x])
    np.testing.assert_allclose(found, np.exp(psi(x)), rtol=1e-12)


def test_exp_digamma_vanishes_for_tiny_arguments():
    assert [exp_digamma(x) for x in (1e-3, 1e-10, 1e-300)] == [0.0, 0.0, 0.0]


def test_special_functions_hold_at_known_points():
    np.testing.assert_allclose(digamma(1.0), -np.euler_gamma, rtol=1e-14)
    np.testing.assert_allclose(trigamma(1.0), np.pi**2 / 6, rtol=1e-14)
    np.testing.assert_allclose(log_gamma(0.5), np.log(np.pi) / 2, rtol=1e-14)
    np.testing.assert_allclose([log_gamma(1.0), log_gamma(2.0)], 0.0, atol=2e-14)


@pytest.mark.parametrize("best", [1e-3, 0.4999, 0.5, 0.50001, 7.0, 900.0])
@pytest.mark.parametrize("start", [2e-3, 0.5, 800.0])
def test_maximiser_finds_the_sign_change_from_either_side(start, best):
    assert maximiser(lambda x: best - x, start, (1e-4, 1e4)) == pytest.approx(best, rel=2e-6)


@pytest.mark.parametrize(("sign", "limit"), [(1.0, 50.0), (-1.0, 0.01)])
def test_maximiser_stops_at_the_limit_that_the_slope_leads_to(sign, limit):
    assert maximiser(lambda x: sign, 0.3, (0.01, 50.0)) == limit
    assert maximiser(lambda x: sign, limit, (0.01, 50.0)) == pytest.approx(limit, rel=1e-15)


def test_maximiser_keeps_a_start_outside_the_limits_unless_the_slope_leads_back():
    assert maximiser(lambda x: 1.0, 80.0, (0.01, 50.0)) == pytest.approx(80.0, rel=1e-15)
    assert maximiser(lambda x: 60.0 - x, 80.0, (0.01, 50.0)) == pytest.approx(60.0, rel=2e-6)


def test_maximiser_asks_for_each_slope_once_and_for_few_near_the_start():
    asked = []

    def slope(x):
        asked.append(x)
        return math.log(0.5015 / x)

    maximiser(slope, 0.5, (1e-3, 1e3))
    assert len(asked) == len(set(asked)) <= 6
