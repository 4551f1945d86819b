"""Word weights of a minibatch, alias tables, the step's counts; NumPy twins in tests/hybrid/reference.py.

The weight of topic k for a token of word w in an empty document is q_w(k) = e_k phi_kw, e_k = alpha g_k. Most words
have no tokens in most topics; there phi_kw is base_k, the same for all words. So

    q_w(k) = e_k base_k + e_k (phi_kw - base_k),

one alias table for the first part, and one for each word over the topics that it has tokens in for the second: what
the tables cost follows these pairs, not K times the words.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from stickbreak.special import exp_digamma


@njit(cache=True, nogil=True, error_model="numpy")
def fill_alias(weight, n, prob, alias, small, large):
    """Make the alias table of weight[:n] (Vose 1991); return the sum of the weights.              math.md (B3)"""
    total = 0.0
    for i in range(n):
        total += weight[i]
    n_small, n_large = 0, 0
    for i in range(n):
        prob[i] = weight[i] / total * n if total > 0.0 else 1.0
        alias[i] = i
        if prob[i] < 1.0:
            small[n_small] = i
            n_small += 1
        else:
            large[n_large] = i
            n_large += 1
    while n_small > 0 and n_large > 0:
        n_small -= 1
        low, high = small[n_small], large[n_large - 1]
        alias[low] = high
        prob[high] -= 1.0 - prob[low]
        if prob[high] < 1.0:
            n_large -= 1
            small[n_small] = high
            n_small += 1
    for i in range(n_small):  # what rounding has left
        prob[small[i]] = 1.0
    for i in range(n_large):
        prob[large[i]] = 1.0
    return total


@njit(cache=True, nogil=True)
def count_pairs(words, counts, size):
    """Set size_w, the number of topics that word w has tokens in."""
    for b in range(words.size):
        row, n = counts[words[b]], 0
        for k in range(row.size):
            n += row[k] > 0.0
        size[b] = n


@njit(cache=True, nogil=True, error_model="numpy")
def weigh_words(
    first, last, words, counts, scale, eta, mean_field, inverse, base, e, mean_e, inverse_mean, out, sparse
):
    """Fill the rows first .. last - 1 of `WordWeights`.                                       math.md (B1), (B3)"""
    phi, start, own, mean = out.phi, out.start, out.own, out.mean
    entry_topic, entry_prob, entry_alias = out.topic, out.prob, out.alias
    K = base.size
    weight = np.empty(K)
    small, large = np.empty(K, np.int32), np.empty(K, np.int32)
    mean_base = 0.0
    for k in range(K):
        mean_base += mean_e[k] * inverse_mean[k]
    for b in range(first, last):
        row, rates, s, n, found = counts[words[b]], phi[b], start[b], 0, 0.0
        rates[:] = base
        for k in range(K):
            if row[k] > 0.0:
                x = scale * row[k]
                found += mean_e[k] * inverse_mean[k] * x
                rates[k] = inverse[k] * (exp_digamma(eta + x) if mean_field else eta + x)
                weight[n] = max(e[k] * (rates[k] - base[k]), 0.0)
                if sparse:
                    entry_topic[s + n] = k
                n += 1
        mean[b] = eta * mean_base + found
        if sparse:
            own[b] = fill_alias(weight, n, entry_prob[s : s + n], entry_alias[s : s + n], small, large)


@njit(cache=True, nogil=True)
def add_tokens(words, word, z, amount, counts):
    """S_kw += amount for every token of every saved sweep in z (S, N): only these pairs are touched.  math.md (B5)"""
    for s in range(z.shape[0]):
        for i in range(word.size):
            counts[words[word[i]], z[s, i]] += amount


@njit(cache=True, nogil=True)
def count_topics(z, out):
    """Count the tokens of each topic over the saved sweeps."""
    for s in range(z.shape[0]):
        for i in range(z.shape[1]):
            out[z[s, i]] += 1
