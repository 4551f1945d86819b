"""Compiled loops of sampled passes, word by word and sparse in the topics of a document (math.md (C23)).

A NumPy twin stands in tests/collapsed/reference.py. The topics of a document are a list, with its counts: a document
has the places from indptr[d] on, as many as it has stored counts at the most, and size[indptr[d]] of them are in use.
"""

from __future__ import annotations

import math

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_eta import of_word
from stickbreak.numerics.kernel_random import open_stream, uniform
from stickbreak.numerics.prefetch import prefetch
from stickbreak.numerics.special import digamma

CHUNK = 32  # topics that are passed over at once
FEW = 8.0  # tokens, of which tables are a sum of as many fractions
NOTHING = 1e-9  # tokens that rounding leaves of none
LEAST_PRODUCT, MOST_PRODUCT = 1e-200, 1e200  # of totals, whose logarithm is taken once for many
LEAST = 1e-60  # what rounding leaves of the sum of prior_k phi_kw at the least
_AHEAD = np.uint64(12)  # stored counts, whose documents are asked for before they are read
_ONE, _FIVE, _BLOCK = (np.uint64(n) for n in (1, 5, CHUNK))


@njit(cache=True, nogil=True, error_model="numpy")
def by_word(indptr, word, start, order, head):
    """Sort stored counts by their words: word w has order[start[w]] to order[start[w + 1]], in their own order.

    `head` is where the documents of these begin.
    """
    for p in range(word.size):
        start[word[p] + 1] += 1
    for w in range(start.size - 1):
        start[w + 1] += start[w]
    at = start.copy()
    for d in range(indptr.size - 1):
        for p in range(indptr[d], indptr[d + 1]):
            i = at[word[p]]
            order[i], head[i] = p, indptr[d]
            at[word[p]] = i + 1


@njit(cache=True, nogil=True, error_model="numpy")
def list_topics(indptr, count, z, size, topic, n):
    """List the topics of each document with their counts."""
    for d in range(indptr.size - 1):
        first, length = np.uint64(indptr[d]), np.uint64(0)
        for p in range(first, np.uint64(indptr[d + 1])):
            if count[p] <= NOTHING:
                continue
            s = _place(topic, first, length, np.uint64(z[p]))
            if s == length:
                topic[first + s], n[first + s] = z[p], 0.0
                length += _ONE
            n[first + s] += count[p]
        if indptr[d] < indptr[d + 1]:
            size[first] = length


@njit(cache=True, nogil=True, error_model="numpy")
def _place(topic, first, size, k):
    """Return the place of a topic in a list; the number of its entries where it has none."""
    s = np.uint64(0)
    while s < size and topic[first + s] != k:
        s += _ONE
    return s


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _begin_word(w, S, of_w, prior, inverse, row, phi, value):
    """phi_k = (S_kw + eta) / (N_k + W eta); value_k = prior_k phi_k."""
    for k in range(prior.size):
        row[k] = S[w, k]
        phi[k] = (S[w, k] + of_w) * inverse[k]
        value[k] = prior[k] * (S[w, k] + of_w) * inverse[k]


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _sum_chunks(value, sums):
    """sums[c] = sum of a chunk of values, the total last; apart from the stores, so that its order is the same."""
    total, last = 0.0, sums.size - 1
    for c in range(last):
        of_chunk = 0.0
        for i in range(CHUNK):
            of_chunk += value[c * CHUNK + i]
        sums[c] = of_chunk
        total += of_chunk
    sums[last] = total


@njit(cache=True, nogil=True, error_model="numpy")
def _of_document(u, first, size, topic, value):
    """Return the topic at which the running sum of a document's values passes u."""
    s, last = np.uint64(0), size - _ONE
    while s < last and u >= value[s]:
        u -= value[s]
        s += _ONE
    return np.uint64(topic[first + s])


@njit(cache=True, nogil=True, error_model="numpy")
def _of_all(u, own, less, change, prior, phi, sums):
    """Return the topic at which the running sum of prior_k phi_k passes u, without the token of topic `own`."""
    c, last, of_own = np.uint64(0), np.uint64(sums.size) - np.uint64(2), own >> _FIVE
    x = sums[c] + (change if c == of_own else 0.0)
    while c < last and u >= x:
        u -= x
        c += _ONE
        x = sums[c] + (change if c == of_own else 0.0)
    k = c << _FIVE
    last = min(k + _BLOCK, np.uint64(prior.size)) - _ONE
    x = prior[k] * (less if k == own else phi[k])
    while k < last and u >= x:
        u -= x
        k += _ONE
        x = prior[k] * (less if k == own else phi[k])
    return k


@njit(cache=True, nogil=True, error_model="numpy")
def _move(first, size, topic, n, old, new, c):
    """Move a count of a document from a topic to another; return how many topics the document has."""
    s = _place(topic, first, size, old)
    there = s < size  # of weights, rounding may leave nothing of it
    s = s if there else np.uint64(0)
    n[first + s] -= c if there else 0.0
    gone = np.uint64(there & (n[first + s] <= NOTHING))
    size -= gone
    left = size if gone > np.uint64(0) else s
    topic[first + s], n[first + s] = topic[first + left], n[first + left]
    s = _place(topic, first, size, new)
    before = n[first + s] if s < size else 0.0
    topic[first + s], n[first + s] = new, before + c
    return max(size, s + _ONE)


@njit(cache=True, nogil=True, error_model="numpy")
def draw(start, count, head, size, topic, n, z, S, N, prior, rest, eta, total_eta, key, first):
    """Draw the topic of each stored count given all others, word by word; return the sum of log of the totals.

        p(z = k) ∝ (S_kw - 1 + eta) / (N_k - 1 + W eta) (N_dk - 1 + prior_k)                  math.md (C1), (C13), (C23)

    All counts are without the one token, or without all there is of it where its weight is below one.

    Parameters
    ----------
    start, head : ndarray
        As `by_word` left them.
    count, z : ndarray of shape (n,)
        Of the stored counts word by word; z, their topics, is changed in place.
    size, topic, n : ndarray
        As `list_topics` left them; changed in place.
    S, N : ndarray of shape (W, K) and (K,)
        Counts that hold these topics. S stays as it is; N is changed in place.
    prior : ndarray of shape (K,)
    rest, eta : float or ndarray of shape (W,)
        What the inactive topics weigh for a word, and its pseudo-count.
    total_eta : float
    key : uint64
    first : int
        Word w of these documents has the stream of the number first W + w.
    """
    K = prior.size
    inverse, row, phi, of_topic = np.empty(K), np.empty(K), np.empty(K), np.empty(K)
    sums, rng = np.empty((K + CHUNK - 1) // CHUNK + 1), np.empty(1, np.uint64)
    value = np.zeros(CHUNK * sums.size)  # whole chunks
    most = np.uint64(max(z.size, 1) - 1)
    n_words, last = np.uint64(start.size - 1), np.uint64(sums.size - 1)
    log_p, product = 0.0, 1.0
    for k in range(K):
        inverse[k] = 1.0 / (N[k] + total_eta)
    for w in range(n_words):
        begin, end = np.uint64(start[w]), np.uint64(start[w + _ONE])
        if begin == end:
            continue
        open_stream(rng, key, np.uint64(first) * n_words + w)
        of_w, of_rest = of_word(eta, w), of_word(rest, w)
        _begin_word(w, S, of_w, prior, inverse, row, phi, value)
        _sum_chunks(value, sums)
        for i in range(begin, end):
            ahead = head[min(i + _AHEAD, most)]
            prefetch(size, ahead)
            prefetch(topic, ahead)
            prefetch(n, ahead)
            old, c, at = np.uint64(z[i]), count[i], np.uint64(head[i])
            if c <= NOTHING:
                continue  # it is left aside
            own, length = min(c, 1.0), np.uint64(size[at])
            inverse_less = 1.0 / (N[old] - own + total_eta)
            less = max((row[old] - own + of_w) * inverse_less, 0.0)
            of_document = 0.0
            for s in range(length):
                own_topic, x = np.uint64(topic[at + s]), n[at + s]
                x = max(x - own, 0.0) * less if own_topic == old else x * phi[own_topic]
                of_topic[s] = x
                of_document += x
            change = prior[old] * (less - phi[old])
            of_all = max(sums[last] + change, LEAST)
            probability = of_document + of_all + of_rest
            if c == 1.0:
                product *= probability
                if not LEAST_PRODUCT < product < MOST_PRODUCT:
                    log_p, product = log_p + math.log(product), 1.0
            else:
                log_p += c * math.log(probability)
            u = uniform(rng) * (of_document + of_all)
            if u < of_document:
                new = _of_document(u, at, length, topic, of_topic)
            else:
                new = _of_all(u - of_document, old, less, change, prior, phi, sums)
            if new == old:
                continue
            size[at] = _move(at, length, topic, n, old, new, c)
            z[i] = new
            row[old] -= c
            row[new] += c
            N[old] -= c
            N[new] += c
            inverse[old], inverse[new] = 1.0 / (N[old] + total_eta), 1.0 / (N[new] + total_eta)
            for moved in (old, new):
                x = max(row[moved] + of_w, 0.0) * inverse[moved]
                gain = prior[moved] * (x - phi[moved])
                phi[moved] = x
                sums[moved >> _FIVE] += gain
                sums[last] += gain
    return log_p + math.log(product)


@njit(cache=True, nogil=True, error_model="numpy")
def add_tables(indptr, count, size, topic, n, prior, concentration, tables):
    """tables[k] += prior_k (psi(prior_k + N_dk) - psi(prior_k)) of all documents; return the sum of c log(others).

    math.md (C2). The others of a token are those of its document, with the concentration.
    """
    log_others = 0.0
    for d in range(indptr.size - 1):
        first, length = indptr[d], 0.0
        if first == indptr[d + 1]:
            continue
        for s in range(first, first + size[first]):
            k = topic[s]
            length += n[s]
            if n[s] > FEW or n[s] != math.floor(n[s]):
                tables[k] += prior[k] * (digamma(prior[k] + n[s]) - digamma(prior[k]))
            else:
                for i in range(int(n[s])):
                    tables[k] += prior[k] / (prior[k] + i)
        of_one, whole = math.log(max(length - 1.0, 0.0) + concentration), 0.0
        for p in range(first, indptr[d + 1]):
            if count[p] >= 1.0:
                whole += count[p]
            else:
                log_others += count[p] * math.log(max(length - count[p], 0.0) + concentration)
        log_others += whole * of_one
    return log_others
