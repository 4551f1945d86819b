"""New documents under the words' trees of a fitted model, and what these trees give to their own entries."""

from __future__ import annotations

import numpy as np

from stickbreak.backoff_tree.kernels.documents import draw_leaf
from stickbreak.backoff_tree.kernels.lacking import weigh_lacking
from stickbreak.backoff_tree.kernels.products import NOWHERE, weigh
from stickbreak.backoff_tree.kernels.shapes import first_leaf, node_at, of_node
from stickbreak.backoff_tree.kernels.trees import add_token, clear_document, open_samples, take_token, write_path
from stickbreak.numerics.borrowing import borrowed
from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_random import mix, open_stream


@njit(cache=True, nogil=True, error_model="numpy")
def sample_documents(
    first, last, doc_start, word, below, of_documents, of_words, words, directory, key, n_burn, samples, scratch
):
    """Sample the leaves of documents first .. last - 1, the words fixed.                            math.md (T10)

    Each token is placed given those before it, then all are sampled again pass by pass; passes after the first n_burn
    go to `samples` (passes, N). The random numbers of a document come from its words, not from its place.
    """
    doc_start, word, below, samples = borrowed((doc_start, word, below, samples))
    of_documents, of_words, words = borrowed(of_documents), borrowed(of_words), borrowed(words)
    directory, scratch = borrowed(directory), borrowed(scratch)
    delta_doc, rate_doc, given_doc = of_documents.delta, of_documents.rate, of_documents.given
    delta_word, rate_word, from_word = of_words.delta, of_words.rate, of_words.from_here
    start, sizes, leaf, mass = words.start, words.size, words.leaf, words.mass
    d_start, d_level, offset, row = directory.start, directory.level, directory.offset, directory.row
    node, path, nowhere, trail, finder = scratch.node, scratch.path, scratch.own, scratch.trail, scratch.finder
    queue, candidate, weight, rng = scratch.queue, scratch.candidate, scratch.weight, scratch.rng
    share, sums = scratch.share, scratch.sums
    for d in range(first, last):
        content = np.uint64(0)
        for i in range(doc_start[d], doc_start[d + 1]):
            content = mix(content ^ np.uint64(word[i] + 1))
        open_stream(rng, key, content)
        z = samples[0]
        clear_document(node, doc_start[d + 1] - doc_start[d], below.shape[0] - 1)
        for sweep in range(n_burn + samples.shape[0]):
            before = z
            z = samples[max(0, sweep - n_burn)]
            for i in range(doc_start[d], doc_start[d + 1]):
                if sweep > 0:
                    write_path(path, before[i], finder)
                    take_token(node, path, trail)
                w = np.int64(word[i])
                new, _ = draw_leaf(
                    node, below, finder, delta_doc, given_doc, rate_doc, delta_word, rate_word, from_word, w, start[w],
                    np.int64(sizes[w]), leaf, mass, np.int64(d_level[w]), offset, row, d_start[w],
                    nowhere, np.int64(NOWHERE), np.int64(0), 0.0, queue,
                    candidate, weight, share, sums, np.bool_(False), rng,
                )  # fmt: skip
                z[i] = new
                write_path(path, new, finder)
                add_token(node, path, trail)


@njit(cache=True, nogil=True, error_model="numpy")
def predict_words(
    first, last, doc_start, samples, held_start, held_word, below, of_documents, of_words, words, directory, peak,
    missing, share, scratch, prob,
):  # fmt: skip
    """Write the mean probability over samples of held-out words of documents first .. last - 1.     math.md (T11)

    `missing` (L + 1,) holds running sums over leaves of what the words' probabilities there lack to one; words take
    it by their `share` (W,). `prob` is parallel to `held_word`.
    """
    doc_start, samples, below, missing, share, prob = borrowed((doc_start, samples, below, missing, share, prob))
    held_start, held_word, words = borrowed(held_start), borrowed(held_word), borrowed(words)
    of_documents, of_words = borrowed(of_documents), borrowed(of_words)
    directory, scratch = borrowed(directory), borrowed(scratch)
    rate_doc, given_doc = of_documents.rate, of_documents.given
    rate_word, from_word = of_words.rate, of_words.from_here
    start, sizes, leaf, mass = words.start, words.size, words.leaf, words.mass
    d_start, d_level, offset, row = directory.start, directory.level, directory.offset, directory.row
    node, path, nowhere, trail, finder = scratch.node, scratch.path, scratch.own, scratch.trail, scratch.finder
    queue, candidate, weight = scratch.queue, scratch.candidate, scratch.weight
    n_leaves = first_leaf(1, 0, below)
    for d in range(first, last):
        n_tokens = samples.shape[0] * (doc_start[d + 1] - doc_start[d])
        open_samples(samples, doc_start[d], doc_start[d + 1], node, path, trail, finder)
        lost = missing[n_leaves] / n_leaves
        if n_tokens > 0:
            lost, _ = weigh_lacking(node, below, rate_doc, given_doc, missing, queue, weight)
            lost /= n_tokens
        for i in range(held_start[d], held_start[d + 1]):
            w = np.int64(held_word[i])
            size, begin = np.int64(sizes[w]), start[w]
            found = 0.0
            if n_tokens == 0:
                found = (mass[begin + w + size] + size * from_word[0]) / n_leaves
            elif size > 0:
                total, _ = weigh(
                    node, below, finder, given_doc, rate_doc, rate_word, from_word, w, begin, size, leaf, mass,
                    np.int64(d_level[w]), offset, row, d_start[w], nowhere,
                    np.int64(0), 0.0, queue, candidate, weight,
                )  # fmt: skip
                found = total / n_tokens
            prob[i] = found / peak + lost * share[w]


@njit(cache=True, nogil=True, error_model="numpy")
def smooth_entries(first, last, start, size, leaf, finder, rate_word, smoothing):
    """Write B_w(z) for every entry of words first .. last - 1.                                      math.md (T1)"""
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
