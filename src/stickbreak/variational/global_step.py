"""The global step for the sticks: (rho, omega) by L-BFGS in the unconstrained form (docs/math (V10), (V23)).

Stochastic steps move q(u_k) = Beta(a_k, b_k) towards that optimum, or along the natural gradient (docs/math (S1)).
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import zeta

from stickbreak.numerics.arrays import Float
from stickbreak.variational.kernels.statistics import stick_terms
from stickbreak.variational.objective import (
    POINT,
    QUADRATIC,
    SURROGATE,
    expected_squares,
    point_gain,
    point_slopes,
    quadratic_gain,
    quadratic_slopes,
)
from stickbreak.variational.state import expected_beta

INTERPOLATE, NATURAL = STICK_RULES = ("interpolate", "natural")

ASYMPTOTIC = 25.0  # from here on the series of h; its first missing term is 1e-11 of the value
SMALLEST_PART = 0.1  # of its value: a or b must not shrink further in one step
SMALLEST_RHO = 1e-10  # docs/math, numerical care
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

    `rho`, `omega` (K,). `T` (K + 1,): sum_d E log pi_dk. Returns `value`: L_G. docs/math (V10). `by_rho`, `by_omega`
    (K,): dL_G/drho, dL_G/domega.                                        docs/math (V11), (V13), (V23).
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
    """Return L_G of the point u = rho and its gradient, (K,).                              docs/math (V23)

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

    `T` (K + 1,): sum_d E log pi_dk. `rho`, `omega` (K,): where to start. Returns `rho`, `omega` (K,).
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


def excess(x: Float) -> Float:
    """Return h(x) = x psi'(x) - 1 for x > 0, without the cancellation of large x.    docs/math (S1)

    h(x) = 1/(2x) + 1/(6x^2) - 1/(30x^4) + 1/(42x^6) for large x.
    """
    small, z = np.minimum(x, ASYMPTOTIC), 1.0 / np.maximum(x, ASYMPTOTIC)
    series = z * (1 / 2 + z * (1 / 6 - z**2 * (1 / 30 - z**2 / 42)))
    return np.where(x > ASYMPTOTIC, series, small * zeta(2.0, small) - 1.0)


def precondition(rho: Float, omega: Float, by_rho: Float, by_omega: Float | float = 0.0) -> tuple[Float, Float]:
    """Return F^-1 (df/da, df/db): the natural gradient in (a, b) of any f with these slopes in (rho, omega).

    F is the Fisher information of Beta(a, b),

        F = [[psi'(a) - psi'(omega), -psi'(omega)], [-psi'(omega), psi'(b) - psi'(omega)]].

    With h of `excess` and det F written in it (docs/math (S2)) no digits are lost for large a and b; the direct
    2 x 2 inverse loses all of them at a, b ~ 1e7.

    `rho`, `omega` (K,). `by_rho` (K,): df/drho. `by_omega` (K,): df/domega. Returns `by_a`, `by_b` (K,).
    """
    a, b = rho * omega, (1 - rho) * omega
    h_a, h_b, h_omega = excess(a), excess(b), excess(omega)
    det = a * h_a + b * h_b - omega * h_omega + omega * h_a * h_b - h_omega * (b * h_a + a * h_b)  # times a b omega
    along_rho = by_rho * a * b / (omega * det)
    along_omega = by_omega * omega / det
    return (
        along_rho * (h_b - h_omega) + along_omega * a * (1 + h_b),  # (1 + h(b)) / b = psi'(b)
        -along_rho * (h_a - h_omega) + along_omega * b * (1 + h_a),
    )


def natural_gradient(
    rho: Float, omega: Float, T: Float, n_documents: int, alpha: float, gamma: float, bound: str = SURROGATE
) -> tuple[Float, Float]:
    """Return the natural gradient of L_G in (a, b), linear in T.                   docs/math (S2)

    All of L_G but its last term is conjugate: there the natural gradient is the difference to the optimum.

    `rho`, `omega` (K,). `T` (K + 1,): sum_d E log pi_dk, or an unbiased estimate of it. `n_documents`: D. Returns
    `by_a`, `by_b` (K,).
    """
    n_topics = rho.size
    share = expected_beta(rho) * T
    after = np.cumsum(share[::-1])[::-1][1:]  # R_m = sum_{k>m} E[beta_k] T_k
    by_rho = alpha * (share[:-1] / rho - after / (1 - rho))
    by_omega = np.zeros(n_topics)
    if bound == QUADRATIC:
        squares, squares_by_rho, squares_by_omega = expected_squares(rho, omega)
        slope = n_documents * quadratic_slopes(alpha, squares)[1]
        by_rho, by_omega = by_rho + slope * squares_by_rho, slope * squares_by_omega
    by_a, by_b = precondition(rho, omega, by_rho, by_omega)
    most = n_documents * np.arange(n_topics, 0, -1.0) + gamma
    return n_documents + 1.0 - rho * omega + by_a, most - (1 - rho) * omega + by_b


def interpolate(rho: Float, omega: Float, best_rho: Float, best_omega: Float, step: float) -> tuple[Float, Float]:
    """Return the sticks after one step towards others: a <- (1 - xi) a + xi a*, b likewise.         docs/math (S1)"""
    new_omega = (1 - step) * omega + step * best_omega
    mean = ((1 - step) * rho * omega + step * best_rho * best_omega) / new_omega
    return np.clip(mean, SMALLEST_RHO, 1 - SMALLEST_RHO), new_omega


def ascend(rho: Float, omega: Float, by_a: Float, by_b: Float, step: float) -> tuple[Float, Float]:
    """Return the sticks after one step along (by_a, by_b).                         docs/math (S1)

    The step is halved while it would make any a or b less than a tenth of its value.
    """
    a, b = rho * omega, (1 - rho) * omega
    while ((a + step * by_a < SMALLEST_PART * a) | (b + step * by_b < SMALLEST_PART * b)).any():
        step /= 2
    a, b = a + step * by_a, b + step * by_b
    return np.clip(a / (a + b), SMALLEST_RHO, 1 - SMALLEST_RHO), a + b
