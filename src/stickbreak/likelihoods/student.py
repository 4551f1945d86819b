"""What a component predicts once its parameters are integrated out: Student t distributions.        math.md (E7)"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from stickbreak.likelihoods.wishart import NormalWishartPosterior, WishartPosterior
from stickbreak.numerics.arrays import Float


def _widening(posterior: WishartPosterior) -> Float:
    """Return (kappa_k + 1) / kappa_k, (K,): what not knowing the mean adds; 1 where it is known."""
    if isinstance(posterior, NormalWishartPosterior):
        return (posterior.kappa + 1) / posterior.kappa
    return np.ones(posterior.nu.size)


def student_log(forms: Float, posterior: WishartPosterior) -> Float:
    """Return log p(x_n | q_k), (n, K), of forms (x_n - m_k)' E Lambda_k (x_n - m_k), (n, K).          math.md (E7)"""
    nu, dim, wide = posterior.nu, posterior.dim, _widening(posterior)
    peak = gammaln((nu + 1) / 2) - gammaln((nu + 1 - dim) / 2)
    peak -= (dim * np.log(np.pi * wide) + posterior.log_det) / 2
    return peak - (nu + 1) / 2 * np.log1p(forms / (nu * wide))


def sample_student(posterior: WishartPosterior, k: int, n: int, rng: np.random.Generator) -> Float:
    """Draw n vectors of component k, (n, dim): Normal(m_k, B_k (kappa_k + 1) / kappa_k / chi^2).     math.md (E7)"""
    freedom = posterior.nu[k] - posterior.dim + 1
    normal = rng.standard_normal((n, posterior.dim)) @ posterior.cholesky[k].T
    drawn = normal * np.sqrt(_widening(posterior)[k] / rng.chisquare(freedom, n))[:, None]
    return drawn + posterior.m[k] if isinstance(posterior, NormalWishartPosterior) else drawn
