"""Trees as kernels see them: the nodes of a shape, and the tree of one document.

Nodes of a shape are found with one look-up, whatever the shape (docs/math (T15)). A tree whose nodes of one level all
have the same number of children is two short lists, and its nodes are computed: `below` (depth + 1,) are the leaves
below a node, `finder` (depth + 1,) is one by that. A tree of any other shape is two tables: `below` (depth + 1, L + 1)
has the first leaf of each node, `finder` (depth + 1, L) the node of each leaf. Which of both it is, is known when a
kernel is compiled: the number of axes is part of the type.

The tree of a document has only nodes with tokens, in rows of one table; children are chained. Row 0 is the root. A row
has the number of its node at its level, its first child, its next sibling, the leaves with tokens below it (desc+) and
the tokens below it. Rows that are free are chained by NEXT, from that of the root on.

Kernels are given `Trees` and `Scratch` of `state.py`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_random import open_stream, uniform

ID, CHILD, NEXT, ENTRIES, TOKENS, N_COLUMNS = 0, 1, 2, 3, 4, 5
NOBODY = -1
NOWHERE = -1  # of a token that is in no list


class Word(NamedTuple):
    """Where the tree of a token's word is."""

    w: np.int64
    begin: np.int64  # of its list
    size: np.int64  # of its list
    level: np.int64  # last of its directory
    row_start: np.int64  # of its directory


class DrawnToken(NamedTuple):
    """The token that is drawn, which does not count in its word's tree; its path is `Scratch.own`."""

    entry: np.int64  # of the word's list, NOWHERE if it is in none
    gone: np.int64  # entries less at the nodes of its path
    lost: float  # mass less there


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def node_of(z, inverse):
    """Return the node of leaf z at a level; `inverse` is 1 / leaves below a node of it."""
    return np.int64((z + 0.5) * inverse)  # exact: z + 1/2 is half a leaf away from the next node


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def node_at(z, h, finder):
    """Return the node of leaf z at level h."""
    if finder.ndim == 1:
        return node_of(z, finder[h])
    return np.int64(finder[h, z])


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def first_leaf(a, h, below):
    """Return the first leaf of node a of level h; the number of leaves for the node after the last."""
    if below.ndim == 1:
        return a * below[h]
    return below[h, a]


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def of_node(a, h, values):
    """Return what node a of level h has: the number of its level, or one of its own."""
    if values.ndim == 1:
        return values[h]
    return values[h, a]


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def leaf_near(z, h, below, finder, rng):
    """Draw one of the leaves below the node of leaf z at level h, uniformly."""
    a = node_at(z, h, finder)
    first = first_leaf(a, h, below)
    return first + np.int64(uniform(rng) * (first_leaf(a + 1, h, below) - first))


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


@njit(cache=True, nogil=True, error_model="numpy")
def count_before(start, leaf, key, finder, scratch, own, used):
    """Put the tokens of each document into its tree in random order, and note what each finds there. docs/math (T7)

    `leaf` (N,) is shuffled within documents. own (N,) takes the tokens at the leaf of each token before it, used
    (N, depth) the leaves with tokens below the node of each level above it. Both are zeros before.
    """
    node, path, trail, rng = scratch.node, scratch.path, scratch.trail, scratch.rng
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
