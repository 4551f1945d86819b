"""Factors of table indicators that depend on the counts of a topic in a document alone: tabulated once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.stirling import StirlingRatios, opened_ratio, seated_ratio, table

Factors = NDArray[np.float64]
"""factors[n, m] = what opening a table, and what joining one, is worth to a token whose own count is out of n and m."""


def factors_of(ratios: StirlingRatios) -> Factors:
    """Return the factors of (G6), (longest + 1, width, 2).

    Raises
    ------
    InputError
        If the memory does not hold them.
    """
    factors = table(ratios.shape[0], ratios.shape[1] - 1, 2)
    _tabulate(ratios, factors)
    return factors


@njit(cache=True, nogil=True, error_model="numpy")
def _tabulate(ratios, out):
    """s(n+1, m+1)/s(n, m) (m+1)/(n+1) and s(n+1, m)/s(n, m) (n-m+1)/(n+1); 1 and 0 for n = 0.     math.md (G6)"""
    out[:] = 0.0
    out[0, 0, 0] = 1.0
    for n in range(1, out.shape[0]):
        for m in range(1, min(n + 1, out.shape[1])):
            out[n, m, 0] = opened_ratio(ratios, n, m) * (m + 1.0) / (n + 1.0)
            out[n, m, 1] = seated_ratio(ratios, n, m) * (n - m + 1.0) / (n + 1.0)
