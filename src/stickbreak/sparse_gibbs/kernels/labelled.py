"""A sweep over documents with labels (math.md (L10)); a NumPy twin in tests/baselines/lda/test_labels.py."""

from __future__ import annotations

import math

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_random import open_stream, uniform
from stickbreak.sparse_gibbs.kernels.lists import EIGHT, draw, move, place_of
from stickbreak.sparse_gibbs.kernels.sweeps import LEAST, LEAST_PRODUCT, MOST_PRODUCT, begin_word, draw_of_all, weigh
from stickbreak.sparse_gibbs.kernels.word_prior import prior_of_word

_ONE, _THREE, _FIVE, _SEVEN, _BLOCK = (np.uint64(n) for n in (1, 3, 5, 7, 32))


@njit(cache=True, nogil=True, error_model="numpy")
def _of_free(u, first, own, less, change, a, phi, sums):
    """Return the topic from `first` on at which the running sum of a_k phi_k passes u, as `draw_of_all` of all."""
    k, last = first, np.uint64(phi.size) - np.uint64(2)
    aligned = ((first + _BLOCK - _ONE) >> _FIVE) << _FIVE
    end, found = min(aligned, last), False
    while k < end and not found:  # the rest of the block in which the labels end
        x = a[k] * np.float64(less if k == own else phi[k])
        found = u < x
        if not found:
            u -= x
            k += _ONE
    if not found and k < last:
        c, blocks = k >> _FIVE, np.uint64(sums.size) - np.uint64(2)
        of_block = sums[c] + (change if c == own >> _FIVE else 0.0)
        while c < blocks and u >= of_block:
            u -= of_block
            c += _ONE
            of_block = sums[c] + (change if c == own >> _FIVE else 0.0)
        k = c << _FIVE
        end = min(k + _BLOCK - _ONE, last)
        x = a[k] * np.float64(less if k == own else phi[k])
        while k < end and u >= x:
            u -= x
            k += _ONE
            x = a[k] * np.float64(less if k == own else phi[k])
    return k


@njit(cache=True, nogil=True, error_model="numpy")
def _of_labels(u, label, j, end, weight, own, less, phi):
    """Return the place of the label at which the running sum of weight phi_k passes u, and what is left of u.

    The labels stand from j on; the place is their end where u is beyond all of them.
    """
    passed = True
    while j < end and passed:
        k = np.uint64(label[j])
        x = weight * np.float64(less if k == own else phi[k])
        passed = u >= x
        if passed:
            u -= x
            j += _ONE
    return j, u


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(
    start, where, z, lists, bits, n, a, eta, known, topic, pseudo, total, document, first, label, n_labels, own, scale,
    key,
):  # fmt: skip
    """Draw the topic of each token given all others; return the sum of log of the totals.              math.md (L10)

    Parameters
    ----------
    start, where, z, lists, bits, n, a, eta, known, topic, pseudo, total, key
        As in `sweeps.sweep`. No token has the topic of a label that its document lacks.
    document : ndarray of shape (N,)
        Of each token.
    first, label : ndarray of shape (D + 1,) and (first[-1],)
        Document d has the labels label[first[d]:first[d + 1]].
    n_labels : int
        Topics 0 to `n_labels` - 1 are those of labels.
    own, scale : float
        A document with labels has `own` of the concentration for these, alike, and a_k times `scale` for free topics.
    """
    K, none, L = n.size, np.uint64(n.size), np.uint64(n_labels)
    inverse, phi, n_w = np.zeros(K + 1, np.float32), np.zeros(K + 1, np.float32), np.zeros(K, np.int64)
    value, part = np.zeros(K + 2 * EIGHT, np.float32), np.zeros(K // EIGHT + 2, np.float32)
    last, rng, prior = (K + 31) // 32, np.empty(1, np.uint64), np.zeros(K, np.float32)
    sums, log_p, product, mask = np.zeros(last + 1), 0.0, 1.0, (_ONE << bits) - _ONE
    for k in range(K):
        inverse[k] = 1.0 / (n[k] + total[k])
    for w in range(np.uint64(start.size - 1)):
        begin, end = np.uint64(start[w]), np.uint64(start[w + _ONE])
        if begin == end:
            continue
        open_stream(rng, key, w)
        prior_of_word(w, eta, known, topic, pseudo, prior)
        begin_word(begin, end, z, inverse, a, prior, n_w, phi, sums)
        of_labels = 0.0  # sum of a_k phi_k of all labels
        for k in range(L):
            of_labels += a[k] * np.float64(phi[k])
        for i in range(begin, end):
            old, head, d = np.uint64(z[i]), np.uint64(where[i]), np.uint64(document[i])
            size = np.uint64(lists[head])
            blocks = (size + _SEVEN) >> _THREE
            inverse_less = np.float32(1.0 / (n[old] - 1 + total[old]))
            less = (np.float32(n_w[old] - 1) + prior[old]) * inverse_less
            weigh(lists, head + _ONE, blocks, bits, old, less, phi, value, part)
            of_document = 0.0
            for c in range(blocks):
                of_document += np.float64(part[c])
            change = a[old] * (np.float64(less) - np.float64(phi[old]))
            j, beyond = np.uint64(first[d]), np.uint64(first[d + _ONE])
            weight, of_own = 0.0, 0.0
            if j < beyond:
                weight = own / np.float64(beyond - j)
                for place in range(j, beyond):
                    its = np.uint64(label[place])
                    of_own += weight * np.float64(less if its == old else phi[its])
                smooth = of_own + scale * max(sums[last] - of_labels + (change if old >= L else 0.0), 0.0)
            else:
                smooth = sums[last] + change
            total_of = of_document + max(smooth, LEAST)
            product *= total_of
            if not LEAST_PRODUCT < product < MOST_PRODUCT:
                log_p, product = log_p + math.log(product), 1.0
            u = uniform(rng) * total_of
            if u < of_document:
                s = draw(u, size, blocks, value, part)
                new = np.uint64(lists[head + _ONE + s]) & mask
            else:
                u -= of_document
                if j < beyond:
                    j, u = _of_labels(u, label, j, beyond, weight, old, less, phi)
                    if j == beyond and scale > 0.0:
                        new = _of_free(u / scale, L, old, less, change, a, phi, sums)
                    else:
                        new = np.uint64(label[min(j, beyond - _ONE)])
                else:
                    new = draw_of_all(u, old, less, change, a, phi, sums)
                s = place_of(lists, head + _ONE, size, mask, new)
            if new == old:
                continue
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
            of_labels += (change if old < L else 0.0) + (gain if new < L else 0.0)
    return log_p + math.log(product)
