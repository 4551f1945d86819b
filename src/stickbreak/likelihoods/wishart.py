"""Wishart posteriors of precision matrices, one a component: expectations, normalisers, whitening, predictions.

A component predicts Student t distributions once its parameters are integrated out.                docs/math (E7)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import gammaln, multigammaln, psi

from stickbreak.likelihoods.quadratic_forms import FeatureForms, WhitenedForms
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.maximum import maximiser

SCALE_LIMITS = (1e-6, 1e6)  # of a learned scale of B


@dataclass(frozen=True)
class WishartPosterior:
    """q(Lambda_k) = Wishart(nu_k, B_k) with E Lambda_k = nu_k B_k^-1.                                docs/math (E1)"""

    nu: Float  # (K,)
    B: Float  # (K, dim, dim)

    @property
    def dim(self) -> int:
        """Dimensions of a vector."""
        return int(self.B.shape[-1])

    @cached_property
    def cholesky(self) -> Float:
        """Lower triangular C_k with C_k C_k' = B_k, (K, dim, dim)."""
        return np.asarray(np.linalg.cholesky(self.B), dtype=np.float64)

    @cached_property
    def log_det(self) -> Float:
        """Log |B_k|, (K,)."""
        return 2.0 * np.log(np.diagonal(self.cholesky, axis1=1, axis2=2)).sum(axis=1)

    @cached_property
    def roots(self) -> Float:
        """Lower triangular W_k with W_k' W_k = E Lambda_k, (K, dim, dim)."""
        eye = np.eye(self.dim)
        inverses = [solve_triangular(C, eye, lower=True) for C in self.cholesky]
        return np.sqrt(self.nu)[:, None, None] * np.array(inverses).reshape(self.B.shape)

    @property
    def precision(self) -> Float:
        """E Lambda_k, (K, dim, dim)."""
        return np.swapaxes(self.roots, 1, 2) @ self.roots

    @property
    def expected_log_det(self) -> Float:
        """E log |Lambda_k|, (K,).                                                                    docs/math (E1)"""
        halves = (self.nu[:, None] - np.arange(self.dim)) / 2
        return psi(halves).sum(axis=1) + self.dim * np.log(2.0) - self.log_det

    @property
    def log_normaliser(self) -> Float:
        """Log Z of the density of Lambda_k, (K,).                                                    docs/math (E1)"""
        nu, dim = self.nu, self.dim
        return -nu / 2 * self.log_det + nu * dim / 2 * np.log(2.0) + multigammaln(nu / 2, dim)

    @cached_property
    def feature_forms(self) -> FeatureForms:
        """The forms x' E Lambda_k x for vectors in float64."""
        return FeatureForms.of(self.roots)

    @cached_property
    def whitened_forms(self) -> WhitenedForms:
        """The same for vectors in float32."""
        return WhitenedForms.of(self.roots)

    def forms(self, X: NDArray) -> Float:
        """Return (x - m_k)' E Lambda_k (x - m_k), (n, K), in the way that suits the precision of X; here m_k = 0."""
        return self.whitened_forms(X) if X.dtype == np.float32 else self.feature_forms(X)


@dataclass(frozen=True)
class NormalWishartPosterior(WishartPosterior):
    """The same, and q(mu_k | Lambda_k) = Normal(m_k, (kappa_k Lambda_k)^-1).                          docs/math (E3)

    Means are kept as offsets from one origin: the sums that they come from are sums of differences from it.
    """

    kappa: Float  # (K,)
    offsets: Float  # (K, dim) m_k - origin
    origin: Float  # (dim,)

    @property
    def m(self) -> Float:
        """Means m_k, (K, dim)."""
        return self.origin + self.offsets

    @property
    def log_normaliser(self) -> Float:
        """Log Z of the joint density of mu_k and Lambda_k, (K,).                                     docs/math (E3)"""
        return super().log_normaliser + self.dim / 2 * np.log(2 * np.pi / self.kappa)

    @cached_property
    def feature_forms(self) -> FeatureForms:
        """The forms (x - m_k)' E Lambda_k (x - m_k) for vectors in float64."""
        return FeatureForms.of(self.roots, self.offsets, self.origin)

    @cached_property
    def whitened_forms(self) -> WhitenedForms:
        """The same for vectors in float32."""
        return WhitenedForms.of(self.roots, self.offsets, self.origin)


def posterior_B(B: Float, scatter: Float) -> Float:
    """Return B + scatter_k, (K, dim, dim), positive definite.

    Scatter is a sum of squares; where the rounding of sums that were added and taken away again has left it so far
    from one that the sum with B cannot be factorised, its negative part (as B sees it) is dropped.
    """
    out = B + scatter
    try:
        np.linalg.cholesky(out)
    except np.linalg.LinAlgError:
        C = np.linalg.cholesky(B)
        values, vectors = np.linalg.eigh(_relative(scatter, B))
        seen = C @ vectors
        out = B + (seen * np.maximum(values, 0.0)[:, None, :]) @ np.swapaxes(seen, 1, 2)
    return out


def _relative(scatter: Float, B: Float) -> Float:
    """Return C^-1 scatter_k C^-T, (K, dim, dim), where C C' = B: scatter as B sees it."""
    inverse = solve_triangular(np.linalg.cholesky(B), np.eye(len(B)), lower=True)
    out = inverse @ scatter @ inverse.T
    return (out + np.swapaxes(out, 1, 2)) / 2


def relative_eigenvalues(scatter: Float, B: Float) -> Float:
    """Return the eigenvalues of each scatter matrix as B sees it, (K, dim)."""
    return np.asarray(np.linalg.eigvalsh(_relative(scatter, B)), dtype=np.float64)


def learned_scale(nu: float, N: Float, eigenvalues: Float, start: float) -> float:
    """Return the factor s of B under which the evidence is largest, within `SCALE_LIMITS`.             docs/math (E9)

    `nu`: degrees of freedom of the prior. `N` (K,): vectors of each component. `eigenvalues` (K, dim): of each scatter
    matrix as B sees it. `start`: the current factor.
    """
    values = np.maximum(eigenvalues, 0.0)

    def slope(s: float) -> float:
        return float((nu / (2 * s) - ((nu + N) / 2)[:, None] / (s + values)).sum())

    return maximiser(slope, start, SCALE_LIMITS)


def _widening(posterior: WishartPosterior) -> Float:
    """Return (kappa_k + 1) / kappa_k, (K,): what not knowing the mean adds; 1 where it is known."""
    if isinstance(posterior, NormalWishartPosterior):
        return (posterior.kappa + 1) / posterior.kappa
    return np.ones(posterior.nu.size)


def student_log(forms: Float, posterior: WishartPosterior) -> Float:
    """Return log p(x_n | q_k), (n, K), of forms (x_n - m_k)' E Lambda_k (x_n - m_k), (n, K).          docs/math (E7)"""
    nu, dim, wide = posterior.nu, posterior.dim, _widening(posterior)
    peak = gammaln((nu + 1) / 2) - gammaln((nu + 1 - dim) / 2)
    peak -= (dim * np.log(np.pi * wide) + posterior.log_det) / 2
    return peak - (nu + 1) / 2 * np.log1p(forms / (nu * wide))


def sample_student(posterior: WishartPosterior, k: int, n: int, rng: np.random.Generator) -> Float:
    """Draw n vectors of component k, (n, dim): Normal(m_k, B_k (kappa_k + 1) / kappa_k / chi^2).     docs/math (E7)"""
    freedom = posterior.nu[k] - posterior.dim + 1
    normal = rng.standard_normal((n, posterior.dim)) @ posterior.cholesky[k].T
    drawn = normal * np.sqrt(_widening(posterior)[k] / rng.chisquare(freedom, n))[:, None]
    return drawn + posterior.m[k] if isinstance(posterior, NormalWishartPosterior) else drawn
