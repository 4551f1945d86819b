"""How much likelier the words of two topics are as those of one (math.md (C28)).

The twin is in tests/collapsed/test_alike.py.
"""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.compiling import njit


@njit(cache=True, nogil=True, error_model="numpy")
def of_pairs(counts, log_rising, factors):
    """Add Σ_w f(n_kw + n_lw) - f(n_kw) - f(n_lw) to factors[k, l] and factors[l, k], where k != l share a word.

    `counts` are of whole tokens, (W, K), and f(n) = log Γ(n + η) - log Γ(η) is `log_rising[n]`.
    """
    K = counts.shape[1]
    topics = np.empty(K, np.int64)
    for w in range(counts.shape[0]):
        n = 0
        for k in range(K):
            if counts[w, k] > 0:
                topics[n] = k
                n += 1
        for i in range(n):
            k, a = topics[i], counts[w, topics[i]]
            for j in range(i):
                l, b = topics[j], counts[w, topics[j]]  # noqa: E741
                gain = log_rising[a + b] - log_rising[a] - log_rising[b]
                factors[k, l] += gain
                factors[l, k] += gain


@njit(cache=True, nogil=True, error_model="numpy")
def of_topic(counts, k, log_rising, factors):
    """Put what `of_pairs` adds for topic k into factors, (K,)."""
    factors[:] = 0.0
    for w in range(counts.shape[0]):
        a = counts[w, k]
        if a > 0:
            for l in range(counts.shape[1]):  # noqa: E741
                b = counts[w, l]
                if b > 0 and l != k:
                    factors[l] += log_rising[a + b] - log_rising[a] - log_rising[b]
