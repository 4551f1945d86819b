"""How well a shape predicts leaves that come one after another."""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.compiling import njit

LEAST = 1e-200  # of a product whose logarithm has not been taken


@njit(cache=True, nogil=True, error_model="numpy")
def log_likelihoods(chosen, start, leaf, own, node, rate, spread, discount, used, out):
    """Write the log likelihood of the leaves of some groups of tokens, but for the first of each. docs/math (T17)

    Tokens start[g] .. start[g + 1] - 1 of group g are in their order. `own` (N,): tokens before at the same leaf.
    `node` (L, depth): nodes above each leaf, each with a number of its own. `rate` (L, depth): what each of these gives
    the leaf for a leaf with tokens below it. `spread` (L,): what all leaves have less once this leaf has tokens.
    `used`: zeros, for each node. `out`: of each chosen group.
    """
    depth = node.shape[1]
    for j in range(chosen.size):
        first, last = start[chosen[j]], start[chosen[j] + 1]
        total, product, lost = 0.0, 1.0, 0.0
        for i in range(first, last):
            z = leaf[i]
            if i > first:
                mass = max(own[i] - discount, 0.0)
                for h in range(depth):
                    mass += rate[z, h] * used[node[z, h]]
                product *= mass / (i - first - lost)
                if product < LEAST:
                    total += np.log(product)
                    product = 1.0
            if own[i] == 0:
                lost += spread[z]
                for h in range(depth):
                    used[node[z, h]] += 1
        for i in range(first, last):
            if own[i] == 0:
                for h in range(depth):
                    used[node[leaf[i], h]] = 0
        out[j] = total + np.log(product)
