"""The corpus weights of `SplitMergeOnlineHDP`: a point estimate (docs/math (O11))."""

from __future__ import annotations

import numpy as np
from scipy.special import psi

from stickbreak.numerics.arrays import Float

LEAST = 1e-200  # alpha beta_k of a topic that has lost its tables


def prior_of(tables: Float, alpha: float, gamma: float) -> Float:
    """Return alpha beta_k, (K,), beta_k = M_k / (M + gamma - 1).                                  docs/math (O11)"""
    return np.maximum(alpha * tables / (tables.sum() + gamma - 1.0), LEAST)


def expected_tables(N: Float, prior: Float) -> Float:
    """Return sum_d alpha beta_k { psi(alpha beta_k + N_dk) - psi(alpha beta_k) }, (K,).           docs/math (O11)"""
    found: Float = (prior * (psi(prior + N) - psi(prior))).sum(axis=0)
    return found


def objective_of_weights(tables: Float, gamma: float, n_kept: int = 0) -> float:
    """Return sum_k log Beta(u_k | 1, gamma) = K log gamma + (gamma - 1) log beta_>K.              docs/math (O12)

    Of the first `n_kept` topics a table is known beforehand, and is among `tables`.              docs/math (O16)
    """
    total = tables.sum() + gamma - 1.0
    rest = 0.0 if gamma == 1.0 else (gamma - 1.0) * np.log((gamma - 1.0) / total)
    later = gamma + np.arange(n_kept)
    known = np.log(tables[:n_kept] / total).sum() - (np.log(gamma) - np.log(later) - np.log1p(later)).sum()
    return float(tables.size * np.log(gamma) + rest + known)
