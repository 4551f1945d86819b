"""The product of a document's tree and a word's tree, and draws from it.

An entry is a leaf with tokens. The mass v that an entry keeps, and the discounts that it gave to its ancestors, are all
the mass that a tree has: node a of level h has v(a) = sum of v, d(a) = desc+(a) and tau(a) = v(a) + d(a) times the
discounts from level h on. The walk goes level by level through the nodes of the document that the word has, too: so
what is asked of the word at one node does not wait for the answer at another.

In a document with tokens at many leaves all nodes are looked at, level by level. What node a of level h adds to the
product (docs/math (T3)) is linear in what a word has there: X v + Y d, for the mass v of its d entries. X and Y are the
document's: X = delta_h d(a) / s_h, and Y = X sum_{m >= h} delta'_m + delta'_h / s_h [N(a) - d(a) sum_{m <= h} delta_m].
`share` has them in the rows of a word's directory (Y beside the entries, X beside the mass), so a level is a sum of
products of two arrays, which the processor takes eight at a time. Below the directory the entries of the word are
looked at one by one.

Whole numbers and flags are handed on as np.int64 and np.bool_: for a constant, or an int32, Numba would compile the
function, and all that it calls, once more.
"""

from __future__ import annotations

import numpy as np

from stickbreak.backoff_tree.kernels.lists import lower_bound
from stickbreak.backoff_tree.kernels.trees import (
    CHILD,
    ENTRIES,
    ID,
    NEXT,
    NOBODY,
    NOWHERE,
    TOKENS,
    child_of,
    first_leaf,
    leaf_near,
    node_at,
    of_node,
)
from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_random import uniform
from stickbreak.numerics.special import FAST

_FEW = 6  # entries of a word that are looked at one by one
LEAST_TOKENS = 32  # of a document whose nodes are all looked at, at least
LEAVES_A_TOKEN = 16  # of the tree, at most, for each token of such a document
BLOCK = 16  # nodes, or entries, whose mass is summed before one of them is looked for


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def tau_of(h, v, d, from_word):
    """Return tau of a node of level h from the masses v of its d entries; of a leaf, what it keeps.   docs/math (T2)"""
    return max(v, 0.0) + d * from_word[h]


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def part_of(h, a, entries, tokens, v, d, trees):
    """Return the part of the product that node a of level h adds.                                   docs/math (T3)"""
    tau, kept = tau_of(h, v, d, trees.of_words.from_here), tokens - entries * trees.of_documents.given[h]
    if h == trees.below.shape[0] - 1:
        return kept * tau
    return entries * of_node(a, h, trees.of_documents.rate) * tau + of_node(a, h, trees.of_words.rate) * d * kept


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
def weigh(trees, scratch, word, taken):
    """Sum the product of both trees over the nodes that both have; return the sum and their number. docs/math (T3)

    `queue` (rows, 4) takes the nodes: row in the document's tree, first and last entry of the word, level (~level where
    nothing is left to do below). `weight` (rows,) becomes the running sum. `own` (depth + 1,) is the path of the
    word's token that does not count: the nodes there have `lost` less mass, and `gone` entries less; it is NOWHERE if
    all do.
    """
    node, queue, candidate, weight, own = scratch.node, scratch.queue, scratch.candidate, scratch.weight, scratch.own
    mass, offset, row = trees.words.mass, trees.directory.offset, trees.directory.row
    begin, size, level, row_start = word.begin, word.size, word.level, word.row_start
    gone, lost = taken.gone, taken.lost
    first = begin + word.w  # of the word's mass sums
    v, d = mass[first + size], np.float64(size)
    if own[0] == 0:
        v, d = v - lost, d - gone
    root = np.int64(0)
    entries, tokens = node[0, ENTRIES], node[0, TOKENS]
    total = part_of(root, root, entries, tokens, v, d, trees)
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
                total += part_of(h, a, entries, tokens, v, d, trees)
                queue[end, 0], queue[end, 1], queue[end, 2], queue[end, 3] = child, low, np.int64(row[up + a + 1, 0]), h
                weight[end] = total
                end += 1
                if h < level:
                    c_end = call_children(node, child, candidate, c_end)
    return weigh_below(q, end, total, trees, scratch, word, taken)


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def weigh_below(q, end, total, trees, scratch, word, taken):
    """Go on below the word's directory, from the nodes q .. end - 1 of the queue."""
    node, queue, weight, own, finder, below = (
        scratch.node, scratch.queue, scratch.weight, scratch.own, trees.finder, trees.below
    )  # fmt: skip
    leaf, mass, begin, gone, lost = trees.words.leaf, trees.words.mass, word.begin, taken.gone, taken.lost
    depth, first = below.shape[0] - 1, begin + word.w
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
                total += part_of(h, a, entries, tokens, v, 1.0, trees)
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
                total += part_of(h, a, entries, tokens, v, d, trees)
                queue[end, 0], queue[end, 1], queue[end, 2], queue[end, 3] = here, lo, hi, h
                weight[end] = total
                end += 1
    return total, end


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def draw_from_document(at, h, trees, scratch):
    """Draw a leaf from what the document has at a node of level h without the smoothing of h itself and above.

    An entry in proportion to what its tokens keep below level h, then kept mass, or discounts.      docs/math (T4)
    """
    node, rng, given_doc = scratch.node, scratch.rng, trees.of_documents.given
    depth, given = trees.below.shape[0] - 1, given_doc[h] if h >= 0 else 0.0
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
    return leaf_by_discounts(z, h + 1, x, trees.of_documents.delta, trees, rng)


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def leaf_by_discounts(z, h, x, delta, trees, rng):
    """Return a leaf below the node above leaf z whose discount x falls into; they are laid end to end from level h."""
    depth = trees.below.shape[0] - 1
    while h < depth - 1 and x >= delta[h]:
        x -= delta[h]
        h += 1
    return leaf_near(z, h, trees.below, trees.finder, rng)


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def draw_from_word(h, low, high, own_entry, trees, word, taken, rng):
    """Draw a leaf from the word's tree below a node of level h with the entries low .. high - 1.    docs/math (T4)

    `own_entry` is the entry of the token that does not count, NOWHERE if it is not below the node.
    """
    leaf, mass, from_word = trees.words.leaf, trees.words.mass, trees.of_words.from_here
    begin, gone, lost = word.begin, taken.gone, taken.lost
    first, d = begin + word.w, np.float64(high - low)
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
    return leaf_by_discounts(z, h, uniform(rng) * from_word[h], trees.of_words.delta, trees, rng)


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def draw_at_node(x, at, low, high, h, trees, scratch, word, taken):
    """Draw a leaf below a node of both trees by x, somewhere in what the node adds to the product.  docs/math (T4)"""
    node, mass = scratch.node, trees.words.mass
    first, entry = word.begin + word.w, np.int64(NOWHERE)
    v, d = mass[first + high] - mass[first + low], np.float64(high - low)
    if scratch.own[h] == node[at, ID]:
        v, d, entry = v - taken.lost, d - taken.gone, taken.entry
    smoothed = node[at, ENTRIES] * of_node(node[at, ID], h, trees.of_documents.rate)
    if x < smoothed * tau_of(h, v, d, trees.of_words.from_here):
        return draw_from_word(h, low, high, entry, trees, word, taken, scratch.rng)
    return draw_from_document(at, h, trees, scratch)


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def draw_from_product(total, n_nodes, trees, scratch, word, taken):
    """Draw a leaf in proportion to the product that `weigh` has summed.                             docs/math (T4)

    First the node, then which of its terms: what the document smooths there (the word decides the leaf), or what the
    word smooths there (the document does); at a leaf there is no choice.
    """
    queue, weight, depth = scratch.queue, scratch.weight, trees.below.shape[0] - 1
    x = uniform(scratch.rng) * total
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
        return np.int64(scratch.node[at, ID])
    return draw_at_node(x, at, low, high, h, trees, scratch, word, taken)


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def write_node(h, a, entries, tokens, trees, share):
    """Write X and Y of a node of a document."""
    kept, at = tokens - entries * trees.of_documents.given[h], trees.directory.offset[h] + a
    from_word = trees.of_words.from_here
    if h == trees.below.shape[0] - 1:
        share[at, 0], share[at, 1] = kept * from_word[h], kept
    else:
        smoothed = entries * of_node(a, h, trees.of_documents.rate)
        share[at, 0] = smoothed * from_word[h] + of_node(a, h, trees.of_words.rate) * kept
        share[at, 1] = smoothed


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def write_shares(trees, scratch):
    """Write X and Y of the nodes on a path."""
    node, path, trail = scratch.node, scratch.path, scratch.trail
    for h in range(path.size):
        entries, tokens = node[trail[h], ENTRIES], node[trail[h], TOKENS]
        write_node(h, path[h], entries, tokens, trees, scratch.share)


@njit(cache=True, nogil=True, error_model="numpy")
def set_shares(trees, scratch, clear):
    """Write X and Y of all nodes of a document, or zeros."""
    node, queue, share, offset = scratch.node, scratch.queue, scratch.share, trees.directory.offset
    queue[0, 0], queue[0, 3] = 0, 0
    q, end = 0, 1 if node[0, TOKENS] > 0 else 0
    while q < end:
        at, h = queue[q, 0], np.int64(queue[q, 3])
        a, q = np.int64(node[at, ID]), q + 1
        if clear:
            share[offset[h] + a, 0], share[offset[h] + a, 1] = 0.0, 0.0
        else:
            entries, tokens = node[at, ENTRIES], node[at, TOKENS]
            write_node(h, a, entries, tokens, trees, share)
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
def weigh_all(trees, scratch, word, taken):
    """Sum the product over all nodes; `sums` (depth + 1,) takes the running sum over levels.        docs/math (T3)"""
    level, depth, offset, finder = word.level, trees.below.shape[0] - 1, trees.directory.offset, trees.finder
    own, share, sums, gone, lost = scratch.own, scratch.share, scratch.sums, taken.gone, taken.lost
    begin, size = word.begin, word.size
    rows, leaves = trees.directory.row[word.row_start :], trees.words.leaf[begin : begin + size]
    masses = trees.words.mass[begin + word.w : begin + word.w + size + 1]
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
def find_node(x, rows, own, taken, shares):
    """Return the node of a level of the directory into whose part x falls; NOWHERE if none has a part."""
    n, first, chosen, gone, lost = shares.shape[0] - 1, np.int64(0), np.int64(NOWHERE), taken.gone, taken.lost
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
def find_node_of_entries(x, h, depth, leaves, masses, finder, own, taken, shares):
    """Return the node of a level below the directory into whose part x falls; NOWHERE if none has a part."""
    n, first, chosen = leaves.size, np.int64(0), np.int64(NOWHERE)
    own_entry, gone, lost = taken.entry, taken.gone, taken.lost
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
def draw_from_all(total, trees, scratch, word, taken):
    """Draw a leaf in proportion to the product that `weigh_all` has summed.                   docs/math (T3), (T4)"""
    node, own, share, sums, rng = scratch.node, scratch.own, scratch.share, scratch.sums, scratch.rng
    below, finder, leaf, mass = trees.below, trees.finder, trees.words.leaf, trees.words.mass
    offset, row, begin, size = trees.directory.offset, trees.directory.row, word.begin, word.size
    level, row_start = word.level, word.row_start
    depth, first = below.shape[0] - 1, begin + word.w
    x, h = uniform(rng) * total, np.int64(0)
    while h < depth and sums[h] <= x:
        h += 1
    if h > 0:
        x -= sums[h - 1]
    shares = share[offset[h] : offset[h + 1]]
    if h <= level:
        a = find_node(x, row[row_start + offset[h] : row_start + offset[h + 1]], own[h], taken, shares)
    else:
        leaves, masses = leaf[begin : begin + size], mass[first : first + size + 1]
        a = find_node_of_entries(x, h, depth, leaves, masses, finder, own[h], taken, shares)
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
        v, d = v - taken.lost, d - taken.gone
    x = uniform(rng) * part_of(h, a, node[at, ENTRIES], node[at, TOKENS], v, d, trees)
    return draw_at_node(x, at, low, high, h, trees, scratch, word, taken)
