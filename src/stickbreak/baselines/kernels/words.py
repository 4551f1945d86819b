"""Compiled expectations of the words of topics."""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.special import digamma, log_gamma


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def expected_logs(counts, scale, tokens, words, eta, out):
    """out[i, k] = E log phi_kw = psi(eta + S_kw) - psi(W eta + N_k), w = words[i], S = scale * counts."""
    n_words, n_topics = counts.shape
    total = np.empty(n_topics)
    for k in range(n_topics):
        total[k] = digamma(n_words * eta + tokens[k])
    for i in range(words.size):
        row = counts[words[i]]
        for k in range(n_topics):
            out[i, k] = digamma(eta + scale * row[k]) - total[k]


@njit(cache=True, nogil=True, error_model="numpy")
def add_gains(counts, scale, eta, out):
    """out[k] += sum_w log Gamma(eta + S_kw) - log Gamma(eta) - S_kw psi(eta + S_kw), S = scale * counts.

    A word without tokens in a topic adds nothing.
    """
    base = log_gamma(eta)
    for w in range(counts.shape[0]):
        for k in range(counts.shape[1]):
            S = scale * counts[w, k]
            if S > 0.0:
                out[k] += log_gamma(eta + S) - base - S * digamma(eta + S)
