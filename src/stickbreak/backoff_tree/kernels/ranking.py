"""The most probable words of each leaf, without the probabilities of all words; tests compare with all of them."""

from __future__ import annotations

import numpy as np

from stickbreak.backoff_tree.kernels.shapes import node_at, of_node
from stickbreak.numerics.compiling import njit


@njit(cache=True, nogil=True, error_model="numpy")
def insert_word(w, value, length, words, values):
    """Put a word into a list that descends by value, ties by word; return how long the list is now."""
    at = length
    while at > 0 and (values[at - 1] < value or (values[at - 1] == value and words[at - 1] > w)):
        at -= 1
    if at == words.size:
        return length
    length = min(length + 1, words.size)
    for i in range(length - 1, at, -1):
        words[i], values[i] = words[i - 1], values[i - 1]
    words[at], values[at] = w, value
    return length


@njit(cache=True, nogil=True, error_model="numpy")
def rank_words(leaf_start, entry_word, kept, leaves, finder, rate_word, peak, n_words, top):
    """Write the words of highest P(w | z) of leaves with tokens, the highest first, ties by word.  math.md (T13)

    Leaf leaves[k] (ascending) has the words entry_word[leaf_start[k] : leaf_start[k + 1]], with what they keep there.
    `top` is (K, M), M <= W. Only words below a node gain by it, so its best are among those and the best of its parent.
    """
    depth, K, M = finder.shape[0] - 1, leaves.size, top.shape[1]
    times = np.zeros(n_words, np.int64)  # leaves of the word below a node
    smoothing = np.zeros((depth, n_words))  # B_w of the nodes on the path down to each level; of words below it only
    best, value = np.zeros((depth + 1, M), np.int64), np.zeros((depth + 1, M))  # of each level; of no node at all first
    best[0] = np.arange(M)
    here, here_value = np.empty(M, np.int64), np.empty(M)
    held = np.full(n_words, -1, np.int64)  # the last leaf where a word was
    for k in range(K):
        for h in range(depth):
            node = node_at(leaves[k], h, finder)
            if k > 0 and node_at(leaves[k - 1], h, finder) == node:
                continue
            last = k + 1
            while last < K and node_at(leaves[last], h, finder) == node:
                last += 1
            for e in range(leaf_start[k], leaf_start[last]):
                times[entry_word[e]] += 1
            length = 0
            for i in range(M):
                if times[best[h, i]] == 0:
                    length = insert_word(best[h, i], value[h, i], length, best[h + 1], value[h + 1])
            for e in range(leaf_start[k], leaf_start[last]):
                w = entry_word[e]
                if times[w] > 0:
                    above = smoothing[h - 1, w] if h > 0 else 0.0
                    smoothing[h, w] = above + of_node(node, h, rate_word) * times[w]
                    length = insert_word(w, smoothing[h, w], length, best[h + 1], value[h + 1])
                    times[w] = 0
        length = 0
        for e in range(leaf_start[k], leaf_start[k + 1]):
            w = entry_word[e]
            held[w] = k
            length = insert_word(w, (smoothing[depth - 1, w] + kept[e]) / peak, length, here, here_value)
        for i in range(M):
            w = best[depth, i]
            if held[w] != k:
                length = insert_word(w, value[depth, i] / peak, length, here, here_value)
        top[k] = here
