"""Sweeps of sparse Gibbs sampling, word by word (docs/math (L2), (L10), (L23)); twins in tests/topics/reference.py.

Indices are unsigned: Numba takes others for places from the end where they are negative, and asks each time. Weights
are single precision, always made of whole counts, so that no error adds up; sums of many are double.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_random import open_stream, uniform
from stickbreak.numerics.ranges import LARGEST, SMALLEST
from stickbreak.sparse_gibbs.kernels.lists import EIGHT, draw, enter, leave, place_of, tokens_of

REPEAT = (1 << 16) - 1  # stands for the topic of a token that repeats its document
LEAST = 1e-60  # what rounding leaves of the sum of a_k phi_k at the least
LOG_SMALLEST, LOG_LARGEST = math.log(SMALLEST), math.log(LARGEST)  # of the weight of a topic in a document
MOST_TRIES = 30.0  # of a topic of a group, before all weights of the document are computed
LEAST_PRODUCT, MOST_PRODUCT = 1e-200, 1e200  # of totals, whose logarithm is taken once for many
_ONE, _THREE, _FIVE, _SEVEN, _EIGHT, _BLOCK = (np.uint64(n) for n in (1, 3, 5, 7, EIGHT, 32))
_WHOLE = np.float32(1.0)


class Cell(NamedTuple):
    """The tokens that W neighbouring words have in a part of the documents."""

    start: NDArray[np.int64]  # (W + 1,)  word w has the tokens start[w] to start[w + 1] ...
    first: NDArray[np.int64]  # (W,)  ... of which first[w] to end[w] are in these documents, and are drawn
    end: NDArray[np.int64]  # (W,)
    where: NDArray[np.uint32]  # head of the list of the document of each token that is drawn


class Prior(NamedTuple):
    """The Dirichlet priors of K topics of W words."""

    a: NDArray[np.floating]  # (G, K)  of G groups of documents: one, or those of `Columns`
    eta: NDArray[np.float32]  # (W,)
    known: NDArray[np.int64]  # (W + 1,)  word w has the pseudo-counts pseudo[known[w]] to pseudo[known[w + 1]] ...
    topic: NDArray[np.int64]  # ... in these topics, beside eta
    pseudo: NDArray[np.float64]
    total: NDArray[np.float64]  # (K,)  sum of eta and the pseudo-counts of each topic
    strength: float  # sigma: how much topics weigh beside the words that a document has; infinite without bursts


class Columns(NamedTuple):
    """What the weights of topics in documents depend on, in U rows that differ.                      docs/math (L27)"""

    row: NDArray[np.uint32]  # (n,)  of the document of each token that is drawn
    group: NDArray[np.int64]  # (U,)  in which no weight is above that of the `Prior`
    x: NDArray[np.float64]  # (U, 1 + p)
    weights: NDArray[np.float64]  # (K, 1 + p)  lambda_k: log a_k, and the effects


class Labels(NamedTuple):
    """Labels of D documents, which are the first topics.                                             docs/math (L10)"""

    start: NDArray[np.int64]  # (D + 1,)
    topic: NDArray[np.int32]  # (start[-1],)  document d has the labels topic[start[d]:start[d + 1]]
    n_labels: int
    own: float  # of the concentration of a document with labels, for these, alike
    scale: float  # of a_k of the other topics in such a document


@njit(cache=True, nogil=True, error_model="numpy")
def draw_topics(start, topic_word, first, key, z):
    """Draw the topic of each token in proportion to the weights of its word; word w has the stream of that number.

    The tokens start[i] to start[i + 1] are those of word first + i.
    """
    n_topics, rng = topic_word.shape[0], np.empty(1, np.uint64)
    sums = np.zeros(n_topics)
    for w in range(np.uint64(start.size - 1)):
        open_stream(rng, key, first + w)
        total = 0.0
        for k in range(n_topics):
            total += topic_word[k, first + w]
            sums[k] = total
        for i in range(start[w], start[w + _ONE]):
            z[i] = min(np.searchsorted(sums, uniform(rng) * total, side="right"), n_topics - 1)


@njit(cache=True, nogil=True, error_model="numpy")
def prior_of_word(w, eta, start, topic, pseudo, prior):
    """prior[k] = eta_w + b_kw."""
    for k in range(np.uint64(prior.size)):
        prior[k] = eta[w]
    for j in range(np.uint64(start[w]), np.uint64(start[w + _ONE])):
        prior[np.uint64(topic[j])] = np.float32(np.float64(eta[w]) + pseudo[j])


@njit(cache=True, nogil=True, error_model="numpy")
def begin_word(begin, end, z, inverse, a, prior, n_w, phi, sums):
    """Count the topics of a word; phi_k = (n_kw + prior_k) / (n_k + total_k), and the sums of a_k phi_k, total last."""
    K = np.uint64(n_w.size)
    for k in range(K):
        n_w[k] = 0
    for i in range(begin, end):
        if np.uint64(z[i]) < K:
            n_w[np.uint64(z[i])] += 1
    for k in range(K):
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
def add_up(a, phi, sums):
    """Write the sums of a_k phi_k, each of a block of topics, total last."""
    last, total = np.uint64(sums.size) - _ONE, 0.0
    for c in range(last):
        of_block = np.float32(0.0)
        for k in range(c << _FIVE, min((c + _ONE) << _FIVE, np.uint64(a.size))):
            of_block += np.float32(a[k]) * phi[k]
        sums[c] = of_block
        total += np.float64(of_block)
    sums[last] = total


@njit(cache=True, nogil=True, error_model="numpy")
def log_weight(x, weights):
    """Return the logarithm of the weight of a topic in a document, x^T lambda_k, within its range.   docs/math (L27)"""
    found = 0.0
    for j in range(x.size):
        found += x[j] * weights[j]
    return min(max(found, LOG_SMALLEST), LOG_LARGEST)


@njit(cache=True, nogil=True, error_model="numpy")
def largest_of_groups(x, weights, group, largest):
    """Raise largest[g, k] to the logarithm of the weight of topic k in each row of group g."""
    for r in range(group.size):
        for k in range(len(weights)):
            largest[group[r], k] = max(largest[group[r], k], log_weight(x[r], weights[k]))


@njit(cache=True, nogil=True, error_model="numpy")
def draw_tables(start, topic, n, row, x, weights, key, first, tables):
    """Draw the tables t_dk of documents; add t_dk x_d to tables[k].

    Document d has row[d] in x, and entries start[d] to start[d + 1] of topics and n_dk. It has the stream of number
    first + d.                                                                                          docs/math (L28)
    """
    rng = np.empty(1, np.uint64)
    for d in range(row.size):
        open_stream(rng, key, first + d)
        for i in range(start[d], start[d + 1]):
            a, t = math.exp(log_weight(x[row[d]], weights[topic[i]])), 1
            for j in range(1, n[i]):
                t += (a + j) * uniform(rng) < a
            for c in range(x.shape[1]):
                tables[topic[i], c] += t * x[row[d], c]


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
def tokens_ahead(where, j, most):
    """Return how many tokens from j on, `most` at most, are in one document: those that it has of the word."""
    length = 1
    while length < most and where[j + np.uint64(length)] == where[j]:
        length += 1
    return length


@njit(cache=True, nogil=True, error_model="numpy")
def draw_of_own(u, own, less, of_document, x, weights, phi, none):
    """Return a topic in proportion to a_dk phi_k of a document, or `none` for the topics that it has already."""
    K = np.uint64(weights.shape[0])
    upto, total = np.empty(K), of_document
    for k in range(K):
        total += math.exp(log_weight(x, weights[k])) * np.float64(less if k == own else phi[k])
        upto[k] = total
    u *= total
    return none if u < of_document else min(np.uint64(np.searchsorted(upto, u, side="right")), K - _ONE)


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(cell, columns, z, lists, bits, n, prior_of, key, offset):
    """Draw topics of the tokens of a `Cell` given all others; return the sum of log of the totals.

    docs/math (L2), (L9), (L11), (L23), (L27)

    z (N,), the topics of all tokens of the words, `lists`, and n (K,), the tokens of each topic, are changed in place.
    A topic has `bits` in an entry of the lists; K has a number, too, that of entries of no count. prior_of is a
    `Prior`. Word w has the stream of number offset + w. With bursts a token may have REPEAT for a topic.

    `columns` are `Columns`, empty where all documents have one a. Elsewhere a group has the largest a_dk of its
    documents, and a topic that is drawn by it is kept in proportion to its own: an exact draw. After t tries, log of
    the total is that of the group less 1 + 1/2 + .. + 1/(t - 1), on average.
    """
    start, first, end, where = cell
    rows, eta, known, topic, pseudo, total, strength = prior_of
    row, group, x, weights = columns
    a, current, varied = rows[0], 0, row.size > 0
    K, none, j = n.size, np.uint64(n.size), np.uint64(0)
    inverse, phi, n_w = np.zeros(K + 1, np.float32), np.zeros(K + 1, np.float32), np.zeros(K, np.int64)
    value, part = np.zeros(K + 2 * EIGHT, np.float32), np.zeros(K // EIGHT + 2, np.float32)
    last, rng, prior = (K + 31) // 32, np.empty(1, np.uint64), np.zeros(K, np.float32)
    sums, log_p, product, mask = np.zeros(last + 1), 0.0, 1.0, (_ONE << bits) - _ONE
    bursts, alpha, repeat = strength < np.inf, a.sum(), np.uint64(REPEAT)
    inverse_less = np.float32(0.0)
    before, length, share = 0, 0, 0.0  # tokens of the word in the document before this one, and all; weight of each
    for k in range(K):
        inverse[k] = 1.0 / (n[k] + total[k])
    for w in range(np.uint64(first.size)):
        if first[w] == end[w]:
            continue
        open_stream(rng, key, offset + w)
        prior_of_word(w, eta, known, topic, pseudo, prior)
        begin_word(np.uint64(start[w]), np.uint64(start[w + _ONE]), z, inverse, a, prior, n_w, phi, sums)
        for i in range(np.uint64(first[w]), np.uint64(end[w])):
            old, head = np.uint64(z[i]), np.uint64(where[j])
            if varied and group[row[j]] != current:
                current = group[row[j]]
                a = rows[current]
                add_up(a, phi, sums)
            j += _ONE
            size = np.uint64(lists[head])
            blocks, own, less, change = (size + _SEVEN) >> _THREE, none, np.float32(0.0), 0.0
            if old < none:
                own, inverse_less = old, np.float32(1.0 / (n[old] - 1 + total[old]))
                less = (np.float32(n_w[old] - 1) + prior[old]) * inverse_less
                change = a[old] * (np.float64(less) - np.float64(phi[old]))
            weigh(lists, head + _ONE, blocks, bits, own, less, phi, value, part)
            of_document = 0.0
            for c in range(blocks):
                of_document += np.float64(part[c])
            of_all = of_document + max(sums[last] + change, LEAST)
            if bursts:
                before += 1
                if before >= length:
                    before, length = 0, tokens_ahead(where, j - _ONE, end[w] - np.int64(i))
                share = (tokens_of(lists, head + _ONE, size, bits) - (old < none) + alpha) / strength
                product *= of_all / share + (length - 1)
            else:
                product *= of_all
            if not LEAST_PRODUCT < product < MOST_PRODUCT:
                log_p, product = log_p + math.log(product), 1.0
            u, tries, new = uniform(rng) * (of_all + before * share), 1.0, none  # none: a topic that the document has
            if u >= of_document:
                new = (
                    draw_of_all(u - of_document, own, less, change, a, phi, sums)
                    if u < of_all or before == 0
                    else repeat
                )
            while (
                varied and new < none and uniform(rng) * a[new] > math.exp(log_weight(x[row[j - _ONE]], weights[new]))
            ):
                log_p -= 1.0 / tries
                if tries == MOST_TRIES:
                    new = draw_of_own(uniform(rng), own, less, of_document, x[row[j - _ONE]], weights, phi, none)
                    break
                u, tries = uniform(rng) * of_all, tries + 1.0
                new = draw_of_all(u - of_document, own, less, change, a, phi, sums) if u >= of_document else none
            if new == none and u < of_all:
                if u >= of_document:
                    u = uniform(rng) * of_document
                s = draw(u, size, blocks, value, part)
                new = np.uint64(lists[head + _ONE + s]) & mask
            elif new < none and new != old:
                s = place_of(lists, head + _ONE, size, mask, new)
            if new == old:
                continue
            gain = 0.0
            if new < none:
                enter(lists, head, bits, new, s)
                n_w[new] += 1
                n[new] += 1
                inverse[new] = np.float32(1.0 / (n[new] + total[new]))
                more = (np.float32(n_w[new]) + prior[new]) * inverse[new]
                gain = a[new] * (np.float64(more) - np.float64(phi[new]))
                phi[new] = more
            if old < none:
                leave(lists, head, bits, none, old)
                n_w[old] -= 1
                n[old] -= 1
                inverse[old], phi[old] = inverse_less, less
                sums[old >> _FIVE] += change
            if new < none:
                sums[new >> _FIVE] += gain
            sums[last] += change + gain
            z[i] = new
    return log_p + math.log(product)


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
def sweep_labelled(cell, document, labels, z, lists, bits, n, prior_of, key, offset):
    """Draw the topic of each token given all others; return the sum of log of the totals.              docs/math (L10)

    As `sweep`; `document` has that of each token that is drawn, `labels` are `Labels`. No token has the topic of a
    label that its document lacks.
    """
    start, first, end, where = cell
    begin, label, n_labels, own, scale = labels
    rows, eta, known, topic, pseudo, total, strength = prior_of
    a = rows[0]
    K, none, L, place = n.size, np.uint64(n.size), np.uint64(n_labels), np.uint64(0)
    inverse, phi, n_w = np.zeros(K + 1, np.float32), np.zeros(K + 1, np.float32), np.zeros(K, np.int64)
    value, part = np.zeros(K + 2 * EIGHT, np.float32), np.zeros(K // EIGHT + 2, np.float32)
    last, rng, prior = (K + 31) // 32, np.empty(1, np.uint64), np.zeros(K, np.float32)
    sums, log_p, product, mask = np.zeros(last + 1), 0.0, 1.0, (_ONE << bits) - _ONE
    bursts, alpha, repeat = strength < np.inf, a.sum(), np.uint64(REPEAT)
    before, length, share, inverse_less = 0, 0, 0.0, np.float32(0.0)
    for k in range(K):
        inverse[k] = 1.0 / (n[k] + total[k])
    for w in range(np.uint64(first.size)):
        if first[w] == end[w]:
            continue
        open_stream(rng, key, offset + w)
        prior_of_word(w, eta, known, topic, pseudo, prior)
        begin_word(np.uint64(start[w]), np.uint64(start[w + _ONE]), z, inverse, a, prior, n_w, phi, sums)
        of_labels = 0.0  # sum of a_k phi_k of all labels
        for k in range(L):
            of_labels += a[k] * np.float64(phi[k])
        for i in range(np.uint64(first[w]), np.uint64(end[w])):
            old, head, d = np.uint64(z[i]), np.uint64(where[place]), np.uint64(document[place])
            place += _ONE
            size = np.uint64(lists[head])
            blocks, its_own, less, change = (size + _SEVEN) >> _THREE, none, np.float32(0.0), 0.0
            if old < none:
                its_own, inverse_less = old, np.float32(1.0 / (n[old] - 1 + total[old]))
                less = (np.float32(n_w[old] - 1) + prior[old]) * inverse_less
                change = a[old] * (np.float64(less) - np.float64(phi[old]))
            weigh(lists, head + _ONE, blocks, bits, its_own, less, phi, value, part)
            of_document = 0.0
            for c in range(blocks):
                of_document += np.float64(part[c])
            j, beyond = np.uint64(begin[d]), np.uint64(begin[d + _ONE])
            weight, of_own = 0.0, 0.0
            if j < beyond:
                weight = own / np.float64(beyond - j)
                for at in range(j, beyond):
                    its = np.uint64(label[at])
                    of_own += weight * np.float64(less if its == old else phi[its])
                smooth = of_own + scale * max(sums[last] - of_labels + (change if old >= L else 0.0), 0.0)
            else:
                smooth = sums[last] + change
            total_of = of_document + max(smooth, LEAST)
            if bursts:
                before += 1
                if before >= length:
                    before, length = 0, tokens_ahead(where, place - _ONE, end[w] - np.int64(i))
                share = (tokens_of(lists, head + _ONE, size, bits) - (old < none) + alpha) / strength
                product *= total_of / share + (length - 1)
            else:
                product *= total_of
            if not LEAST_PRODUCT < product < MOST_PRODUCT:
                log_p, product = log_p + math.log(product), 1.0
            u = uniform(rng) * (total_of + before * share)
            if u < of_document:
                s = draw(u, size, blocks, value, part)
                new = np.uint64(lists[head + _ONE + s]) & mask
            elif u < total_of or before == 0:
                u -= of_document
                if j < beyond:
                    j, u = _of_labels(u, label, j, beyond, weight, old, less, phi)
                    if j == beyond and scale > 0.0:
                        new = _of_free(u / scale, L, old, less, change, a, phi, sums)
                    else:
                        new = np.uint64(label[min(j, beyond - _ONE)])
                else:
                    new = draw_of_all(u, its_own, less, change, a, phi, sums)
                s = place_of(lists, head + _ONE, size, mask, new)
            else:
                new = repeat
            if new == old:
                continue
            gain = 0.0
            if new < none:
                enter(lists, head, bits, new, s)
                n_w[new] += 1
                n[new] += 1
                inverse[new] = np.float32(1.0 / (n[new] + total[new]))
                more = (np.float32(n_w[new]) + prior[new]) * inverse[new]
                gain = a[new] * (np.float64(more) - np.float64(phi[new]))
                phi[new] = more
            if old < none:
                leave(lists, head, bits, none, old)
                n_w[old] -= 1
                n[old] -= 1
                inverse[old], phi[old] = inverse_less, less
                sums[old >> _FIVE] += change
            if new < none:
                sums[new >> _FIVE] += gain
            sums[last] += change + gain
            z[i] = new
            of_labels += (change if old < L else 0.0) + (gain if new < L else 0.0)
    return log_p + math.log(product)
