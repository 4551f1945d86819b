"""The nodes of a tree with their documents and tokens; twins in baselines/tests/nested_crp/reference.py.

The nodes of a word stand in a list (`sparse_gibbs/kernels/lists.py`): count << bits | node, in any order.
"""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.sparse_gibbs.kernels.lists import place_of

FREE = -1  # level of a number that no node has
_ONE = np.uint64(1)


@njit(cache=True, nogil=True, error_model="numpy")
def add_token(lists, head, bits, node):
    """Count a token of a word at a node."""
    mask, first, size = (_ONE << bits) - _ONE, head + _ONE, np.uint64(lists[head])
    s = place_of(lists, first, size, mask, node)
    if s == size:
        lists[first + s] = node
        lists[head] = size + _ONE
    lists[first + s] = np.uint64(lists[first + s]) + (_ONE << bits)


@njit(cache=True, nogil=True, error_model="numpy")
def take_token(lists, head, bits, node):
    """Take a token of a word away from a node."""
    mask, first, size = (_ONE << bits) - _ONE, head + _ONE, np.uint64(lists[head])
    s = place_of(lists, first, size, mask, node)
    entry = np.uint64(lists[first + s]) - (_ONE << bits)
    lists[first + s] = entry
    if entry < _ONE << bits:
        lists[first + s] = lists[first + size - _ONE]
        lists[head] = size - _ONE


@njit(cache=True, nogil=True, error_model="numpy")
def put_document(d, sign, words, z, path, heads, lists, bits, n_documents, n_tokens, level):
    """Add a document to the nodes of its path (sign 1), or take it away (-1); nodes without documents become free."""
    for i in range(words.size):
        node = path[d, z[i]]
        if sign > 0:
            add_token(lists, np.uint64(heads[words[i]]), bits, np.uint64(node))
        else:
            take_token(lists, np.uint64(heads[words[i]]), bits, np.uint64(node))
        n_tokens[node] += sign
    for h in range(path.shape[1]):
        node = path[d, h]
        n_documents[node] += sign
        if n_documents[node] == 0:
            level[node] = FREE


@njit(cache=True, nogil=True, error_model="numpy")
def grow(d, h, path, parent, level):
    """Make new nodes for a document from level h down, each with the least number that is free."""
    free = np.int64(0)
    for at in range(h, path.shape[1]):
        while level[free] != FREE:
            free += 1
        level[free], parent[free], path[d, at] = at, path[d, at - 1], free
