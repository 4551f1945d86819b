"""The interface of a likelihood: what the global step and the moves ask of the emission family (SPEC 1.11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, Self, TypeVar

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


Posterior = TypeVar("Posterior")


class VectorLikelihood(Protocol[Posterior]):
    """A conjugate exponential family of real vectors; statistics S have one column for each component.    SPEC 1.11

    S (rows, K) are sums over vectors, r_nk s(x_n), flattened to one array, so that they can be added, pooled and
    permuted without knowing what they are; N (K,) are sums of r_nk. With K = 1 and r = 1 the evidence is the log
    marginal likelihood of the vectors: no constant is left out.
    """

    @property
    def n_rows(self) -> int:
        """Rows of S."""
        ...

    @property
    def dim(self) -> int:
        """Dimensions of a vector."""
        ...

    def statistics(self, X: NDArray, R: NDArray) -> Float:
        """Return S, (rows, K), of vectors (n, dim) with responsibilities R (n, K)."""
        ...

    def posterior(self, S: Float, N: Float) -> Posterior:
        """Return the optimal parameters given the statistics: arrays with one entry for each component."""
        ...

    def evidence(self, S: Float, N: Float) -> Float:
        """Return each component's term of L_data at the optimal parameters, (K,)."""
        ...

    def objective(self, S: Float, N: Float, posterior: Posterior) -> Float:
        """Return each component's term of L_data at any parameters, (K,)."""
        ...

    def expected_log(self, posterior: Posterior, X: NDArray) -> Float:
        """Return E log p(x_n | component k), (n, K)."""
        ...

    def predictive_log(self, posterior: Posterior, X: NDArray) -> Float:
        """Return log p(x_n | posterior of component k), (n, K): its parameters integrated out."""
        ...

    def mean(self, posterior: Posterior) -> Float:
        """Return the expected vector of each component, (K, dim)."""
        ...

    def covariance(self, posterior: Posterior) -> Float:
        """Return the covariance of each component, (K, dim, dim): the inverse of the expected precision."""
        ...

    def sample(self, posterior: Posterior, k: int, n: int, rng: np.random.Generator) -> Float:
        """Draw n vectors of component k from its predictive distribution, (n, dim)."""
        ...

    @property
    def hyperparameters(self) -> dict[str, float]:
        """The hyperparameters that can be learned, by name, as plain values."""
        ...

    def with_hyperparameters(self, values: Mapping[str, Any]) -> Self:
        """Return the same family with what `hyperparameters` returned of another."""
        ...

    def learned(self, S: Float, N: Float) -> Self:
        """Return the same family with the hyperparameters under which the evidence is largest."""
        ...
