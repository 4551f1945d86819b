"""The tokens of documents one after another, in random order; plain twin in tests/backoff_tree/reference.py."""

from __future__ import annotations

import numpy as np

from stickbreak.backoff_tree.kernels.trees import ENTRIES, TOKENS, add_token, child_of, clear_document, write_path
from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_random import open_stream, uniform


@njit(cache=True, nogil=True, error_model="numpy")
def count_before(start, leaf, key, node, path, trail, finder, rng, own, used):
    """Put the tokens of each document into its tree in random order, and note what each finds there. math.md (T7)

    `leaf` (N,) is shuffled within documents. own (N,) takes the tokens at the leaf of each token before it, used
    (N, depth) the leaves with tokens below the node of each level above it. Both are zeros before.
    """
    depth = path.size - 1
    for d in range(start.size - 1):
        first, last = start[d], start[d + 1]
        open_stream(rng, key, d)
        for i in range(last - 1, first, -1):
            j = first + np.int64(uniform(rng) * (i - first + 1))
            leaf[i], leaf[j] = leaf[j], leaf[i]
        clear_document(node, last - first, depth)
        for i in range(first, last):
            write_path(path, leaf[i], finder)
            at, h = 0, 0
            while at >= 0 and h < depth:
                used[i, h] = node[at, ENTRIES]
                h += 1
                at = child_of(node, at, path[h])
            if at >= 0:
                own[i] = node[at, TOKENS]
            add_token(node, path, trail)
