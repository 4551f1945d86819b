"""Left-to-right sampling of documents under fixed words' trees; plain twin in tests/backoff_tree/sequences.py."""

from __future__ import annotations

import math

import numpy as np

from stickbreak.backoff_tree.kernels.documents import draw_leaf
from stickbreak.backoff_tree.kernels.lacking import draw_lacking
from stickbreak.backoff_tree.kernels.products import NOWHERE
from stickbreak.backoff_tree.kernels.shapes import first_leaf
from stickbreak.backoff_tree.kernels.trees import ENTRIES, TOKENS, add_token, clear_document, take_token, write_path
from stickbreak.numerics.borrowing import borrowed
from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_random import uniform
from stickbreak.prediction.kernels.sequences import log_averages, open_particle


@njit(cache=True, nogil=True, error_model="numpy")
def score_documents(
    start, word, content, key, n_particles, resample, below, of_documents, of_words, words, directory, peak, missing,
    spread, share, known, scratch, printed, unbiased,
):  # fmt: skip
    """Write both estimates of the log probability of each document.                         math.md (T12), (D4)

    As its namesake for dense topics. share (W,) is what a word takes of the lacking mass, and for a word that the fit
    never saw its probability; other words share `known`. A word that was never seen says nothing about leaves.
    """
    start, word, content, below, missing, spread, share = borrowed(
        (start, word, content, below, missing, spread, share)
    )
    of_documents, of_words, words = borrowed(of_documents), borrowed(of_words), borrowed(words)
    directory, scratch = borrowed(directory), borrowed(scratch)
    delta_doc, rate_doc, given_doc = of_documents.delta, of_documents.rate, of_documents.given
    delta_word, rate_word, from_word = of_words.delta, of_words.rate, of_words.from_here
    start_w, sizes, leaf_w, mass = words.start, words.size, words.leaf, words.mass
    d_start, d_level, offset, row = directory.start, directory.level, directory.offset, directory.row
    node, path, nowhere, trail, finder = scratch.node, scratch.path, scratch.own, scratch.trail, scratch.finder
    queue, candidate, weight, rng = scratch.queue, scratch.candidate, scratch.weight, scratch.rng
    longest, depth, n_leaves = 1, below.shape[0] - 1, first_leaf(1, 0, below)
    for d in range(content.size):
        longest = max(longest, start[d + 1] - start[d])
    z, sums, log_products = np.empty(longest, np.int32), np.empty(longest), np.empty(n_particles)
    for d in range(content.size):
        begin, N = start[d], start[d + 1] - start[d]
        sums[:N] = 0.0
        for r in range(n_particles):
            open_particle(rng, key, content[d], r)
            clear_document(node, N, depth)
            lacking, log_product = 0.0, 0.0  # lacking: the sum of `weigh_lacking`, kept up to date
            for i in range(N):
                p = share[word[begin + i]]  # of a new word; any other draws the tokens before it anew, then its own
                for step in range(0 if resample else i, i + 1 if sizes[word[begin + i]] > 0 else 0):
                    w = np.int64(word[begin + step])
                    size, level = np.int64(sizes[w]), np.int64(d_level[w])
                    if size == 0:
                        continue
                    if step < i:
                        old, entries = np.int64(z[step]), node[0, ENTRIES]
                        write_path(path, old, finder)
                        take_token(node, path, trail)
                        lacking -= missing[old + 1] - missing[old]
                        lacking -= spread[old] * (entries - node[0, ENTRIES])
                    n_before = node[0, TOKENS]
                    if n_before == 0:
                        lacking = 0.0
                    new, found = draw_leaf(
                        node, below, finder, delta_doc, given_doc, rate_doc, delta_word, rate_word, from_word, w,
                        start_w[w], size, leaf_w, mass, level, offset, row, d_start[w], nowhere,
                        np.int64(NOWHERE), np.int64(0), 0.0, queue, candidate, weight, scratch.share, scratch.sums,
                        np.bool_(False), rng,
                    )  # fmt: skip
                    found /= peak
                    lost = share[w] * (max(lacking, 0.0) / n_before if n_before > 0 else missing[n_leaves] / n_leaves)
                    if lost > 0.0 and uniform(rng) * (found + lost) >= found:
                        new = draw_lacking(node, below, rate_doc, given_doc, missing, queue, weight, rng)
                    z[step] = new
                    entries = node[0, ENTRIES]
                    write_path(path, new, finder)
                    add_token(node, path, trail)
                    lacking += missing[new + 1] - missing[new] + spread[new] * (node[0, ENTRIES] - entries)
                    p = known * (found + lost)
                sums[i] += p
                log_product += math.log(p)
            log_products[r] = log_product
        printed[d], unbiased[d] = log_averages(sums, N, log_products)
