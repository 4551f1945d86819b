"""Components are Gaussians, of mean zero or of means with a normal prior.

Their precisions have a Wishart prior, or, of coordinates that are independent, Gamma priors.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, psi

from stickbreak.exceptions import InputError
from stickbreak.likelihoods.base import VectorLikelihood
from stickbreak.likelihoods.quadratic_forms import as_vectors, blocks, moments, packed, packed_size, unpacked
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
from stickbreak.numerics.ranges import LARGEST_PRIOR, LARGEST_STATISTIC, SMALLEST_PRIOR

FLOOR = 1e-6  # least eigenvalue of a covariance, as a share of its largest
_BLOCK = 1 << 14  # vectors that are looked at at once
_ASYMMETRY = 1e-8  # relative


def mean_and_covariance(X: ArrayLike, *, zero_mean: bool) -> tuple[Float, Float]:
    """Return the mean (dim,), 0 if that is what is assumed, and the covariance (dim, dim) about it, in float64."""
    vectors = np.asarray(X)
    if vectors.ndim != 2 or 0 in vectors.shape or vectors.dtype.kind not in "biuf":
        raise InputError(
            f"a prior is set from vectors in a table (n, dim) of numbers, not from {vectors.dtype} of shape "
            f"{vectors.shape}; give at least one vector"
        )
    n, dim = vectors.shape

    def parts() -> Iterator[NDArray]:  # rows together whatever the order in memory: sums depend on it
        return (np.ascontiguousarray(vectors[start : start + _BLOCK]) for start in range(0, n, _BLOCK))

    mean = np.zeros(dim)
    if not zero_mean:  # summed from the first vector on: copies of it have no rounding that would look like a spread
        first = vectors[0].astype(np.float64)
        mean = first + np.add.reduce([(part - first).sum(axis=0) for part in parts()]) / n
    covariance = np.zeros((dim, dim))
    for part in parts():
        centred = part - mean
        covariance += centred.T @ centred
    covariance /= n
    if not np.isfinite(covariance).all():
        raise InputError("the vectors hold NaN or infinite (or overflowing) values; remove or repair them")
    if not np.trace(covariance) > 0:
        what = "zero" if zero_mean else "the same"
        raise InputError(f"all {n} vectors are {what}, so they do not determine a covariance; give your own prior")
    return mean, covariance


def floored(covariance: Float, floor: float) -> Float:
    """Return a covariance whose eigenvalues are at least `floor` times the largest."""
    checked_positive(floor=floor)
    values, vectors = np.linalg.eigh(covariance)
    return np.array((vectors * np.maximum(values, floor * values[-1])) @ vectors.T)


def checked_matrix(name: str, value: ArrayLike) -> Float:
    """Check that a value is a symmetric positive definite matrix."""
    matrix = _numbers(name, value)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise InputError(f"{name} is of shape {matrix.shape}; give a square matrix (dim, dim)")
    if np.abs(matrix - matrix.T).max() > _ASYMMETRY * np.abs(matrix).max():
        raise InputError(f"{name} is not symmetric; give a symmetric positive definite matrix")
    matrix = (matrix + matrix.T) / 2
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        raise InputError(f"{name} is not positive definite; add a small multiple of the identity") from None
    return matrix


def checked_vector(name: str, value: ArrayLike, dim: int) -> Float:
    """Check that a value is a vector of `dim` finite numbers."""
    vector = _numbers(name, value)
    if vector.shape != (dim,):
        raise InputError(f"{name} is of shape {vector.shape}; give {dim} numbers, one for each dimension")
    return vector


def checked_positive(**numbers: float) -> None:
    """Check that all numbers are positive, and in the range of those of a prior."""
    for name, value in numbers.items():
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not number or not SMALLEST_PRIOR <= value <= LARGEST_PRIOR:
            raise InputError(
                f"{name} is {value!r}; give a positive number, from {SMALLEST_PRIOR:g} to {LARGEST_PRIOR:g}"
            )


def checked_nu(nu: float, least: float) -> None:
    """Check that the degrees of freedom let the prior be a distribution."""
    checked_positive(nu=nu)
    if not nu > least:
        raise InputError(f"nu is {nu!r}, so the prior is not a distribution; give a number above {least:g}")


def _numbers(name: str, value: Any) -> Float:
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} is not an array of numbers; give finite numbers") from None
    if not np.isfinite(array).all():
        raise InputError(f"{name} holds NaN or infinity; give finite numbers")
    if np.abs(array).max(initial=0.0) > LARGEST_STATISTIC:
        raise InputError(f"{name} holds a number above {LARGEST_STATISTIC:g}; rescale to smaller numbers")
    return array


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
        """Return moments about this m, given those about that of `other`."""
        shift, (second, first) = other.m - self.m, self._parts(S)
        moved = first + N[:, None] * shift
        second = second + first[:, :, None] * shift + shift[:, None] * moved[:, None, :]
        return np.concatenate([packed(second), moved.T])


BLOCK_ROWS = 1024  # vectors that are worked on at once


@dataclass(frozen=True)
class NormalGammaPosterior:
    """q(lambda_kd) = Gamma(nu_k / 2, rate b_kd / 2), q(mu_kd | lambda_kd) = Normal(m_kd, 1 / (kappa_k lambda_kd)).

    Means are kept as offsets from one origin, as in `NormalWishartPosterior`.                        docs/math (E4)
    """

    nu: Float  # (K,)
    b: Float  # (K, dim)
    kappa: Float  # (K,)
    offsets: Float  # (K, dim) m_k - origin
    origin: Float  # (dim,)

    @property
    def m(self) -> Float:
        """Means m_k, (K, dim)."""
        return self.origin + self.offsets

    @property
    def precision(self) -> Float:
        """E lambda_kd = nu_k / b_kd, (K, dim)."""
        return self.nu[:, None] / self.b

    @property
    def expected_log_det(self) -> Float:
        """Sum over d of E log lambda_kd, (K,)."""
        return (psi(self.nu / 2)[:, None] - np.log(self.b / 2)).sum(axis=1)

    @property
    def log_normaliser(self) -> Float:
        """Log Z of the joint density of means and precisions, (K,).                                  docs/math (E4)"""
        dim = self.b.shape[1]
        gammas = dim * gammaln(self.nu / 2) - self.nu / 2 * np.log(self.b / 2).sum(axis=1)
        return gammas + dim / 2 * np.log(2 * np.pi / self.kappa)


@dataclass(frozen=True, slots=True, eq=False)
class DiagonalGaussian(VectorLikelihood):
    """x_d ~ Normal(mu_kd, 1 / lambda_kd), lambda_kd ~ Gamma(nu / 2, rate scale b_d / 2), for every coordinate d alone.

    mu_kd ~ Normal(m_d, 1 / (kappa lambda_kd)). In one dimension this is `Gaussian(nu, [[b]], m, kappa)`.
    Statistics: sum_n r_nk (x_nd - m_d)^2, then sum_n r_nk (x_nd - m_d): 2 dim rows. All products are in float64,
    also of vectors in float32: they are few.

    Parameters
    ----------
    nu : float
        Degrees of freedom, positive. The prior of a precision weighs as nu vectors.
    b : array-like of shape (dim,)
        Positive. For nu > 2 the expected variance of coordinate d is scale b_d / (nu - 2).
    m : array-like of shape (dim,)
        Prior mean.
    kappa : float
        The prior mean weighs as kappa vectors.
    scale : float
        Factor of b; what `learned` learns.
    """

    nu: float
    b: Float
    m: Float
    kappa: float
    _: KW_ONLY
    scale: float = 1.0

    def __post_init__(self) -> None:
        checked_positive(kappa=self.kappa, scale=self.scale)
        checked_nu(self.nu, 0.0)
        object.__setattr__(self, "b", checked_vector("b", self.b, np.size(self.b)))
        object.__setattr__(self, "m", checked_vector("m", self.m, self.dim))
        if not (self.b > 0).all():
            raise InputError(f"b holds {self.b.min():g}; give positive numbers, one for each dimension")

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

        m is their mean, nu = 4 and b_d = (nu - 2) v_d, where v_d is the variance of coordinate d: the expected
        variance in a component is scale v_d. (For nu <= 2 it has no expectation; then b = v.) Variances are raised to
        `floor` times the largest: along coordinates that are constant, components keep that little variance.

        Parameters
        ----------
        X : array-like of shape (n, dim)
            Not all the same.
        nu : float, optional
            The default is 4.
        kappa : float
            The prior mean weighs as kappa vectors.
        scale : float
            Factor of b: below 1 for components that are expected to be narrower than the whole.
        floor : float
            Least variance, as a share of the largest.

        Returns
        -------
        DiagonalGaussian
        """
        checked_positive(floor=floor)
        mean, covariance = mean_and_covariance(X, zero_mean=False)
        variances = np.maximum(np.diag(covariance), floor * np.diag(covariance).max())
        nu = 4.0 if nu is None else nu
        checked_nu(nu, 0.0)
        return cls(nu, (nu - 2 if nu > 2 else 1.0) * variances, mean, kappa, scale=scale)

    @property
    def dim(self) -> int:
        """Dimensions of a vector."""
        return int(self.b.size)

    @property
    def n_rows(self) -> int:
        """Rows of the statistics."""
        return 2 * self.dim

    @property
    def prior(self) -> NormalGammaPosterior:
        """The prior, as of one component."""
        nu, kappa = np.array([float(self.nu)]), np.array([float(self.kappa)])
        return NormalGammaPosterior(nu, self.scale * self.b[None], kappa, np.zeros((1, self.dim)), self.m)

    def statistics(self, X: NDArray, R: NDArray) -> Float:
        """Return S, (rows, K), of vectors (n, dim) with responsibilities (n, K)."""
        out = np.zeros((self.n_rows, R.shape[1]))
        for rows, y in blocks(np.asarray(X), BLOCK_ROWS, np.float64, self.m):
            out += np.concatenate([y * y, y]) @ R[rows].astype(np.float64, copy=False)
        return out

    def _scatter(self, S: Float, N: Float) -> Float:
        """Return b_k - b, (K, dim): sum r (x - m)^2 - s^2 / kappa_k, s = sum r (x - m); never below zero."""
        scatter = S[: self.dim] - S[self.dim :] ** 2 / (self.kappa + N)
        return np.maximum(scatter, 0.0).T

    def posterior(self, S: Float, N: Float) -> NormalGammaPosterior:
        """Return nu + N_k, b_k, kappa_k = kappa + N_k, m_k = m + s_k / kappa_k.             docs/math (E4)"""
        kappa = self.kappa + N
        b = self.scale * self.b + self._scatter(S, N)
        return NormalGammaPosterior(self.nu + N, b, kappa, (S[self.dim :] / kappa).T, self.m)

    def evidence(self, S: Float, N: Float) -> Float:
        """Return log Z_k - log Z - N_k (dim / 2) log 2 pi, (K,).                            docs/math (E4)"""
        constant = N * self.dim / 2 * np.log(2 * np.pi)
        return self.posterior(S, N).log_normaliser - self.prior.log_normaliser - constant

    def objective(self, S: Float, N: Float, posterior: NormalGammaPosterior) -> Float:
        """Return L_data of each component at any parameters, (K,).                                   docs/math (E4)"""
        q, d = posterior, posterior.m - self.m
        second, first = S[: self.dim].T, S[self.dim :].T
        precision, kappa = q.precision, q.kappa[:, None]
        missing = second + self.scale * self.b - q.b - kappa * d * d
        value = q.log_normaliser - self.prior.log_normaliser - N * self.dim / 2 * np.log(2 * np.pi)
        value += (N + self.nu - q.nu) / 2 * q.expected_log_det - (missing * precision).sum(axis=1) / 2
        value += ((first - kappa * d) * precision * d).sum(axis=1)
        square = self.dim / q.kappa + (d * d * precision).sum(axis=1)
        return value - (N + self.kappa - q.kappa) / 2 * square

    def expected_log(self, posterior: NormalGammaPosterior, X: NDArray) -> Float:
        """Return E log p(x_n | k), (n, K): one product of squares and coordinates.         docs/math (E4)"""
        q = posterior
        half = q.precision / 2
        coefficients = np.concatenate([-half, 2 * half * q.offsets], axis=1)
        constants = (q.expected_log_det - self.dim * np.log(2 * np.pi) - self.dim / q.kappa) / 2
        constants = constants - (half * q.offsets**2).sum(axis=1)
        out = np.empty((len(X), q.nu.size))
        for rows, y in blocks(np.asarray(X), BLOCK_ROWS, np.float64, self.m):
            np.matmul(np.concatenate([y * y, y]).T, coefficients.T, out=out[rows])
        return out + constants

    def predictive_log(self, posterior: NormalGammaPosterior, X: NDArray) -> Float:
        """Return log p(x_n | q_k), (n, K): Student t distributions, one a coordinate.                docs/math (E7)"""
        q, X = posterior, np.asarray(X, dtype=np.float64)
        wide = ((q.kappa + 1) / q.kappa)[:, None] * q.b
        out = np.zeros((len(X), q.nu.size))
        for d in range(self.dim):
            out -= np.log1p((X[:, d, None] - q.m[:, d]) ** 2 / wide[:, d])
        out *= (q.nu + 1) / 2
        peak = self.dim * (gammaln((q.nu + 1) / 2) - gammaln(q.nu / 2))
        return out + (peak - np.log(np.pi * wide).sum(axis=1) / 2)

    def mean(self, posterior: NormalGammaPosterior) -> Float:
        """Return the means m_k, (K, dim)."""
        return posterior.m

    def covariance(self, posterior: NormalGammaPosterior) -> Float:
        """Return diagonal matrices of 1 / E lambda_kd, (K, dim, dim)."""
        return (1 / posterior.precision)[:, :, None] * np.eye(self.dim)

    def sample(self, posterior: NormalGammaPosterior, k: int, n: int, rng: np.random.Generator) -> Float:
        """Draw n vectors of component k from its predictive distribution, (n, dim)."""
        q = posterior
        variances = q.b[k] * (q.kappa[k] + 1) / q.kappa[k] / rng.chisquare(q.nu[k], (n, self.dim))
        return q.m[k] + rng.standard_normal((n, self.dim)) * np.sqrt(variances)

    @property
    def hyperparameters(self) -> dict[str, float]:
        """The factor of b."""
        return {"scale": self.scale}

    def with_hyperparameters(self, values: Mapping[str, float]) -> Self:
        """Return the family with another factor of b."""
        return replace(self, scale=values["scale"])

    def learned(self, S: Float, N: Float) -> Self:
        """Return the family with the factor of b under which the evidence is largest.                docs/math (E9)"""
        return replace(self, scale=learned_scale(self.nu, N, self._scatter(S, N) / self.b, self.scale))

    @property
    def origin(self) -> Float:
        """The prior mean m."""
        return self.m

    def from_origin(self) -> Self:
        """Return the family for vectors minus m."""
        return replace(self, m=np.zeros(self.dim))

    def moved_from(self, other: Self, S: Float, N: Float) -> Float:
        """Return moments about this m, given those about that of `other`."""
        shift, second, first = (other.m - self.m)[:, None], S[: self.dim], S[self.dim :]
        return np.concatenate([second + (2 * first + N * shift) * shift, first + N * shift])
