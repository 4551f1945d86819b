"""Compiled weights of words under their topics: what the local step multiplies."""

from __future__ import annotations

import math

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.special import digamma, exp_digamma


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def expected_word_weights(tau, tau_sum, words, out):
    """out[i, k] = exp(E log phi_kw - s_w), w = words[i].                           math.md (V4)

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
