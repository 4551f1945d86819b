"""The interface of a likelihood: what the global step and the moves ask of the emission family (SPEC 1.11)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stickbreak.exceptions import InputError

Float = NDArray[np.float64]


class Likelihood(Protocol):
    """A conjugate exponential family of words; statistics have one column for each topic."""

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


class VectorLikelihood(ABC):
    """A conjugate exponential family of real vectors (SPEC 1.11).

    Statistics are flattened into one table S of shape (rows, K), a column for each component, beside the counts
    N (K,): they are added, pooled and permuted like the word counts of topics. What a posterior holds is the family's
    own affair: a small frozen dataclass of arrays, one entry for each component. With K = 1 and r = 1 the evidence is
    the log marginal likelihood of the vectors: no constant is left out.

    A family of your own is a subclass; `examples/beta_bernoulli.py` is one.
    """

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Rows of S."""

    @property
    @abstractmethod
    def dim(self) -> int:
        """Entries of a vector."""

    @abstractmethod
    def posterior(self, S: Float, N: Float) -> Any:
        """Return the optimal q(phi) of each component given the statistics."""

    @abstractmethod
    def evidence(self, S: Float, N: Float) -> Float:
        """Return each component's term of L_data at the optimal parameters with all constants, (K,)."""

    @abstractmethod
    def objective(self, S: Float, N: Float, posterior: Any) -> Float:
        """Return each component's term of L_data at any parameters, (K,)."""

    @abstractmethod
    def expected_log(self, posterior: Any, X: NDArray) -> Float:
        """Return E log p(x_n | phi_k), (n, K); X is float32 or float64."""

    @abstractmethod
    def statistics(self, X: NDArray, R: NDArray) -> Float:
        """Return S (rows, K) of vectors X (n, dim) with responsibilities R (n, K)."""

    @abstractmethod
    def predictive_log(self, posterior: Any, X: NDArray) -> Float:
        """Return log p(x_n | posterior of component k), (n, K): its parameters integrated out."""

    @abstractmethod
    def mean(self, posterior: Any) -> Float:
        """Return the expected vector of each component, (K, dim)."""

    @abstractmethod
    def covariance(self, posterior: Any) -> Float:
        """Return the covariance of a vector of each component, (K, dim, dim), at expected parameters."""

    @abstractmethod
    def sample(self, posterior: Any, k: int, n: int, rng: np.random.Generator) -> Float:
        """Draw n vectors of component k from its predictive distribution, (n, dim)."""

    @classmethod
    def from_data(cls, X: ArrayLike) -> Self:
        """Set the prior from vectors (n, dim), all or a sample; a family may leave this to the user."""
        raise InputError(f"{cls.__name__} has no rule for a prior from the data; give the likelihood itself")

    @property
    @abstractmethod
    def hyperparameters(self) -> dict[str, Any]:
        """The hyperparameters by name, as plain values."""

    @abstractmethod
    def with_hyperparameters(self, values: Mapping[str, Any]) -> Self:
        """Return the same family with what `hyperparameters` returned of another."""

    def learned(self, S: Float, N: Float) -> Self:
        """Return the same family with the hyperparameters under which the evidence is largest; here as they are."""
        return self

    @property
    def origin(self) -> Float:
        """Where statistics count from, (dim,): the prior mean, in families that have one; here 0."""
        return np.zeros(self.dim)

    def from_origin(self) -> Self:
        """Return the same family for vectors minus `origin`, of which the statistics are the same; here as it is."""
        return self

    def moved_from(self, other: Self, S: Float, N: Float) -> Float:
        """Return the S of vectors here, given that of the same vectors under another prior; here they are the same."""
        return S
