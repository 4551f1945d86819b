"""Compiled loops of the starts: plain arrays in and out; slow twins in tests/initialization."""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.compiling import njit


@njit(cache=True, nogil=True)
def simplex_weights(gram, products, tolerance, max_steps):
    """Return weights[w] = argmin_x |target_w - sum_k x_k anchor_k|^2 / 2 over x >= 0, sum x = 1.     docs/math (A3)

    gram[k, l] = anchor_k' anchor_l, products[w, k] = target_w' anchor_k. Starts at the nearest anchor. Each step moves
    weight from one anchor to another, as far as the distance falls: to the anchor with the smallest derivative, from
    the one that gains most (to second order). Ends when the distance squared / 2 is within tolerance * gram of the
    optimum (the duality gap x'g - min g), or after max_steps.
    """
    n_anchors = gram.shape[0]
    weights = np.zeros(products.shape)
    for w in range(products.shape[0]):
        x, g = weights[w], -products[w]
        nearest = 0
        for k in range(n_anchors):
            if g[k] + 0.5 * gram[k, k] < g[nearest] + 0.5 * gram[nearest, nearest]:
                nearest = k
        x[nearest] = 1.0
        for k in range(n_anchors):
            g[k] += gram[nearest, k]
        enough = tolerance * gram[nearest, nearest]
        for _ in range(max_steps):
            to = 0
            for k in range(n_anchors):
                if g[k] < g[to]:
                    to = k
            gap, best, gain, move = 0.0, -1, 0.0, 0.0
            for k in range(n_anchors):
                if x[k] > 0.0:
                    slope = g[k] - g[to]
                    gap += x[k] * slope
                    bend = gram[k, k] + gram[to, to] - 2.0 * gram[k, to]
                    if slope > 0.0 and bend > 0.0:
                        step = min(x[k], slope / bend)
                        falls = step * (slope - 0.5 * step * bend)
                        if falls > gain:
                            best, gain, move = k, falls, step
            if gap <= enough or best < 0:
                break
            x[to] += move
            x[best] = x[best] - move if move < x[best] else 0.0
            for k in range(n_anchors):
                g[k] += move * (gram[to, k] - gram[best, k])
    return weights
