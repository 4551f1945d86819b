"""The global step for the sticks: (rho, omega) by L-BFGS in the unconstrained form (math.md (V10), (V23))."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from stickbreak.numerics.arrays import Float
from stickbreak.variational.bound import (
    POINT,
    QUADRATIC,
    SURROGATE,
    expected_squares,
    point_gain,
    point_slopes,
    quadratic_gain,
    quadratic_slopes,
)
from stickbreak.variational.kernels.statistics import stick_terms
from stickbreak.variational.state import expected_beta

SMALLEST_RHO = 1e-10  # math.md, numerical care
SMALLEST_LOG_OMEGA = -20.0


def stick_objective(
    rho: Float,
    omega: Float,
    T: Float,
    n_documents: int,
    alpha: float,
    gamma: float,
    bound: str = SURROGATE,
) -> tuple[float, Float, Float]:
    """Return L_G, the terms of the objective that depend on (rho, omega), and its gradient.

    Parameters
    ----------
    rho, omega : ndarray of shape (K,)
    T : ndarray of shape (K + 1,)
        sum_d E log pi_dk.
    n_documents : int
    alpha, gamma : float
    bound : {"surrogate", "quadratic", "point"}, default="surrogate"

    Returns
    -------
    value : float
        L_G.                                                                        math.md (V10)
    by_rho, by_omega : ndarray of shape (K,)
        dL_G/drho, dL_G/domega.                                        math.md (V11), (V13), (V23)
    """
    if bound == POINT:
        value, by_rho = _point_objective(rho, T, n_documents, alpha, gamma)
        return value, by_rho, np.zeros(rho.size)
    by_rho, by_omega = np.empty(rho.size), np.empty(rho.size)
    value = stick_terms(rho, omega, T, float(n_documents), alpha, gamma, by_rho, by_omega)
    if bound == QUADRATIC:
        squares, squares_by_rho, squares_by_omega = expected_squares(rho, omega)
        slope = n_documents * quadratic_slopes(alpha, squares)[1]
        value += n_documents * quadratic_gain(alpha, squares)
        by_rho += slope * squares_by_rho
        by_omega += slope * squares_by_omega
    return value, by_rho, by_omega


def _point_objective(rho: Float, T: Float, n_documents: int, alpha: float, gamma: float) -> tuple[float, Float]:
    """Return L_G of the point u = rho and its gradient, (K,).                              math.md (V23)

    Its row m is D / rho_m - (D (K + 1 - m) + gamma - 1) / (1 - rho_m) and what beta moves, by suffix sums as in (V11).
    """
    beta, after = expected_beta(rho), n_documents * np.arange(rho.size, 0, -1.0) + gamma - 1.0
    value = n_documents * (np.log(rho).sum() + point_gain(alpha, beta)) + after @ np.log1p(-rho) + alpha * (beta @ T)
    share = beta * (alpha * T + n_documents * point_slopes(alpha, beta)[1])
    suffix = np.cumsum(share[::-1])[::-1][1:]
    return float(value), (n_documents + share[:-1]) / rho - (after + suffix) / (1.0 - rho)


def sticks_of(weights: Float, omega: float | Float) -> tuple[Float, Float]:
    """Return (rho, omega) such that E[beta_k] = weights_k; what the weights lack to one is the inactive rest."""
    rest = max(0.0, 1.0 - float(weights.sum()))
    remaining = np.cumsum(weights[::-1])[::-1] + rest
    rho = np.clip(weights / np.maximum(remaining, 1e-300), SMALLEST_RHO, 1 - SMALLEST_RHO)
    return rho, np.broadcast_to(omega, rho.shape).astype(np.float64)


def optimise_sticks(
    T: Float,
    n_documents: int,
    alpha: float,
    gamma: float,
    rho: Float,
    omega: Float,
    *,
    bound: str = SURROGATE,
    max_iterations: int = 200,
) -> tuple[Float, Float]:
    """Return the (rho, omega) that maximise L_G given T, never worse than the start.

    Optimised over logit rho and log omega, the objective divided by D. A point has no omega: it stays as it is.

    Parameters
    ----------
    T : ndarray of shape (K + 1,)
        sum_d E log pi_dk.
    n_documents : int
    alpha, gamma : float
    rho, omega : ndarray of shape (K,)
        Where to start.
    bound : {"surrogate", "quadratic", "point"}, default="surrogate"
    max_iterations : int, default=200

    Returns
    -------
    rho, omega : ndarray of shape (K,)
    """
    n_topics, scale = rho.size, 1.0 / max(n_documents, 1)
    rho = np.clip(rho, SMALLEST_RHO, 1 - SMALLEST_RHO)

    # Without the last term of L_G its maximum has omega_k = D (K + 2 - k) + 1 + gamma. Far beyond, the digammas of L_G
    # cancel to noise that a line search takes for a gain: so omega stays within a hundred times the largest of these.
    most = np.log(100.0 * (n_documents * (n_topics + 1.0) + 1.0 + gamma))

    def unpack(x: Float) -> tuple[Float, Float]:
        positive = 1 / (1 + np.exp(-np.clip(x[:n_topics], -40, 40)))
        wide = omega.copy() if bound == POINT else np.exp(np.clip(x[n_topics:], SMALLEST_LOG_OMEGA, most))
        return np.clip(positive, SMALLEST_RHO, 1 - SMALLEST_RHO), wide

    def loss(x: Float) -> tuple[float, Float]:
        r, o = unpack(x)
        value, by_rho, by_omega = stick_objective(r, o, T, n_documents, alpha, gamma, bound)
        return -scale * value, -scale * np.concatenate([by_rho * r * (1 - r), by_omega * o])

    found = minimize(
        loss,
        np.concatenate([np.log(rho) - np.log1p(-rho), np.log(omega)]),
        jac=True,
        method="L-BFGS-B",
        bounds=[(None, None)] * n_topics + [(SMALLEST_LOG_OMEGA, most)] * n_topics,
        options={"maxiter": max_iterations, "ftol": 1e-13, "gtol": 1e-8, "maxcor": 20},
    )
    new_rho, new_omega = unpack(found.x)
    before = stick_objective(rho, omega, T, n_documents, alpha, gamma, bound)[0]
    if stick_objective(new_rho, new_omega, T, n_documents, alpha, gamma, bound)[0] >= before:
        return new_rho, new_omega
    return rho.copy(), omega.copy()
