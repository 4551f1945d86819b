"""The expected log normaliser of document weights, E[c_D(alpha beta)] (math.md (V2), (V13), (V23)).

All begin with K log alpha + sum_k E log beta_k, which is all of the surrogate of Hughes, Kim and Sudderth (2015). The
quadratic bound, and the exact value where q(u) is a point, add what this file computes.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, psi

from stickbreak.numerics.arrays import Float
from stickbreak.variational.kernels.statistics import squared_weights

SURROGATE, QUADRATIC, POINT = BOUNDS = ("surrogate", "quadratic", "point")

_CURVATURE = np.pi**2 / 12  # log Gamma(1 + x) + gE x <= (pi^2 / 12) x^2 for x >= 0


def expected_squares(rho: Float, omega: Float) -> tuple[float, Float, Float]:
    """Return E[sum_{k <= K+1} beta_k^2] and its gradient.                          math.md (V13)

    Parameters
    ----------
    rho, omega : ndarray of shape (K,)

    Returns
    -------
    value : float
        Between 1 / (K + 1) and 1.
    by_rho, by_omega : ndarray of shape (K,)
    """
    by_rho, by_omega = np.empty(rho.size), np.empty(rho.size)
    value = squared_weights(rho, omega, by_rho, by_omega)
    return value, by_rho, by_omega


def quadratic_gain(alpha: float, squares: float) -> float:
    """Return how far the quadratic bound is above the surrogate, nats per document.  math.md (V13)

    max(0, log Gamma(1 + alpha) + gE alpha - (pi^2 / 12) alpha^2 E[sum_k beta_k^2])
    """
    return max(0.0, float(gammaln(1.0 + alpha) + np.euler_gamma * alpha - _CURVATURE * alpha**2 * squares))


def quadratic_slopes(alpha: float, squares: float) -> tuple[float, float]:
    """Return the derivatives of `quadratic_gain` by alpha and by E[sum_k beta_k^2]; both 0 where the gain is."""
    if quadratic_gain(alpha, squares) == 0.0:
        return 0.0, 0.0
    by_alpha = float(psi(1.0 + alpha)) + np.euler_gamma - 2.0 * _CURVATURE * alpha * squares
    return by_alpha, -_CURVATURE * alpha**2


def point_gain(alpha: float, beta: Float) -> float:
    """Return how far c_D(alpha beta) is above the surrogate at a point beta (K + 1,), nats per document.  math.md (V23)

    log Gamma(1 + alpha) - sum_{k <= K+1} log Gamma(1 + alpha beta_k): a weight may be the smallest double.
    """
    return float(gammaln(1.0 + alpha) - gammaln(1.0 + alpha * beta).sum())


def point_slopes(alpha: float, beta: Float) -> tuple[float, Float]:
    """Return the derivatives of `point_gain` by alpha and by each of beta, (K + 1,)."""
    digammas = psi(1.0 + alpha * beta)
    return float(psi(1.0 + alpha) - beta @ digammas), -alpha * digammas
