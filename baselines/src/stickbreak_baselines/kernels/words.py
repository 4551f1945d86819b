"""Compiled expectations of the words of topics."""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_pseudo_counts import of_word, total_of
from stickbreak.numerics.special import digamma, log_gamma


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def expected_logs(counts, scale, tokens, words, eta, out):
    """out[i, k] = E log phi_kw = psi(eta_w + S_kw) - psi(sum eta + N_k), w = words[i], S = scale * counts."""
    n_words, n_topics = counts.shape
    total, total_eta = np.empty(n_topics), total_of(eta, n_words)
    for k in range(n_topics):
        total[k] = digamma(total_eta + tokens[k])
    for i in range(words.size):
        row, eta_w = counts[words[i]], of_word(eta, words[i])
        for k in range(n_topics):
            out[i, k] = digamma(eta_w + scale * row[k]) - total[k]


@njit(cache=True, nogil=True, error_model="numpy")
def add_gains(counts, scale, eta, out):
    """out[k] += sum_w log Gamma(eta_w + S_kw) - log Gamma(eta_w) - S_kw psi(eta_w + S_kw), S = scale * counts.

    A word without tokens in a topic adds nothing.
    """
    for w in range(counts.shape[0]):
        eta_w = of_word(eta, w)
        base = log_gamma(eta_w)
        for k in range(counts.shape[1]):
            S = scale * counts[w, k]
            if S > 0.0:
                out[k] += log_gamma(eta_w + S) - base - S * digamma(eta_w + S)
