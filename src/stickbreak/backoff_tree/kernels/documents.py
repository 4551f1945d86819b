"""Passes over documents: each token is drawn from the product of its document's tree and its word's tree."""

from __future__ import annotations

import numpy as np

from stickbreak.backoff_tree.kernels.crowded import (
    LEAST_TOKENS,
    LEAVES_A_TOKEN,
    draw_from_all,
    is_quicker,
    set_shares,
    weigh_all,
    write_shares,
)
from stickbreak.backoff_tree.kernels.lists import change_leaf, entry_mass, lower_bound
from stickbreak.backoff_tree.kernels.products import (
    NOWHERE,
    draw_from_document,
    draw_from_product,
    draw_from_word,
    weigh,
)
from stickbreak.backoff_tree.kernels.shapes import first_leaf
from stickbreak.backoff_tree.kernels.trees import (
    ENTRIES,
    NOBODY,
    TOKENS,
    add_token,
    open_document,
    take_token,
    write_path,
)
from stickbreak.numerics.borrowing import borrowed
from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_arrays import copy
from stickbreak.numerics.kernel_random import open_stream, uniform


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def draw_leaf(
    node, below, finder, delta_doc, given_doc, rate_doc, delta_word, rate_word, from_word, w, begin, size, leaf, mass,
    level, offset, row, row_start, own, own_entry, gone, lost, queue, candidate, weight, share,
    sums, crowded, rng,
):  # fmt: skip
    """Draw the leaf of a token from the rest of its document and of its word.                       math.md (T5)

    `crowded`: whether `share` holds what `crowded.py` says; the quicker of both ways is gone then.
    Returns the leaf and the mass of all leaves, 0 where the word has no other token.
    """
    n_tokens, n_leaves = node[0, TOKENS], first_leaf(1, 0, below)
    alone = size - gone == 0
    if n_tokens == 0 and alone:
        return np.int64(uniform(rng) * n_leaves), 0.0
    root = np.int64(0)
    if n_tokens == 0:  # the document says nothing: uniform
        total = mass[begin + w + size] - lost + (size - gone) * from_word[0]
        z = draw_from_word(
            root, root, size, below, finder, delta_word, from_word, w, begin, leaf, mass, own_entry, gone, lost, rng
        )
        return z, total / n_leaves
    if alone:  # the word says nothing: constant in z
        return draw_from_document(node, root, np.int64(-1), below, finder, delta_doc, given_doc, rng), 0.0
    if crowded and is_quicker(node[0, ENTRIES], size, level, below.shape[0] - 1, offset):
        total = weigh_all(
            row[row_start:], level, below.shape[0] - 1, offset, finder, leaf[begin : begin + size],
            mass[begin + w : begin + w + size + 1], own, gone, lost, share, sums,
        )  # fmt: skip
        z = draw_from_all(
            total, node, below, finder, delta_doc, given_doc, rate_doc, delta_word, rate_word, from_word, w, begin,
            size, leaf, mass, level, offset, row, row_start, own, own_entry, gone, lost, share, sums, rng,
        )  # fmt: skip
        return z, total / n_tokens
    total, n_nodes = weigh(
        node, below, finder, given_doc, rate_doc, rate_word, from_word, w, begin, size, leaf, mass, level, offset, row,
        row_start, own, gone, lost, queue, candidate, weight,
    )  # fmt: skip
    z = draw_from_product(
        total, n_nodes, node, below, finder, delta_doc, given_doc, rate_doc, delta_word, from_word, w, begin, leaf,
        mass, own, own_entry, gone, lost, queue, weight, rng,
    )  # fmt: skip
    return z, total / n_tokens


@njit(cache=True, nogil=True, error_model="numpy")
def sweep_documents(
    first, n_tokens, doc_start, word, z, below, of_documents, of_words, words, directory, scale, peak, key, at_once,
    scratch, log_p,
):  # fmt: skip
    """Sample the leaf of every token of some documents again.                                       math.md (T5)

    Words stay as they were at the beginning of the pass, but for the token that is sampled; with `at_once` every draw
    changes them. log_p (D,) takes the log probability of each document's words, each given all other tokens. `peak`
    is C of (T6), `first` the number of the first document, `n_tokens` N of the whole collection.
    """
    doc_start, word, z, below, scale, log_p = borrowed((doc_start, word, z, below, scale, log_p))
    of_documents, of_words, words = borrowed(of_documents), borrowed(of_words), borrowed(words)
    directory, scratch = borrowed(directory), borrowed(scratch)
    delta_doc, rate_doc, given_doc = of_documents.delta, of_documents.rate, of_documents.given
    delta_word, rate_word, given, from_word = of_words.delta, of_words.rate, of_words.given, of_words.from_here
    start, sizes, leaf, count, mass = words.start, words.size, words.leaf, words.n, words.mass
    d_start, d_level, offset, row = directory.start, directory.level, directory.offset, directory.row
    node, path, own, trail, finder = scratch.node, scratch.path, scratch.own, scratch.trail, scratch.finder
    queue, candidate, weight, rng = scratch.queue, scratch.candidate, scratch.weight, scratch.rng
    share, sums, depth = scratch.share, scratch.sums, below.shape[0] - 1
    for d in range(doc_start.size - 1):
        open_stream(rng, key, first + d)
        open_document(z, doc_start[d], doc_start[d + 1], node, path, trail, finder)
        length = doc_start[d + 1] - doc_start[d]
        crowded = share.shape[0] > 0 and length >= LEAST_TOKENS and first_leaf(1, 0, below) <= LEAVES_A_TOKEN * length
        if crowded:
            set_shares(node, depth, given_doc, rate_doc, rate_word, from_word, offset, share, queue, np.bool_(False))
        score = 0.0
        own[:] = NOBODY
        for i in range(doc_start[d], doc_start[d + 1]):
            w, old = np.int64(word[i]), np.int64(z[i])
            begin, level = start[w], np.int64(d_level[w])
            write_path(path, old, finder)
            take_token(node, path, trail)
            if crowded:
                write_shares(node, path, trail, given_doc, rate_doc, rate_word, from_word, offset, share)
            own_entry, gone, lost = np.int64(NOWHERE), 0, 0.0
            if at_once:
                change_leaf(
                    w, old, np.int64(-1), scale, given, start, sizes, leaf, count, mass, finder, d_start, d_level,
                    offset, row,
                )  # fmt: skip
            else:
                copy(path, own)
                own_entry = entry_of(old, path[level], w, begin, leaf, level, d_start, offset, row)
                gone = 1 if count[begin + own_entry] == 1 else 0
                lost = entry_mass(1.0, old, scale, given) if gone else scale[old]
            new, total = draw_leaf(
                node, below, finder, delta_doc, given_doc, rate_doc, delta_word, rate_word, from_word, w, begin,
                np.int64(sizes[w]), leaf, mass, level, offset, row, d_start[w], own, own_entry,
                gone, lost, queue, candidate, weight, share, sums, crowded, rng,
            )  # fmt: skip
            score += np.log(total / peak) if total > 0.0 else -np.log(np.float64(n_tokens))
            z[i] = new
            write_path(path, new, finder)
            add_token(node, path, trail)
            if crowded:
                write_shares(node, path, trail, given_doc, rate_doc, rate_word, from_word, offset, share)
            if at_once:
                change_leaf(
                    w, new, np.int64(1), scale, given, start, sizes, leaf, count, mass, finder, d_start, d_level,
                    offset, row,
                )  # fmt: skip
        if crowded:
            set_shares(node, depth, given_doc, rate_doc, rate_word, from_word, offset, share, queue, np.bool_(True))
        log_p[d] = score


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def entry_of(z, a, w, begin, leaf, level, d_start, offset, row):
    """Return the entry of leaf z, below node a of the directory's last level, counted from the word's first."""
    at = d_start[w] + offset[level] + a
    low, high = np.int64(row[at, 0]), np.int64(row[at + 1, 0])
    return lower_bound(leaf, begin + low, begin + high, z) - begin
