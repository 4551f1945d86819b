"""The interface of a likelihood: what the global step and the moves ask of the emission family (SPEC 1.11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]


class Likelihood(Protocol):
    """A conjugate exponential family; statistics have one column for each topic."""

    def posterior(self, S: Float) -> Float:
        """Return the optimal parameters tau (rows as S, K columns) given the statistics."""
        ...

    def evidence(self, S: Float, N: Float) -> Float:
        """Return each topic's term of L_data at the optimal parameters, (K,)."""
        ...

    def objective(self, S: Float, tau: Float) -> Float:
        """Return each topic's term of L_data at any parameters, (K,)."""
        ...

    def mean(self, tau: Float) -> Float:
        """Return the expected emission of each topic, rows as tau."""
        ...

    @property
    def hyperparameters(self) -> dict[str, Any]:
        """The hyperparameters that can be learned, by name, as plain values."""
        ...

    def with_hyperparameters(self, values: Mapping[str, Any]) -> Self:
        """Return the same family with what `hyperparameters` returned of another."""
        ...

    def learned(self, S: Float, N: Float) -> Self:
        """Return the same family with the hyperparameters under which the evidence is largest."""
        ...
