"""Ranges of the parameters of all families: within them the arithmetic of every kernel holds.

The fuzzer (`python -m fuzz numbers`) fits, saves, loads and continues every family at both ends of each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

SMALLEST, LARGEST = 1e-15, 1e6
"""Concentrations and pseudo-counts (alpha, gamma, eta), given or learned. Below 1e-15, the weight of a topic for a word
that it has not seen underflows; above 1e6, the objective is rounding: the data change only the last digits of its
terms, which are sums of log Gamma(1e6)."""

ETA_LIMITS = 1e-4, 1e2
"""Of a learned eta: topics of one word each would take it to 0, even topics to infinity."""

MEAN_FIELD_ETA = 0.002
"""The least eta where words are weighed by exp(psi(eta)), which is 7e-218 there."""

MOST_TOPICS = 1 << 16
"""Topics of tokens are stored in two bytes."""

MOST_WHOLE = 2**53
"""Laps, documents, topics: the largest whole number up to which doubles hold all of them."""

MOST_SWEEPS = 10**6
"""Of a document in one step, where all are done that are asked for: in compiled code, which nothing interrupts."""

LARGEST_OFFSET = 1e30
"""Offset of a learning rate: with a larger one, a step changes nothing that a double could hold."""

LEAST_DISCOUNT = 1e-12
"""Of a level of a tree: the mass of a node is a sum of them beside whole numbers of tokens."""

SMALLEST_PRIOR, LARGEST_PRIOR = 1e-9, 1e9
"""Shape and rate of a Gamma prior; weight, degrees of freedom, scale and floor of a Gaussian one: sums of them with
counts keep their digits."""

LARGEST_STATISTIC = 1e150
"""Sums over vectors in a saved state, in absolute value: their squares are still numbers."""

LARGEST_SUM = 1e30
"""Expected counts, tables, totals of a saved state, in absolute value: products of four of them are still numbers."""

SMALLEST_SHARE = 1e-300
"""Of what is left, that a stick takes: its inverse is a number."""


def is_concentration(value: Any) -> bool:
    """Whether a value can be an alpha, gamma or eta of a fit."""
    return isinstance(value, float) and SMALLEST <= value <= LARGEST


def within(value: float) -> float:
    """Return a learned concentration, or the end of the range that it has left."""
    return min(max(value, SMALLEST), LARGEST)


def are_sums(array: ArrayLike, *, signed: bool = False) -> bool:
    """Whether all numbers can be sums over a corpus: finite, not too large, and not negative unless `signed`."""
    values = np.asarray(array)
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    return (-LARGEST_SUM if signed else 0.0) <= low and high <= LARGEST_SUM  # false for NaN


def are_tables(array: NDArray[np.float64]) -> bool:
    """Whether these can be the expected tables of the topics that are shown: some may have hardly any, not all."""
    return are_sums(array) and float(array.sum()) >= SMALLEST


def are_sticks(rho: NDArray[np.float64], omega: NDArray[np.float64]) -> bool:
    """Whether u_k ~ Beta(rho_k omega_k, (1 - rho_k) omega_k) can be sticks: both parameters of each are positive."""
    shares = (rho >= SMALLEST_SHARE) & (rho < 1)
    return bool(shares.all()) and bool((omega >= SMALLEST).all()) and are_sums(omega)


def are_discounts(delta: NDArray[np.float64]) -> bool:
    """Whether the levels of a tree can have these discounts."""
    return bool((delta >= LEAST_DISCOUNT).all()) and bool(delta.sum() < 1)
