"""The interface of a likelihood: what globals, global step and moves ask of it (docs/math (V3), (E2))."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr

from stickbreak.exceptions import InputError
from stickbreak.numerics.arrays import Float

EMPTY = 1e-6  # tokens or vectors
PAIRS_AT_ONCE = 256  # of which the evidence is computed together


class Likelihood(ABC):
    """A conjugate exponential family, of words or of vectors (docs/math (V3), (E2)).

    Its statistics are one table S of shape (rows, K), a column for each topic or component, beside the counts N (K,):
    they are added, pooled and permuted without knowing what they are.

    The globals hold what the local step reads of q(phi): a table `tau` of which a batch changes only the rows that it
    adds to, and totals `tau_sum`. Here these are S and N, from which the local step asks the `posterior`. Words, whose
    posterior is such a table itself, have `table`, `table_sum` and `counts` of their own.
    """

    __slots__ = ()

    signed: ClassVar[bool] = True  # whether S may hold negative numbers
    least_merge_score: ClassVar[float] = 0.0  # of a pair that is worth a merge for its score alone

    @abstractmethod
    def posterior(self, S: Float, N: Float) -> Any:
        """Return the optimal q(phi) of each topic given the statistics."""

    @abstractmethod
    def evidence(self, S: Float, N: Float) -> Float:
        """Return each topic's term of L_data at the optimal parameters, with all constants, (K,)."""

    @abstractmethod
    def objective(self, S: Float, N: Float, posterior: Any) -> Float:
        """Return each topic's term of L_data at any parameters, (K,)."""

    @abstractmethod
    def mean(self, posterior: Any) -> Float:
        """Return the expected emission of each topic: (W, K) of words, (K, dim) of vectors."""

    @property
    @abstractmethod
    def hyperparameters(self) -> dict[str, Any]:
        """The hyperparameters by name, as plain values."""

    @abstractmethod
    def with_hyperparameters(self, values: Mapping[str, Any]) -> Self:
        """Return the same family with these hyperparameters, as `hyperparameters` returns them."""

    def learned(self, S: Float, N: Float) -> Self:
        """Return the same family with the hyperparameters that maximise the evidence; by default unchanged."""
        return self

    def learned_beside(self, S: Float, N: Float, known: Float) -> Self:
        """Return what `learned` does where S holds pseudo-counts `known` (rows, K); only families that take some do."""
        return self.learned(S, N)

    def of_rows(self, rows: NDArray[np.integer]) -> Self:
        """Return the family for tables of some rows of S alone; here they are all alike."""
        return self

    def table(self, S: Float) -> Float:
        """Return the rows of tau that belong to rows of S; here S itself, copied."""
        return S.copy()

    def table_sum(self, before: Float | float, change: Float, N: Float) -> Float:
        """Return tau_sum, (K,), that was `before`, after rows of tau have changed by `change`; here N, copied."""
        return N.copy()

    def counts(self, tau: Float, tau_sum: Float) -> tuple[Float, Float]:
        """Return S and N behind the globals; the arrays are copies."""
        return tau.copy(), tau_sum.copy()

    def merge_scores(self, S: Float, N: Float, evidence: Float) -> Float:
        """Return the most that merging each pair gains, apart from the terms of documents, (K, K).      docs/math (N5)

        The gain is the change of L_data plus the entropy of the choice between the two topics, which a merge saves at
        most. It is divided by their counts. Empty topics have NaN.
        """
        left, right = np.triu_indices(N.size, k=1)
        gain = np.empty(left.size)
        for begin in range(0, left.size, PAIRS_AT_ONCE):
            part = slice(begin, begin + PAIRS_AT_ONCE)
            a, b = left[part], right[part]
            gain[part] = self.evidence(S[:, a] + S[:, b], N[a] + N[b]) - evidence[a] - evidence[b]
        both = np.maximum(N[left] + N[right], EMPTY)
        choice = entr(N[left] / both) + entr(N[right] / both)
        score = np.where((N[left] > EMPTY) & (N[right] > EMPTY), gain / both + choice, np.nan)
        out = np.full((N.size, N.size), np.nan)
        out[left, right] = out[right, left] = score
        return out


class VectorLikelihood(Likelihood):
    """A conjugate exponential family of real vectors (docs/math (E2)).

    Statistics are flattened into the columns of S. The family decides what a posterior holds, usually a small frozen
    dataclass of arrays with one entry for each component. With K = 1 and r = 1 the evidence is the log marginal
    likelihood of the vectors, with all constants.

    To add a family, write a subclass; `examples/beta_bernoulli.py` is an example.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Rows of S."""

    @property
    @abstractmethod
    def dim(self) -> int:
        """Dimension of the vectors."""

    @abstractmethod
    def expected_log(self, posterior: Any, X: NDArray) -> Float:
        """Return E log p(x_n | phi_k), (n, K); X is float32 or float64."""

    @abstractmethod
    def statistics(self, X: NDArray, R: NDArray) -> Float:
        """Return S (rows, K) of vectors X (n, dim), float32 or float64, with responsibilities R (n, K), float64."""

    @abstractmethod
    def predictive_log(self, posterior: Any, X: NDArray) -> Float:
        """Return log p(x_n | posterior of component k), with its parameters integrated out, (n, K)."""

    @abstractmethod
    def covariance(self, posterior: Any) -> Float:
        """Return the covariance of a vector of each component, (K, dim, dim), at expected parameters."""

    @abstractmethod
    def sample(self, posterior: Any, k: int, n: int, rng: np.random.Generator) -> Float:
        """Draw n vectors of component k from its predictive distribution, (n, dim)."""

    @classmethod
    def from_data(cls, X: ArrayLike) -> Self:
        """Set the prior from vectors (n, dim), all or a sample. A family may leave this to the user."""
        raise InputError(f"{cls.__name__} cannot set its prior from the data; give a likelihood object with its prior")

    @property
    def origin(self) -> Float:
        """The origin of the statistics, (dim,): the prior mean in families that have one, here 0."""
        return np.zeros(self.dim)

    def check_statistics(self, S: Float, N: Float) -> None:
        """Raise a ValueError unless components of these statistics, of a saved state, give the origin a density."""
        with np.errstate(all="ignore"):
            try:
                densities = self.expected_log(self.posterior(S, N), self.origin[None])
            except np.linalg.LinAlgError:
                densities = np.full(1, np.nan)
        if not np.isfinite(densities).all():
            raise ValueError("the sums of its components are not those of any vectors")

    def from_origin(self) -> Self:
        """Return the same family for vectors minus `origin`, of which the statistics are the same; here as it is."""
        return self

    def moved_from(self, other: Self, S: Float, N: Float) -> Float:
        """Return the S of vectors here, given that of the same vectors under another prior; here they are the same."""
        return S
