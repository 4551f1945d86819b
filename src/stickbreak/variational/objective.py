"""The objective of the HDP, in nats, with all its constants (docs/math (V2), (V13), (V23), (V1), (V8)).

The bounds of the expected log normaliser of document weights, E[c_D(alpha beta)], all begin with K log alpha + sum_k E
log beta_k, which is all of the surrogate of Hughes, Kim and Sudderth (2015). The quadratic bound, and the exact value
where q(u) is a point, add what the first half of this file computes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import betaln, gammaln, psi

from stickbreak.numerics.arrays import Float
from stickbreak.variational.kernels.statistics import squared_weights
from stickbreak.variational.state import Summary, expected_beta

SURROGATE, QUADRATIC, POINT = BOUNDS = ("surrogate", "quadratic", "point")

_CURVATURE = np.pi**2 / 12  # log Gamma(1 + x) + gE x <= (pi^2 / 12) x^2 for x >= 0
SMALLEST_GAIN = 1e-9  # of |L|: below it a difference of two objectives is rounding (docs/math, numerical care)


def expected_squares(rho: Float, omega: Float) -> tuple[float, Float, Float]:
    """Return E[sum_{k <= K+1} beta_k^2] and its gradient.                          docs/math (V13)

    `rho`, `omega` (K,). Returns `value`: between 1 / (K + 1) and 1. `by_rho`, `by_omega` (K,).
    """
    by_rho, by_omega = np.empty(rho.size), np.empty(rho.size)
    value = squared_weights(rho, omega, by_rho, by_omega)
    return value, by_rho, by_omega


def quadratic_gain(alpha: float, squares: float) -> float:
    """Return how far the quadratic bound is above the surrogate, nats per document.  docs/math (V13)

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
    """Return how far c_D(alpha beta) is above the surrogate at a point beta (K + 1,), nats a document.  docs/math (V23)

    log Gamma(1 + alpha) - sum_{k <= K+1} log Gamma(1 + alpha beta_k): a weight may be the smallest double.
    """
    return float(gammaln(1.0 + alpha) - gammaln(1.0 + alpha * beta).sum())


def point_slopes(alpha: float, beta: Float) -> tuple[float, Float]:
    """Return the derivatives of `point_gain` by alpha and by each of beta, (K + 1,)."""
    digammas = psi(1.0 + alpha * beta)
    return float(psi(1.0 + alpha) - beta @ digammas), -alpha * digammas


def rises(new: Float | float, old: Float | float) -> Any:
    """Return whether an objective rises by more than rounding, elementwise; `old` may be -inf."""
    return new > old + np.where(np.isfinite(old), SMALLEST_GAIN * np.abs(old), 0.0)


def expected_log_sticks(rho: Float, omega: Float, bound: str = SURROGATE) -> tuple[Float, Float]:
    """Return E log u_k and E log(1 - u_k), each (K,); of a point log rho_k and log(1 - rho_k).  docs/math, the model"""
    if bound == POINT:
        return np.log(rho), np.log1p(-rho)
    total = psi(omega)
    return psi(rho * omega) - total, psi((1 - rho) * omega) - total


def expected_log_normaliser(rho: Float, omega: Float, alpha: float, bound: str = SURROGATE) -> float:
    """Return a lower bound of E[c_D(alpha beta)], or its value at a point.      docs/math (V2), (V13), (V23)

    K log alpha + sum_k [ E log u_k + (K + 1 - k) E log(1 - u_k) ]; the quadratic bound and a point add their gains.
    """
    n_topics = rho.size
    log_u, log_rest = expected_log_sticks(rho, omega, bound)
    value = float(n_topics * np.log(alpha) + log_u.sum() + (np.arange(n_topics, 0, -1) * log_rest).sum())
    if bound == QUADRATIC:
        value += quadratic_gain(alpha, expected_squares(rho, omega)[0])
    elif bound == POINT:
        value += point_gain(alpha, expected_beta(rho))
    return value


def stick_term(rho: Float, omega: Float, gamma: float, bound: str = SURROGATE) -> float:
    """Return L_u = - sum_k KL(q(u_k) || Beta(1, gamma)); of a point its log density.     docs/math (V1), (V23)

    sum_k c_B(1, gamma) - c_B(a_k, b_k) + (1 - a_k) E log u_k + (gamma - b_k) E log(1 - u_k);  c_B = -betaln
    """
    if bound == POINT:
        return float((np.log(gamma) + (gamma - 1.0) * np.log1p(-rho)).sum())
    a, b = rho * omega, (1 - rho) * omega
    log_u, log_rest = expected_log_sticks(rho, omega)
    return float((np.log(gamma) + betaln(a, b) + (1 - a) * log_u + (gamma - b) * log_rest).sum())


def allocation_term(totals: Summary, rho: Float, omega: Float, alpha: float, bound: str = SURROGATE) -> float:
    """Return L_HDP from the statistics.                                            docs/math (V7)

    D E[c_D] - Q0 + sum_{k <= K+1} ( Q_k + G_k + alpha E[beta_k] T_k )
    """
    per_topic = totals.Q + totals.G + alpha * expected_beta(rho) * totals.T
    normaliser = totals.n_documents * expected_log_normaliser(rho, omega, alpha, bound)
    return float(normaliser - totals.Q0 + per_topic.sum())


def objective(
    totals: Summary, rho: Float, omega: Float, *, alpha: float, gamma: float, data: Float, bound: str = SURROGATE
) -> float:
    """Return L = L_data + H_z + L_HDP + L_u; `data` is L_data of each topic.       docs/math (V1)"""
    allocation = allocation_term(totals, rho, omega, alpha, bound)
    return float(data.sum() + totals.H.sum() + allocation + stick_term(rho, omega, gamma, bound))
