"""Sweeps under sampled topics and corpus weights: documents are independent.

After Terenin, Magnusson and Jonsson (2020); new topics are exact, without a truncation: those without tokens are
functions of random streams, an infinite random measure that nobody stores (`UnusedTopics`). Twin in
tests/sampling/partially_collapsed_twin.py.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_random import draw_gamma, draw_log_odds, open_stream, uniform
from stickbreak.sampling.kernels.counts import SHIFT, TOPIC
from stickbreak.sampling.kernels.documents import SMALLEST, labels_in, tables_of

_NOTHING = 1e-300  # mass left of a part: no double sees it


class UnusedTopics(NamedTuple):
    """All topics without tokens, weights times alpha.                                              docs/math (G14)

    The rest of the corpus weights is cut into R parts, each broken into sticks: topic e = r + R s is stick s of part r.
    Its words stand in a binary tree: a node gives its left half a Beta share. Whoever asks for the same number, on any
    thread or machine, gets the same.
    """

    mass: NDArray[np.float64]  # (R + 1,)  of the parts before each one; last that of all
    concentration: float  # of the sticks of a part, gamma / R
    eta: float
    n_words: int
    sticks: np.uint64  # keys of the streams
    words: np.uint64


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _stick(rest, e, rng):
    """Return the share of topic e in what is left of its part: Beta(1, gamma / R)."""
    open_stream(rng, rest.sticks, e)
    return 1.0 - (1.0 - uniform(rng)) ** (1.0 / rest.concentration)


@njit(cache=True, nogil=True, error_model="numpy")
def topic_at(rest, u, rng):
    """Return the topic at u, 0 <= u < mass[R], of the weights laid end to end."""
    n_parts = rest.mass.size - 1
    e = np.int64(np.searchsorted(rest.mass[1:], u, side="right"))
    e = min(e, n_parts - 1)
    u, left = u - rest.mass[e], rest.mass[e + 1] - rest.mass[e]
    while left > _NOTHING:
        weight = _stick(rest, e, rng) * left
        if u < weight:
            break
        u, left, e = u - weight, left - weight, e + n_parts
    return e


@njit(cache=True, nogil=True, error_model="numpy")
def weight_of(rest, e, rng):
    """Return alpha times the corpus weight of topic e."""
    n_parts = rest.mass.size - 1
    at = e % n_parts
    left = rest.mass[at + 1] - rest.mass[at]
    while at < e:
        left *= 1.0 - _stick(rest, at, rng)
        at += n_parts
    return left * _stick(rest, e, rng)


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _share(rest, e, node, low, middle, high, left, rng):
    """Return the share of one half of the words low .. high - 1 of topic e."""
    open_stream(rng, rest.words, e)
    open_stream(rng, rng[0], node)
    odds = draw_log_odds(rng, rest.eta * (middle - low), rest.eta * (high - middle))
    return 1.0 / (1.0 + math.exp(-odds if left else odds))


@njit(cache=True, nogil=True, error_model="numpy")
def says(rest, e, w, coins, rng):
    """Return True with the probability of word w in topic e: a coin from `coins` at each node down to the word."""
    low, high, node = 0, rest.n_words, 1
    while high - low > 1:
        middle = (low + high) // 2
        left = w < middle
        if uniform(coins) >= _share(rest, e, node, low, middle, high, left, rng):
            return False
        low, high, node = (low, middle, 2 * node) if left else (middle, high, 2 * node + 1)
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def word_of(rest, e, w, rng):
    """Return the probability of word w in topic e."""
    low, high, node, p = 0, rest.n_words, 1, 1.0
    while high - low > 1:
        middle = (low + high) // 2
        left = w < middle
        p *= _share(rest, e, node, low, middle, high, left, rng)
        low, high, node = (low, middle, 2 * node) if left else (middle, high, 2 * node + 1)
    return p


class SampledTopics(NamedTuple):
    """Topics and corpus weights during a sweep: the same for all documents."""

    g: NDArray[np.float32]  # (W, K)  gamma variates: the words of the topics, not normalized
    scale: NDArray[np.float64]  # (K,)  1 / sum_w g_wk
    prior: NDArray[np.float64]  # (K,)  alpha beta_k
    mass: NDArray[np.float64]  # (W,)  sum_k alpha beta_k phi_kw
    unlabelled: NDArray[np.float64]  # (W,)  the same over the topics that are not of labels
    rest: UnusedTopics


@njit(cache=True, nogil=True, error_model="numpy")
def draw_words(first, last, words, eta, key, g, total):
    """Draw g_wk ~ Gamma(n_kw + eta) of the words first .. last - 1, and add them up in total (K,).  docs/math (G14)"""
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
def sweep(first, last, start, word, z, documents, sampled, labels, keys):
    """Resample z of the documents first .. last - 1, then their tables.                docs/math (G14), (G5), (G16)

    A topic e of the rest has the number K + e afterwards. keys: of the streams for tokens and for tables.
    """
    scale, prior, rest = sampled.scale, sampled.prior, sampled.rest
    K, rng, other = scale.size, np.empty(1, np.uint64), np.empty(1, np.uint64)
    place, longest = np.full(K, -1, np.int64), 0  # place of a topic in the list of those of the document
    for d in range(first, last):
        longest = max(longest, start[d + 1] - start[d])
    topic, n, coef = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest)
    new, n_new, share = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest)
    for d in range(first, last):
        open_stream(rng, keys[0], d)
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
            k = _draw(word[i], d, topic, coef, share, size, new, n_new, n_far, sampled, labels, rng, other)
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
        open_stream(rng, keys[1], d)
        documents.size[d] = size + n_far
        _list_topics(d, start[d], topic[: size + n_far], n, documents, prior, rest, labels, rng, other)


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _draw(w, d, topic, coef, share, size, new, n_new, n_far, sampled, labels, rng, other):
    """Draw the topic of a token of word w: in proportion to (n_dk + alpha beta_k) phi_kw.       docs/math (G14), (G16)

    A topic of the rest is drawn by its weight alone, and taken with the probability of the word; otherwise all is drawn
    again. In a document with labels these have a prior of their own, and alpha beta_k of the others is scaled.
    """
    g, scale, prior, rest = sampled.g, sampled.scale, sampled.prior, sampled.rest
    here, far, own, k = 0.0, 0.0, 0.0, np.int64(-1)
    for j in range(size):
        share[j] = coef[j] * g[w, topic[j]]
        here += share[j]
    for j in range(n_far):
        far += n_new[j] * word_of(rest, new[j], w, other)
    mass, factor, least = sampled.mass[w], 1.0, 0
    n_own = labels_in(labels, d)
    if n_own > 0:
        mass, factor, least = sampled.unlabelled[w] * labels.scale, labels.scale, labels.n_labels
        for s in range(labels.start[d], labels.start[d + 1]):
            own += labels.own / n_own * scale[labels.topic[s]] * g[w, labels.topic[s]]
    while k < 0:
        u = uniform(rng) * (here + own + far + mass + factor * rest.mass[-1])
        if u < here:
            j = 0
            while j < size and u >= 0.0:
                u -= share[j]
                j += 1
            k = topic[j - 1]
        elif u < here + own:
            u -= here
            s = labels.start[d]
            while s < labels.start[d + 1] and u >= 0.0:
                u -= labels.own / n_own * scale[labels.topic[s]] * g[w, labels.topic[s]]
                s += 1
            k = np.int64(labels.topic[s - 1])
        elif u < here + own + mass:
            u -= here + own
            j = least
            while j < prior.size and u >= 0.0:
                u -= factor * prior[j] * scale[j] * g[w, j]
                j += 1
            k = np.int64(j - 1)
        elif u < here + own + mass + far:
            u -= here + own + mass
            j = 0
            while j < n_far and u >= 0.0:
                u -= n_new[j] * word_of(rest, new[j], w, other)
                j += 1
            k = scale.size + new[j - 1]
        else:
            e = topic_at(rest, (u - here - own - mass - far) / factor, other)
            if says(rest, e, w, rng, other):
                k = scale.size + e
    return k


@njit(cache=True, nogil=True, error_model="numpy")
def _list_topics(d, begin, topic, n, documents, prior, rest, labels, rng, other):
    """List the topics of document d, ascending, and draw their tables.                         docs/math (G5), (G16)"""
    n_own = labels_in(labels, d)
    for s, j in enumerate(np.argsort(topic)):
        k = topic[j]
        weight = prior[k] if k < prior.size else weight_of(rest, k - prior.size, other)
        if n_own > 0:
            weight = labels.own / n_own if k < labels.n_labels else weight * labels.scale
        documents.topic[begin + s], documents.n[begin + s] = k, n[j]
        documents.m[begin + s] = tables_of(n[j], max(weight, SMALLEST), rng)
