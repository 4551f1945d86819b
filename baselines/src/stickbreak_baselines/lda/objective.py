"""The lower bound of variational LDA (docs/math (L6)), from plain arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln

from stickbreak.numerics.arrays import Float


def expected_log(parameters: Float) -> Float:
    """Return E log of the rows of parameters (n, m) of Dirichlet distributions."""
    found: Float = digamma(parameters) - digamma(parameters.sum(axis=1, keepdims=True))
    return found


def divergence(parameters: Float, prior: Float) -> float:
    """Return the sum over rows of KL(Dir(parameters) || Dir(prior)).                                docs/math (L6)

    Parameters
    ----------
    parameters : ndarray of shape (n, m)
    prior : ndarray of shape (m,) or (n, m)
        Of all rows, or of each.
    """
    log_norm = gammaln(parameters.sum(axis=1)).sum() - gammaln(parameters).sum()
    of_prior = len(parameters) * np.mean(gammaln(prior.sum(axis=-1)) - gammaln(prior).sum(axis=-1))
    return float(log_norm - of_prior + ((parameters - prior) * expected_log(parameters)).sum())


def of_documents(count: NDArray, norm: Float, gamma: Float, a: Float) -> float:
    """Return the part of documents: their words less the divergence of their weights.               docs/math (L6)"""
    return float((count * np.log(norm)).sum()) - divergence(gamma, a)


def of_topics(topics: Float, prior: Float | float) -> float:
    """Return the part of topics with parameters (K, W).                                       docs/math (L6), (L9)

    Parameters
    ----------
    topics : ndarray of shape (K, W)
    prior : float or ndarray
        Of all words, or what goes with the table by word (W, K).
    """
    if isinstance(prior, np.ndarray):
        return -divergence(topics, np.ascontiguousarray(prior.T))
    return -divergence(topics, np.full(topics.shape[1], prior))
