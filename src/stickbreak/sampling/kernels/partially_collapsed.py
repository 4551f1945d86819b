"""Sweeps under sampled topics and corpus weights: documents are independent.

After Terenin, Magnusson and Jonsson (2020); new topics are exact, without a truncation. Twin in
tests/sampling/partially_collapsed_twin.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_gamma import draw_gamma
from stickbreak.numerics.kernel_random import open_stream, uniform
from stickbreak.numerics.prefetch import prefetch
from stickbreak.sampling.kernels.direct import SMALLEST, tables_of
from stickbreak.sampling.kernels.rest import Rest, says, topic_at, weight_of, word_of
from stickbreak.sampling.state import SHIFT, TOPIC

_LINE = 16  # numbers of single precision that memory brings at once


class Sampled(NamedTuple):
    """Topics and corpus weights during a sweep: the same for all documents."""

    g: NDArray[np.float32]  # (W, K)  gamma variates: the words of the topics, not normalized
    scale: NDArray[np.float64]  # (K,)  1 / sum_w g_wk
    prior: NDArray[np.float64]  # (K,)  alpha beta_k
    mass: NDArray[np.float64]  # (W,)  sum_k alpha beta_k phi_kw
    rest: Rest


@njit(cache=True, nogil=True, error_model="numpy")
def draw_words(first, last, words, eta, key, g, total):
    """Draw g_wk ~ Gamma(n_kw + eta) of the words first .. last - 1, and add them up in total (K,).    math.md (G14)"""
    rng, n_w = np.empty(1, np.uint64), np.zeros(total.size, np.int64)
    for w in range(first, last):
        open_stream(rng, key, w)
        for s in range(words.start[w], words.start[w] + words.size[w]):
            n_w[words.entry[s] & TOPIC] = np.int64(words.entry[s] >> SHIFT)
        for k in range(total.size):
            x = draw_gamma(rng, n_w[k] + eta)
            g[w, k] = x
            total[k] += x
            n_w[k] = 0


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def add_up(first, last, g, coef, mass):
    """Fill mass_w = sum_k coef_k g_wk of the words first .. last - 1."""
    for w in range(first, last):
        total = 0.0
        for k in range(coef.size):
            total += coef[k] * g[w, k]
        mass[w] = total


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(first, last, offset, start, word, z, documents, sampled, keys):
    """Resample z of the documents first .. last - 1, then their tables.                       math.md (G14), (G5)

    A topic e of the rest has the number K + e afterwards. `offset`: number of document 0 in the collection; keys: of
    the streams for tokens and for tables.
    """
    scale, prior, rest = sampled.scale, sampled.prior, sampled.rest
    K, rng, other = scale.size, np.empty(1, np.uint64), np.empty(1, np.uint64)
    place, longest = np.full(K, -1, np.int64), 0  # place of a topic in the list of those of the document
    flat = sampled.g.reshape(-1)
    for d in range(first, last):
        longest = max(longest, start[d + 1] - start[d])
    topic, n, coef = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest)
    new, n_new, share = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest)
    for d in range(first, last):
        open_stream(rng, keys[0], offset + d)
        size, n_far = 0, 0  # topics of the document that had tokens before the sweep, and others
        for i in range(start[d], start[d + 1]):
            k = z[i]
            if place[k] < 0:
                place[k], topic[size], n[size] = size, k, 0
                size += 1
            n[place[k]] += 1
        for j in range(size):
            coef[j] = n[j] * scale[topic[j]]

        for i in range(start[d], start[d + 1]):
            _foresee(flat, word, i + 1, start[d + 1], K)
            # take the token out
            j = place[z[i]]
            n[j] -= 1
            coef[j] = n[j] * scale[topic[j]]
            if n[j] == 0:
                place[topic[j]] = -1
                size -= 1
                if j < size:
                    topic[j], n[j], coef[j] = topic[size], n[size], coef[size]
                    place[topic[j]] = j
            # draw its topic, and put it in
            k = _draw(word[i], topic, coef, share, size, new, n_new, n_far, sampled, rng, other)
            z[i] = k
            if k < K:
                j = place[k]
                if j < 0:
                    j, place[k], topic[size], n[size] = size, size, k, 0
                    size += 1
                n[j] += 1
                coef[j] = n[j] * scale[k]
            else:
                j = 0
                while j < n_far and new[j] != k - K:
                    j += 1
                if j == n_far:
                    new[j], n_new[j] = k - K, 0
                    n_far += 1
                n_new[j] += 1

        for j in range(size):
            place[topic[j]] = -1
        for j in range(n_far):
            topic[size + j], n[size + j] = K + new[j], n_new[j]
        open_stream(rng, keys[1], offset + d)
        documents.size[d] = size + n_far
        _list_topics(start[d], topic[: size + n_far], n, documents, prior, rest, rng, other)


@njit(cache=True, nogil=True, inline="always")
def _foresee(flat, word, i, end, K):
    """Start loading the row of the word of token i, if it is another one than that before."""
    if i < end and word[i] != word[i - 1]:
        for k in range(0, K, _LINE):
            prefetch(flat, np.int64(word[i]) * K + k)


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _draw(w, topic, coef, share, size, new, n_new, n_far, sampled, rng, other):
    """Draw the topic of a token of word w: in proportion to (n_dk + alpha beta_k) phi_kw.              math.md (G14)

    A topic of the rest is drawn by its weight alone, and taken with the probability of the word; otherwise all is drawn
    again.
    """
    g, scale, prior, rest = sampled.g, sampled.scale, sampled.prior, sampled.rest
    here, far, mass, k = 0.0, 0.0, sampled.mass[w], np.int64(-1)
    for j in range(size):
        share[j] = coef[j] * g[w, topic[j]]
        here += share[j]
    for j in range(n_far):
        far += n_new[j] * word_of(rest, new[j], w, other)
    while k < 0:
        u = uniform(rng) * (here + far + mass + rest.mass[-1])
        j = 0
        if u < here:
            while j < size and u >= 0.0:
                u -= share[j]
                j += 1
            k = topic[j - 1]
        elif u < here + mass:
            u -= here
            while j < prior.size and u >= 0.0:
                u -= prior[j] * scale[j] * g[w, j]
                j += 1
            k = np.int64(j - 1)
        elif u < here + mass + far:
            u -= here + mass
            while j < n_far and u >= 0.0:
                u -= n_new[j] * word_of(rest, new[j], w, other)
                j += 1
            k = scale.size + new[j - 1]
        else:
            e = topic_at(rest, u - here - mass - far, other)
            if says(rest, e, w, rng, other):
                k = scale.size + e
    return k


@njit(cache=True, nogil=True, error_model="numpy")
def _list_topics(begin, topic, n, documents, prior, rest, rng, other):
    """List the topics of a document, ascending, and draw their tables.                                  math.md (G5)"""
    for s, j in enumerate(np.argsort(topic)):
        k = topic[j]
        weight = prior[k] if k < prior.size else weight_of(rest, k - prior.size, other)
        documents.topic[begin + s], documents.n[begin + s] = k, n[j]
        documents.m[begin + s] = tables_of(n[j], max(weight, SMALLEST), rng)
