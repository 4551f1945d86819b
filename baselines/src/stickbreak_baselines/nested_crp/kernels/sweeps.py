"""A sweep of Gibbs sampling of paths and levels (docs/math (R2), (R3)); twin: tests/nested_crp/reference.py."""

from __future__ import annotations

import math

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_random import open_stream, uniform
from stickbreak_baselines.nested_crp.kernels.nodes import FREE, add_token, grow, put_document, take_token

_ONE = np.uint64(1)


@njit(cache=True, nogil=True, error_model="numpy")
def stick_weights(n, mean, scale, weight):
    """weight[h] = E of the share of level h in a document with n[h] tokens there; they sum to one.   docs/math (R1)"""
    last = n.size - 1
    left, above = 0.0, 1.0
    for h in range(n.size):
        left += n[h]
    for h in range(last):
        share = (mean * scale + n[h]) / (scale + left)
        weight[h] = above * share
        left -= n[h]
        above *= ((1.0 - mean) * scale + left) / (scale + left + n[h])
    weight[last] = above


@njit(cache=True, nogil=True, error_model="numpy")
def _gather(words, z, word, amount):
    """Write the different words of a document at each level with their counts; return where each level begins."""
    n_levels, size = word.shape[0], np.zeros(word.shape[0], np.int64)
    for i in range(words.size):
        h = z[i]
        if size[h] and word[h, size[h] - 1] == words[i]:
            amount[h, size[h] - 1] += 1
        else:
            word[h, size[h]], amount[h, size[h]] = words[i], 1
            size[h] += 1
    return size[:n_levels]


@njit(cache=True, nogil=True, error_model="numpy")
def _score(h, size, word, amount, n_here, heads, lists, bits, level, n_tokens, log_gamma, first, total_eta, score):
    """Write log p of the words of a document at level h under each node there; return it for a new node. docs/math (R2)

    log_gamma[first[w] + n] is log Gamma(eta_hw + n).
    """
    base, mask = math.lgamma(total_eta) - math.lgamma(total_eta + n_here), (_ONE << bits) - _ONE
    for j in range(size):
        zero = first[word[h, j]]
        base += log_gamma[zero + amount[h, j]] - log_gamma[zero]
    words = base - (math.lgamma(total_eta) - math.lgamma(total_eta + n_here))
    for node in range(level.size):
        if level[node] == h:
            n = total_eta + n_tokens[node]
            score[node] = words + math.lgamma(n) - math.lgamma(n + n_here)
    for j in range(size):
        c, head = amount[h, j], np.uint64(heads[word[h, j]])
        zero = first[word[h, j]]
        alone = log_gamma[zero] - log_gamma[zero + c]
        for s in range(head + _ONE, head + _ONE + np.uint64(lists[head])):
            entry = np.uint64(lists[s])
            node = entry & mask
            if level[node] == h:
                n = zero + np.int64(entry >> bits)
                score[node] += log_gamma[n + c] - log_gamma[n] + alone
    return base


@njit(cache=True, nogil=True, error_model="numpy")
def _onward(node, n_documents, n_kept):
    """Return how many documents went on below a node: the one that a seed has ends at its node.      docs/math (R7)"""
    return n_documents[node] - 1 if 0 < node <= n_kept else n_documents[node]


@njit(cache=True, nogil=True, error_model="numpy")
def _draw_path(d, path, n_levels, level, parent, n_documents, n_kept, score, new, gamma, rng, reached):
    """Draw the path of a document that is in no node: an existing leaf, or a node below which it opens a new branch.

    docs/math (R2). score[node] becomes the log weight of the way to a node, its words included; new[h] is log p of
    the words of levels h and deeper at new nodes.
    """
    size, most = level.size, -np.inf
    score[path[d, 0]] = 0.0
    for h in range(1, n_levels):
        for node in range(size):
            if level[node] == h:
                above = parent[node]
                score[node] += (
                    score[above] + math.log(n_documents[node]) - math.log(_onward(above, n_documents, n_kept) + gamma)
                )
    for node in range(size):
        if level[node] == FREE:
            continue
        x = score[node]
        if level[node] < n_levels - 1:
            x += math.log(gamma) - math.log(_onward(node, n_documents, n_kept) + gamma) + new[level[node] + 1]
        reached[node] = x
        most = max(most, x)
    total = 0.0
    for node in range(size):
        if level[node] != FREE:
            reached[node] = math.exp(reached[node] - most)
            total += reached[node]
    u, last = uniform(rng) * total, -1
    for node in range(size):
        if level[node] != FREE and reached[node] > 0.0:
            last = node
            if u < reached[node]:
                break
            u -= reached[node]
    deepest, node = level[last], last
    for h in range(deepest, 0, -1):
        path[d, h] = node
        node = parent[node]
    return deepest + 1


@njit(cache=True, nogil=True, error_model="numpy")
def _draw_levels(
    words, z, nodes, n, mean, scale, heads, lists, bits, n_tokens, eta, of_words, total_eta, count, mark, weight, rng
):
    """Draw the level of each token of a document given its path; return the sum of log p of tokens given all others.

    docs/math (R3). mark[node] is 1 + level for the nodes of the path, 0 for all others.
    """
    log_p, mask = 0.0, (_ONE << bits) - _ONE
    for h in range(n.size):
        mark[nodes[h]] = h + 1
    for i in range(words.size):
        old, head, ratio = z[i], np.uint64(heads[words[i]]), of_words[words[i]]
        n[old] -= 1.0
        n_tokens[nodes[old]] -= 1
        for h in range(n.size):
            count[h] = 0.0
        for s in range(head + _ONE, head + _ONE + np.uint64(lists[head])):
            entry = np.uint64(lists[s])
            h = mark[entry & mask]
            if h:
                count[h - 1] = np.float64(np.int64(entry >> bits))
        count[old] -= 1.0
        stick_weights(n, mean, scale, weight)
        total = 0.0
        for h in range(n.size):
            weight[h] *= (count[h] + eta[h] * ratio) / (n_tokens[nodes[h]] + total_eta[h])
            total += weight[h]
        log_p += math.log(total)
        u, new = uniform(rng) * total, 0
        while new < n.size - 1 and u >= weight[new]:
            u -= weight[new]
            new += 1
        n[new] += 1.0
        n_tokens[nodes[new]] += 1
        if new != old:
            take_token(lists, head, bits, np.uint64(nodes[old]))
            add_token(lists, head, bits, np.uint64(nodes[new]))
            z[i] = new
    for h in range(n.size):
        mark[nodes[h]] = 0
    return log_p


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(
    start, word, z, path, there, heads, lists, bits, level, parent, n_documents, n_tokens, n_kept, mean, scale, gamma,
    eta, of_words, log_gamma, of_level, of_word, key,
):  # fmt: skip
    """Draw the path of each document, then the levels of its tokens, given all others.          docs/math (R2), (R3)

    Parameters
    ----------
    start : ndarray of shape (D + 1,)
        Document d has the tokens start[d] to start[d + 1] - 1, equal words side by side.
    word, z : ndarray of shape (N,)
        The levels z are changed in place, as is all that follows.
    path : ndarray of shape (D, L)
        Nodes from the root, which is node 0, down.
    there : bool
        Whether the documents are in the tree. If not, they come one after the other.
    heads : ndarray of shape (W,)
    lists : ndarray
        Nodes of each word.
    bits : uint64
        Of a node in an entry.
    level, parent, n_documents, n_tokens : ndarray of shape (J,)
        Of nodes; a number that no node has, has the level -1.
    n_kept : int
        Nodes 1 to `n_kept` are those of seeds, with a document and tokens that stay.
    mean, scale : float
        m and pi of the levels of a document.
    gamma : float
    eta, of_words : ndarray of shape (L,) and (W,)
        eta of a word at a level is the product.
    log_gamma : ndarray
        log Gamma(eta_hw + n), that of n = 0 at of_level[h] + of_word[w].
    of_level, of_word : ndarray of shape (L,) and (W,)
    key : uint64
        Document d has the stream of that number.

    Returns
    -------
    float
        The sum over tokens of log p given all others, as they are drawn.
    """
    n_levels, longest, log_p = path.shape[1], np.int64(0), 0.0
    for d in range(start.size - 1):
        longest = max(longest, start[d + 1] - start[d])
    words, amount = np.empty((n_levels, longest), np.int64), np.empty((n_levels, longest), np.int64)
    n, new, top = np.zeros(n_levels), np.zeros(n_levels + 1), 1  # numbers from `top` on have no node
    for node in range(level.size):
        if level[node] != FREE:
            top = node + 1
    count, weight, total_eta, rng = np.empty(n_levels), np.empty(n_levels), eta * of_words.sum(), np.empty(1, np.uint64)
    score, reached, mark = np.zeros(level.size), np.zeros(level.size), np.zeros(level.size, np.int64)
    for d in range(start.size - 1):
        open_stream(rng, key, d)
        here, levels = word[start[d] : start[d + 1]], z[start[d] : start[d + 1]]
        if there:
            put_document(d, -1, here, levels, path, heads, lists, bits, n_documents, n_tokens, level)
        level[0] = 0  # the root stays where its last document is away
        size = _gather(here, levels, words, amount)
        for h in range(n_levels):
            n[h] = 0.0
            for j in range(size[h]):
                n[h] += amount[h, j]
        new[n_levels] = 0.0
        for h in range(n_levels - 1, 0, -1):
            new[h] = new[h + 1] + _score(
                h, size[h], words, amount, n[h], heads, lists, bits, level[:top], n_tokens, log_gamma[of_level[h] :],
                of_word, total_eta[h], score,
            )  # fmt: skip
        path[d, 0] = 0
        h = _draw_path(d, path, n_levels, level[:top], parent, n_documents, n_kept, score, new, gamma, rng, reached)
        grow(d, h, path, parent, level)
        top = max(top, path[d].max() + 1)
        put_document(d, 1, here, levels, path, heads, lists, bits, n_documents, n_tokens, level)
        log_p += _draw_levels(
            here,
            levels,
            path[d],
            n,
            mean,
            scale,
            heads,
            lists,
            bits,
            n_tokens,
            eta,
            of_words,
            total_eta,
            count,
            mark,
            weight,
            rng,
        )
    return log_p
