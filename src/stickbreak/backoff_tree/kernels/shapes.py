"""The nodes of a tree as kernels find them; each question costs one look-up, whatever the shape. math.md (T15)

A tree whose nodes of one level all have the same number of children is two short lists, and its nodes are computed:
`below` (depth + 1,) are the leaves below a node, `finder` (depth + 1,) is one by that. A tree of any other shape is two
tables: `below` (depth + 1, L + 1) has the first leaf of each node, `finder` (depth + 1, L) the node of each leaf. Which
of both it is, is known when a kernel is compiled: the number of axes is part of the type.
"""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_random import uniform


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
