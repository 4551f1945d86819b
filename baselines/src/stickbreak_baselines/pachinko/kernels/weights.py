"""Compiled weights of documents whose topics are fixed; a NumPy twin in baselines/tests/pachinko/test_documents.py."""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_arrays import copy


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _mixed(N, a, b, b_sum, weight, mixed):
    """weight[s, k] = (N_s + a_s)(N_sk + b_sk) / (N_s + b_s), and mixed[k] its sum over s.            docs/math (P5)"""
    for k in range(mixed.size):
        mixed[k] = 0.0
    for s in range(a.size):
        n = 0.0
        for k in range(mixed.size):
            n += N[s, k]
        g = (n + a[s]) / (n + b_sum[s])
        for k in range(mixed.size):
            x = g * (N[s, k] + b[s, k])
            weight[s, k] = x
            mixed[k] += x


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _ratios(block, count, mixed, ratio):
    """ratio[k] = sum_i count[i] block[i, k] / sum_j mixed[j] block[i, j]."""
    for k in range(ratio.size):
        ratio[k] = 0.0
    for i in range(count.size):
        row, total = block[i], 0.0
        for k in range(mixed.size):
            total += mixed[k] * row[k]
        x = count[i] / total
        for k in range(mixed.size):
            ratio[k] += x * row[k]


@njit(cache=True, nogil=True, error_model="numpy")
def document_weights(indptr, word, count, topics, a, b, tolerance, max_sweeps, of_super, of_topic):
    """Write the weights of documents under fixed topics.                                              docs/math (P5)

        N_sk = sum_w n_dw r_wsk,   r_wsk ∝ (N_s + a_s)(N_sk + b_sk) / (N_s + b_s) phi_kw

    `topics` is phi by word (W, T). of_super (D, S) and of_topic (D, T) take the sums of the weights, normalised.
    A document ends when no N_sk changes by `tolerance`.
    """
    S, T = b.shape
    widest = 0
    for d in range(indptr.size - 1):
        widest = max(widest, indptr[d + 1] - indptr[d])
    block, b_sum = np.empty((widest, T)), b.sum(axis=1)
    N, weight, mixed, ratio = np.empty((S, T)), np.empty((S, T)), np.empty(T), np.empty(T)
    for d in range(indptr.size - 1):
        begin, size = indptr[d], indptr[d + 1] - indptr[d]
        for i in range(size):
            copy(topics[word[begin + i]], block[i])
        for s in range(S):
            for k in range(T):
                N[s, k] = 0.0
        _mixed(N, a, b, b_sum, weight, mixed)
        for _ in range(max_sweeps if size > 0 else 0):
            _ratios(block[:size], count[begin : begin + size], mixed, ratio)
            change = 0.0
            for s in range(S):
                for k in range(T):
                    x = weight[s, k] * ratio[k]
                    change = max(change, abs(x - N[s, k]))
                    N[s, k] = x
            _mixed(N, a, b, b_sum, weight, mixed)
            if change < tolerance:
                break
        total = mixed.sum()
        for k in range(T):
            of_topic[d, k] = mixed[k] / total
        for s in range(S):
            of_super[d, s] = weight[s].sum() / total
