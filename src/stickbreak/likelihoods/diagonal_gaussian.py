"""Components are Gaussians of independent coordinates; each mean and precision has a Normal-Gamma prior."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, psi

from stickbreak.exceptions import InputError
from stickbreak.likelihoods.base import VectorLikelihood
from stickbreak.likelihoods.gaussian import KAPPA
from stickbreak.likelihoods.priors import (
    FLOOR,
    checked_nu,
    checked_positive,
    checked_vector,
    mean_and_covariance,
)
from stickbreak.likelihoods.quadratic import blocks
from stickbreak.likelihoods.wishart import learned_scale
from stickbreak.numerics.arrays import Float

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
        """Return moments about this m, given those about that of `other`.                           docs/math (E10)"""
        shift, second, first = (other.m - self.m)[:, None], S[: self.dim], S[self.dim :]
        return np.concatenate([second + (2 * first + N * shift) * shift, first + N * shift])
