"""Compiled weights of nodes in documents (docs/math (F8)); twin in baselines/tests/nested_hdp/reference.py."""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak_baselines.nested_hdp.kernels.documents import ascend, select


@njit(cache=True, nogil=True, error_model="numpy")
def spread_out(node, up, tokens, parent, start, inner, g, alpha, mean, scale, stop, stick, later, arrived, weight):
    """Write the expected weights of all nodes of a document, and the rest last, to weight (K + 1,).      docs/math (F8)

    Parameters
    ----------
    node, up, tokens : (T,)
        The slots of the document.
    parent, start, inner, g : (K,), (K + 2,), (K,), (K,)
        Of the tree: g has the expected weight of each node among the children of its parent; what these lack to one
        belongs to nodes that are not there.
    alpha, mean, scale : float
    stop, stick, later, arrived : (K + 1,), (K + 1,), (T + 1,), (K + 1,)
        Room; the root comes first.
    """
    K, T = parent.size, node.size
    below = tokens.copy()
    for t in range(T - 1, -1, -1):
        if up[t] >= 0:
            below[up[t]] += below[t]
    for k in range(K + 1):
        stop[k], stick[k], arrived[k] = 0.0, 0.0, 0.0
    for k in range(K):
        stop[k + 1] = mean if inner[k] else 1.0
    later[: T + 1] = 0.0
    for t in range(T):
        later[up[t] + 1] += below[t]
        if inner[node[t]]:
            stop[node[t] + 1] = (mean * scale + tokens[t]) / (scale + below[t])
    left = np.ones(T + 1)
    for t in range(T):
        p = up[t] + 1
        later[p] = max(later[p] - below[t], 0.0)
        share = (1.0 + below[t]) / (1.0 + below[t] + alpha + later[p])
        stick[node[t] + 1] = left[p] * share
        left[p] *= 1.0 - share
    of_prior = np.ones(K + 1)  # of what goes on below a node: what no stick has taken
    of_prior[0] = left[0]
    for t in range(T):
        of_prior[node[t] + 1] = left[t + 1]
    arrived[0], weight[K] = 1.0, 0.0
    for k in range(-1, K):
        go = arrived[k + 1] * (1.0 - stop[k + 1])
        if k >= 0:
            weight[k] = arrived[k + 1] * stop[k + 1]
        if k >= 0 and not inner[k]:
            continue
        rest = 1.0
        for child in range(start[k + 1], start[k + 2]):
            arrived[child + 1] = go * (stick[child + 1] + of_prior[k + 1] * g[child])
            rest -= g[child]
        weight[K] += go * of_prior[k + 1] * max(rest, 0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def document_weights(
    indptr, word, count, elog, log_g, g, parent, start, inner, alpha, mean, scale, tolerance, max_sweeps, most, out
):  # fmt: skip
    """Write the weights of documents, out (D, K + 1), that of the rest last.                             docs/math (F8)

    `most` is the largest number of nodes of a document; the others are as in `visit` and `spread_out`.
    """
    K, longest = log_g.size, np.int64(0)
    for d in range(indptr.size - 1):
        longest = max(longest, indptr[d + 1] - indptr[d])
    candidate, of_slot, bound, checked = (
        np.empty(K, np.int64),
        np.empty(K, np.int64),
        np.empty(K),
        np.empty(K, np.int64),
    )
    log_R, E, share = np.empty(longest), np.empty((longest, most)), np.empty((longest, most))
    n_below, reach, log_weight, below = np.empty(most + 1, np.int64), np.empty(most + 1), np.empty(most), np.empty(most)
    later, left, go, stop = np.empty(most + 1), np.empty(most + 1), np.empty(most + 1), np.empty(K + 1)
    stick, arrived, tokens = np.empty(K + 1), np.empty(K + 1), np.empty(most)
    node, up = np.empty(most, np.int32), np.empty(most, np.int32)
    expE, largest, weight = np.empty((longest, most)), np.empty(longest), np.empty(most)
    for d in range(indptr.size - 1):
        low, high = indptr[d], indptr[d + 1]
        w, c, n = word[low:high], count[low:high], 0
        if high > low:
            n = select(
                w, c, elog, log_g, start, inner, alpha, mean, scale, node, up, log_R, candidate, of_slot, bound,
                checked, n_below, reach,
            )  # fmt: skip
            tokens[:n] = 0.0
            ascend(
                w, c, elog, log_g, inner, alpha, mean, scale, tolerance, max_sweeps, node[:n], up[:n], tokens[:n],
                share[: w.size], E, expE, largest, log_weight, weight, below, later, left, go,
            )  # fmt: skip
        spread_out(
            node[:n], up[:n], tokens[:n], parent, start, inner, g, alpha, mean, scale, stop, stick, later, arrived,
            out[d],
        )  # fmt: skip
