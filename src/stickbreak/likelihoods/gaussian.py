"""Components are Gaussians, their precisions with a Wishart prior: of mean zero, or of means with a normal prior."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stickbreak.likelihoods.base import VectorLikelihood
from stickbreak.likelihoods.priors import (
    FLOOR,
    checked_matrix,
    checked_nu,
    checked_positive,
    checked_vector,
    floored,
    mean_and_covariance,
)
from stickbreak.likelihoods.quadratic import as_vectors, moments, packed, packed_size, unpacked
from stickbreak.likelihoods.wishart import (
    NormalWishartPosterior,
    WishartPosterior,
    learned_scale,
    posterior_B,
    relative_eigenvalues,
    sample_student,
    student_log,
)
from stickbreak.numerics.arrays import Float


@dataclass(frozen=True, slots=True, eq=False)
class _WishartGaussian(VectorLikelihood):
    """What a Gaussian asks of its Wishart prior alone, whatever is known of its mean."""

    nu: float
    B: Float
    _: KW_ONLY
    scale: float = 1.0

    @property
    def dim(self) -> int:
        """Dimensions of a vector."""
        return len(self.B)

    @property
    @abstractmethod
    def prior(self) -> WishartPosterior:
        """The prior, as of one component."""

    @abstractmethod
    def _scatter(self, S: Float, N: Float) -> Float:
        """Return B_k - B, (K, dim, dim)."""

    def evidence(self, S: Float, N: Float) -> Float:
        """Return log Z_k - log Z - N_k (dim / 2) log 2 pi, (K,).                            docs/math (E2), (E3)"""
        constant = N * self.dim / 2 * np.log(2 * np.pi)
        return self.posterior(S, N).log_normaliser - self.prior.log_normaliser - constant

    def predictive_log(self, posterior: WishartPosterior, X: NDArray) -> Float:
        """Return log p(x_n | q_k), (n, K): a Student t distribution.                                 docs/math (E7)"""
        return student_log(posterior.forms(as_vectors(X)), posterior)

    def covariance(self, posterior: WishartPosterior) -> Float:
        """Return B_k / nu_k, the inverse of the expected precision, (K, dim, dim)."""
        return posterior.B / posterior.nu[:, None, None]

    def sample(self, posterior: WishartPosterior, k: int, n: int, rng: np.random.Generator) -> Float:
        """Draw n vectors of component k from its predictive distribution, (n, dim)."""
        return sample_student(posterior, k, n, rng)

    @property
    def hyperparameters(self) -> dict[str, float]:
        """The factor of B."""
        return {"scale": self.scale}

    def with_hyperparameters(self, values: Mapping[str, float]) -> Self:
        """Return the family with another factor of B."""
        return replace(self, scale=values["scale"])

    def learned(self, S: Float, N: Float) -> Self:
        """Return the family with the factor of B under which the evidence is largest.                docs/math (E9)"""
        eigenvalues = relative_eigenvalues(self._scatter(S, N), self.B)
        return replace(self, scale=learned_scale(self.nu, N, eigenvalues, self.scale))


@dataclass(frozen=True, slots=True, eq=False)
class ZeroMeanGaussian(_WishartGaussian):
    """x ~ Normal(0, Lambda_k^-1), Lambda_k ~ Wishart(nu, scale B) with E Lambda_k = nu (scale B)^-1.

    Statistics: the upper triangle of sum_n r_nk x_n x_n', dim (dim + 1) / 2 rows.

    Parameters
    ----------
    nu : float
        Degrees of freedom, more than dim - 1. The prior has the weight of nu vectors.
    B : array-like of shape (dim, dim)
        Symmetric, positive definite: the scatter of these vectors. For nu > dim + 1 the expected covariance of a
        component is scale B / (nu - dim - 1).
    scale : float
        Factor of B, which `learned` learns.

    Examples
    --------
    >>> likelihood = ZeroMeanGaussian(4.0, [[1.0, 0.2], [0.2, 2.0]])
    >>> X = np.array([[0.5, -1.0], [0.1, 0.3]])
    >>> S, N = likelihood.statistics(X, np.ones((2, 1))), np.array([2.0])
    >>> likelihood.evidence(S, N).round(3)  # the log marginal likelihood of both vectors
    array([-3.866])
    """

    def __post_init__(self) -> None:
        checked_positive(scale=self.scale)
        object.__setattr__(self, "B", checked_matrix("B", self.B))
        checked_nu(self.nu, self.dim - 1)

    @classmethod
    def from_data(cls, X: ArrayLike, *, nu: float | None = None, scale: float = 1.0, floor: float = FLOOR) -> Self:
        """Set the prior from vectors, all or a sample.                                               docs/math (E8)

        nu = dim + 2 and B = (nu - dim - 1) C, where C is the covariance of the vectors about 0: the expected
        covariance of a component is scale C. (For nu <= dim + 1 it has no expectation; then B = C.) Where C is
        singular, or nearly (constant patches, fewer vectors than dimensions), its eigenvalues are raised to `floor`
        times the largest: along directions that the data do not have, components keep that little variance.

        Parameters
        ----------
        X : array-like of shape (n, dim)
            Not all zero.
        nu : float, optional
            The default is dim + 2.
        scale : float
            Factor of B: below 1 for components that are expected to be narrower than the whole.
        floor : float
            Least eigenvalue of C, as a share of its largest.

        Returns
        -------
        ZeroMeanGaussian
        """
        _, covariance = mean_and_covariance(X, zero_mean=True)
        dim = len(covariance)
        nu = dim + 2.0 if nu is None else nu
        checked_nu(nu, dim - 1)
        return cls(nu, (nu - dim - 1 if nu > dim + 1 else 1.0) * floored(covariance, floor), scale=scale)

    @property
    def n_rows(self) -> int:
        """Rows of the statistics."""
        return packed_size(self.dim)

    @property
    def prior(self) -> WishartPosterior:
        """The prior, as of one component."""
        return WishartPosterior(np.array([float(self.nu)]), self.scale * self.B[None])

    def statistics(self, X: NDArray, R: NDArray) -> Float:
        """Return S, (rows, K), of vectors (n, dim) with responsibilities (n, K)."""
        return moments(as_vectors(X), R)

    def posterior(self, S: Float, N: Float) -> WishartPosterior:
        """Return nu_k = nu + N_k, B_k = B + S_k.                                            docs/math (E2)"""
        return WishartPosterior(self.nu + N, posterior_B(self.scale * self.B, self._scatter(S, N)))

    def _scatter(self, S: Float, N: Float) -> Float:
        """Return B_k - B, (K, dim, dim): sum r x x'."""
        return unpacked(S, self.dim)

    def objective(self, S: Float, N: Float, posterior: WishartPosterior) -> Float:
        """Return L_data of each component at any parameters, (K,).                          docs/math (E2)

        log Z_q - log Z - N (dim / 2) log 2 pi + (N + nu - nu_q)/2 E log|Lambda| - tr[(S + B - B_q) E Lambda] / 2
        """
        q = posterior
        constant = N * self.dim / 2 * np.log(2 * np.pi)
        missing = unpacked(S, self.dim) + self.scale * self.B - q.B
        trace = np.einsum("kij,kij->k", missing, q.precision)
        value = q.log_normaliser - self.prior.log_normaliser - constant
        return value + (N + self.nu - q.nu) / 2 * q.expected_log_det - trace / 2

    def expected_log(self, posterior: WishartPosterior, X: NDArray) -> Float:
        """Return E log p(x_n | k), (n, K); products are in the precision of X.             docs/math (E5)"""
        out = posterior.forms(as_vectors(X))
        out *= -0.5
        out += (posterior.expected_log_det - self.dim * np.log(2 * np.pi)) / 2
        return out

    def mean(self, posterior: WishartPosterior) -> Float:
        """Return zeros, (K, dim)."""
        return np.zeros(posterior.B.shape[:2])


KAPPA = 0.01  # vectors that the prior mean weighs as; means may lie far apart, seen from narrow components


@dataclass(frozen=True, slots=True, eq=False)
class Gaussian(_WishartGaussian):
    """x ~ Normal(mu_k, Lambda_k^-1), mu_k ~ Normal(m, (kappa Lambda_k)^-1), Lambda_k ~ Wishart(nu, scale B).

    Statistics: the upper triangle of sum_n r_nk (x_n - m)(x_n - m)', then sum_n r_nk (x_n - m): dim (dim + 1) / 2 +
    dim rows. They are centred on the prior mean m, so data far from zero keep their precision.

    Parameters
    ----------
    nu : float
        Degrees of freedom, more than dim - 1. The prior of the precision has the weight of nu vectors.
    B : array-like of shape (dim, dim)
        Symmetric, positive definite. For nu > dim + 1 the expected covariance of a component is
        scale B / (nu - dim - 1).
    m : array-like of shape (dim,)
        Prior mean.
    kappa : float
        The prior mean has the weight of kappa vectors.
    scale : float
        Factor of B, which `learned` learns.
    """

    m: Float
    kappa: float

    def __post_init__(self) -> None:
        checked_positive(kappa=self.kappa, scale=self.scale)
        object.__setattr__(self, "B", checked_matrix("B", self.B))
        object.__setattr__(self, "m", checked_vector("m", self.m, self.dim))
        checked_nu(self.nu, self.dim - 1)

    @classmethod
    def from_data(
        cls,
        X: ArrayLike,
        *,
        nu: float | None = None,
        kappa: float = KAPPA,
        scale: float = 1.0,
        floor: float = FLOOR,
    ) -> Self:
        """Set the prior from vectors, all or a sample.                                               docs/math (E8)

        m is their mean, nu = dim + 2 and B = (nu - dim - 1) C, where C is their covariance: the expected covariance
        of a component is scale C. (For nu <= dim + 1 it has no expectation; then B = C.) Where C is singular, or
        nearly (constant coordinates, fewer vectors than dimensions), its eigenvalues are raised to `floor` times the
        largest: along directions that the data do not have, components keep that little variance.

        Parameters
        ----------
        X : array-like of shape (n, dim)
            Not all the same.
        nu : float, optional
            The default is dim + 2.
        kappa : float
            The prior mean has the weight of kappa vectors.
        scale : float
            Factor of B: below 1 for components that are expected to be narrower than the whole.
        floor : float
            Least eigenvalue of C, as a share of its largest.

        Returns
        -------
        Gaussian
        """
        mean, covariance = mean_and_covariance(X, zero_mean=False)
        dim = len(mean)
        nu = dim + 2.0 if nu is None else nu
        checked_nu(nu, dim - 1)
        B = (nu - dim - 1 if nu > dim + 1 else 1.0) * floored(covariance, floor)
        return cls(nu, B, mean, kappa, scale=scale)

    @property
    def n_rows(self) -> int:
        """Rows of the statistics."""
        return packed_size(self.dim) + self.dim

    @property
    def prior(self) -> NormalWishartPosterior:
        """The prior, as of one component."""
        nu, kappa = np.array([float(self.nu)]), np.array([float(self.kappa)])
        return NormalWishartPosterior(nu, self.scale * self.B[None], kappa, np.zeros((1, self.dim)), self.m)

    def statistics(self, X: NDArray, R: NDArray) -> Float:
        """Return S, (rows, K), of vectors (n, dim) with responsibilities (n, K)."""
        return moments(as_vectors(X), R, self.m, linear=True)

    def _parts(self, S: Float) -> tuple[Float, Float]:
        """Return second moments (K, dim, dim) and first moments (K, dim), both about m."""
        return unpacked(S[: -self.dim], self.dim), np.ascontiguousarray(S[-self.dim :].T)

    def _scatter(self, S: Float, N: Float) -> Float:
        """Return B_k - B, (K, dim, dim): sum r (x - m)(x - m)' - s s' / kappa_k, s = sum r (x - m)."""
        second, first = self._parts(S)
        return second - first[:, :, None] * first[:, None, :] / (self.kappa + N)[:, None, None]

    def posterior(self, S: Float, N: Float) -> NormalWishartPosterior:
        """Return nu + N_k, B_k, kappa_k = kappa + N_k, m_k = m + s_k / kappa_k.             docs/math (E3)"""
        kappa = self.kappa + N
        B = posterior_B(self.scale * self.B, self._scatter(S, N))
        return NormalWishartPosterior(self.nu + N, B, kappa, self._parts(S)[1] / kappa[:, None], self.m)

    def objective(self, S: Float, N: Float, posterior: NormalWishartPosterior) -> Float:
        """Return L_data of each component at any parameters, (K,).                          docs/math (E3)

        The terms of `ZeroMeanGaussian.objective`, with natural parameters B + kappa mm', kappa m and kappa; here all
        means count from m, where those of the prior are B, 0 and kappa.
        """
        q, d = posterior, posterior.m - self.m
        second, first = self._parts(S)
        E_precision = q.precision
        E_mean = np.einsum("kij,kj->ki", E_precision, d)  # E[Lambda mu]
        E_square = self.dim / q.kappa + np.einsum("ki,ki->k", d, E_mean)  # E[mu' Lambda mu]
        missing = second + self.scale * self.B - q.B - q.kappa[:, None, None] * d[:, :, None] * d[:, None, :]
        value = q.log_normaliser - self.prior.log_normaliser - N * self.dim / 2 * np.log(2 * np.pi)
        value += (N + self.nu - q.nu) / 2 * q.expected_log_det - np.einsum("kij,kij->k", missing, E_precision) / 2
        value += np.einsum("ki,ki->k", first - q.kappa[:, None] * d, E_mean)
        return value - (N + self.kappa - q.kappa) / 2 * E_square

    def expected_log(self, posterior: NormalWishartPosterior, X: NDArray) -> Float:
        """Return E log p(x_n | k), (n, K); products are in the precision of X.             docs/math (E5)"""
        out = posterior.forms(as_vectors(X))
        out *= -0.5
        out += (posterior.expected_log_det - self.dim * np.log(2 * np.pi) - self.dim / posterior.kappa) / 2
        return out

    def mean(self, posterior: NormalWishartPosterior) -> Float:
        """Return the means m_k, (K, dim)."""
        return posterior.m

    @property
    def origin(self) -> Float:
        """The prior mean m."""
        return self.m

    def from_origin(self) -> Self:
        """Return the family for vectors minus m."""
        return replace(self, m=np.zeros(self.dim))

    def moved_from(self, other: Self, S: Float, N: Float) -> Float:
        """Return moments about this m, given those about that of `other`.                           docs/math (E10)"""
        shift, (second, first) = other.m - self.m, self._parts(S)
        moved = first + N[:, None] * shift
        second = second + first[:, :, None] * shift + shift[:, None] * moved[:, None, :]
        return np.concatenate([packed(second), moved.T])
