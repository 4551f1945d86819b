"""The corpus weights of `OnlineHDP`: K - 1 sticks, whose rest is the last topic (docs/math (O1))."""

from __future__ import annotations

import numpy as np
from scipy.special import betaln, psi

from stickbreak.numerics.arrays import Float, Int


def sticks(tables: Float, gamma: float) -> tuple[Float, Float]:
    """Return a and b of q(u_k) = Beta(a_k, b_k), (K - 1,): a_k = 1 + M_k, b_k = gamma + M_>k.   docs/math (O1)"""
    after = np.cumsum(tables[::-1])[::-1] - tables
    return 1.0 + tables[:-1], gamma + after[:-1]


def expected_log_beta(tables: Float, gamma: float) -> Float:
    """Return E log beta_k, (K,)."""
    a, b = sticks(tables, gamma)
    both = psi(a + b)
    return np.append(psi(a) - both, 0.0) + np.concatenate(([0.0], np.cumsum(psi(b) - both)))


def expected_beta(tables: Float, gamma: float) -> Float:
    """Return E beta_k, (K,); they sum to one."""
    a, b = sticks(tables, gamma)
    left = np.log(b) - np.log(a + b)
    return np.exp(np.append(np.log(a) - np.log(a + b), 0.0) + np.concatenate(([0.0], np.cumsum(left))))


def objective_of_sticks(tables: Float, gamma: float) -> float:
    """Return sum_k { c_B(1, gamma) - c_B(a, b) + (1 - a) E log u_k + (gamma - b) E log(1 - u_k) }.   docs/math (O1)"""
    a, b = sticks(tables, gamma)
    both = psi(a + b)
    free = np.log(gamma) + betaln(a, b)
    return float((free + (1.0 - a) * (psi(a) - both) + (gamma - b) * (psi(b) - both)).sum())


def order_of_sticks(tables: Float, gamma: float, n_kept: int = 0) -> Int | None:
    """Return the order of the topics by tables, the largest first, if the bound is larger in it; else None.

    The first `n_kept` topics stay where they are. With every stick at its optimum the topics add sum_k log B(a_k, b_k)
    to the bound.                                                                                        docs/math (O8)
    """
    order = np.append(np.arange(n_kept), n_kept + np.argsort(-tables[n_kept:], kind="stable"))
    here, there = (float(betaln(*sticks(M, gamma)).sum()) for M in (tables, tables[order]))
    return order if there > here else None
