"""Compiled left-to-right sampling in a fixed tree (docs/math (F9)); twin in baselines/tests/nested_hdp/reference.py."""

from __future__ import annotations

import math

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_random import uniform
from stickbreak.prediction.kernels.sequences import log_averages, open_particle


@njit(cache=True, nogil=True, error_model="numpy")
def put(k, step, parent, own, below):
    """Count a token at node k, or with a step of -1 take it away; below (J + 1,) begins with the root."""
    own[k] += step
    while k >= 0:
        below[k + 1] += step
        k = parent[k]
    below[0] += step


@njit(cache=True, nogil=True, error_model="numpy")
def draw_node(v, by_word, parent, inner, g, alpha, mean, scale, own, below, go, mass, rng):
    """Draw the node of a token of word v; return it and the probability of the word.                     docs/math (F9)

    Parameters
    ----------
    v : int
    by_word : (U, J)
    parent, inner, g : (J,)
        Of the tree; children of one parent have weights g that sum to one.
    own, below : (J,), (J + 1,)
        Tokens at each node, and at and below it, the root first.
    go, mass : (J + 1,), (J,)
        Room.
    """
    total, go[0] = 0.0, 1.0
    for k in range(parent.size):
        p = parent[k] + 1
        passed = below[0] if p == 0 else below[p] - own[p - 1]
        here = go[p] * (alpha * g[k] + below[k + 1]) / (alpha + passed)
        stop = (mean * scale + own[k]) / (scale + below[k + 1]) if inner[k] else 1.0
        go[k + 1] = here * (1.0 - stop)
        mass[k] = here * stop * by_word[v, k]
        total += mass[k]
    x, drawn = uniform(rng) * total, 0
    while drawn < parent.size - 1 and x >= mass[drawn]:
        x -= mass[drawn]
        drawn += 1
    return drawn, total


@njit(cache=True, nogil=True, error_model="numpy")
def score_documents(
    start, word, content, key, n_particles, resample, by_word, parent, inner, g, alpha, mean, scale, printed, unbiased
):  # fmt: skip
    """Write both estimates of the log probability of each document.                          docs/math (F9), (D4)

    `word` names rows of by_word (U, J). Of each particle token n is predicted and its node drawn, one after the other;
    with `resample` the nodes of all tokens before it are drawn again first.
    """
    J, longest = parent.size, np.int64(0)
    for d in range(content.size):
        longest = max(longest, start[d + 1] - start[d])
    z, own, below, go, mass = np.empty(longest, np.int64), np.zeros(J), np.zeros(J + 1), np.empty(J + 1), np.empty(J)
    sums, log_products, rng = np.empty(longest), np.empty(n_particles), np.zeros(1, np.uint64)
    for d in range(content.size):
        begin, N = start[d], start[d + 1] - start[d]
        sums[:N] = 0.0
        for r in range(n_particles):
            open_particle(rng, key, content[d], r)
            log_product = 0.0
            for i in range(N):
                for j in range(i if resample else 0):
                    put(z[j], -1.0, parent, own, below)
                    z[j], _ = draw_node(
                        word[begin + j], by_word, parent, inner, g, alpha, mean, scale, own, below, go, mass, rng
                    )
                    put(z[j], 1.0, parent, own, below)
                z[i], p = draw_node(
                    word[begin + i], by_word, parent, inner, g, alpha, mean, scale, own, below, go, mass, rng
                )
                put(z[i], 1.0, parent, own, below)
                sums[i] += p
                log_product += math.log(p)
            log_products[r] = log_product
            for i in range(N):
                put(z[i], -1.0, parent, own, below)
        printed[d], unbiased[d] = log_averages(sums, N, log_products)
