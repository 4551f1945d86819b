"""A likelihood of your own: binary vectors, by a subclass of `VectorLikelihood`.

A component k has a probability p_kd for each coordinate d, with the conjugate prior p_kd ~ Beta(a, b); a vector x of
the component has x_d = 1 with probability p_kd. `GaussianHDP` and `GaussianDPMixture` take it as `likelihood`:
schedules, moves, the objective and scores are the same as for Gaussians.

    python examples/beta_bernoulli.py
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, psi

from stickbreak import GaussianDPMixture
from stickbreak.exceptions import InputError
from stickbreak.likelihoods import VectorLikelihood

Float = NDArray[np.float64]
Vectors = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class BetaPosterior:
    """q(p_kd) = Beta(a_kd, b_kd): arrays with one row for each component."""

    a: Float  # (K, dim)
    b: Float  # (K, dim)


@dataclass(frozen=True)
class BetaBernoulli(VectorLikelihood):
    """x_d ~ Bernoulli(p_kd), p_kd ~ Beta(a, b). Statistics: the ones of each coordinate, sum_n r_nk x_nd.

    Parameters
    ----------
    n_coordinates : int
        Coordinates of a vector.
    a, b : float
        The prior weighs as a ones and b zeros in every coordinate.
    """

    n_coordinates: int
    a: float = 0.5
    b: float = 0.5

    def __post_init__(self) -> None:
        if not (self.a > 0 and self.b > 0):
            raise InputError(f"a is {self.a!r} and b is {self.b!r}; give positive numbers")

    @property
    def dim(self) -> int:
        """Coordinates of a vector."""
        return self.n_coordinates

    @property
    def n_rows(self) -> int:
        """Rows of the statistics: one a coordinate."""
        return self.dim

    # What the global step asks -------------------------------------------------------------------------------------

    def statistics(self, X: Vectors, R: Vectors) -> Float:
        """Return S (dim, K): additive in the vectors, in float64."""
        S: Float = X.T.astype(np.float64) @ R
        return S

    def posterior(self, S: Float, N: Float) -> BetaPosterior:
        """Return a + ones, b + zeros."""
        return BetaPosterior(self.a + S.T, self.b + N[:, None] - S.T)

    def evidence(self, S: Float, N: Float) -> Float:
        """Return log p(vectors of component k): the ratio of the normalisers of posterior and prior."""
        q = self.posterior(S, N)
        ratio: Float = (betaln(q.a, q.b) - betaln(self.a, self.b)).sum(axis=1)
        return ratio

    def objective(self, S: Float, N: Float, posterior: BetaPosterior) -> Float:
        """Return the same at any q: E[log p(x | p) + log p(p) - log q(p)]."""
        q = posterior
        log_one, log_zero = psi(q.a) - psi(q.a + q.b), psi(q.b) - psi(q.a + q.b)
        value: Float = betaln(q.a, q.b) - betaln(self.a, self.b)
        value = value + (S.T + self.a - q.a) * log_one + (N[:, None] - S.T + self.b - q.b) * log_zero
        bound: Float = value.sum(axis=1)
        return bound

    # What the local step asks --------------------------------------------------------------------------------------

    def expected_log(self, posterior: BetaPosterior, X: Vectors) -> Float:
        """Return E log p(x_n | k), (n, K), as one matrix product."""
        q = posterior
        log_one, log_zero = psi(q.a) - psi(q.a + q.b), psi(q.b) - psi(q.a + q.b)
        log_p: Float = X @ (log_one - log_zero).T + log_zero.sum(axis=1)
        return log_p

    # What fitted models are asked ----------------------------------------------------------------------------------

    def predictive_log(self, posterior: BetaPosterior, X: Vectors) -> Float:
        """Return log p(x_n | q_k), (n, K): the expectation of a Bernoulli is one."""
        p = self.mean(posterior)
        log_p: Float = X @ (np.log(p) - np.log1p(-p)).T + np.log1p(-p).sum(axis=1)
        return log_p

    def mean(self, posterior: BetaPosterior) -> Float:
        """Return E p_kd, (K, dim)."""
        return posterior.a / (posterior.a + posterior.b)

    def covariance(self, posterior: BetaPosterior) -> Float:
        """Return p (1 - p) on the diagonal, (K, dim, dim)."""
        p = self.mean(posterior)
        diagonal: Float = (p * (1 - p))[:, :, None] * np.eye(self.dim)
        return diagonal

    def sample(self, posterior: BetaPosterior, k: int, n: int, rng: np.random.Generator) -> Float:
        """Draw n vectors of component k."""
        ones: Float = (rng.random((n, self.dim)) < self.mean(posterior)[k]).astype(np.float64)
        return ones

    @property
    def hyperparameters(self) -> dict[str, float]:
        """The prior."""
        return {"a": self.a, "b": self.b}

    def with_hyperparameters(self, values: Mapping[str, Any]) -> BetaBernoulli:
        """Return the family with another prior."""
        return replace(self, a=values["a"], b=values["b"])


def planted(n: int = 900, dim: int = 30, seed: int = 0) -> tuple[Float, Float, NDArray[np.int64]]:
    """Draw binary vectors of three components; return them, the probabilities (3, dim) and the labels."""
    rng = np.random.default_rng(seed)
    p = rng.choice([0.1, 0.9], (3, dim))
    labels = rng.integers(0, 3, n)
    return (rng.random((n, dim)) < p[labels]).astype(np.float64), p, labels


def main() -> None:
    """Fit planted binary vectors, starting from twelve components, and compare with what was planted."""
    X, p, labels = planted()
    model = GaussianDPMixture(n_components=12, likelihood=BetaBernoulli(X.shape[1]), random_state=0).fit(X)
    order = [int(np.abs(model.means_ - row).sum(axis=1).argmin()) for row in p]
    found = model.predict(X)
    print(f"components: {model.n_components_} (planted: {len(p)})")
    print(f"largest error of a probability: {np.abs(model.means_[order] - p).max():.3f}")
    print(f"vectors given to the component that drew them: {np.mean(np.array(order)[labels] == found):.1%}")


if __name__ == "__main__":
    main()
