"""Passes over documents: each token is drawn from the product of its document's tree and its word's tree.

First documents of a fit, then new ones under the words' trees of a fitted model, then left-to-right sampling of these
(plain twin in tests/backoff_tree/sequences.py).
"""

from __future__ import annotations

import math

import numpy as np

from stickbreak.backoff_tree.kernels.lists import change_leaf, entry_mass, lower_bound
from stickbreak.backoff_tree.kernels.products import (
    LEAST_TOKENS,
    LEAVES_A_TOKEN,
    draw_from_all,
    draw_from_document,
    draw_from_product,
    draw_from_word,
    is_quicker,
    set_shares,
    weigh,
    weigh_all,
    write_shares,
)
from stickbreak.backoff_tree.kernels.trees import (
    CHILD,
    ENTRIES,
    ID,
    NEXT,
    NOBODY,
    NOWHERE,
    TOKENS,
    DrawnToken,
    Word,
    add_token,
    clear_document,
    first_leaf,
    node_at,
    of_node,
    open_document,
    open_samples,
    take_token,
    write_path,
)
from stickbreak.numerics.borrowed_arrays import borrowed
from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_arrays import copy
from stickbreak.numerics.kernel_random import mix, open_stream, uniform
from stickbreak.prediction.kernels.sequences import log_averages, open_particle


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def word_at(w, trees):
    """Return where the tree of a word is."""
    words, directory = trees.words, trees.directory
    return Word(np.int64(w), words.start[w], np.int64(words.size[w]), np.int64(directory.level[w]), directory.start[w])


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def draw_leaf(trees, scratch, word, taken, crowded):
    """Draw the leaf of a token from the rest of its document and of its word.                       docs/math (T5)

    `crowded`: whether `share` holds what is said in products.py; the quicker of both ways is gone then.
    Returns the leaf and the mass of all leaves, 0 where the word has no other token.
    """
    n_tokens, n_leaves, rng = scratch.node[0, TOKENS], first_leaf(1, 0, trees.below), scratch.rng
    size, gone = word.size, taken.gone
    alone = size - gone == 0
    if n_tokens == 0 and alone:
        return np.int64(uniform(rng) * n_leaves), 0.0
    root = np.int64(0)
    if n_tokens == 0:  # the document says nothing: uniform
        mass = trees.words.mass[word.begin + word.w + size] - taken.lost
        total = mass + (size - gone) * trees.of_words.from_here[0]
        z = draw_from_word(root, root, size, taken.entry, trees, word, taken, rng)
        return z, total / n_leaves
    if alone:  # the word says nothing: constant in z
        return draw_from_document(root, np.int64(-1), trees, scratch), 0.0
    if crowded and is_quicker(
        scratch.node[0, ENTRIES], size, word.level, trees.below.shape[0] - 1, trees.directory.offset
    ):
        total = weigh_all(trees, scratch, word, taken)
        z = draw_from_all(total, trees, scratch, word, taken)
        return z, total / n_tokens
    total, n_nodes = weigh(trees, scratch, word, taken)
    z = draw_from_product(total, n_nodes, trees, scratch, word, taken)
    return z, total / n_tokens


@njit(cache=True, nogil=True, error_model="numpy")
def sweep_documents(first, tokens, trees, scale, totals, key, at_once, scratch, log_p):
    """Sample the leaf of every token of some documents again.                                       docs/math (T5)

    `tokens`: where each document begins, and word and leaf of each token; `first` is the number of the first document.
    Words stay as they were at the beginning of the pass, but for the token that is sampled; with `at_once` every draw
    changes them. log_p (D,) takes the log probability of each document's words, each given all other tokens. `totals`
    are N of all documents that are read, and C of (T6).
    """
    (doc_start, word, z), scale, log_p = borrowed(tokens), borrowed(scale), borrowed(log_p)
    trees, scratch = borrowed(trees), borrowed(scratch)
    n_tokens, peak = totals
    node, path, own, trail, finder = scratch.node, scratch.path, scratch.own, scratch.trail, trees.finder
    count = trees.words.n
    for d in range(doc_start.size - 1):
        open_stream(scratch.rng, key, first + d)
        open_document(z, doc_start[d], doc_start[d + 1], node, path, trail, finder)
        length = doc_start[d + 1] - doc_start[d]
        crowded = (
            scratch.share.shape[0] > 0
            and length >= LEAST_TOKENS
            and first_leaf(1, 0, trees.below) <= LEAVES_A_TOKEN * length
        )
        if crowded:
            set_shares(trees, scratch, np.bool_(False))
        score = 0.0
        own[:] = NOBODY
        for i in range(doc_start[d], doc_start[d + 1]):
            w, old = np.int64(word[i]), np.int64(z[i])
            write_path(path, old, finder)
            take_token(node, path, trail)
            if crowded:
                write_shares(trees, scratch)
            entry, gone, lost = np.int64(NOWHERE), np.int64(0), 0.0
            if at_once:
                change_leaf(w, old, np.int64(-1), scale, trees)
            here = word_at(w, trees)
            if not at_once:
                copy(path, own)
                entry = entry_of(old, path[here.level], trees, here)
                gone = np.int64(1) if count[here.begin + entry] == 1 else np.int64(0)
                lost = entry_mass(1.0, old, scale, trees.of_words.given) if gone else scale[old]
            new, total = draw_leaf(trees, scratch, here, DrawnToken(entry, gone, lost), crowded)
            score += np.log(total / peak) if total > 0.0 else -np.log(np.float64(n_tokens))
            z[i] = new
            write_path(path, new, finder)
            add_token(node, path, trail)
            if crowded:
                write_shares(trees, scratch)
            if at_once:
                change_leaf(w, new, np.int64(1), scale, trees)
        if crowded:
            set_shares(trees, scratch, np.bool_(True))
        log_p[d] = score


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def entry_of(z, a, trees, word):
    """Return the entry of leaf z, below node a of the directory's last level, counted from the word's first."""
    row, at = trees.directory.row, word.row_start + trees.directory.offset[word.level] + a
    low, high = np.int64(row[at, 0]), np.int64(row[at + 1, 0])
    return lower_bound(trees.words.leaf, word.begin + low, word.begin + high, z) - word.begin


@njit(cache=True, nogil=True, error_model="numpy")
def sample_documents(first, last, doc_start, word, trees, key, begin, n_burn, samples, scratch):
    """Sample the leaves of documents first .. last - 1, the words fixed.                     docs/math (T10), (T19)

    Each token is placed given those before it, then all are sampled again pass by pass; passes after the first n_burn
    go to `samples` (passes, N). `begin`: -1, and the random numbers of a document come from its words, not from its
    place; or the number of document 0 in the collection, from which they come then.
    """
    doc_start, word, samples = borrowed((doc_start, word, samples))
    trees, scratch = borrowed(trees), borrowed(scratch)
    node, path, trail, finder = scratch.node, scratch.path, scratch.trail, trees.finder
    for d in range(first, last):
        name = np.uint64(0)
        if begin >= 0:
            name = np.uint64(begin + d)
        else:
            for i in range(doc_start[d], doc_start[d + 1]):
                name = mix(name ^ np.uint64(word[i] + 1))
        open_stream(scratch.rng, key, name)
        z = samples[0]
        clear_document(node, doc_start[d + 1] - doc_start[d], trees.below.shape[0] - 1)
        for sweep in range(n_burn + samples.shape[0]):
            before = z
            z = samples[max(0, sweep - n_burn)]
            for i in range(doc_start[d], doc_start[d + 1]):
                if sweep > 0:
                    write_path(path, before[i], finder)
                    take_token(node, path, trail)
                here = word_at(word[i], trees)
                taken = DrawnToken(np.int64(NOWHERE), np.int64(0), 0.0)
                new, _ = draw_leaf(trees, scratch, here, taken, np.bool_(False))
                z[i] = new
                write_path(path, new, finder)
                add_token(node, path, trail)


@njit(cache=True, nogil=True, error_model="numpy")
def predict_words(first, last, doc_start, samples, held_start, held_word, trees, lacking, scratch, prob):
    """Write the mean probability over samples of held-out words of documents first .. last - 1.     docs/math (T11)

    `lacking` is `UnseenWords` of model.py. `prob` is parallel to `held_word`.
    """
    doc_start, samples, prob = borrowed((doc_start, samples, prob))
    held_start, held_word = borrowed(held_start), borrowed(held_word)
    trees, lacking, scratch = borrowed(trees), borrowed(lacking), borrowed(scratch)
    missing, peak = lacking.missing, lacking.peak
    node, path, trail, n_leaves = scratch.node, scratch.path, scratch.trail, first_leaf(1, 0, trees.below)
    for d in range(first, last):
        n_tokens = samples.shape[0] * (doc_start[d + 1] - doc_start[d])
        open_samples(samples, doc_start[d], doc_start[d + 1], node, path, trail, trees.finder)
        lost = missing[n_leaves] / n_leaves
        if n_tokens > 0:
            lost, _ = weigh_unseen(trees, scratch, missing)
            lost /= n_tokens
        for i in range(held_start[d], held_start[d + 1]):
            w = np.int64(held_word[i])
            here = word_at(w, trees)
            found = 0.0
            if n_tokens == 0:
                mass = trees.words.mass[here.begin + w + here.size]
                found = (mass + here.size * trees.of_words.from_here[0]) / n_leaves
            elif here.size > 0:
                total, _ = weigh(trees, scratch, here, DrawnToken(np.int64(NOWHERE), np.int64(0), 0.0))
                found = total / n_tokens
            prob[i] = found / peak + lost * lacking.share[w]


@njit(cache=True, nogil=True, error_model="numpy")
def smooth_entries(first, last, start, size, leaf, finder, rate_word, smoothing):
    """Write B_w(z) for every entry of words first .. last - 1.                                      docs/math (T1)"""
    for w in range(first, last):
        begin, end = start[w], start[w] + size[w]
        for j in range(begin, end):
            smoothing[j] = 0.0
        for h in range(finder.shape[0] - 1):
            j = begin
            while j < end:
                node, k = node_at(leaf[j], h, finder), j + 1
                while k < end and node_at(leaf[k], h, finder) == node:
                    k += 1
                for i in range(j, k):
                    smoothing[i] += of_node(node, h, rate_word) * (k - j)
                j = k


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def weigh_unseen(trees, scratch, missing):
    """Sum a document's mass times what is lacking there, over leaves: node by node.                 docs/math (T12)

    `queue` (rows, 4) takes the nodes and their levels, `weight` (rows,) the running sums. Returns sum and nodes.
    """
    node, queue, weight, below = scratch.node, scratch.queue, scratch.weight, trees.below
    rate_doc, given_doc, depth, total = trees.of_documents.rate, trees.of_documents.given, below.shape[0] - 1, 0.0
    queue[0, 0], queue[0, 3] = 0, 0
    q, end = 0, 1
    while q < end:
        at, h = queue[q, 0], queue[q, 3]
        a = np.int64(node[at, ID])
        here = missing[first_leaf(a + 1, h, below)] - missing[first_leaf(a, h, below)]
        n = node[at, ENTRIES]
        total += here * (n * of_node(a, h, rate_doc) if h < depth else node[at, TOKENS] - n * given_doc[h])
        weight[q] = total
        child = node[at, CHILD]
        while child >= 0:
            queue[end, 0], queue[end, 3] = child, h + 1
            end += 1
            child = node[child, NEXT]
        q += 1
    return total, end


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def unseen_leaf(first, last, missing, rng):
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


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def draw_unseen(trees, scratch, missing):
    """Draw a leaf by the document's mass times what the words lack there.                          docs/math (T12)"""
    node, queue, weight, below, rng = scratch.node, scratch.queue, scratch.weight, trees.below, scratch.rng
    if node[0, TOKENS] == 0:
        return unseen_leaf(np.int64(0), first_leaf(1, 0, below), missing, rng)
    total, n_nodes = weigh_unseen(trees, scratch, missing)
    x, q = uniform(rng) * total, 0
    while q < n_nodes - 1 and weight[q] <= x:
        q += 1
    if weight[q] <= x:  # rounding: the root is in each document's tree
        q = 0
    h = queue[q, 3]
    a = np.int64(node[queue[q, 0], ID])
    return unseen_leaf(first_leaf(a, h, below), first_leaf(a + 1, h, below), missing, rng)


@njit(cache=True, nogil=True, error_model="numpy")
def score_documents(documents, key, n_particles, resample, trees, lacking, scratch, printed, unbiased):
    """Write both estimates of the log probability of each document.                         docs/math (T12), (D4)

    As its namesake for dense topics. `documents`: where each begins, the words, and what the random numbers come from.
    `lacking.share` (W,) is what a word takes of the lacking mass, and for a word that the fit never saw its
    probability; other words share `lacking.known`. A word that was never seen says nothing about leaves.
    """
    start, word, content = borrowed(documents)
    trees, lacking, scratch = borrowed(trees), borrowed(lacking), borrowed(scratch)
    missing, spread, share, sizes = lacking.missing, lacking.spread, lacking.share, trees.words.size
    node, path, trail, finder, rng = scratch.node, scratch.path, scratch.trail, trees.finder, scratch.rng
    longest, depth, n_leaves = 1, trees.below.shape[0] - 1, first_leaf(1, 0, trees.below)
    for d in range(content.size):
        longest = max(longest, start[d + 1] - start[d])
    z, sums, log_products = np.empty(longest, np.int32), np.empty(longest), np.empty(n_particles)
    for d in range(content.size):
        begin, N = start[d], start[d + 1] - start[d]
        sums[:N] = 0.0
        for r in range(n_particles):
            open_particle(rng, key, content[d], r)
            clear_document(node, N, depth)
            lacks, log_product = 0.0, 0.0  # lacks: the sum of `weigh_unseen`, kept up to date
            for i in range(N):
                p = share[word[begin + i]]  # the first token of a word; a later one draws the earlier tokens again
                for step in range(0 if resample else i, i + 1 if sizes[word[begin + i]] > 0 else 0):
                    w = np.int64(word[begin + step])
                    if sizes[w] == 0:
                        continue
                    if step < i:
                        old, entries = np.int64(z[step]), node[0, ENTRIES]
                        write_path(path, old, finder)
                        take_token(node, path, trail)
                        lacks -= missing[old + 1] - missing[old]
                        lacks -= spread[old] * (entries - node[0, ENTRIES])
                    n_before = node[0, TOKENS]
                    if n_before == 0:
                        lacks = 0.0
                    taken = DrawnToken(np.int64(NOWHERE), np.int64(0), 0.0)
                    new, found = draw_leaf(trees, scratch, word_at(w, trees), taken, np.bool_(False))
                    found /= lacking.peak
                    lost = share[w] * (max(lacks, 0.0) / n_before if n_before > 0 else missing[n_leaves] / n_leaves)
                    if lost > 0.0 and uniform(rng) * (found + lost) >= found:
                        new = draw_unseen(trees, scratch, missing)
                    z[step] = new
                    entries = node[0, ENTRIES]
                    write_path(path, new, finder)
                    add_token(node, path, trail)
                    lacks += missing[new + 1] - missing[new] + spread[new] * (node[0, ENTRIES] - entries)
                    p = lacking.known * (found + lost)
                sums[i] += p
                log_product += math.log(p)
            log_products[r] = log_product
        printed[d], unbiased[d] = log_averages(sums, N, log_products)
