"""Compiled left-to-right sampling of documents whose topics are fixed; plain twin in tests/prediction/sequences.py."""

from __future__ import annotations

import math

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_random import mix, open_stream, uniform

_BELOW_ONE = 1.0 - 2.0**-52


@njit(cache=True, nogil=True, error_model="numpy")
def order_words(start, word, key, content):
    """Put the words of each document in random order, in place; content (D,) takes a number that its words decide.

    Words come ascending. The order belongs to the key and the words, not to the place of the document.
    """
    rng = np.zeros(1, np.uint64)
    for d in range(content.size):
        begin, end = start[d], start[d + 1]
        x = np.uint64(0)
        for i in range(begin, end):
            x = mix(x ^ np.uint64(word[i] + 1))
        content[d] = x
        open_stream(rng, key, x)
        for i in range(end - 1, begin, -1):
            j = begin + np.int64(uniform(rng) * (i - begin + 1))
            word[i], word[j] = word[j], word[i]


@njit(cache=True, nogil=True, error_model="numpy")
def open_particle(rng, key, content, r):
    """Begin the random numbers of particle r of a document."""
    open_stream(rng, key, mix(np.uint64(content) + np.uint64(r)))


@njit(cache=True, nogil=True, error_model="numpy")
def log_averages(sums, n_tokens, log_products):
    """Return both estimates of a document: product of means, mean of products.                     docs/math (D4)

    sums[n] is sum_r p[n, r], log_products[r] is sum_n log p[n, r].
    """
    R = log_products.size
    printed = 0.0
    for i in range(n_tokens):
        printed += math.log(sums[i] / R)
    highest = log_products.max()
    if highest == -np.inf:
        return printed, highest
    total = 0.0
    for r in range(R):
        total += math.exp(log_products[r] - highest)
    return printed, highest + math.log(total / R)


@njit(cache=True, nogil=True, error_model="numpy")
def draw_topic(v, n_here, topic, n, by_word, running, rng):
    """Draw k in proportion to (a_k + n_k) phi_kv; return it and the sum over k.                    docs/math (D3)

    running[v, k] is the sum of a_j phi_jv over j <= k: that part is found by bisection, and only the topics that the
    document has now, topic[:n_here] with n[:n_here] tokens, are gone through.
    """
    K = running.shape[1]
    own = 0.0
    for j in range(n_here):
        own += n[j] * by_word[v, topic[j]]
    prior = running[v, K - 1]
    x = uniform(rng) * (own + prior)
    if x < own:
        j, mass = 0, n[0] * by_word[v, topic[0]]
        while mass <= x and j < n_here - 1:  # the same sums as above
            j += 1
            mass += n[j] * by_word[v, topic[j]]
        return topic[j], own + prior
    x = min(x - own, prior * _BELOW_ONE)
    low, high = 0, K - 1
    while low < high:  # the first k with running[v, k] > x
        middle = (low + high) >> 1
        if running[v, middle] > x:
            high = middle
        else:
            low = middle + 1
    return low, own + prior


@njit(cache=True, nogil=True, error_model="numpy")
def put_topic(k, n_here, topic, n, place):
    """Count a token of topic k; return the number of topics that the document has."""
    if place[k] < 0:
        place[k], topic[n_here], n[n_here] = n_here, k, 0.0
        n_here += 1
    n[place[k]] += 1.0
    return n_here


@njit(cache=True, nogil=True, error_model="numpy")
def take_topic(k, n_here, topic, n, place):
    """Take a token of topic k away; return the number of topics that the document has."""
    j = place[k]
    n[j] -= 1.0
    if n[j] > 0.0:
        return n_here
    n_here -= 1
    topic[j], n[j] = topic[n_here], n[n_here]
    place[topic[j]] = j
    place[k] = -1
    return n_here


@njit(cache=True, nogil=True, error_model="numpy")
def repeats(before, fresh, rng):
    """Draw whether a token is a repeat. The `before` tokens of its word weigh 1 each, a fresh token weighs `fresh`."""
    return uniform(rng) * (before + fresh) < before


@njit(cache=True, nogil=True, error_model="numpy")
def count_before(word, before):
    """before[i] = tokens of the word of token i that come before it."""
    for i in range(word.size):
        before[i] = 0
        for j in range(i):
            before[i] += word[j] == word[i]


@njit(cache=True, nogil=True, error_model="numpy")
def score_documents(documents, particles, by_word, running, concentration, strength, printed, unbiased):
    """Write both estimates of the log probability of each document.                   docs/math (D3), (D4), (L26)

    documents and particles are `Sequences` and `Particles`, their words name rows of by_word (U, K) and running (U, K).
    Of each particle token n is predicted and drawn, one after the other; with `resample` all tokens before it are drawn
    again first. With a finite strength a token may repeat one before it, and then has no topic.
    """
    start, word, content = documents
    n_particles, resample, key = particles
    K, longest = running.shape[1], 0
    for d in range(content.size):
        longest = max(longest, start[d + 1] - start[d])
    z, topic, n = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest)
    place, rng = np.full(K, -1, np.int64), np.zeros(1, np.uint64)
    sums, log_products = np.empty(longest), np.empty(n_particles)
    bursts, before = strength < np.inf, np.zeros(longest, np.int64)
    for d in range(content.size):
        begin, N = start[d], start[d + 1] - start[d]
        sums[:N] = 0.0
        if bursts:
            count_before(word[begin : begin + N], before)
        for r in range(n_particles):
            open_particle(rng, key, content[d], r)
            n_here, log_product, fresh = np.int64(0), 0.0, 0  # topics, and tokens that have one
            for i in range(N):
                for j in range(i if resample else 0):
                    if z[j] >= 0:
                        n_here = take_topic(z[j], n_here, topic, n, place)
                        fresh -= 1
                    z[j], mass = draw_topic(word[begin + j], n_here, topic, n, by_word, running, rng)
                    if before[j] > 0 and repeats(before[j], strength * mass / (concentration + fresh), rng):
                        z[j] = -1
                    else:
                        n_here = put_topic(z[j], n_here, topic, n, place)
                        fresh += 1
                z[i], mass = draw_topic(word[begin + i], n_here, topic, n, by_word, running, rng)
                p = mass / (concentration + fresh)
                own = strength * p
                if before[i] > 0 and repeats(before[i], own, rng):
                    z[i] = -1
                else:
                    n_here = put_topic(z[i], n_here, topic, n, place)
                    fresh += 1
                if bursts:
                    p = (before[i] + own) / (strength + i)
                sums[i] += p
                log_product += math.log(p)
            log_products[r] = log_product
            for j in range(n_here):
                place[topic[j]] = -1
        printed[d], unbiased[d] = log_averages(sums, N, log_products)
