"""What eta is learned from; NumPy twin in tests/hybrid/test_learning.py."""

from __future__ import annotations

import math

import numpy as np

from stickbreak.numerics.compiling import njit


@njit(cache=True, nogil=True, error_model="numpy")
def poisson_tails(S, limit):
    """Return T_j = sum of P(n > j), n ~ Poisson(S), over the expected counts with 0 < S <= limit.   math.md (B10)"""
    tails = np.zeros(4 * limit)
    for i in range(S.size):
        if 0.0 < S[i] <= limit:
            p = math.exp(-S[i])  # P(n = j)
            more = 1.0 - p
            for j in range(tails.size):
                if more < 1e-12:
                    break
                tails[j] += more
                p *= S[i] / (j + 1)
                more -= p
    return tails
