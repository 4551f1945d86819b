"""The product of a document's tree and a word's tree, and draws from it.

An entry is a leaf with tokens. The mass v that an entry keeps, and the discounts that it gave to its ancestors, are all
the mass that a tree has: so the product is a sum over the entries of the document, each going down its path as long as
the word has entries there too. Node a of level h has v(a) = sum of v, d(a) = desc+(a) and tau(a) = v(a) + d(a) times
the discounts from level h on.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from stickbreak.backoff_tree._list_kernels import lower_bound
from stickbreak.kernel_random import uniform

NOWHERE = -1  # of a token that is in no list


@njit(cache=True, nogil=True, error_model="numpy")
def entries_between(first, last, low, high, leaf, begin):
    """Return the entries low .. high - 1 of a word whose leaves are first .. last - 1."""
    start = lower_bound(leaf, begin + low, begin + high, first)
    return start - begin, lower_bound(leaf, start, begin + high, last) - begin


@njit(cache=True, nogil=True, error_model="numpy")
def weigh(
    n_here, n, common, slot, path, below, above_doc, rate_doc, rate_word, from_word, w, begin, size, leaf, mass,
    level, row, row_start, stride, own, gone, lost, low, high, smoothed, shared, weight,
):  # fmt: skip
    """Sum the product of both trees over the document's entries; return the sum.                   math.md (T3)

    `weight` (n_here,) becomes the running sum. `own` is the row of `path` with the leaf of the word's token that does
    not count (NOWHERE: all do); without it the leaf has `lost` less mass, and `gone` entries less.
    """
    depth = below.size - 1
    total_above = above_doc[depth]
    first = begin + w  # of the word's mass sums
    total, alive = 0.0, -1
    before, share = 0.0, 0.0
    for i in range(n_here):
        at = slot[i]
        if i == 0 or common[i] <= alive:  # below the shared nodes the path is new; else the entry before died above
            alive = common[i] if i > 0 else -1
            before, share = (smoothed[alive], shared[alive]) if i > 0 else (0.0, 0.0)
            lo, hi = (low[alive], high[alive]) if i > 0 else (0, size)
            while alive < depth:
                h = alive + 1
                node = path[at, h]
                if h <= level:
                    up = row_start + node * stride[h]
                    end = up + stride[h]
                    lo, hi = np.int64(row[up, 0]), np.int64(row[end, 0])
                    v = row[end, 1] - row[up, 1]
                else:
                    lo, hi = entries_between(node * below[h], (node + 1) * below[h], lo, hi, leaf, begin)
                    v = mass[first + hi] - mass[first + lo]
                d = np.float64(hi - lo)
                if own >= 0 and node == path[own, h]:
                    d -= gone
                    v -= lost
                if d <= 0.0:
                    break
                v = max(v, 0.0)
                if h == depth:
                    total += (n[i] - total_above) * v
                    break
                before += rate_doc[h] * (v + d * from_word[h]) - rate_word[h] * d * above_doc[h + 1]
                share += rate_word[h] * d
                low[h], high[h], smoothed[h], shared[h] = lo, hi, before, share
                alive = h
        total += before + n[i] * share
        weight[i] = total
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def draw_from_document(at, n, h, path, below, delta_doc, above_doc, rng):
    """Draw a leaf from what an entry of the document has below level h: kept mass, or discounts.  math.md (T4)"""
    depth = below.size - 1
    x = uniform(rng) * (n - above_doc[h + 1]) - (n - above_doc[depth])
    if x < 0.0:
        return np.int64(path[at, depth])
    h += 1
    while h < depth - 1 and x >= delta_doc[h]:
        x -= delta_doc[h]
        h += 1
    if h == depth:  # rounding: nothing is below
        return np.int64(path[at, depth])
    return path[at, h] * below[h] + np.int64(uniform(rng) * below[h])


@njit(cache=True, nogil=True, error_model="numpy")
def draw_from_word(h, low, high, below, delta_word, from_word, w, begin, leaf, mass, own_entry, gone, lost, rng):
    """Draw a leaf from the word's tree below a node of level h with the entries low .. high - 1.    math.md (T4)

    `own_entry` is the entry of the token that does not count, NOWHERE if it is not below the node.
    """
    depth, first = below.size - 1, begin + w
    d = np.float64(high - low)
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
    x = uniform(rng) * from_word[h]
    while h < depth - 1 and x >= delta_word[h]:
        x -= delta_word[h]
        h += 1
    return leaf[begin + j] // below[h] * below[h] + np.int64(uniform(rng) * below[h])


@njit(cache=True, nogil=True, error_model="numpy")
def draw_from_product(
    total, n_here, n, slot, path, below, delta_doc, above_doc, rate_doc, delta_word, rate_word, from_word, w, begin,
    size, leaf, mass, level, row, row_start, stride, own, own_entry, gone, lost, weight, rng,
):  # fmt: skip
    """Draw a leaf in proportion to the product of both trees.                                       math.md (T4)

    First the entry of the document, then which of its parts: at each level down its path what the document smooths
    there (the word decides the leaf), what the word smooths there (the document does), and last the leaf itself.
    """
    depth = below.size - 1
    x = uniform(rng) * total
    i, end = 0, n_here - 1
    while i < end:  # the first entry with weight[i] > x
        middle = (i + end) >> 1
        if weight[middle] > x:
            end = middle
        else:
            i = middle + 1
    if i > 0:
        x -= weight[i - 1]
    at = slot[i]
    first = begin + w
    lo, hi = np.int64(0), np.int64(size)
    last, last_entry = 0, NOWHERE
    low, high = lo, hi
    for h in range(depth):
        if h > 0:
            node = path[at, h]
            lo, hi = entries_between(node * below[h], (node + 1) * below[h], lo, hi, leaf, begin)
        d = np.float64(hi - lo)
        v = mass[first + hi] - mass[first + lo]
        entry = NOWHERE
        if own >= 0 and path[at, h] == path[own, h]:
            entry = own_entry
            d -= gone
            v -= lost
        if d <= 0.0:
            break
        last, last_entry = h, entry
        low, high = lo, hi
        x -= rate_doc[h] * (max(v, 0.0) + d * from_word[h])
        if x < 0.0:
            return draw_from_word(h, lo, hi, below, delta_word, from_word, w, begin, leaf, mass, entry, gone, lost, rng)
        x -= rate_word[h] * d * (n[i] - above_doc[h + 1])
        if x < 0.0:
            return draw_from_document(at, n[i], h, path, below, delta_doc, above_doc, rng)
    if last == depth - 1:
        node = path[at, depth]
        lo, hi = entries_between(node, node + 1, lo, hi, leaf, begin)
        if hi > lo and not (own >= 0 and gone > 0 and path[at, depth] == path[own, depth]):
            return np.int64(path[at, depth])
    return draw_from_word(  # rounding took the part away: the last there was
        last, low, high, below, delta_word, from_word, w, begin, leaf, mass, last_entry, gone, lost, rng
    )
