"""Compiled local step of `SplitMergeOnlineHDP` (docs/math (V5), (V6)): documents one after another, over all topics."""

from __future__ import annotations

import math

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.special import digamma, log_gamma

LEAST_WEIGHT = 1e-150  # of the largest in its document: every word keeps a topic that can explain it


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _share_out(word, count, weights, weight, z, N):
    """z[i] = sum_k weight[k] weights[word[i], k], N[k] = weight[k] sum_i count[i] / z[i] weights[word[i], k]."""
    N[:] = 0.0
    for i in range(word.size):
        row, total = weights[word[i]], 0.0
        for k in range(N.size):
            total += weight[k] * row[k]
        z[i] = total
        factor = count[i] / total
        for k in range(N.size):
            N[k] += factor * row[k]
    for k in range(N.size):
        N[k] *= weight[k]


@njit(cache=True, nogil=True, error_model="numpy")
def _weigh(prior, N, weight):
    """weight[k] = exp(psi(prior_k + N_k) - the largest psi), at least LEAST_WEIGHT."""
    largest = -np.inf
    for k in range(N.size):
        weight[k] = digamma(prior[k] + N[k])
        largest = max(largest, weight[k])
    for k in range(N.size):
        weight[k] = max(math.exp(weight[k] - largest), LEAST_WEIGHT)


@njit(cache=True, nogil=True, error_model="numpy")
def _value(count, z, prior, N, weight):
    """Return sum_w c_w log Z_w - sum_k N_k log weight_k + sum_k { lG(prior_k + N_k) - lG(prior_k) }."""
    total = 0.0
    for i in range(count.size):
        total += count[i] * math.log(z[i])
    for k in range(N.size):
        total += log_gamma(prior[k] + N[k]) - log_gamma(prior[k]) - N[k] * math.log(weight[k])
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def local_step(indptr, word, count, weights, prior, tolerance, max_sweeps, z, N, weight, value, sweeps):
    """Alternate responsibilities and weights of each document until no N_dk changes by `tolerance`.

    Parameters
    ----------
    indptr, word, count : of the documents
    weights : (W_b, K)
        exp(E log phi_kw) up to a factor for each word.
    prior : (K,)
        alpha beta_k.
    tolerance : float
    max_sweeps : int
    z : (nnz,)
        Z_dw: r_dwk = weights[w, k] weight_dk / Z_dw.
    N, weight : (D_b, K)
    value, sweeps : (D_b,)
        The part of the bound that a document adds, up to what does not depend on topics; sweeps of it.
    """
    new = np.empty(prior.size)
    for d in range(indptr.size - 1):
        low, high = indptr[d], indptr[d + 1]
        N[d], weight[d], value[d], sweeps[d] = 0.0, 1.0, 0.0, 0
        if low == high:
            continue
        w, c = word[low:high], count[low:high]
        for k in range(prior.size):
            N[d, k] = c.sum() * prior[k] / prior.sum()
        while sweeps[d] < max_sweeps:
            _weigh(prior, N[d], weight[d])
            _share_out(w, c, weights, weight[d], z[low:high], new)
            sweeps[d] += 1
            moved = 0.0
            for k in range(prior.size):
                moved = max(moved, abs(new[k] - N[d, k]))
                N[d, k] = new[k]
            if not moved >= tolerance:
                break
        value[d] = _value(c, z[low:high], prior, N[d], weight[d])


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def add_words(indptr, word, count, weights, z, weight, S):
    """S[w, k] += c_dw r_dwk of all documents.                                                 docs/math (V8)"""
    for d in range(indptr.size - 1):
        of_document = weight[d]
        for i in range(indptr[d], indptr[d + 1]):
            row, out, factor = weights[word[i]], S[word[i]], count[i] / z[i]
            for k in range(of_document.size):
                out[k] += factor * of_document[k] * row[k]
