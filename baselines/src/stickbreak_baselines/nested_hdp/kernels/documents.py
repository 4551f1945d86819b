"""Compiled local step of `NestedHDP` (docs/math (F2) to (F4)): documents one after another.

A document has slots 0 to T - 1, each a node of the tree, in the order in which they were selected: a parent comes
before its children, and the children of a node have the sticks of the document in that order.
"""

from __future__ import annotations

import math

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.special import digamma, log_gamma

CUT = 46.0  # nats; exp(-46) = 1e-20 is below the rounding of a double next to 1
LEAST = 1e-250  # of a sum of products, below which digits may be lost


@njit(cache=True, nogil=True, error_model="numpy")
def _log_of_sum(x, y):
    """log(exp(x) + exp(y)) for y that is finite."""
    if x < y:
        x, y = y, x
    return x + math.log1p(math.exp(y - x))


@njit(cache=True, nogil=True, error_model="numpy")
def _gain(word, count, elog, k, log_weight, log_R):
    """Return what a further node of this prior weight adds to the bound, but for its g.               docs/math (F2)"""
    total = 0.0
    for i in range(word.size):
        x = log_weight + elog[word[i], k] - log_R[i]
        if x > CUT:
            total += count[i] * x
        elif x > -CUT:
            total += count[i] * math.log1p(math.exp(x))
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def select(
    word, count, elog, log_g, start, inner, alpha, mean, scale, node, up, log_R,
    candidate, of_slot, bound, checked, n_below, reach,
):  # fmt: skip
    """Select the nodes of a document, the one that raises the bound most after the other.               docs/math (F2)

    Gains only fall as nodes are selected, so a gain that was found earlier is a bound of the gain now: only the best of
    these bounds are computed again.

    Parameters
    ----------
    word, count : of the document
    elog, log_g : (W_b, K), (K,)
        E log phi_kw, E log g_k.
    start, inner : of the tree
    alpha, mean, scale : float
    node, up : (T,)
        Take the nodes and the slots of their parents; -1 is the root.
    log_R, candidate, of_slot, bound, checked : (n,), (K,), (K,), (K,), (K,)
        Room: of words, and of candidates.
    n_below, reach : (T + 1,), (T + 1,)
        Room: children that a slot has, and the log prior weight of what goes on below it; the root comes first.

    Returns
    -------
    int
        Number of nodes.
    """
    both = digamma(1.0 + alpha)
    take, leave = digamma(1.0) - both, digamma(alpha) - both
    both = digamma(scale)
    stop, go = digamma(mean * scale) - both, digamma((1.0 - mean) * scale) - both
    n, n_slots, reach[0], n_below[0] = 0, 0, 0.0, 0
    for k in range(start[0], start[1]):
        candidate[n], of_slot[n], bound[n], checked[n] = k, -1, np.inf, -1
        n += 1
    for i in range(word.size):
        log_R[i] = -np.inf
    while n_slots < node.size and n > 0:
        best = 0
        while True:
            best = int(np.argmax(bound[:n]))
            if checked[best] == n_slots:
                break
            k, slot = candidate[best], of_slot[best] + 1
            weight = reach[slot] + n_below[slot] * leave + take
            if inner[k]:
                weight += stop
            found = log_g[k]
            if n_slots:
                found += _gain(word, count, elog, k, weight, log_R)
            else:
                for i in range(word.size):
                    found += count[i] * elog[word[i], k]
            bound[best], checked[best] = found, n_slots
        if n_slots and not bound[best] > 0.0:
            break
        k, slot = candidate[best], of_slot[best] + 1
        weight = reach[slot] + n_below[slot] * leave + take
        node[n_slots], up[n_slots] = k, slot - 1
        n_below[slot] += 1
        n_slots += 1
        reach[n_slots], n_below[n_slots] = weight + go, 0
        if inner[k]:
            weight += stop
        for i in range(word.size):
            log_R[i] = _log_of_sum(log_R[i], weight + elog[word[i], k])
        n -= 1
        candidate[best], of_slot[best], bound[best] = candidate[n], of_slot[n], bound[n]
        checked[best] = checked[n]
        if n_slots == 1:
            for j in range(n):
                bound[j] = np.inf
        for child in range(start[k + 1], start[k + 2]):
            candidate[n], of_slot[n], bound[n], checked[n] = child, n_slots - 1, np.inf, -1
            n += 1
    return n_slots


@njit(cache=True, nogil=True, error_model="numpy")
def _of_beta(a, b, c, d, taken, left):
    """-KL(Beta(a, b) || Beta(c, d)), given E log of the share that is taken and of what is left."""
    of_norms = log_gamma(c + d) - log_gamma(c) - log_gamma(d) - log_gamma(a + b) + log_gamma(a) + log_gamma(b)
    return of_norms + (c - a) * taken + (d - b) * left


@njit(cache=True, nogil=True, error_model="numpy")
def break_sticks(node, up, inner, tokens, alpha, mean, scale, log_weight, below, later, left, go):
    """Set sticks and switches to their optimum, given expected tokens.  Returns what they add to the bound.

    docs/math (F3). Writes E log of the weight of each slot to log_weight (T,), and the tokens at and below each to
    `below` (T,); `later`, `left` and `go` (T + 1,) are room, the root first.
    """
    T, value = node.size, 0.0
    later[: T + 1], left[: T + 1], go[: T + 1] = 0.0, 0.0, 0.0
    for t in range(T):
        below[t] = tokens[t]
    for t in range(T - 1, -1, -1):
        if up[t] >= 0:
            below[up[t]] += below[t]
    for t in range(T):
        later[up[t] + 1] += below[t]
    for t in range(T):
        p = up[t] + 1
        later[p] = max(later[p] - below[t], 0.0)
        a, b = 1.0 + below[t], alpha + later[p]
        both = digamma(a + b)
        taken, rest = digamma(a) - both, digamma(b) - both
        value += _of_beta(a, b, 1.0, alpha, taken, rest)
        log_weight[t] = go[p] + left[p] + taken
        left[p] += rest
        if inner[node[t]]:
            a, b = mean * scale + tokens[t], (1.0 - mean) * scale + max(below[t] - tokens[t], 0.0)
            both = digamma(a + b)
            taken, rest = digamma(a) - both, digamma(b) - both
            value += _of_beta(a, b, mean * scale, (1.0 - mean) * scale, taken, rest)
            go[t + 1] = log_weight[t] + rest
            log_weight[t] += taken
    return value


@njit(cache=True, nogil=True, error_model="numpy")
def _share_out(count, E, expE, largest, log_weight, weight, share, tokens):
    """Set the shares of slots in words, (n, T), and their tokens.  Returns sum_w c_w log Z_w.           docs/math (F3)

    expE (n, T) is exp(E - largest), largest (n,) the largest E of each word. Where the products of a word underflow,
    its shares are found from the logarithms.
    """
    T, value, top = log_weight.size, 0.0, log_weight.max()
    for t in range(T):
        tokens[t], weight[t] = 0.0, math.exp(log_weight[t] - top)
    for i in range(count.size):
        total, log_total = 0.0, largest[i] + top
        for t in range(T):
            share[i, t] = expE[i, t] * weight[t]
            total += share[i, t]
        if total < LEAST:
            log_total, total = (E[i, :T] + log_weight).max(), 0.0
            for t in range(T):
                share[i, t] = math.exp(E[i, t] + log_weight[t] - log_total)
                total += share[i, t]
        for t in range(T):
            share[i, t] /= total
            tokens[t] += count[i] * share[i, t]
        value += count[i] * (log_total + math.log(total))
    return value


@njit(cache=True, nogil=True, error_model="numpy")
def ascend(
    word, count, elog, log_g, inner, alpha, mean, scale, tolerance, max_sweeps, node, up, tokens, share, E, expE,
    largest, log_weight, weight, below, later, left, go,
):  # fmt: skip
    """Ascend the bound of a document in its sticks, switches and nodes of words, its slots fixed.       docs/math (F3)

    Parameters
    ----------
    word, count, elog, log_g, inner, alpha, mean, scale : as in `select`
    tolerance : float
        The document ends when a sweep raises its bound by less, in nats per token.
    max_sweeps : int
    node, up : (T,)
    tokens : (T,)
        Expected tokens of the slots to begin with (0: sticks of the prior), and then those found.
    share : (n, T)
        Takes the shares of words in slots.
    E, expE, largest, log_weight, weight, below, later, left, go
        Room.

    Returns
    -------
    value, sweeps : float, int
        The bound of the document, and sweeps.
    """
    T, length = node.size, count.sum()
    of_nodes = 0.0
    for t in range(T):
        of_nodes += log_g[node[t]]
        for i in range(word.size):
            E[i, t] = elog[word[i], node[t]]
    for i in range(word.size):
        largest[i] = E[i, :T].max()
        for t in range(T):
            expE[i, t] = math.exp(E[i, t] - largest[i])
    of_sticks = break_sticks(node, up, inner, tokens, alpha, mean, scale, log_weight, below, later, left, go)
    value, sweeps, before = 0.0, 0, -np.inf
    while sweeps < max_sweeps:
        value = of_nodes + of_sticks + _share_out(count, E, expE, largest, log_weight[:T], weight, share, tokens)
        for t in range(T):
            value -= tokens[t] * log_weight[t]
        value -= of_sticks
        of_sticks = break_sticks(node, up, inner, tokens, alpha, mean, scale, log_weight, below, later, left, go)
        for t in range(T):
            value += tokens[t] * log_weight[t]
        value += of_sticks
        sweeps += 1
        if not value - before > tolerance * length:
            break
        before = value
    return value, sweeps


@njit(cache=True, nogil=True, error_model="numpy")
def visit(
    indptr, word, count, elog, log_g, start, inner, alpha, mean, scale, tolerance, max_sweeps, fresh,
    node, up, n_slots, tokens, share, value, sweeps,
):  # fmt: skip
    """Do the local step of documents.                                                      docs/math (F2), (F3), (F4)

    Parameters
    ----------
    indptr, word, count : of the documents
    elog, log_g : (W_b, K), (K,)
    start, inner : of the tree
    alpha, mean, scale, tolerance, max_sweeps : as in `ascend`
    fresh : bool
        Whether subtrees are selected; a document that has one takes the new one where the bound is larger. Otherwise
        each document keeps its own.
    node, up, n_slots, tokens : (D_b, T), (D_b, T), (D_b,), (D_b, T)
        The subtree of each document, changed in place; n_slots 0: it has none yet.
    share : (nnz, T)
        Takes the shares of words in slots.
    value, sweeps : (D_b,)
        Take the bound of each document, and sweeps.
    """
    K, T, longest = log_g.size, node.shape[1], np.int64(0)
    for d in range(indptr.size - 1):
        longest = max(longest, indptr[d + 1] - indptr[d])
    candidate, of_slot, bound, checked = (
        np.empty(K, np.int64),
        np.empty(K, np.int64),
        np.empty(K),
        np.empty(K, np.int64),
    )
    log_R, E, n_below, reach = np.empty(longest), np.empty((longest, T)), np.empty(T + 1, np.int64), np.empty(T + 1)
    log_weight, below, later, left, go = np.empty(T), np.empty(T), np.empty(T + 1), np.empty(T + 1), np.empty(T + 1)
    new_node, new_up, new_tokens = np.empty(T, node.dtype), np.empty(T, up.dtype), np.empty(T)
    new_share, expE, largest, weight = np.empty((longest, T)), np.empty((longest, T)), np.empty(longest), np.empty(T)
    for d in range(indptr.size - 1):
        low, high = indptr[d], indptr[d + 1]
        value[d], sweeps[d] = 0.0, 0
        if low == high:
            continue
        w, c, n = word[low:high], count[low:high], n_slots[d]
        if n:
            value[d], sweeps[d] = ascend(
                w, c, elog, log_g, inner, alpha, mean, scale, tolerance, max_sweeps, node[d, :n], up[d, :n],
                tokens[d, :n], share[low:high], E, expE, largest, log_weight, weight, below, later, left, go,
            )  # fmt: skip
        if not fresh and n:
            continue
        m = select(
            w, c, elog, log_g, start, inner, alpha, mean, scale, new_node, new_up, log_R,
            candidate, of_slot, bound, checked, n_below, reach,
        )  # fmt: skip
        new_tokens[:m] = 0.0
        found, swept = ascend(
            w, c, elog, log_g, inner, alpha, mean, scale, tolerance, max_sweeps, new_node[:m], new_up[:m],
            new_tokens[:m], new_share[: w.size], E, expE, largest, log_weight, weight, below, later, left, go,
        )  # fmt: skip
        sweeps[d] += swept
        if n == 0 or found > value[d]:
            value[d], n_slots[d] = found, m
            for t in range(m):
                node[d, t], up[d, t], tokens[d, t] = new_node[t], new_up[t], new_tokens[t]
                for i in range(w.size):
                    share[low + i, t] = new_share[i, t]


@njit(cache=True, nogil=True, error_model="numpy")
def add_statistics(indptr, word, count, node, n_slots, share, S, picks):
    """Add the expected tokens of documents to S (W_b, K), and their subtrees to picks (K,).           docs/math (F5)"""
    for d in range(indptr.size - 1):
        for t in range(n_slots[d]):
            picks[node[d, t]] += 1.0
        for i in range(indptr[d], indptr[d + 1]):
            row = S[word[i]]
            for t in range(n_slots[d]):
                row[node[d, t]] += count[i] * share[i, t]
