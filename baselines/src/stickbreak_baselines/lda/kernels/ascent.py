"""The local step of variational LDA (docs/math (L5)); a NumPy twin in baselines/tests/lda/test_variational.py."""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.special import digamma, exp_digamma

LEAST_WEIGHT = 1e-80  # exp E log theta of a topic: products with words stay above zero


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _normaliser(theta, topics, w):
    """sum_k theta_k topics[w, k]."""
    total = 0.0
    for k in range(theta.size):
        total += theta[k] * topics[w, k]
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _add(scale, topics, w, out):
    """out[k] += scale topics[w, k]."""
    for k in range(out.size):
        out[k] += scale * topics[w, k]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _weights(gamma, theta):
    """theta_k = exp E log theta_k under Dir(gamma)."""
    total = 0.0
    for k in range(gamma.size):
        total += gamma[k]
    scale = np.exp(-digamma(total))
    for k in range(gamma.size):
        theta[k] = max(exp_digamma(gamma[k]) * scale, LEAST_WEIGHT)


@njit(cache=True, nogil=True, error_model="numpy")
def ascend(indptr, word, count, topics, a, tolerance, most, gamma, theta, norm):
    """Find q(theta_d) = Dir(gamma_d) of documents, and what each of their stored counts is divided by.  docs/math (L5)

    Parameters
    ----------
    indptr, word, count : ndarray
        Rows of the documents; indptr counts from the first stored count of all.
    topics : ndarray of shape (W, K)
        exp E log phi.
    a : ndarray of shape (K,)
    tolerance : float
        A document ends when its gamma changes by less than this in the mean.
    most : int
        Sweeps at most.
    gamma : ndarray of shape (D, K)
        Where to start; changed in place.
    theta : ndarray of shape (D, K)
        Of no matter before; exp E log theta after.
    norm : ndarray of shape (n,)
        sum_k theta_k topics[w, k] of all stored counts.
    """
    K = a.size
    new = np.empty(K)
    for d in range(indptr.size - 1):
        _weights(gamma[d], theta[d])
        for _ in range(most):
            for k in range(K):
                new[k] = 0.0
            for p in range(indptr[d], indptr[d + 1]):
                _add(count[p] / _normaliser(theta[d], topics, word[p]), topics, word[p], new)
            change = 0.0
            for k in range(K):
                x = a[k] + theta[d, k] * new[k]
                change += abs(x - gamma[d, k])
                gamma[d, k] = x
            _weights(gamma[d], theta[d])
            if change < tolerance * K:
                break
        for p in range(indptr[d], indptr[d + 1]):
            norm[p] = _normaliser(theta[d], topics, word[p])
