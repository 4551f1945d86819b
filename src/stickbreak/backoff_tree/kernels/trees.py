"""The tree of one document: only nodes with tokens, in rows of one table; children are chained.

Row 0 is the root. A row has the number of its node at its level, its first child, its next sibling, the leaves with
tokens below it (desc+) and the tokens below it. Rows that are free are chained by NEXT, from that of the root on.
"""

from __future__ import annotations

import numpy as np

from stickbreak.backoff_tree.kernels.shapes import node_at
from stickbreak.numerics.compiling import njit

ID, CHILD, NEXT, ENTRIES, TOKENS, N_COLUMNS = 0, 1, 2, 3, 4, 5
NOBODY = -1


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def child_of(node, at, wanted):
    """Return the row of the child with this number, NOBODY if there is none."""
    child = node[at, CHILD]
    while child >= 0 and node[child, ID] != wanted:
        child = node[child, NEXT]
    return child


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def write_path(path, z, finder):
    """Write the node of leaf z at each level."""
    for h in range(path.size):
        path[h] = node_at(z, h, finder)


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def clear_document(node, n_tokens, depth):
    """Make an empty tree with room for a number of tokens."""
    node[0, ID], node[0, CHILD], node[0, ENTRIES], node[0, TOKENS] = 0, NOBODY, 0, 0
    n_rows = n_tokens * depth + 1
    for i in range(n_rows - 1):
        node[i, NEXT] = i + 1
    node[n_rows - 1, NEXT] = NOBODY


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def add_token(node, path, trail):
    """Put a token at the leaf whose `path` is given into the tree; `trail` takes the rows on the way."""
    at, depth = 0, path.size - 1
    trail[0] = 0
    for h in range(1, depth + 1):
        child = child_of(node, at, path[h])
        if child < 0:
            child = node[0, NEXT]
            node[0, NEXT] = node[child, NEXT]
            node[child, ID], node[child, CHILD], node[child, NEXT] = path[h], NOBODY, node[at, CHILD]
            node[child, ENTRIES], node[child, TOKENS] = 0, 0
            node[at, CHILD] = child
        at = child
        trail[h] = at
    entries = 1 if node[at, TOKENS] == 0 else 0
    for h in range(depth + 1):
        at = trail[h]
        node[at, ENTRIES] += entries
        node[at, TOKENS] += 1


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def take_token(node, path, trail):
    """Take a token at the leaf whose `path` is given out of the tree; rows without tokens become free."""
    at, depth = 0, path.size - 1
    trail[0] = 0
    for h in range(1, depth + 1):
        at = child_of(node, at, path[h])
        trail[h] = at
    entries = 1 if node[at, TOKENS] == 1 else 0
    for h in range(depth + 1):
        at = trail[h]
        node[at, ENTRIES] -= entries
        node[at, TOKENS] -= 1
    h = depth
    while h > 0 and node[trail[h], TOKENS] == 0:
        at, parent = trail[h], trail[h - 1]
        if node[parent, CHILD] == at:
            node[parent, CHILD] = node[at, NEXT]
        else:
            before = node[parent, CHILD]
            while node[before, NEXT] != at:
                before = node[before, NEXT]
            node[before, NEXT] = node[at, NEXT]
        node[at, NEXT] = node[0, NEXT]
        node[0, NEXT] = at
        h -= 1


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def open_document(z, begin, end, node, path, trail, finder):
    """Make the tree of a document whose tokens begin .. end - 1 are at leaves z."""
    clear_document(node, end - begin, path.size - 1)
    for i in range(begin, end):
        write_path(path, z[i], finder)
        add_token(node, path, trail)


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def open_samples(samples, begin, end, node, path, trail, finder):
    """Make one tree of all samples of a document, (passes, N): a leaf has an entry for each that has tokens there.

    The product with it is the sum of the products with the tree of each, since (T3) is linear in both columns.
    """
    clear_document(node, samples.shape[0] * (end - begin), path.size - 1)
    for s in range(samples.shape[0]):
        leaves = np.sort(samples[s, begin:end])
        for i in range(leaves.size):
            entries = node[0, ENTRIES]
            write_path(path, leaves[i], finder)
            add_token(node, path, trail)
            if node[0, ENTRIES] == entries and (i == 0 or leaves[i] > leaves[i - 1]):
                for h in range(path.size):
                    node[trail[h], ENTRIES] += 1
