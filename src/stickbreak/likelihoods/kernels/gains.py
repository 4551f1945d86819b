"""Compiled sums of the likelihoods."""

from __future__ import annotations

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.special import digamma, log_gamma


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
