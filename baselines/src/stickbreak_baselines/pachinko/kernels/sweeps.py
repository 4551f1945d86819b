"""A sweep of Gibbs sampling for Pachinko allocation, word by word; a twin in baselines/tests/pachinko/reference.py.

docs/math (P3). The paths of a document stand in lists (`sparse_gibbs/kernels/lists.py`). Weights of paths are single
precision, made of whole counts; sums of many are double.
"""

from __future__ import annotations

import math

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_random import open_stream, uniform
from stickbreak.sparse_gibbs.kernels.lists import EIGHT, draw, enter, leave, place_of
from stickbreak.sparse_gibbs.kernels.sweeps import LEAST, LEAST_PRODUCT, MOST_PRODUCT, prior_of_word

_ONE, _THREE, _SEVEN, _EIGHT = (np.uint64(n) for n in (1, 3, 7, EIGHT))


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _add_row(x, row, sums):
    """Add x row to sums."""
    for s in range(sums.size):
        sums[s] += x * row[s]


@njit(cache=True, nogil=True, error_model="numpy")
def _begin_word(begin, end, z, mask, inverse, b_by_topic, prior, n_w, phi, sums):
    """Count the topics of a word; phi_k = (n_kw + prior_k) / (n_k + total_k), and q_s = sum_k b_sk phi_k."""
    for k in range(np.uint64(n_w.size)):
        n_w[k] = 0
    for i in range(begin, end):
        n_w[np.uint64(z[i]) & mask] += 1
    for s in range(np.uint64(sums.size)):
        sums[s] = 0.0
    for k in range(np.uint64(n_w.size)):
        phi[k] = (np.float32(n_w[k]) + prior[k]) * inverse[k]
        _add_row(np.float64(phi[k]), b_by_topic[k], sums)


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _weigh_all(n, a, b_sum, row, change, sums, g, part):
    """g_s = (n_ds + a_s) / (n_ds + b_s), part[s] = g_s q_s without the token, whose topic loses `change`; the sum."""
    total = 0.0
    for s in range(a.size):
        x = (n[s] + a[s]) / (n[s] + b_sum[s])
        g[s] = x
        y = x * (sums[s] + change * row[s])
        part[s] = y
        total += y
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _weigh(lists, first, blocks, bits, topic_bits, own, g, phi, value, part):
    """value[j] = n_dsk g_s phi_k of the paths of a document, without the token of path `own`; part[c] of eight."""
    mask, of_topic = (_ONE << bits) - _ONE, (_ONE << topic_bits) - _ONE
    for c in range(blocks):
        place, of_block = c * _EIGHT, np.float32(0.0)
        for i in range(_EIGHT):
            entry = np.uint64(lists[first + place + i])
            path = entry & mask
            n = np.float32(np.int64(entry >> bits) - (1 if path == own else 0))
            x = n * g[path >> topic_bits] * phi[path & of_topic]
            value[place + i] = x
            of_block += x
        part[c] = of_block


@njit(cache=True, nogil=True, error_model="numpy")
def _of_all(u, n, a, b_sum, b, phi, part, topic_bits):
    """Return the path at which the running sum of g_s b_sk phi_k passes u."""
    s, end = np.uint64(0), np.uint64(a.size) - _ONE
    while s < end and u >= part[s]:
        u -= part[s]
        s += _ONE
    u *= (n[s] + b_sum[s]) / (n[s] + a[s])
    last = np.uint64(0)
    for k in range(np.uint64(b.shape[1])):
        x = b[s, k] * np.float64(phi[k])
        if x > 0.0:
            last = np.uint64(k)
            if u < x:
                break
            u -= x
    return s << topic_bits | last


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(
    start, where, document, z, lists, bits, topic_bits, none, n, n_super, a, b, b_by_topic, eta, known, topic, pseudo,
    total, key,
):  # fmt: skip
    """Draw the path of each token given all others; return the sum of log of the totals.       docs/math (P3), (L9)

    Parameters
    ----------
    start : ndarray of shape (W + 1,)
        Word w has the tokens start[w] to start[w + 1].
    where, document : ndarray of shape (N,)
        Head of the list of each token's document, and its number.
    z : ndarray of shape (N,)
        Paths, changed in place, as are `lists`, n and n_super.
    lists : ndarray
    bits, topic_bits : uint64
        Of a path in an entry, and of its topic.
    none : uint64
        The path of entries of no count.
    n : ndarray of shape (T,)
        Tokens of each topic.
    n_super : ndarray of shape (D, S)
        Tokens of each super-topic in each document.
    a : ndarray of shape (S,)
    b, b_by_topic : ndarray of shape (S, T) and (T, S)
    eta : ndarray of shape (W,)
    known, topic, pseudo : ndarray
        Word w has the pseudo-counts pseudo[known[w]] to pseudo[known[w + 1]] in these topics, beside eta.
    total : ndarray of shape (T,)
        Sum of eta and the pseudo-counts of each topic.
    key : uint64
        Word w has the stream of that number.
    """
    T, S = n.size, a.size
    widest = (np.int64(_ONE << bits)) + 2 * EIGHT
    inverse, phi, n_w = np.zeros(T, np.float32), np.zeros(T + 1, np.float32), np.zeros(T, np.int64)
    value, part = np.zeros(widest, np.float32), np.zeros(widest // EIGHT + 1, np.float32)
    g, sums, of_super, b_sum = np.zeros(S, np.float32), np.zeros(S), np.zeros(S), b.sum(axis=1)
    rng, prior_w, log_p, product = np.empty(1, np.uint64), np.zeros(T, np.float32), 0.0, 1.0
    mask, of_topic = (_ONE << bits) - _ONE, (_ONE << topic_bits) - _ONE
    for k in range(T):
        inverse[k] = 1.0 / (n[k] + total[k])
    for w in range(np.uint64(start.size - 1)):
        begin, end = np.uint64(start[w]), np.uint64(start[w + _ONE])
        if begin == end:
            continue
        open_stream(rng, key, w)
        prior_of_word(w, eta, known, topic, pseudo, prior_w)
        _begin_word(begin, end, z, of_topic, inverse, b_by_topic, prior_w, n_w, phi, sums)
        for i in range(begin, end):
            old, head, of_document = np.uint64(z[i]), np.uint64(where[i]), n_super[np.uint64(document[i])]
            k, size, before = old & of_topic, np.uint64(lists[head]), phi[old & of_topic]
            blocks = (size + _SEVEN) >> _THREE
            inverse_less = np.float32(1.0 / (n[k] - 1 + total[k]))
            phi[k] = (np.float32(n_w[k] - 1) + prior_w[k]) * inverse_less
            change = np.float64(phi[k]) - np.float64(before)
            of_document[old >> topic_bits] -= 1
            prior = max(_weigh_all(of_document, a, b_sum, b_by_topic[k], change, sums, g, of_super), LEAST)
            _weigh(lists, head + _ONE, blocks, bits, topic_bits, old, g, phi, value, part)
            own = 0.0
            for c in range(blocks):
                own += np.float64(part[c])
            of_all, product = own + prior, product * (own + prior)
            if not LEAST_PRODUCT < product < MOST_PRODUCT:
                log_p, product = log_p + math.log(product), 1.0
            u = uniform(rng) * of_all
            if u < own:
                s = draw(u, size, blocks, value, part)
                new = np.uint64(lists[head + _ONE + s]) & mask
            else:
                new = _of_all(u - own, of_document, a, b_sum, b, phi, of_super, topic_bits)
                s = place_of(lists, head + _ONE, size, mask, new)
            of_document[new >> topic_bits] += 1
            if new == old:
                phi[k] = before
                continue
            enter(lists, head, bits, new, s)
            leave(lists, head, bits, none, old)
            z[i] = new
            to = new & of_topic
            if to == k:
                phi[k] = before
                continue
            n_w[k] -= 1
            n_w[to] += 1
            n[k] -= 1
            n[to] += 1
            inverse[k], inverse[to], before = inverse_less, np.float32(1.0 / (n[to] + total[to])), phi[to]
            phi[to] = (np.float32(n_w[to]) + prior_w[to]) * inverse[to]
            _add_row(change, b_by_topic[k], sums)
            _add_row(np.float64(phi[to]) - np.float64(before), b_by_topic[to], sums)
    return log_p + math.log(product)
