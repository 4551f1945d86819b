"""Compiled predictions for documents whose tree is fixed; twins in baselines/tests/nested_crp/test_documents.py.

A route is a path from the root down: to a leaf, or to a node and from there on to new nodes, whose words have the prior
mean. Routes are rows of `nodes` (P, L); topics are by word (U, K + 1), the new nodes last.
"""

from __future__ import annotations

import math

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_random import uniform
from stickbreak.numerics.special import digamma
from stickbreak.prediction.kernels.sequences import log_averages, open_particle
from stickbreak_baselines.nested_crp.kernels.sweeps import stick_weights


@njit(cache=True, nogil=True, error_model="numpy")
def _divergence(a, b, c, d):
    """KL(Beta(a, b) || Beta(c, d))."""
    of_norms = (
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) - math.lgamma(c + d) + math.lgamma(c) + math.lgamma(d)
    )
    return of_norms + (a - c) * digamma(a) + (b - d) * digamma(b) + (c + d - a - b) * digamma(a + b)


@njit(cache=True, nogil=True, error_model="numpy")
def _levels(N, mean, scale, theta):
    """theta[h] = exp E log of the share of level h, given expected tokens N; return the divergence.  docs/math (R4)"""
    last, left, above, divergence = N.size - 1, N.sum(), 0.0, 0.0
    for h in range(last):
        left -= N[h]
        a, b = mean * scale + N[h], (1.0 - mean) * scale + left
        both = digamma(a + b)
        theta[h] = math.exp(above + digamma(a) - both)
        above += digamma(b) - both
        divergence += _divergence(a, b, mean * scale, (1.0 - mean) * scale)
    theta[last] = math.exp(above)
    return divergence


@njit(cache=True, nogil=True, error_model="numpy")
def _bound(word, count, route, topics, mean, scale, tolerance, most, N, theta, new):
    """Find the expected tokens N of the levels on a route; return the lower bound of log p.           docs/math (R4)"""
    N[:] = 0.0
    bound, total = -np.inf, max(1.0, count.sum())
    for _ in range(most):
        before, bound = bound, -_levels(N, mean, scale, theta)
        new[:] = 0.0
        for i in range(word.size):
            norm = 0.0
            for h in range(route.size):
                norm += theta[h] * topics[word[i], route[h]]
            bound += count[i] * math.log(norm)
            for h in range(route.size):
                new[h] += count[i] / norm * theta[h] * topics[word[i], route[h]]
        if bound - before < tolerance * total:
            break
        N[:] = new
    return bound


@njit(cache=True, nogil=True, error_model="numpy")
def document_weights(indptr, word, count, topics, nodes, log_prior, mean, scale, tolerance, most, out):
    """Write the weights of documents, out (D, K + 1): of the nodes, that of new nodes last.            docs/math (R4)

    log_prior (P,) is the log probability of each route.
    """
    P, L = nodes.shape
    of_routes, shares = np.empty(P), np.empty((P, L))
    N, theta, new = np.empty(L), np.empty(L), np.empty(L)
    for d in range(indptr.size - 1):
        here = slice(indptr[d], indptr[d + 1])
        highest, total = -np.inf, 0.0
        for p in range(P):
            x = log_prior[p] + _bound(
                word[here], count[here], nodes[p], topics, mean, scale, tolerance, most, N, theta, new
            )
            of_routes[p] = x
            highest = max(highest, x)
            stick_weights(N, mean, scale, shares[p])
        for p in range(P):
            of_routes[p] = math.exp(of_routes[p] - highest)
            total += of_routes[p]
        out[d, :] = 0.0
        for p in range(P):
            for h in range(L):
                out[d, nodes[p, h]] += of_routes[p] / total * shares[p, h]


@njit(cache=True, nogil=True, error_model="numpy")
def _route_weights(log_route, weight):
    """Write the posterior of the routes."""
    highest, total = log_route.max(), 0.0
    for p in range(log_route.size):
        weight[p] = math.exp(log_route[p] - highest)
        total += weight[p]
    for p in range(log_route.size):
        weight[p] /= total


@njit(cache=True, nogil=True, error_model="numpy")
def _draw_level(v, topics, log_topics, nodes, n, mean, scale, log_route, weight, stick, level, rng):
    """Draw the level of a token of word v and tell the routes; return it and the probability of the word.

    docs/math (R6). Given the levels of the other tokens, the route has the posterior that log_route (P,) says.
    """
    L = nodes.shape[1]
    _route_weights(log_route, weight)
    stick_weights(n, mean, scale, stick)
    total = 0.0
    for h in range(L):
        level[h] = 0.0
    for p in range(nodes.shape[0]):
        for h in range(L):
            level[h] += weight[p] * topics[v, nodes[p, h]]
    for h in range(L):
        level[h] *= stick[h]
        total += level[h]
    u, drawn = uniform(rng) * total, 0
    while drawn < L - 1 and u >= level[drawn]:
        u -= level[drawn]
        drawn += 1
    n[drawn] += 1.0
    for p in range(nodes.shape[0]):
        log_route[p] += log_topics[v, nodes[p, drawn]]
    return drawn, total


@njit(cache=True, nogil=True, error_model="numpy")
def score_documents(
    start, word, content, key, n_particles, resample, topics, nodes, log_prior, mean, scale, printed, unbiased
):  # fmt: skip
    """Write both estimates of the log probability of each document.                          docs/math (R6), (D4)

    `word` names rows of topics (U, K + 1). Of each particle token n is predicted and its level drawn, one after the
    other; with `resample` the levels of all tokens before it are drawn again first.
    """
    P, L, longest = nodes.shape[0], nodes.shape[1], np.int64(0)
    for d in range(content.size):
        longest = max(longest, start[d + 1] - start[d])
    z, n, log_route, weight = np.empty(longest, np.int64), np.empty(L), np.empty(P), np.empty(P)
    stick, level, rng, log_topics = np.empty(L), np.empty(L), np.zeros(1, np.uint64), np.log(topics)
    sums, log_products = np.empty(longest), np.empty(n_particles)
    for d in range(content.size):
        begin, N = start[d], start[d + 1] - start[d]
        sums[:N] = 0.0
        for r in range(n_particles):
            open_particle(rng, key, content[d], r)
            n[:], log_route[:], log_product = 0.0, log_prior, 0.0
            for i in range(N):
                for j in range(i if resample else 0):
                    v = word[begin + j]
                    n[z[j]] -= 1.0
                    for p in range(P):
                        log_route[p] -= log_topics[v, nodes[p, z[j]]]
                    z[j], _ = _draw_level(
                        v, topics, log_topics, nodes, n, mean, scale, log_route, weight, stick, level, rng
                    )
                z[i], p_word = _draw_level(
                    word[begin + i], topics, log_topics, nodes, n, mean, scale, log_route, weight, stick, level, rng
                )
                sums[i] += p_word
                log_product += math.log(p_word)
            log_products[r] = log_product
        printed[d], unbiased[d] = log_averages(sums, N, log_products)
