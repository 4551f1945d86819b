"""A sweep of sparse Gibbs sampling, word by word (math.md (L2)); a NumPy twin in tests/baselines/lda/reference.py.

Indices are unsigned: Numba takes others for places from the end where they are negative, and asks each time. Weights
are single precision, always made of whole counts, so that no error adds up; sums of many are double.
"""

from __future__ import annotations

import math

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_random import open_stream, uniform
from stickbreak.numerics.prefetch import prefetch
from stickbreak.sparse_gibbs.kernels.lists import EIGHT, draw, move, place_of
from stickbreak.sparse_gibbs.kernels.word_prior import prior_of_word

LEAST = 1e-60  # what rounding leaves of the sum of a_k phi_k at the least
LEAST_PRODUCT, MOST_PRODUCT = 1e-200, 1e200  # of totals, whose logarithm is taken once for many
_ONE, _THREE, _FIVE, _SEVEN, _EIGHT, _BLOCK = (np.uint64(n) for n in (1, 3, 5, 7, EIGHT, 32))
_AHEAD = np.uint64(12)  # tokens, whose lists are asked for before they are read
_WHOLE = np.float32(1.0)


@njit(cache=True, nogil=True, error_model="numpy")
def begin_word(begin, end, z, inverse, a, prior, n_w, phi, sums):
    """Count the topics of a word; phi_k = (n_kw + prior_k) / (n_k + total_k), and the sums of a_k phi_k, total last."""
    for k in range(np.uint64(n_w.size)):
        n_w[k] = 0
    for i in range(begin, end):
        n_w[np.uint64(z[i])] += 1
    for k in range(np.uint64(n_w.size)):
        phi[k] = (np.float32(n_w[k]) + prior[k]) * inverse[k]
    last, total = np.uint64(sums.size) - _ONE, 0.0
    for c in range(last):
        of_block = 0.0
        for k in range(c << _FIVE, min((c + _ONE) << _FIVE, np.uint64(n_w.size))):
            of_block += a[k] * np.float64(phi[k])
        sums[c] = of_block
        total += of_block
    sums[last] = total


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def weigh(lists, first, blocks, bits, own, less, phi, value, part):
    """value[s] = n_dk phi_k of the topics of a document, without the token of topic `own`; part[c] sums each eight."""
    mask = (_ONE << bits) - _ONE
    for c in range(blocks):
        place, of_block = c * _EIGHT, np.float32(0.0)
        for i in range(_EIGHT):
            entry = np.uint64(lists[first + place + i])
            k, n = entry & mask, np.float32(np.int64(entry >> bits))
            x = (n - _WHOLE) * less if k == own else n * phi[k]
            value[place + i] = x
            of_block += x
        part[c] = of_block


@njit(cache=True, nogil=True, error_model="numpy")
def draw_of_all(u, own, less, change, a, phi, sums):
    """Return the topic at which the running sum of a_k phi_k passes u, without the token of topic `own`."""
    c, end = np.uint64(0), np.uint64(sums.size) - np.uint64(2)
    while c < end:
        of_block = sums[c] + (change if c == own >> _FIVE else 0.0)
        if u < of_block:
            break
        u -= of_block
        c += _ONE
    k = c << _FIVE
    end = min(k + _BLOCK, np.uint64(phi.size) - _ONE) - _ONE
    while k < end:
        x = a[k] * np.float64(less if k == own else phi[k])
        if u < x:
            break
        u -= x
        k += _ONE
    return k


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(start, first, end, where, z, lists, bits, n, a, eta, known, topic, pseudo, total, key, offset):
    """Draw topics of tokens given all others; return the sum of log of the totals.     math.md (L2), (L9), (L11)

    Parameters
    ----------
    start : ndarray of shape (W + 1,)
        Word w has the tokens start[w] to start[w + 1].
    first, end : ndarray of shape (W,)
        The tokens first[w] to end[w] are drawn.
    where : ndarray of shape (N,)
        Head of the list of each token's document.
    z : ndarray of shape (N,)
        Topics, changed in place, as are `lists` and n.
    lists : ndarray
    bits : uint64
        Of a topic in an entry; K has a number, too, that of entries of no count.
    n : ndarray of shape (K,)
        Tokens of each topic.
    a : ndarray of shape (K,)
    eta : ndarray of shape (W,)
    known, topic, pseudo : ndarray
        Word w has the pseudo-counts pseudo[known[w]] to pseudo[known[w + 1]] in these topics, beside eta.
    total : ndarray of shape (K,)
        Sum of eta and the pseudo-counts of each topic.
    key, offset : uint64
        Word w has the stream of number offset + w.
    """
    K, N, none = n.size, np.uint64(z.size), np.uint64(n.size)
    inverse, phi, n_w = np.zeros(K + 1, np.float32), np.zeros(K + 1, np.float32), np.zeros(K, np.int64)
    value, part = np.zeros(K + 2 * EIGHT, np.float32), np.zeros(K // EIGHT + 2, np.float32)
    sums, rng, prior, last = (
        np.zeros((K + 31) // 32 + 1),
        np.empty(1, np.uint64),
        np.zeros(K, np.float32),
        (K + 31) // 32,
    )
    log_p, product, mask = 0.0, 1.0, (_ONE << bits) - _ONE
    for k in range(K):
        inverse[k] = 1.0 / (n[k] + total[k])
    for w in range(np.uint64(first.size)):
        if first[w] == end[w]:
            continue
        open_stream(rng, key, offset + w)
        prior_of_word(w, eta, known, topic, pseudo, prior)
        begin_word(np.uint64(start[w]), np.uint64(start[w + _ONE]), z, inverse, a, prior, n_w, phi, sums)
        for i in range(np.uint64(first[w]), np.uint64(end[w])):
            prefetch(lists, where[min(i + _AHEAD, N - _ONE)])
            old, head = np.uint64(z[i]), np.uint64(where[i])
            size = np.uint64(lists[head])
            blocks = (size + _SEVEN) >> _THREE
            inverse_less = np.float32(1.0 / (n[old] - 1 + total[old]))
            less = (np.float32(n_w[old] - 1) + prior[old]) * inverse_less
            weigh(lists, head + _ONE, blocks, bits, old, less, phi, value, part)
            of_document = 0.0
            for c in range(blocks):
                of_document += np.float64(part[c])
            change = a[old] * (np.float64(less) - np.float64(phi[old]))
            of_all = of_document + max(sums[last] + change, LEAST)
            product *= of_all
            if not LEAST_PRODUCT < product < MOST_PRODUCT:
                log_p, product = log_p + math.log(product), 1.0
            u = uniform(rng) * of_all
            if u < of_document:
                s = draw(u, size, blocks, value, part)
                new = np.uint64(lists[head + _ONE + s]) & mask
                if new == old:
                    continue
            else:
                new = draw_of_all(u - of_document, old, less, change, a, phi, sums)
                if new == old:
                    continue
                s = place_of(lists, head + _ONE, size, mask, new)
            move(lists, head, bits, none, old, new, s)
            z[i] = new
            n_w[old] -= 1
            n_w[new] += 1
            n[old] -= 1
            n[new] += 1
            inverse[old], inverse[new] = inverse_less, np.float32(1.0 / (n[new] + total[new]))
            more = (np.float32(n_w[new]) + prior[new]) * inverse[new]
            gain = a[new] * (np.float64(more) - np.float64(phi[new]))
            phi[old], phi[new] = less, more
            sums[old >> _FIVE] += change
            sums[new >> _FIVE] += gain
            sums[last] += change + gain
    return log_p + math.log(product)
