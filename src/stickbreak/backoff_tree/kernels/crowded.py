"""The product of trees where a document has tokens at many of the leaves: level by level, all nodes.   math.md (T17)

What node a of level h adds to the product is linear in what a word has there: X v + Y d, for the mass v of its d
entries. X and Y are the document's. `share` has them in the rows of a word's directory (Y beside the entries, X beside
the mass), so a level is a sum of products of two arrays, which the processor takes eight at a time. Below the
directory the entries of the word are looked at one by one.
"""

from __future__ import annotations

import numpy as np

from stickbreak.backoff_tree.kernels.lists import lower_bound
from stickbreak.backoff_tree.kernels.products import NOWHERE, draw_at_node, part_of
from stickbreak.backoff_tree.kernels.shapes import first_leaf, node_at, of_node
from stickbreak.backoff_tree.kernels.trees import CHILD, ENTRIES, ID, NEXT, TOKENS, child_of
from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_random import uniform
from stickbreak.numerics.special import FAST

LEAST_TOKENS = 32  # of a crowded document, at least
LEAVES_A_TOKEN = 16  # of the tree, at most, for each token of a crowded document
BLOCK = 16  # nodes, or entries, whose mass is summed before one of them is looked for


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def write_node(h, a, entries, tokens, depth, given_doc, rate_doc, rate_word, from_word, offset, share):
    """Write X and Y of a node of a document.                                                       math.md (T17)"""
    kept, at = tokens - entries * given_doc[h], offset[h] + a
    if h == depth:
        share[at, 0], share[at, 1] = kept * from_word[h], kept
    else:
        smoothed = entries * of_node(a, h, rate_doc)
        share[at, 0] = smoothed * from_word[h] + of_node(a, h, rate_word) * kept
        share[at, 1] = smoothed


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def write_shares(node, path, trail, given_doc, rate_doc, rate_word, from_word, offset, share):
    """Write X and Y of the nodes on a path."""
    depth = path.size - 1
    for h in range(depth + 1):
        entries, tokens = node[trail[h], ENTRIES], node[trail[h], TOKENS]
        write_node(h, path[h], entries, tokens, depth, given_doc, rate_doc, rate_word, from_word, offset, share)


@njit(cache=True, nogil=True, error_model="numpy")
def set_shares(node, depth, given_doc, rate_doc, rate_word, from_word, offset, share, queue, clear):
    """Write X and Y of all nodes of a document, or zeros."""
    queue[0, 0], queue[0, 3] = 0, 0
    q, end = 0, 1 if node[0, TOKENS] > 0 else 0
    while q < end:
        at, h = queue[q, 0], np.int64(queue[q, 3])
        a, q = np.int64(node[at, ID]), q + 1
        if clear:
            share[offset[h] + a, 0], share[offset[h] + a, 1] = 0.0, 0.0
        else:
            entries, tokens = node[at, ENTRIES], node[at, TOKENS]
            write_node(h, a, entries, tokens, depth, given_doc, rate_doc, rate_word, from_word, offset, share)
        child = node[at, CHILD]
        while child >= 0:
            queue[end, 0], queue[end, 3] = child, h + 1
            end += 1
            child = node[child, NEXT]


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def is_quicker(n_entries, size, level, depth, offset):
    """Tell whether it is quicker to look at all nodes than at those of the document. Costs are in nanoseconds."""
    own = 10.0 * min(1.5 * n_entries, 2.0 * size)
    return 0.25 * offset[level + 1] + size * (depth - level) < own


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy", fastmath=FAST)
def mass_of_nodes(first, last, rows, shares):
    """Return the sum of X v + Y d over some nodes of a level; the rows are those of the level."""
    rows, shares = rows[first : last + 1], shares[first:last]  # the compiler sees that no place is negative
    total, rest = 0.0, 0.0
    for a in range(last - first):
        total += (rows[a + 1, 0] - rows[a, 0]) * shares[a, 0]
        rest += (rows[a + 1, 1] - rows[a, 1]) * shares[a, 1]
    return total + rest


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy", fastmath=FAST)
def mass_of_entries(first, last, h, depth, leaves, masses, finder, shares):
    """Return what some entries of a word add at the nodes of a level below its directory."""
    leaves, masses, total = leaves[first:last], masses[first : last + 1], 0.0
    if h == depth:
        for j in range(last - first):
            a = leaves[j]
            total += shares[a, 0] + (masses[j + 1] - masses[j]) * shares[a, 1]
    else:
        for j in range(last - first):
            a = node_at(leaves[j], h, finder)
            total += shares[a, 0] + (masses[j + 1] - masses[j]) * shares[a, 1]
    return total


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def weigh_all(rows, level, depth, offset, finder, leaves, masses, own, gone, lost, share, sums):
    """Sum the product over all nodes; `sums` (depth + 1,) takes the running sum over levels.        math.md (T17)

    `rows`, `leaves` and `masses` are the word's. `own`, `gone` and `lost` are as in `weigh`.
    """
    total = 0.0
    for h in range(depth + 1):
        shares = share[offset[h] : offset[h + 1]]
        if h <= level:
            part = mass_of_nodes(np.int64(0), shares.shape[0] - 1, rows[offset[h] : offset[h + 1]], shares)
        else:
            part = mass_of_entries(np.int64(0), leaves.size, h, depth, leaves, masses, finder, shares)
        if own[h] >= 0:
            part -= gone * shares[own[h], 0] + lost * shares[own[h], 1]
        total += max(part, 0.0)
        sums[h] = total
    return total


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def find_node(x, rows, own, gone, lost, shares):
    """Return the node of a level of the directory into whose part x falls; NOWHERE if none has a part."""
    n, first, chosen = shares.shape[0] - 1, np.int64(0), np.int64(NOWHERE)
    while first + BLOCK < n:
        part = mass_of_nodes(first, first + BLOCK, rows, shares)
        if first <= own < first + BLOCK:
            part -= gone * shares[own, 0] + lost * shares[own, 1]
        if x < part:
            break
        x -= max(part, 0.0)
        first += BLOCK
    for a in range(first, n):
        d, v = rows[a + 1, 0] - rows[a, 0], rows[a + 1, 1] - rows[a, 1]
        if a == own:
            d, v = d - gone, v - lost
        part = d * shares[a, 0] + v * shares[a, 1]
        if d > 0.0 and part > 0.0:
            chosen = np.int64(a)
            x -= part
            if x < 0.0:
                break
    return chosen


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def find_node_of_entries(x, h, depth, leaves, masses, finder, own, own_entry, gone, lost, shares):
    """Return the node of a level below the directory into whose part x falls; NOWHERE if none has a part."""
    n, first, chosen = leaves.size, np.int64(0), np.int64(NOWHERE)
    while first + BLOCK < n:
        part = mass_of_entries(first, first + BLOCK, h, depth, leaves, masses, finder, shares)
        if first <= own_entry < first + BLOCK:
            part -= gone * shares[own, 0] + lost * shares[own, 1]
        if x < part:
            break
        x -= max(part, 0.0)
        first += BLOCK
    for j in range(first, n):
        d, v, a = 1.0, masses[j + 1] - masses[j], node_at(leaves[j], h, finder)
        if j == own_entry:
            d, v = d - gone, v - lost
        part = d * shares[a, 0] + v * shares[a, 1]
        if d > 0.0 and part > 0.0:
            chosen = a
            x -= part
            if x < 0.0:
                break
    return chosen


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def draw_from_all(
    total, node, below, finder, delta_doc, given_doc, rate_doc, delta_word, rate_word, from_word, w, begin, size, leaf,
    mass, level, offset, row, row_start, own, own_entry, gone, lost, share, sums, rng,
):  # fmt: skip
    """Draw a leaf in proportion to the product that `weigh_all` has summed.                   math.md (T4), (T17)"""
    depth, first = below.shape[0] - 1, begin + w
    x, h = uniform(rng) * total, np.int64(0)
    while h < depth and sums[h] <= x:
        h += 1
    if h > 0:
        x -= sums[h - 1]
    shares = share[offset[h] : offset[h + 1]]
    if h <= level:
        a = find_node(x, row[row_start + offset[h] : row_start + offset[h + 1]], own[h], gone, lost, shares)
    else:
        leaves, masses = leaf[begin : begin + size], mass[first : first + size + 1]
        a = find_node_of_entries(x, h, depth, leaves, masses, finder, own[h], own_entry, gone, lost, shares)
    if a < 0:  # rounding: the root is in both trees
        h, a = np.int64(0), np.int64(0)
    if h <= level:
        low, high = np.int64(row[row_start + offset[h] + a, 0]), np.int64(row[row_start + offset[h] + a + 1, 0])
    else:
        start = lower_bound(leaf, begin, begin + size, first_leaf(a, h, below))
        low, high = start - begin, lower_bound(leaf, start, begin + size, first_leaf(a + 1, h, below)) - begin
    if h == depth:
        return a
    at, z = np.int64(0), first_leaf(a, h, below)
    for g in range(1, h + 1):
        at = np.int64(child_of(node, at, node_at(z, g, finder)))
    v, d = mass[first + high] - mass[first + low], np.float64(high - low)
    if a == own[h]:
        v, d = v - lost, d - gone
    entries, tokens = node[at, ENTRIES], node[at, TOKENS]
    x = uniform(rng) * part_of(h, a, entries, tokens, v, d, depth, given_doc, rate_doc, rate_word, from_word)
    return draw_at_node(
        x, at, low, high, h, node, below, finder, delta_doc, given_doc, rate_doc, delta_word, from_word, w, begin,
        leaf, mass, own, own_entry, gone, lost, rng,
    )  # fmt: skip
