"""Completing documents in few of the topics, and scoring what was held out of them (math.md (C28)).

The twins are in tests/collapsed/test_judging.py.
"""

from __future__ import annotations

import math

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_eta import of_word

LANES = 8  # sums side by side, in one order on every machine


@njit(cache=True, nogil=True, error_model="numpy")
def _weigh(phi, share, n, prior, own, value):
    """value[k] = phi_k (N_dk - own r_k + prior_k); return the sum. The length is a whole number of lanes."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    for k in range(value.size):
        value[k] = phi[k] * max(n[k] - own * share[k] + prior[k], 0.0)
    for c in range(value.size // LANES):
        k = c * LANES
        s0 += value[k]
        s1 += value[k + 1]
        s2 += value[k + 2]
        s3 += value[k + 3]
        s4 += value[k + 4]
        s5 += value[k + 5]
        s6 += value[k + 6]
        s7 += value[k + 7]
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


@njit(cache=True, nogil=True, error_model="numpy")
def _move(value, scale, count, share, n):
    """Give a word the shares value * scale, in place of those that it had."""
    for k in range(value.size):
        new = value[k] * scale
        n[k] += count * (new - share[k])
        share[k] = new


@njit(cache=True, nogil=True, error_model="numpy")
def _chosen(table, topics, width):
    """Return some columns of a table, and columns of zeros up to a width."""
    out = np.zeros((table.shape[0], width))
    for i in range(table.shape[0]):
        for a in range(topics.size):
            out[i, a] = table[i, topics[a]]
    return out


@njit(cache=True, nogil=True, error_model="numpy")
def complete(indptr, word, count, row, S, N, prior, eta, total_eta, sweeps, every, least):
    """Return where the topics of each document begin, (D' + 1,), which they are, and their N_dk.       math.md (C28)

    Sweeps of (C1) with S fixed and all shares kept, over the words with tokens. Word w has row row[w] of S. After
    `every` sweeps a document leaves those of its topics that have less than `least` of the mean of its tokens in a
    topic.
    """
    K = N.size
    start, at = np.zeros(indptr.size, np.int64), 0
    topic, weight = np.empty(LANES, np.int64), np.empty(LANES)
    for d in range(indptr.size - 1):
        words = indptr[d] + np.flatnonzero(count[indptr[d] : indptr[d + 1]] > 0.0)
        size, width = K, (K + LANES - 1) // LANES * LANES
        kept, phi, share = np.arange(K), np.zeros((words.size, width)), np.zeros((words.size, width))
        n, a, value = np.zeros(width), np.zeros(width), np.empty(width)
        for k in range(K):
            a[k] = prior[k]
        for i in range(words.size):
            w = word[words[i]]
            own_eta = of_word(eta, w)
            for k in range(K):
                phi[i, k] = (S[row[w], k] + own_eta) / (N[k] + total_eta)
        for s in range(1, sweeps + 1):
            for i in range(words.size):
                c = count[words[i]]
                total = _weigh(phi[i], share[i], n, a, min(c, 1.0), value)
                _move(value, 1.0 / total, c, share[i], n)
            if s % every == 0 and s < sweeps:
                few = np.flatnonzero(n[:size] >= least / size * n.sum())
                if few.size < size:
                    size, width = few.size, (few.size + LANES - 1) // LANES * LANES
                    kept, phi, share = kept[few], _chosen(phi, few, width), _chosen(share, few, width)
                    before_n, before_a = n, a
                    n, a, value = np.zeros(width), np.zeros(width), np.empty(width)
                    for j in range(size):
                        n[j], a[j] = before_n[few[j]], before_a[few[j]]
        if words.size == 0:
            size = 0
        while at + size > topic.size:
            topic, weight = np.concatenate((topic, topic)), np.concatenate((weight, weight))
        for j in range(size):
            topic[at + j], weight[at + j] = kept[j], n[j]
        at += size
        start[d + 1] = at
    return start, topic[:at].copy(), weight[:at].copy()


@njit(cache=True, nogil=True, error_model="numpy")
def distributions(counts, part_of, words, eta, totals, phi):
    """phi[w, l] = (Σ n_kw + η) / totals[l] over the parts k of topic l, for the words of the rows of `counts`."""
    for i in range(words.size):
        own_eta = of_word(eta, words[i])
        for l in range(totals.size):  # noqa: E741
            phi[i, l] = own_eta
        for k in range(part_of.size):
            phi[i, part_of[k]] += counts[i, k]
        for l in range(totals.size):  # noqa: E741
            phi[i, l] /= totals[l]


@njit(cache=True, nogil=True, error_model="numpy")
def score(indptr, word, held, row, start, topic, weight, phi, common, total_prior, out):
    """out[d] = Σ_i c_i log [ (Σ_k N_dk φ_kw + α Σ_k β_k φ_kw) / (N_d + α) ] over the tokens held out.   math.md (C28)

    The second sum is `common`, (W',); word w has row row[w] of it and of phi, (W', K).
    """
    for d in range(indptr.size - 1):
        begin, end, length = start[d], start[d + 1], total_prior
        for j in range(begin, end):
            length += weight[j]
        for p in range(indptr[d], indptr[d + 1]):
            if held[p] > 0.0:
                w = row[word[p]]
                total = common[w]
                for j in range(begin, end):
                    total += weight[j] * phi[w, topic[j]]
                out[d] += held[p] * math.log(total / length)
