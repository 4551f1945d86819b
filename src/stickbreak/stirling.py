"""Ratios of unsigned Stirling numbers of the first kind s(n, m): the numbers themselves overflow."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

_MOST_ENTRIES = 1 << 25  # of a table: 256 MiB
_LEAST_WIDTH = 8


class StirlingRatios(NamedTuple):
    """V[n, m] = s(n, m) / s(n, m - 1) for n <= longest, 2 <= m <= width; 0 for m > n, infinite for m = 1."""

    V: NDArray[np.float64]  # (longest + 1, width + 1)


def stirling_ratios(longest: int, width: int = 64) -> StirlingRatios:
    """Tabulate the ratios.

    Ratios beyond the width are computed when they are asked for, which is slow but as exact.

    Parameters
    ----------
    longest : int
        Largest n.
    width : int, default=64
        Largest m of the table; less where the table would pass 256 MiB.
    """
    width = max(_LEAST_WIDTH, min(width, longest, _MOST_ENTRIES // (longest + 1)))
    V = np.zeros((longest + 1, width + 1))
    V[:, 0] = np.nan
    V[:, 1] = np.inf
    for m in range(2, width + 1):
        _next_column(np.ascontiguousarray(V[:, m - 1]), m, V[:, m])
    return StirlingRatios(V)


@njit(cache=True, nogil=True)
def _next_column(before, m, out):
    """V[n+1, m] = (1 + n V[n, m]) / (1 / V[n, m-1] + n), from V[m, m] = 1 / (m (m-1) / 2).   SPEC 2.5, math.md (G7)"""
    out[: min(m, out.size)] = 0.0
    if m < out.size:
        out[m] = 2.0 / (m * (m - 1.0))
    for n in range(m, out.size - 1):
        out[n + 1] = (1.0 + n * out[n]) / (1.0 / before[n] + n)


@njit(cache=True, nogil=True)
def _beyond(ratios, n, m):
    """V[n, m] for m beyond the width of the table."""
    width = ratios.V.shape[1] - 1
    before, out = ratios.V[: n + 1, width].copy(), np.empty(n + 1)
    for column in range(width + 1, m + 1):
        _next_column(before, column, out)
        before, out = out, before
    return before[n]


@njit(cache=True, nogil=True, inline="always")
def ratio(ratios, n, m):
    """V[n, m] = s(n, m) / s(n, m - 1) for n >= 1, m >= 1; 0 for m > n, infinite for m = 1."""
    if m > n:
        return 0.0
    if m < ratios.V.shape[1]:
        return ratios.V[n, m]
    return _beyond(ratios, n, m)


@njit(cache=True, nogil=True, inline="always")
def seated_ratio(ratios, n, m):
    """s(n + 1, m) / s(n, m) = n + 1 / V[n, m] for n >= m >= 1.                       SPEC 2.5, math.md (G7)"""
    return n + 1.0 / ratio(ratios, n, m)


@njit(cache=True, nogil=True, inline="always")
def opened_ratio(ratios, n, m):
    """s(n + 1, m + 1) / s(n, m) = 1 + n V[n, m + 1] for n >= m >= 1.                 SPEC 2.5, math.md (G7)"""
    return 1.0 + n * ratio(ratios, n, m + 1)


@njit(cache=True, nogil=True)
def log_stirling(ratios, n, m):
    """Return log s(n, m) for 1 <= m <= n: log (n - 1)! plus the logarithms of the ratios up to m."""
    total = math.lgamma(n)
    for column in range(2, m + 1):
        total += np.log(ratio(ratios, n, column))
    return total
