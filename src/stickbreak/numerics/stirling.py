"""Ratios of unsigned Stirling numbers of the first kind s(n, m): the numbers themselves overflow."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from stickbreak.exceptions import InputError
from stickbreak.numerics.compiling import njit

StirlingRatios = NDArray[np.float64]
"""V[n, m] = s(n, m) / s(n, m - 1), (longest + 1, width + 1); 0 for m > n, infinite for m = 1."""

WIDTH = 32
LONGEST_BYTES = 24.0 * (WIDTH + 1)  # of a token of the longest document: a row of the ratios, and twice that of factors
_MOST_BYTES = 2**31  # the factors that samplers make of a table take twice as much again


def stirling_ratios(longest: int, width: int = WIDTH) -> StirlingRatios:
    """Tabulate V[n, m] for n <= longest and m <= width.

    Parameters
    ----------
    longest : int
        Largest n, tokens of a document.
    width : int, default=32
        Largest m, tables of a topic in a document.

    Raises
    ------
    InputError
        If the table would pass 2 GiB, or what there is of memory.
    """
    if 8 * (longest + 1) * (width + 1) > _MOST_BYTES:
        raise too_large(longest, width)
    V = table(longest + 1, width + 1)
    V[:, 0] = np.nan
    V[:, 1] = np.inf
    _fill_columns(V)
    return V


def table(longest: int, width: int, *further: int) -> NDArray[np.float64]:
    """Return a table of zeros, a row for each number of tokens.

    Raises
    ------
    InputError
        If the memory does not hold it.
    """
    try:
        return np.zeros((longest, width, *further))
    except MemoryError:
        raise too_large(longest - 1, width) from None


def too_large(longest: int, width: int) -> InputError:
    """Return the error of a document that is too long for its number of tables."""
    return InputError(
        f"a document of {longest} tokens has a topic with {width // 2} tables, too many to tabulate the Stirling "
        "numbers for; cut the document into parts, or give a smaller alpha."
    )


def wide_enough(ratios: StirlingRatios, most: int) -> StirlingRatios:
    """Return a table with room for more than `most` tables: the given one, or one of at least twice its width."""
    width = ratios.shape[1] - 1
    if most + 1 < width:
        return ratios
    return stirling_ratios(ratios.shape[0] - 1, 2 * max(width, most + 1))


@njit(cache=True, nogil=True, error_model="numpy")
def _fill_columns(V):
    """V[n+1, m] = (1 + n V[n, m]) / (1 / V[n, m-1] + n), from V[m, m] = 1 / (m (m-1) / 2).   docs/math (G7)"""
    for m in range(2, min(V.shape[1], V.shape[0])):
        V[m, m] = 2.0 / (m * (m - 1.0))
    for n in range(V.shape[0] - 1):
        for m in range(2, min(n + 1, V.shape[1])):
            V[n + 1, m] = (1.0 + n * V[n, m]) / (1.0 / V[n, m - 1] + n)


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def seated_ratio(V, n, m):
    """s(n + 1, m) / s(n, m) = n + 1 / V[n, m] for n >= m >= 1.                       docs/math (G7)"""
    return n + 1.0 / V[n, m]


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def opened_ratio(V, n, m):
    """s(n + 1, m + 1) / s(n, m) = 1 + n V[n, m + 1] for n >= m >= 1.                 docs/math (G7)"""
    return 1.0 + n * V[n, m + 1]


@njit(cache=True, nogil=True, error_model="numpy")
def log_stirling(V, n, m):
    """Return log s(n, m) for 1 <= m <= n: log (n - 1)! plus the logarithms of the ratios up to m."""
    total = math.lgamma(n)
    for column in range(2, m + 1):
        total += math.log(V[n, column])
    return total


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
    """s(n+1, m+1)/s(n, m) (m+1)/(n+1) and s(n+1, m)/s(n, m) (n-m+1)/(n+1); 1 and 0 for n = 0.     docs/math (G6)"""
    out[:] = 0.0
    out[0, 0, 0] = 1.0
    for n in range(1, out.shape[0]):
        for m in range(1, min(n + 1, out.shape[1])):
            out[n, m, 0] = opened_ratio(ratios, n, m) * (m + 1.0) / (n + 1.0)
            out[n, m, 1] = seated_ratio(ratios, n, m) * (n - m + 1.0) / (n + 1.0)
