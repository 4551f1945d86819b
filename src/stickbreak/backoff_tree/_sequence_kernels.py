"""Left-to-right sampling of documents under fixed words' trees; plain twin in tests/backoff_tree/sequences.py."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from stickbreak.backoff_tree._document_kernels import add_token, draw_leaf, open_document, take_token
from stickbreak.backoff_tree._product_kernels import NOWHERE
from stickbreak.inference._sequence_kernels import log_averages, open_particle
from stickbreak.kernel_random import uniform


@njit(cache=True, nogil=True, error_model="numpy")
def lacking_mass(n_here, leaf, n, missing, spread):
    """Return what the words lack at each leaf, times the document's mass there, over all leaves.   math.md (T12)"""
    total = 0.0
    for i in range(n_here):
        z = leaf[i]
        total += n[i] * (missing[z + 1] - missing[z]) + spread[z]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
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


@njit(cache=True, nogil=True, error_model="numpy")
def draw_lacking(total, n_here, leaf, n, below, rate_doc, discount, missing, rng):
    """Draw a leaf by the document's mass times what the words lack there.                          math.md (T12)"""
    if n_here == 0:
        return lacking_leaf(np.int64(0), below[0], missing, rng)
    x = uniform(rng) * total
    for i in range(n_here):
        z = np.int64(leaf[i])
        x -= (n[i] - discount) * (missing[z + 1] - missing[z])
        if x < 0.0:
            return z
        for h in range(below.size - 1):
            first = z // below[h] * below[h]
            x -= rate_doc[h] * (missing[first + below[h]] - missing[first])
            if x < 0.0:
                return lacking_leaf(first, first + below[h], missing, rng)
    return lacking_leaf(np.int64(0), below[0], missing, rng)  # rounding: the root is in each document's tree


@njit(cache=True, nogil=True, error_model="numpy")
def score_documents(
    start, word, content, key, n_particles, resample, below, of_documents, of_words, words, directory, peak, missing,
    spread, share, known, scratch, printed, unbiased,
):  # fmt: skip
    """Write both estimates of the log probability of each document.                         math.md (T12), (D4)

    As its namesake for dense topics. share (W,) is what a word takes of the lacking mass, and for a word that the fit
    never saw its probability; other words share `known`. A word that was never seen says nothing about leaves.
    """
    delta_doc, rate_doc, above_doc = of_documents.delta, of_documents.rate, of_documents.above
    delta_word, rate_word, from_word = of_words.delta, of_words.rate, of_words.from_here
    start_w, sizes, leaf_w, mass = words.start, words.size, words.leaf, words.mass
    d_start, d_level, row = directory.start, directory.level, directory.row
    leaf, n, common, slot, path, weight = (
        scratch.leaf, scratch.n, scratch.common, scratch.slot, scratch.path, scratch.weight
    )  # fmt: skip
    low, high, smoothed, shared, stride, rng = (
        scratch.low, scratch.high, scratch.smoothed, scratch.shared, scratch.stride, scratch.rng
    )  # fmt: skip
    longest = leaf.size
    z, sums, log_products = np.empty(longest, np.int32), np.empty(longest), np.empty(n_particles)
    for d in range(content.size):
        begin, N = start[d], start[d + 1] - start[d]
        sums[:N] = 0.0
        for r in range(n_particles):
            open_particle(rng, key, content[d], r)
            n_here = open_document(z, 0, 0, leaf, n, common, slot, path, below)
            n_before, log_product = 0, 0.0  # tokens in the document's tree
            for i in range(N):
                p = share[word[begin + i]]  # of a new word; any other draws the tokens before it anew, then its own
                for step in range(0 if resample else i, i + 1 if sizes[word[begin + i]] > 0 else 0):
                    w = np.int64(word[begin + step])
                    size, level = np.int64(sizes[w]), np.int64(d_level[w])
                    if size == 0:
                        continue
                    if step < i:
                        n_here = take_token(np.int64(z[step]), n_here, leaf, n, common, slot)
                        n_before -= 1
                    for h in range(level + 1):
                        stride[h] = below[h] // below[level]
                    new, found = draw_leaf(
                        n_before, n_here, n, common, slot, path, below, delta_doc, above_doc, rate_doc, delta_word,
                        rate_word, from_word, w, start_w[w], size, leaf_w, mass, level, row, d_start[w], stride,
                        NOWHERE, np.int64(NOWHERE), 0, 0.0, low, high, smoothed, shared, weight, rng,
                    )  # fmt: skip
                    found /= peak
                    lacking = lacking_mass(n_here, leaf, n, missing, spread)
                    lost = share[w] * (lacking / n_before if n_here > 0 else missing[below[0]] / below[0])
                    if lost > 0.0 and uniform(rng) * (found + lost) >= found:
                        new = draw_lacking(lacking, n_here, leaf, n, below, rate_doc, above_doc[-1], missing, rng)
                    z[step] = new
                    n_here = add_token(new, n_here, leaf, n, common, slot, path, below)
                    n_before += 1
                    p = known * (found + lost)
                sums[i] += p
                log_product += math.log(p)
            log_products[r] = log_product
        printed[d], unbiased[d] = log_averages(sums, N, log_products)
