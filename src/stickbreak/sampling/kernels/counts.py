"""Counts of a chain, and the parts of its joint log-likelihood; twins in tests/sampling/test_counts.py."""

from __future__ import annotations

import math

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_pseudo_counts import log_gamma_of, of_word, total_of
from stickbreak.numerics.stirling import log_stirling

SHIFT, TOPIC = np.uint64(32), np.uint64(2**32 - 1)  # of the entries of `WordTopics`: n_kw and k
_FEW = 32


@njit(cache=True, nogil=True)
def _sort(values):
    """Sort in place; most words are in few topics, where insertion is quicker."""
    if values.size > _FEW:
        values.sort()
        return
    for s in range(1, values.size):
        x, place = values[s], s
        while place > 0 and values[place - 1] > x:
            values[place] = values[place - 1]
            place -= 1
        values[place] = x


@njit(cache=True, nogil=True)
def count_words(first, last, by_word, z, n_topics, words):
    """Fill n_kw of the words first .. last - 1, the frequent topics of each word first."""
    scratch, seen = np.zeros(n_topics, np.int64), np.empty(n_topics, np.uint32)
    for w in range(first, last):
        begin, n_seen = words.start[w], 0
        for p in range(begin, words.start[w + 1]):
            k = z[by_word[p]]
            if scratch[k] == 0:
                seen[n_seen] = k
                n_seen += 1
            scratch[k] += 1
        found = words.entry[begin : begin + n_seen]
        for s in range(n_seen):
            found[s] = ~((np.uint64(scratch[seen[s]]) << SHIFT) | np.uint64(seen[s]))
        _sort(found)  # complements: the largest counts come first
        for s in range(n_seen):
            found[s] = ~found[s]
        for s in range(n_seen):
            scratch[seen[s]] = 0
        words.size[w] = n_seen


@njit(cache=True, nogil=True)
def tidy_words(label, words):
    """Give the topics of all words new numbers, and sort them as `count_words` does."""
    for w in range(words.size.size):
        found = words.entry[words.start[w] : words.start[w] + words.size[w]]
        for s in range(found.size):
            found[s] = ~((found[s] & ~TOPIC) | np.uint64(label[found[s] & TOPIC]))
        _sort(found)
        for s in range(found.size):
            found[s] = ~found[s]


@njit(cache=True, nogil=True)
def count_documents(start, z, documents, n_k, m_k):
    """Add the tokens and tables of all documents to n_k and M_k."""
    for i in range(z.size):
        n_k[z[i]] += 1
    for d in range(start.size - 1):
        for s in range(start[d], start[d] + documents.size[d]):
            m_k[documents.topic[s]] += documents.m[s]


@njit(cache=True, nogil=True)
def relabel(label, z, start, documents):
    """Give every topic of all documents its new number."""
    for i in range(z.size):
        z[i] = label[z[i]]
    for d in range(start.size - 1):
        for s in range(start[d], start[d] + documents.size[d]):
            documents.topic[s] = label[documents.topic[s]]


@njit(cache=True, nogil=True)
def count_tokens(start, z, scratch, documents):
    """Fill the topics and n_jk of `documents` from z, topics ascending; m_jk is left; scratch holds zeros."""
    for d in range(start.size - 1):
        size = 0
        for i in range(start[d], start[d + 1]):
            if scratch[z[i]] == 0:
                documents.topic[start[d] + size] = z[i]
                size += 1
            scratch[z[i]] += 1
        documents.topic[start[d] : start[d] + size].sort()
        for s in range(start[d], start[d] + size):
            documents.n[s] = scratch[documents.topic[s]]
            scratch[documents.topic[s]] = 0
        documents.size[d] = size


@njit(cache=True, nogil=True)
def largest_pair(start, size, n, m):
    """Return the largest n_jk and the largest m_jk of documents."""
    n_most = m_most = 0
    for d in range(start.size - 1):
        for s in range(start[d], start[d] + size[d]):
            n_most, m_most = max(n_most, n[s]), max(m_most, m[s])
    return n_most, m_most


@njit(cache=True, nogil=True)
def count_pairs(start, size, n, m, times):
    """Add up how often a topic of a document has n tokens at m tables: in times[n, m]."""
    for d in range(start.size - 1):
        for s in range(start[d], start[d] + size[d]):
            times[n[s], m[s]] += 1


@njit(cache=True, nogil=True)
def log_seatings(n, m, times, ratios):
    """Sum log s(n, m) over pairs (n, m), each as often as it occurs.                         docs/math (G1)"""
    total = 0.0
    for s in range(n.size):
        total += times[s] * log_stirling(ratios, n[s], m[s])
    return total


@njit(cache=True, nogil=True)
def log_words(words, n_k, n_topics, eta):
    """sum_k log f_k: words of each topic, its distribution integrated out.                   docs/math (G12)"""
    total_eta = total_of(eta, words.size.size)
    total, known = n_topics * math.lgamma(total_eta), math.lgamma(of_word(eta, 0))
    for k in range(n_topics):
        total -= math.lgamma(n_k[k] + total_eta)
    for w in range(words.size.size):
        of_w, base = of_word(eta, w), log_gamma_of(eta, w, known)
        for s in range(words.start[w], words.start[w] + words.size[w]):
            total += math.lgamma(np.int64(words.entry[s] >> SHIFT) + of_w) - base
    return total
