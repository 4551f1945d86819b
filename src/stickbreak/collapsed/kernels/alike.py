"""How much likelier the tokens of two topics are as those of one, by their words and by documents (math.md (C28)).

The twin is in tests/collapsed/test_alike.py.
"""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.special import log_gamma


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


@njit(cache=True, nogil=True, error_model="numpy")
def _gain(n, m, a):
    """f(n + m) - f(n) - f(m) where f(n) = log Γ(n + a) - log Γ(a)."""
    return log_gamma(n + m + a) - log_gamma(n + a) - log_gamma(m + a) + log_gamma(a)


@njit(cache=True, nogil=True, error_model="numpy")
def of_pairs_in_documents(start, topic, tokens, a, factors):
    """Add to factors what `of_pairs` does, over documents d in place of words, with another f for each pair.

    Document d has `tokens` in each `topic` of its places start[d] to start[d + 1]. f(n) is log Γ(n + a) - log Γ(a),
    where a = a_k + a_l is the sum of what `a` has for both.
    """
    for d in range(start.size - 1):
        for i in range(start[d], start[d + 1]):
            k, n = topic[i], tokens[i]
            for j in range(start[d], i):
                gain = _gain(n, tokens[j], a[k] + a[topic[j]])
                factors[k, topic[j]] += gain
                factors[topic[j], k] += gain


@njit(cache=True, nogil=True, error_model="numpy")
def of_topic_in_documents(start, topic, tokens, part_of, k, a, factors):
    """Add to factors, (K,), what `of_pairs_in_documents` does for topic k, where the topics are parts of others."""
    n = np.zeros(factors.size, np.int64)
    for d in range(start.size - 1):
        for i in range(start[d], start[d + 1]):
            n[part_of[topic[i]]] += tokens[i]
        own, n[k] = n[k], 0
        for i in range(start[d], start[d + 1]):
            l = part_of[topic[i]]  # noqa: E741
            if n[l] > 0 and own > 0:
                factors[l] += _gain(own, n[l], a[k] + a[l])
            n[l] = 0
