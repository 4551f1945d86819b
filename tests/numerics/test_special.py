"""The special functions of the kernels against SciPy over all the range that they promise; maxima of one number."""

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


@pytest.mark.parametrize("best", [1e-3, 0.4999, 0.5, 0.50001, 7.0, 900.0])
@pytest.mark.parametrize("start", [2e-3, 0.5, 800.0])
def test_maximiser_finds_the_sign_change_from_either_side(start, best):
    assert maximiser(lambda x: best - x, start, (1e-4, 1e4)) == pytest.approx(best, rel=2e-6)


@pytest.mark.parametrize(("sign", "limit"), [(1.0, 50.0), (-1.0, 0.01)])
def test_maximiser_stops_at_the_limit_that_the_slope_leads_to(sign, limit):
    assert maximiser(lambda x: sign, 0.3, (0.01, 50.0)) == limit
    assert maximiser(lambda x: sign, limit, (0.01, 50.0)) == pytest.approx(limit, rel=1e-15)
