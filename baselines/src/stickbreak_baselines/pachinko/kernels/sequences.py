"""Compiled left-to-right sampling of Pachinko allocation; the twin is that of tests/prediction/sequences.py."""

from __future__ import annotations

import math

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_random import uniform
from stickbreak.prediction.kernels.sequences import log_averages, open_particle, put_topic, take_topic


@njit(cache=True, nogil=True, error_model="numpy")
def draw_path(v, n_here, path, n, n_super, by_word, sums, a, b, b_sum, g, rng):
    """Draw a path in proportion to g_s (n_sk + b_sk) phi_kv; return it and the sum over all.         docs/math (P6)

    g_s = (n_s + a_s) / (n_s + b_s), and sums[v, s] = sum_k b_sk phi_kv. Paths are numbered s T + k.
    """
    S, T = b.shape
    own = prior = 0.0
    for s in range(S):
        g[s] = (n_super[s] + a[s]) / (n_super[s] + b_sum[s])
        prior += g[s] * sums[v, s]
    for j in range(n_here):
        own += n[j] * g[path[j] // T] * by_word[v, path[j] % T]
    x = uniform(rng) * (own + prior)
    if x < own:
        j, mass = 0, n[0] * g[path[0] // T] * by_word[v, path[0] % T]
        while mass <= x and j < n_here - 1:  # the same sums as above
            j += 1
            mass += n[j] * g[path[j] // T] * by_word[v, path[j] % T]
        return path[j], own + prior
    x -= own
    s = 0
    while s < S - 1 and x >= g[s] * sums[v, s]:
        x -= g[s] * sums[v, s]
        s += 1
    x /= g[s]
    last = 0
    for k in range(T):
        y = b[s, k] * by_word[v, k]
        if y > 0.0:
            last = k
            if x < y:
                break
            x -= y
    return s * T + last, own + prior


@njit(cache=True, nogil=True, error_model="numpy")
def score_documents(
    start, word, content, key, n_particles, resample, by_word, sums, a, b, printed, unbiased
):  # fmt: skip
    """Write both estimates of the log probability of each document.                          docs/math (P6), (D4)

    `word` names rows of by_word (U, T) and sums (U, S). Of each particle token n is predicted and drawn, one after the
    other; with `resample` all tokens before it are drawn again first.
    """
    S, T, longest = a.size, b.shape[1], 0
    for d in range(content.size):
        longest = max(longest, start[d + 1] - start[d])
    z, path, n = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest)
    place, n_super, g = np.full(S * T, -1, np.int64), np.zeros(S), np.empty(S)
    rng, b_sum, concentration = np.zeros(1, np.uint64), b.sum(axis=1), a.sum()
    log_products, of_tokens = np.empty(n_particles), np.empty(longest)
    for d in range(content.size):
        begin, N = start[d], start[d + 1] - start[d]
        of_tokens[:N] = 0.0
        for r in range(n_particles):
            open_particle(rng, key, content[d], r)
            n_here, log_product = np.int64(0), 0.0
            n_super[:] = 0.0
            for i in range(N):
                for j in range(i if resample else 0):
                    n_here = take_topic(z[j], n_here, path, n, place)
                    n_super[z[j] // T] -= 1.0
                    z[j], _ = draw_path(word[begin + j], n_here, path, n, n_super, by_word, sums, a, b, b_sum, g, rng)
                    n_here = put_topic(z[j], n_here, path, n, place)
                    n_super[z[j] // T] += 1.0
                z[i], mass = draw_path(word[begin + i], n_here, path, n, n_super, by_word, sums, a, b, b_sum, g, rng)
                n_here = put_topic(z[i], n_here, path, n, place)
                n_super[z[i] // T] += 1.0
                p = mass / (concentration + i)
                of_tokens[i] += p
                log_product += math.log(p)
            log_products[r] = log_product
            for j in range(n_here):
                place[path[j]] = -1
        printed[d], unbiased[d] = log_averages(of_tokens, N, log_products)
