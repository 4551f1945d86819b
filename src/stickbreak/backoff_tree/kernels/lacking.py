"""What the words' probabilities lack to one at leaves without tokens, under the tree of a document."""

from __future__ import annotations

import numpy as np

from stickbreak.backoff_tree.kernels.shapes import first_leaf, of_node
from stickbreak.backoff_tree.kernels.trees import CHILD, ENTRIES, ID, NEXT, TOKENS
from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_random import uniform


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def weigh_lacking(node, below, rate_doc, given_doc, missing, queue, weight):
    """Sum a document's mass times what is lacking there, over leaves: node by node.                 math.md (T12)

    `queue` (rows, 4) takes the nodes and their levels, `weight` (rows,) the running sums. Returns sum and nodes.
    """
    depth, total = below.shape[0] - 1, 0.0
    queue[0, 0], queue[0, 3] = 0, 0
    q, end = 0, 1
    while q < end:
        at, h = queue[q, 0], queue[q, 3]
        a = np.int64(node[at, ID])
        here = missing[first_leaf(a + 1, h, below)] - missing[first_leaf(a, h, below)]
        n = node[at, ENTRIES]
        total += here * (n * of_node(a, h, rate_doc) if h < depth else node[at, TOKENS] - n * given_doc[h])
        weight[q] = total
        child = node[at, CHILD]
        while child >= 0:
            queue[end, 0], queue[end, 3] = child, h + 1
            end += 1
            child = node[child, NEXT]
        q += 1
    return total, end


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def lacking_leaf(first, last, missing, rng):
    """Draw one of the leaves first .. last - 1 in proportion to what the words lack there."""
    x = missing[first] + uniform(rng) * (missing[last] - missing[first])
    x = min(x, np.nextafter(missing[last], 0.0))  # rounding
    low, high = first, last - 1
    while low < high:  # the first leaf whose running sum is above x
        middle = (low + high) >> 1
        if missing[middle + 1] > x:
            high = middle
        else:
            low = middle + 1
    return low


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def draw_lacking(node, below, rate_doc, given_doc, missing, queue, weight, rng):
    """Draw a leaf by the document's mass times what the words lack there.                          math.md (T12)"""
    if node[0, TOKENS] == 0:
        return lacking_leaf(np.int64(0), first_leaf(1, 0, below), missing, rng)
    total, n_nodes = weigh_lacking(node, below, rate_doc, given_doc, missing, queue, weight)
    x, q = uniform(rng) * total, 0
    while q < n_nodes - 1 and weight[q] <= x:
        q += 1
    if weight[q] <= x:  # rounding: the root is in each document's tree
        q = 0
    h = queue[q, 3]
    a = np.int64(node[queue[q, 0], ID])
    return lacking_leaf(first_leaf(a, h, below), first_leaf(a + 1, h, below), missing, rng)
