"""Compiled sums over the words of topics that have Dirichlet priors."""

from __future__ import annotations

import math

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.special import digamma, exp_digamma, log_gamma


@njit(cache=True, nogil=True)
def sum_log_gamma_gain(S, eta, out):
    """out[k] += sum_w log Gamma(eta + S[w, k]) - log Gamma(eta); words without the topic cost nothing."""
    base = log_gamma(eta)
    for w in range(S.shape[0]):
        for k in range(S.shape[1]):
            if S[w, k] > 0.0:
                out[k] += log_gamma(eta + S[w, k]) - base


@njit(cache=True, nogil=True)
def sum_log_gamma_gain_by_word(S, eta, out):
    """Do as `sum_log_gamma_gain` under an eta for each word, (W,)."""
    for w in range(S.shape[0]):
        base = log_gamma(eta[w])
        for k in range(S.shape[1]):
            if S[w, k] > 0.0:
                out[k] += log_gamma(eta[w] + S[w, k]) - base


@njit(cache=True, nogil=True)
def sum_digamma_gain(S, eta):
    """Return sum_kw psi(eta + S[w, k]) - psi(eta); words without the topic add nothing."""
    base, total = digamma(eta), 0.0
    for w in range(S.shape[0]):
        for k in range(S.shape[1]):
            if S[w, k] > 0.0:
                total += digamma(eta + S[w, k]) - base
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def expected_word_weights(tau, tau_sum, words, out):
    """out[i, k] = exp(E log phi_kw - s_w), w = words[i].                           docs/math (V4)

    s_w = 0 except for words where every exp(E log phi_kw) would underflow: there the largest becomes 1.
    The responsibilities do not depend on s_w.
    """
    n_topics = tau_sum.size
    inverse = np.empty(n_topics)
    for k in range(n_topics):
        total = exp_digamma(tau_sum[k])
        inverse[k] = 1.0 / total if total > 1e-200 else 0.0
    for i in range(words.size):
        row, largest = tau[words[i]], 0.0
        for k in range(n_topics):
            if inverse[k] > 0.0:
                out[i, k] = exp_digamma(row[k]) * inverse[k]
            else:  # an empty topic under a tiny eta
                out[i, k] = math.exp(digamma(row[k]) - digamma(tau_sum[k]))
            largest = max(largest, out[i, k])
        if largest < 1e-100:
            shift = -np.inf
            for k in range(n_topics):
                out[i, k] = digamma(row[k]) - digamma(tau_sum[k])
                shift = max(shift, out[i, k])
            for k in range(n_topics):
                out[i, k] = math.exp(out[i, k] - shift)
