"""Steps of q(u_k) = Beta(a_k, b_k): towards an optimum, or along the natural gradient (math.md (S1))."""

from __future__ import annotations

import numpy as np
from scipy.special import zeta

from stickbreak.numerics.arrays import Float
from stickbreak.variational.bound import QUADRATIC, SURROGATE, expected_squares, quadratic_slopes
from stickbreak.variational.global_step import SMALLEST_RHO
from stickbreak.variational.state import expected_beta

INTERPOLATE, NATURAL = STICK_RULES = ("interpolate", "natural")

ASYMPTOTIC = 25.0  # from here on the series of h; its first missing term is 1e-11 of the value
SMALLEST_PART = 0.1  # of its value: a or b must not shrink further in one step


def excess(x: Float) -> Float:
    """Return h(x) = x psi'(x) - 1 for x > 0, without the cancellation of large x.    math.md (S1)

    h(x) = 1/(2x) + 1/(6x^2) - 1/(30x^4) + 1/(42x^6) for large x.
    """
    small, z = np.minimum(x, ASYMPTOTIC), 1.0 / np.maximum(x, ASYMPTOTIC)
    series = z * (1 / 2 + z * (1 / 6 - z**2 * (1 / 30 - z**2 / 42)))
    return np.where(x > ASYMPTOTIC, series, small * zeta(2.0, small) - 1.0)


def precondition(rho: Float, omega: Float, by_rho: Float, by_omega: Float | float = 0.0) -> tuple[Float, Float]:
    """Return F^-1 (df/da, df/db): the natural gradient in (a, b) of any f with these slopes in (rho, omega).

    F is the Fisher information of Beta(a, b),

        F = [[psi'(a) - psi'(omega), -psi'(omega)], [-psi'(omega), psi'(b) - psi'(omega)]].

    With h of `excess` and det F written in it (math.md (S2)) no digits are lost for large a and b; the direct
    2 x 2 inverse loses all of them at a, b ~ 1e7.

    Parameters
    ----------
    rho, omega : ndarray of shape (K,)
    by_rho : ndarray of shape (K,)
        df/drho.
    by_omega : ndarray of shape (K,) or float, default=0.0
        df/domega.

    Returns
    -------
    by_a, by_b : ndarray of shape (K,)
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
    """Return the natural gradient of L_G in (a, b), linear in T.                   math.md (S2)

    All of L_G but its last term is conjugate: there the natural gradient is the difference to the optimum.

    Parameters
    ----------
    rho, omega : ndarray of shape (K,)
    T : ndarray of shape (K + 1,)
        sum_d E log pi_dk, or an unbiased estimate of it.
    n_documents : int
        D.
    alpha, gamma : float
    bound : {"surrogate", "quadratic"}, default="surrogate"

    Returns
    -------
    by_a, by_b : ndarray of shape (K,)
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
    """Return the sticks after one step towards others: a <- (1 - xi) a + xi a*, b likewise.         math.md (S1)"""
    new_omega = (1 - step) * omega + step * best_omega
    mean = ((1 - step) * rho * omega + step * best_rho * best_omega) / new_omega
    return np.clip(mean, SMALLEST_RHO, 1 - SMALLEST_RHO), new_omega


def ascend(rho: Float, omega: Float, by_a: Float, by_b: Float, step: float) -> tuple[Float, Float]:
    """Return the sticks after one step along (by_a, by_b).                         math.md (S1)

    The step is halved while it would make any a or b less than a tenth of its value.
    """
    a, b = rho * omega, (1 - rho) * omega
    while ((a + step * by_a < SMALLEST_PART * a) | (b + step * by_b < SMALLEST_PART * b)).any():
        step /= 2
    a, b = a + step * by_a, b + step * by_b
    return np.clip(a / (a + b), SMALLEST_RHO, 1 - SMALLEST_RHO), a + b
