"""Documents: the sorted tree of one document in scratch, passes over documents, documents under fixed words."""

from __future__ import annotations

import numpy as np
from numba import njit

from stickbreak.backoff_tree._list_kernels import change_leaf, lower_bound
from stickbreak.backoff_tree._product_kernels import (
    NOWHERE,
    draw_from_document,
    draw_from_product,
    draw_from_word,
    weigh,
)
from stickbreak.kernel_random import open_stream, uniform


@njit(cache=True, nogil=True, error_model="numpy")
def deepest_common(path, one, other):
    """Return the deepest interior level at which two paths have the same node."""
    h = path.shape[1] - 2
    while h > 0 and path[one, h] != path[other, h]:
        h -= 1
    return h


@njit(cache=True, nogil=True, error_model="numpy")
def write_path(path, at, z, below):
    """Write the node of leaf z at each level."""
    for h in range(below.size):
        path[at, h] = z // below[h]


@njit(cache=True, nogil=True, error_model="numpy")
def open_document(z, begin, end, leaf, n, common, slot, path, below):
    """Make the tree of a document whose tokens begin .. end - 1 are at leaves z; return its number of entries."""
    room = slot.size
    for j in range(room - 1):
        slot[j] = j
    if end == begin:
        return 0
    for i in range(begin, end):
        leaf[i - begin] = z[i]
    leaf[: end - begin].sort()
    j = -1
    for i in range(end - begin):
        if j >= 0 and leaf[i] == leaf[j]:
            n[j] += 1
        else:
            j += 1
            leaf[j], n[j] = leaf[i], 1
            write_path(path, j, leaf[j], below)
            common[j] = deepest_common(path, j - 1, j) if j > 0 else 0
    return j + 1


@njit(cache=True, nogil=True, error_model="numpy")
def add_token(z, n_here, leaf, n, common, slot, path, below):
    """Put a token at leaf z into the document's tree; return its number of entries."""
    j = lower_bound(leaf, 0, n_here, z)
    if j < n_here and leaf[j] == z:
        n[j] += 1
        return n_here
    at = slot[n_here]
    for i in range(n_here, j, -1):
        leaf[i], n[i], slot[i], common[i] = leaf[i - 1], n[i - 1], slot[i - 1], common[i - 1]
    leaf[j], n[j], slot[j] = z, 1, at
    write_path(path, at, z, below)
    common[j] = deepest_common(path, slot[j - 1], at) if j > 0 else 0
    if j < n_here:
        common[j + 1] = deepest_common(path, at, slot[j + 1])
    return n_here + 1


@njit(cache=True, nogil=True, error_model="numpy")
def take_token(z, n_here, leaf, n, common, slot):
    """Take a token at leaf z out of the document's tree; return its number of entries."""
    j = lower_bound(leaf, 0, n_here, z)
    n[j] -= 1
    if n[j] > 0:
        return n_here
    at = slot[j]
    if j + 1 < n_here:
        common[j + 1] = min(common[j], common[j + 1]) if j > 0 else 0
    for i in range(j, n_here - 1):
        leaf[i], n[i], slot[i], common[i] = leaf[i + 1], n[i + 1], slot[i + 1], common[i + 1]
    slot[n_here - 1] = at
    return n_here - 1


@njit(cache=True, nogil=True, error_model="numpy")
def draw_leaf(
    n_tokens, n_here, n, common, slot, path, below, delta_doc, above_doc, rate_doc, delta_word, rate_word, from_word,
    w, begin, size, leaf, mass, level, row, row_start, stride, own, own_entry, gone, lost, low, high, smoothed, shared,
    weight, rng,
):  # fmt: skip
    """Draw the leaf of a token from the rest of its document and of its word.                       math.md (T5)

    Returns the leaf and the mass of all leaves, 0 where the word has no other token.
    """
    alone = size - gone == 0
    n_leaves = below[0]
    if n_here == 0 and alone:
        return np.int64(uniform(rng) * n_leaves), 0.0
    if n_here == 0:  # the document says nothing: uniform
        total = mass[begin + w + size] - lost + (size - gone) * from_word[0]
        z = draw_from_word(0, 0, size, below, delta_word, from_word, w, begin, leaf, mass, own_entry, gone, lost, rng)
        return z, total / n_leaves
    if alone:  # the word says nothing: constant in z
        x = np.int64(uniform(rng) * n_tokens)
        i = 0
        while x >= n[i]:
            x -= n[i]
            i += 1
        return draw_from_document(slot[i], n[i], -1, path, below, delta_doc, above_doc, rng), 0.0
    total = weigh(
        n_here, n, common, slot, path, below, above_doc, rate_doc, rate_word, from_word, w, begin, size, leaf, mass,
        level, row, row_start, stride, own, gone, lost, low, high, smoothed, shared, weight,
    )  # fmt: skip
    z = draw_from_product(
        total, n_here, n, slot, path, below, delta_doc, above_doc, rate_doc, delta_word, rate_word, from_word, w,
        begin, size, leaf, mass, level, row, row_start, stride, own, own_entry, gone, lost, weight, rng,
    )  # fmt: skip
    return z, total / n_tokens


@njit(cache=True, nogil=True, error_model="numpy")
def sweep_documents(
    first, last, doc_start, word, z, below, of_documents, of_words, words, directory, scale, peak, key, at_once,
    scratch, log_p,
):  # fmt: skip
    """Sample the leaf of every token of documents first .. last - 1 anew.                           math.md (T5)

    Words stay as they were at the beginning of the pass, but for the token that is sampled; with `at_once` every draw
    changes them. log_p (D,) takes the log probability of each document's words, each given all other tokens; `peak`
    is C of (T6).
    """
    delta_doc, rate_doc, above_doc = of_documents.delta, of_documents.rate, of_documents.above
    delta_word, rate_word, from_word = of_words.delta, of_words.rate, of_words.from_here
    discount = of_words.above[below.size - 1]
    start, sizes, leaf, count, mass = words.start, words.size, words.leaf, words.n, words.mass
    d_start, d_level, row = directory.start, directory.level, directory.row
    d_leaf, n, common, slot, path, weight = (
        scratch.leaf, scratch.n, scratch.common, scratch.slot, scratch.path, scratch.weight
    )  # fmt: skip
    low, high, smoothed, shared, stride, rng = (
        scratch.low, scratch.high, scratch.smoothed, scratch.shared, scratch.stride, scratch.rng
    )  # fmt: skip
    own_row = path.shape[0] - 1
    for d in range(first, last):
        open_stream(rng, key, d)
        n_here = open_document(z, doc_start[d], doc_start[d + 1], d_leaf, n, common, slot, path, below)
        n_others = doc_start[d + 1] - doc_start[d] - 1
        score, level_before = 0.0, np.int64(-1)
        for i in range(doc_start[d], doc_start[d + 1]):
            w, old = word[i], np.int64(z[i])
            begin, level = start[w], np.int64(d_level[w])
            n_here = take_token(old, n_here, d_leaf, n, common, slot)
            own, own_entry, gone, lost = NOWHERE, np.int64(NOWHERE), 0, 0.0
            if at_once:
                change_leaf(w, old, -1, scale, discount, start, sizes, leaf, count, mass, below, d_start, d_level, row)
            else:
                own = own_row
                write_path(path, own, old, below)
                own_entry = entry_of(old, w, begin, sizes[w], leaf, level, below, d_start, row)
                gone = 1 if count[begin + own_entry] == 1 else 0
                lost = scale[old] * (1.0 - discount if gone else 1.0)
            if level != level_before:
                for h in range(level + 1):
                    stride[h] = below[h] // below[level]
                level_before = level
            new, total = draw_leaf(
                n_others, n_here, n, common, slot, path, below, delta_doc, above_doc, rate_doc, delta_word, rate_word,
                from_word, w, begin, np.int64(sizes[w]), leaf, mass, level, row, d_start[w], stride, own, own_entry,
                gone, lost, low, high, smoothed, shared, weight, rng,
            )  # fmt: skip
            score += np.log(total / peak) if total > 0.0 else -np.log(np.float64(word.size))
            z[i] = new
            n_here = add_token(new, n_here, d_leaf, n, common, slot, path, below)
            if at_once:
                change_leaf(w, new, 1, scale, discount, start, sizes, leaf, count, mass, below, d_start, d_level, row)
        log_p[d] = score


@njit(cache=True, nogil=True, error_model="numpy")
def entry_of(z, w, begin, size, leaf, level, below, d_start, row):
    """Return the entry of leaf z in the list of word w, counted from the word's first."""
    at = d_start[w] + z // below[level]
    low, high = np.int64(row[at, 0]), np.int64(row[at + 1, 0])
    return lower_bound(leaf, begin + low, begin + high, z) - begin
