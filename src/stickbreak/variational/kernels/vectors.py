"""Compiled loops over vectors and their components; the rules of `statistics.py` hold here, too."""

from __future__ import annotations

import math

import numpy as np

from stickbreak.numerics.compiling import njit


@njit(cache=True, nogil=True)
def spread_responsibilities(first, last, document, ratio, topic_ptr, topic, weight, weights, least, R, cross):
    """R[i, k] = r of vector first + i, below `least` zero; cross[k] += sum_n r log weights[n, k].   math.md (N2)"""
    for n in range(first, last):
        d = document[n]
        for p in range(topic_ptr[d], topic_ptr[d + 1]):
            k = topic[p]
            w = weights[n, k]
            r = ratio[n] * weight[p] * w
            if r > 0.0:
                cross[k] += r * math.log(w)
            R[n - first, k] = r if r >= least else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def mixture_step(elog, log_weights, least, weights, ratio, size):
    """Responsibilities of vectors that share one distribution over components.            math.md (N3)

    r_nk ∝ exp(elog[n, k] + log_weights[k]); those below `least` of the largest are zero, the rest sum to one. Written:
    weights[n, k] = exp(elog - s_n), zero where r is; ratio[n] = 1 / Z_n; size[n] = components with r > 0.
    """
    n_components = log_weights.size
    threshold = math.log(least)
    share = np.exp(log_weights)
    for n in range(elog.shape[0]):
        top, shift = -np.inf, 0.0
        for k in range(n_components):
            score = elog[n, k] + log_weights[k]
            if score > top:
                top, shift = score, elog[n, k]
        z, found = 0.0, 0
        for k in range(n_components):
            weights[n, k] = 0.0
            if elog[n, k] + log_weights[k] - top >= threshold:
                w = math.exp(elog[n, k] - shift)
                if share[k] * w > 0.0:
                    weights[n, k] = w
                    z += share[k] * w
                    found += 1
        ratio[n] = 1.0 / z
        size[n] = found


@njit(cache=True, nogil=True)
def list_components(weights, share, ratio, indptr, topic, r, weight, entropy):
    """List the components of each vector: r, what multiplied its weights, and r log Z."""
    for n in range(weights.shape[0]):
        p = indptr[n]
        log_z = -math.log(ratio[n])
        for k in range(weights.shape[1]):
            if weights[n, k] > 0.0:
                topic[p] = k
                r[p] = share[k] * weights[n, k] * ratio[n]
                weight[p] = share[k]
                entropy[p] = r[p] * log_z
                p += 1
