"""The product of a document's tree and a word's tree, and draws from it.

An entry is a leaf with tokens. The mass v that an entry keeps, and the discounts that it gave to its ancestors, are all
the mass that a tree has: node a of level h has v(a) = sum of v, d(a) = desc+(a) and tau(a) = v(a) + d(a) times the
discounts from level h on. The walk goes level by level through the nodes of the document that the word has, too: so
what is asked of the word at one node does not wait for the answer at another.

Whole numbers and flags are handed on as np.int64 and np.bool_: for a constant, or an int32, Numba would compile the
function, and all that it calls, once more.
"""

from __future__ import annotations

import numpy as np

from stickbreak.backoff_tree.kernels.lists import lower_bound
from stickbreak.backoff_tree.kernels.shapes import first_leaf, leaf_near, node_at, of_node
from stickbreak.backoff_tree.kernels.trees import CHILD, ENTRIES, ID, NEXT, NOBODY, TOKENS, child_of
from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_random import uniform

NOWHERE = -1  # of a token that is in no list
_FEW = 6  # entries of a word that are looked at one by one


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def tau_of(h, v, d, from_word):
    """Return tau of a node of level h from the masses v of its d entries; of a leaf, what it keeps.   math.md (T2)"""
    return max(v, 0.0) + d * from_word[h]


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def part_of(h, a, entries, tokens, v, d, depth, given_doc, rate_doc, rate_word, from_word):
    """Return the part of the product that node a of level h adds.                                   math.md (T3)"""
    tau, kept = tau_of(h, v, d, from_word), tokens - entries * given_doc[h]
    if h == depth:
        return kept * tau
    return entries * of_node(a, h, rate_doc) * tau + of_node(a, h, rate_word) * d * kept


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def call_children(node, at, candidate, end):
    """Note the children of a node; return the end of the notes."""
    child = node[at, CHILD]
    while child >= 0:
        candidate[end] = child
        end += 1
        child = node[child, NEXT]
    return end


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def weigh(
    node, below, finder, given_doc, rate_doc, rate_word, from_word, w, begin, size, leaf, mass, level, offset, row,
    row_start, own, gone, lost, queue, candidate, weight,
):  # fmt: skip
    """Sum the product of both trees over the nodes that both have; return the sum and their number. math.md (T3)

    `queue` (rows, 4) takes the nodes: row in the document's tree, first and last entry of the word, level (~level where
    nothing is left to do below). `weight` (rows,) becomes the running sum. `own` (depth + 1,) is the path of the
    word's token that does not count: the nodes there have `lost` less mass, and `gone` entries less; it is NOWHERE if
    all do.
    """
    depth, first = below.shape[0] - 1, begin + w  # `first` of the word's mass sums
    v, d = mass[first + size], np.float64(size)
    if own[0] == 0:
        v, d = v - lost, d - gone
    root = np.int64(0)
    entries, tokens = node[0, ENTRIES], node[0, TOKENS]
    total = part_of(root, root, entries, tokens, v, d, depth, given_doc, rate_doc, rate_word, from_word)
    queue[0, 0], queue[0, 1], queue[0, 2], queue[0, 3] = 0, 0, size, 0
    weight[0] = total
    q, end, c = np.int64(0), np.int64(1), 0
    c_end = call_children(node, 0, candidate, 0) if level > 0 else 0
    for h in range(1, level + 1):
        up = row_start + offset[h]
        own_here, last = own[h], c_end
        q = end
        while c < last:
            child = candidate[c]
            a = np.int64(node[child, ID])
            c += 1
            d, v = row[up + a + 1, 0] - row[up + a, 0], row[up + a + 1, 1] - row[up + a, 1]
            if a == own_here:
                d, v = d - gone, v - lost
            if d > 0.0:
                low = np.int64(row[up + a, 0])
                entries, tokens = node[child, ENTRIES], node[child, TOKENS]
                total += part_of(h, a, entries, tokens, v, d, depth, given_doc, rate_doc, rate_word, from_word)
                queue[end, 0], queue[end, 1], queue[end, 2], queue[end, 3] = child, low, np.int64(row[up + a + 1, 0]), h
                weight[end] = total
                end += 1
                if h < level:
                    c_end = call_children(node, child, candidate, c_end)
    return weigh_below(
        q, end, total, node, below, finder, given_doc, rate_doc, rate_word, from_word, begin, first, leaf, mass, own,
        gone, lost, queue, weight,
    )  # fmt: skip


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def weigh_below(
    q, end, total, node, below, finder, given_doc, rate_doc, rate_word, from_word, begin, first, leaf, mass, own,
    gone, lost, queue, weight,
):  # fmt: skip
    """Go on below the word's directory, from the nodes q .. end - 1 of the queue."""
    depth = below.shape[0] - 1
    while q < end:
        at, low, high, h = queue[q, 0], np.int64(queue[q, 1]), np.int64(queue[q, 2]), queue[q, 3] + 1
        q += 1
        if h > depth or h <= 0:
            continue
        if high - low == 1:  # one entry of the word: straight down its path
            z, at = np.int64(leaf[begin + low]), child_of(node, at, node_at(leaf[begin + low], h, finder))
            while at >= 0:  # that entry counts, as its node does
                v = mass[first + high] - mass[first + low] - (lost if node[at, ID] == own[h] else 0.0)
                a, entries, tokens = np.int64(node[at, ID]), node[at, ENTRIES], node[at, TOKENS]
                total += part_of(h, a, entries, tokens, v, 1.0, depth, given_doc, rate_doc, rate_word, from_word)
                queue[end, 0], queue[end, 1], queue[end, 2], queue[end, 3] = at, low, high, ~h
                weight[end] = total
                end += 1
                h += 1
                at = child_of(node, at, node_at(z, h, finder)) if h <= depth else np.int32(NOBODY)
            continue
        j, few, child = low, high - low <= _FEW, node[at, CHILD]
        while j < high if few else child >= 0:
            if few:  # entries of the word, node by node
                a, lo = node_at(leaf[begin + j], h, finder), j
                j += 1
                while j < high and node_at(leaf[begin + j], h, finder) == a:
                    j += 1
                here, hi = child_of(node, at, a), j
                if here < 0:
                    continue
            else:  # children of the document's node
                here, child = child, node[child, NEXT]
                a = np.int64(node[here, ID])
                start = lower_bound(leaf, begin + low, begin + high, first_leaf(a, h, below))
                lo, hi = start - begin, lower_bound(leaf, start, begin + high, first_leaf(a + 1, h, below)) - begin
            d = np.float64(hi - lo) - (gone if a == own[h] else 0)
            if d > 0.0:
                v = mass[first + hi] - mass[first + lo] - (lost if a == own[h] else 0.0)
                entries, tokens = node[here, ENTRIES], node[here, TOKENS]
                total += part_of(h, a, entries, tokens, v, d, depth, given_doc, rate_doc, rate_word, from_word)
                queue[end, 0], queue[end, 1], queue[end, 2], queue[end, 3] = here, lo, hi, h
                weight[end] = total
                end += 1
    return total, end


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def draw_from_document(node, at, h, below, finder, delta_doc, given_doc, rng):
    """Draw a leaf from what the document has at a node of level h without the smoothing of h itself and above.

    An entry in proportion to what its tokens keep below level h, then kept mass, or discounts.      math.md (T4)
    """
    depth, given = below.shape[0] - 1, given_doc[h] if h >= 0 else 0.0
    for _ in range(depth - max(h, 0)):
        x = uniform(rng) * (node[at, TOKENS] - node[at, ENTRIES] * given)
        at = node[at, CHILD]
        x -= node[at, TOKENS] - node[at, ENTRIES] * given
        while x >= 0.0 and node[at, NEXT] >= 0:
            at = node[at, NEXT]
            x -= node[at, TOKENS] - node[at, ENTRIES] * given
    z, n = np.int64(node[at, ID]), node[at, TOKENS]
    x = uniform(rng) * (n - given) - (n - given_doc[depth])
    if x < 0.0:
        return z
    if h + 1 == depth:  # rounding: nothing is below
        return z
    return leaf_by_discounts(z, h + 1, x, below, finder, delta_doc, rng)


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def leaf_by_discounts(z, h, x, below, finder, delta, rng):
    """Return a leaf below the node above leaf z whose discount x falls into; they are laid end to end from level h."""
    depth = below.shape[0] - 1
    while h < depth - 1 and x >= delta[h]:
        x -= delta[h]
        h += 1
    return leaf_near(z, h, below, finder, rng)


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def draw_from_word(
    h, low, high, below, finder, delta_word, from_word, w, begin, leaf, mass, own_entry, gone, lost, rng
):
    """Draw a leaf from the word's tree below a node of level h with the entries low .. high - 1.    math.md (T4)

    `own_entry` is the entry of the token that does not count, NOWHERE if it is not below the node.
    """
    first, d = begin + w, np.float64(high - low)
    v = mass[first + high] - mass[first + low]
    if own_entry >= 0:
        d -= gone
        v -= lost
    x = uniform(rng) * (max(v, 0.0) + d * from_word[h])
    if x < v:
        x += mass[first + low]
        if own_entry >= 0 and x >= mass[first + own_entry + 1] - lost:
            x += lost
        j = low
        end = high - 1
        while j < end:  # the last entry with mass[j] <= x
            middle = (j + end + 1) >> 1
            if mass[first + middle] <= x:
                j = middle
            else:
                end = middle - 1
        return np.int64(leaf[begin + j])
    j = low + np.int64(uniform(rng) * d)
    if own_entry >= 0 and gone > 0 and j >= own_entry:
        j += 1
    z = np.int64(leaf[begin + j])
    return leaf_by_discounts(z, h, uniform(rng) * from_word[h], below, finder, delta_word, rng)


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def draw_at_node(
    x, at, low, high, h, node, below, finder, delta_doc, given_doc, rate_doc, delta_word, from_word, w, begin, leaf,
    mass, own, own_entry, gone, lost, rng,
):  # fmt: skip
    """Draw a leaf below a node of both trees by x, somewhere in what the node adds to the product.  math.md (T4)"""
    first, entry = begin + w, np.int64(NOWHERE)
    v, d = mass[first + high] - mass[first + low], np.float64(high - low)
    if own[h] == node[at, ID]:
        v, d, entry = v - lost, d - gone, own_entry
    if x < node[at, ENTRIES] * of_node(node[at, ID], h, rate_doc) * tau_of(h, v, d, from_word):
        return draw_from_word(
            h, low, high, below, finder, delta_word, from_word, w, begin, leaf, mass, entry, gone, lost, rng
        )
    return draw_from_document(node, at, h, below, finder, delta_doc, given_doc, rng)


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def draw_from_product(
    total, n_nodes, node, below, finder, delta_doc, given_doc, rate_doc, delta_word, from_word, w, begin, leaf, mass,
    own, own_entry, gone, lost, queue, weight, rng,
):  # fmt: skip
    """Draw a leaf in proportion to the product that `weigh` has summed.                             math.md (T4)

    First the node, then which of its terms: what the document smooths there (the word decides the leaf), or what the
    word smooths there (the document does); at a leaf there is no choice.
    """
    depth = below.shape[0] - 1
    x = uniform(rng) * total
    q, end = np.int64(0), np.int64(n_nodes - 1)
    while q < end:  # the first node with weight[q] > x
        middle = (q + end) >> 1
        if weight[middle] > x:
            end = middle
        else:
            q = middle + 1
    if q > 0:
        x -= weight[q - 1]
    at, low = np.int64(queue[q, 0]), np.int64(queue[q, 1])
    high, h = np.int64(queue[q, 2]), np.int64(queue[q, 3])
    if h < 0:
        h = ~h
    if h == depth:
        return np.int64(node[at, ID])
    return draw_at_node(
        x, at, low, high, h, node, below, finder, delta_doc, given_doc, rate_doc, delta_word, from_word, w, begin,
        leaf, mass, own, own_entry, gone, lost, rng,
    )  # fmt: skip
