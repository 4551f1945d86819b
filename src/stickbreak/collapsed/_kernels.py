"""Compiled loops of CVB0; NumPy twin in tests/collapsed/reference.py."""

from __future__ import annotations

import numpy as np
from numba import njit

from stickbreak.special import digamma


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def sweep(indptr, word, count, r, S, N, n_dk, prior, eta, total_eta):
    """Update r of every stored count in turn, all counts kept in step.             SPEC 1.14, math.md (C1)

    r_dwk ∝ (S_kw - r + eta) / (N_k - r + W eta) (N_dk - r + prior_k): all counts without the one token, or without all
    there is of it where the weight of a pair is below one.
    """
    n_topics = N.size
    new = np.empty(n_topics)
    for d in range(indptr.size - 1):
        document = n_dk[d]
        for p in range(indptr[d], indptr[d + 1]):
            row, old, c, total = S[word[p]], r[p], count[p], 0.0
            own = min(c, 1.0)
            for k in range(n_topics):
                x = own * np.float64(old[k])
                value = (row[k] - x + eta) / (N[k] - x + total_eta) * (document[k] - x + prior[k])
                new[k] = max(value, 0.0)  # rounding may leave a count a little below its own token
            for k in range(n_topics):  # apart from the stores, so that the order of the sum is the same everywhere
                total += new[k]
            total = 1.0 / total
            for k in range(n_topics):
                value = np.float32(new[k] * total)
                change = c * (np.float64(value) - np.float64(old[k]))
                old[k] = value
                row[k] += change
                N[k] += change
                document[k] += change


@njit(cache=True, nogil=True)
def expected_tables(n_dk, prior):
    """M_k = sum_d prior_k [ psi(prior_k + N_dk) - psi(prior_k) ].                   SPEC 1.14, math.md (C2)"""
    n_topics = prior.size
    base, out = np.empty(n_topics), np.zeros(n_topics)
    for k in range(n_topics):
        base[k] = digamma(prior[k])
    for d in range(n_dk.shape[0]):
        for k in range(n_topics):
            if n_dk[d, k] > 0.0:
                out[k] += prior[k] * (digamma(prior[k] + n_dk[d, k]) - base[k])
    return out


@njit(cache=True, nogil=True)
def add_rows(rows, count, r, out):
    """out[rows[p]] += count[p] r[p]."""
    for p in range(rows.size):
        target = out[rows[p]]
        for k in range(target.size):
            if r[p, k] > 0.0:
                target[k] += count[p] * np.float64(r[p, k])


@njit(cache=True, nogil=True)
def responsibilities(indptr, word, topic_word, theta, out):
    """out[p, k] = topic_word[w, k] theta[d, k], rows summing to one."""
    n_topics = theta.shape[1]
    for d in range(indptr.size - 1):
        for p in range(indptr[d], indptr[d + 1]):
            row, total = topic_word[word[p]], 0.0
            for k in range(n_topics):
                total += row[k] * theta[d, k]
            for k in range(n_topics):
                out[p, k] = row[k] * theta[d, k] / total
