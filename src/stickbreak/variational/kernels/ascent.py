"""Compiled local step of the variational HDP (docs/math (V5)); the rules of `statistics.py` hold here, too.

`error_model="numpy"`: a test of every divisor would keep loops with a division from being vectorised.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stickbreak.numerics.arrays import Float, Int, Int32
from stickbreak.numerics.compiling import njit
from stickbreak.numerics.special import digamma, exp_digamma, log_gamma
from stickbreak.prediction.kernels.weights import LEAST_LEFT, LONGEST_STEP

RESTART_TOKENS = 1e-3  # a topic with fewer is not worth a restart (docs/math (V5))
RESTART_SWEEPS = 4
RESTART_GAIN = 1e-9  # of the document's value
RESTART_HOPE = -3.0  # nats: a bound of the gain below which no sweeps are spent (it loses 1 in 1000 on NIPS, KOS)
SMALLEST_WEIGHT = 1e-150  # a word that only one topic of the document can explain must not lose it to underflow
SOLE = 1e-9  # share of a word that the other topics must be able to explain where a restart leaves one out

EARLY_SWEEPS = 2  # plain sweeps before the first that an extrapolation uses
VANISHED = 1e-20  # share of a document's tokens below which a topic has left it (docs/math, numerical care)


class Documents(NamedTuple):
    """Documents D with pairs P of document and word, and where their ascent begins."""

    indptr: Int  # (D + 1,)
    word: Int32  # (P,)
    counts: Float  # (P,)
    weights: Float  # (U, K)  of words in topics
    prior: Float  # (K + 1,)  alpha E[beta]
    start_ptr: Int  # (D + 1,)
    start_topic: Int32
    start_n: Float
    capacity_ptr: Int  # (D + 1,)  where the topics of a document are written


class Ascended(NamedTuple):
    """What an ascent writes: by topic of a document, by pair, by document."""

    topic: Int32  # (capacity,)
    n_dk: Float  # (capacity,)
    weight: Float  # (capacity,)  multiplied weights[w, k] in r
    entropy: Float  # (capacity,)  sum_w c_dw r_dwk log Z_dw
    ratio: Float  # (P,)  c_dw / Z_dw
    n_active: Int  # (D,)
    sweeps: Int  # (D,)
    value: Float  # (D,)
    tally: Int  # (2,)  restarts tried, accepted


class Document(NamedTuple):
    """One document of U words while it ascends: its topics in the first places, and scratch."""

    block: Float  # (K, U)  weights of its words
    row: Int  # (K,)  of a topic in `block`
    weight: Float  # (K,)
    prior: Float  # (K + 1,)
    topic: Int32  # (K,)
    n_dk: Float  # (K,)
    counts: Float  # (U,)
    length: float
    z: Float  # (U,)
    v: Float  # (U,)
    new: Float  # (K,)
    change: Float  # (2, K)
    kept: Float  # (4, K)  N, topics and rows before an extrapolation


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _normalisers(block, row, weight, n_active, z):
    """z[i] = sum_j weight[j] block[row[j], i]: Z_dw of the document's types, four topics at a time."""
    z[:] = 0.0
    j = 0
    while j + 4 <= n_active:
        b0, b1, b2, b3 = block[row[j]], block[row[j + 1]], block[row[j + 2]], block[row[j + 3]]
        w0, w1, w2, w3 = weight[j], weight[j + 1], weight[j + 2], weight[j + 3]
        for i in range(z.size):
            z[i] += w0 * b0[i] + w1 * b1[i] + w2 * b2[i] + w3 * b3[i]
        j += 4
    while j < n_active:
        b0, w0 = block[row[j]], weight[j]
        for i in range(z.size):
            z[i] += w0 * b0[i]
        j += 1


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _project(block, row, n_active, v, out):
    """out[j] = sum_i block[row[j], i] v[i], four topics at a time."""
    j = 0
    while j + 4 <= n_active:
        b0, b1, b2, b3 = block[row[j]], block[row[j + 1]], block[row[j + 2]], block[row[j + 3]]
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for i in range(v.size):
            s0 += b0[i] * v[i]
            s1 += b1[i] * v[i]
            s2 += b2[i] * v[i]
            s3 += b3[i] * v[i]
        out[j], out[j + 1], out[j + 2], out[j + 3] = s0, s1, s2, s3
        j += 4
    while j < n_active:
        b0, s0 = block[row[j]], 0.0
        for i in range(v.size):
            s0 += b0[i] * v[i]
        out[j] = s0
        j += 1


@njit(cache=True, nogil=True, error_model="numpy")
def _exp_expected_log(theta, n_active):
    """Replace theta[j] by exp(psi(theta[j]) - s); s = 0 unless all would underflow, then the largest becomes 1.

    Neither the responsibilities nor the objective depend on s.                     docs/math (V5)
    """
    largest = 0.0
    for j in range(n_active):
        largest = max(largest, theta[j])
    if largest > 0.02:  # exp(psi(0.02)) = 1e-22
        for j in range(n_active):
            theta[j] = max(exp_digamma(theta[j]), SMALLEST_WEIGHT)
    else:
        shift = digamma(largest)
        for j in range(n_active):
            theta[j] = max(math.exp(digamma(theta[j]) - shift), SMALLEST_WEIGHT)


@njit(cache=True, nogil=True, error_model="numpy")
def _document_value(count, z, prior, topic, n_dk, weight):
    """Return a document's part of the objective up to constants; summed in plain order."""
    total = 0.0
    for i in range(count.size):
        total += count[i] * math.log(z[i])
    for j in range(topic.size):
        k = topic[j]
        total += log_gamma(prior[k] + n_dk[j]) - log_gamma(prior[k])
        if weight[j] > 0.0:
            total -= n_dk[j] * math.log(weight[j])
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _ascend(document, active, tolerance, max_sweeps, accelerate):
    """Sweep until no N_dk changes by `tolerance`; z, v and n_dk belong to `weight`.     docs/math (V5), (V6)

    With `accelerate` every third sweep begins at an extrapolation of the two before.
    The state before the first of them goes to `kept` (N, then topics and rows): its value is the floor.

    Returns
    -------
    active, sweeps, floor : int, int, float
        Topics that still hold tokens; they come first in `row`, `weight`, `topic` and `n_dk`. A document that ends
        below the floor has to go back to `kept`; -inf if nothing was extrapolated.
    """
    block, row, weight, prior, topic, n_dk, count, length, z, v, new, change, kept = document
    sweep, plain, floor = 0, -EARLY_SWEEPS, -np.inf
    while True:
        _normalisers(block, row, weight, active, z)
        for i in range(z.size):
            v[i] = count[i] / z[i]
        _project(block, row, active, v, new)
        sweep += 1
        moved = 0.0
        for j in range(active):
            new[j] *= weight[j]
            moved = max(moved, abs(new[j] - n_dk[j]))
        if accelerate:
            if plain >= 0:
                for j in range(active):
                    change[plain, row[j]] = new[j] - n_dk[j]
            plain += 1
        for j in range(active):
            n_dk[j] = new[j]
        if moved < tolerance or sweep >= max_sweeps:
            return active, sweep, floor
        if plain == 2:
            plain = 0
            if floor == -np.inf:
                floor = _document_value(count, z, prior, topic[:active], n_dk[:active], weight)
                kept[0, 0] = active
                for j in range(active):
                    kept[1, j], kept[2, j], kept[3, j] = n_dk[j], topic[j], row[j]
            _extrapolate(row, n_dk, active, change)
        active = _reweigh(row, weight, prior, topic, n_dk, length, active)


@njit(cache=True, nogil=True, error_model="numpy")
def _extrapolate(row, n_dk, active, change):
    """Replace N2 by N0 - 2 s r + s^2 v, r = N1 - N0, v = N2 - 2 N1 + N0, s = -|r| / |v| < -1 (SQUAREM)."""
    first, second = 0.0, 0.0
    for j in range(active):
        r = change[0, row[j]]
        v = change[1, row[j]] - r
        first += r * r
        second += v * v
    if second <= 0.0 or first <= second:
        return
    s = min(math.sqrt(first / second), LONGEST_STEP)
    for j in range(active):
        r = change[0, row[j]]
        moved = n_dk[j] + 2.0 * (s - 1.0) * r + (s * s - 1.0) * (change[1, row[j]] - r)
        n_dk[j] = max(moved, LEAST_LEFT * n_dk[j])


@njit(cache=True, nogil=True, error_model="numpy")
def _settle(document, active, tolerance, max_sweeps, accelerate):
    """Ascend, and once more without extrapolation where that ended below its floor; return also the value."""
    _, row, weight, prior, topic, n_dk, count, length, z, _, _, _, kept = document
    active, sweeps, floor = _ascend(document, active, tolerance, max_sweeps, accelerate)
    value = _document_value(count, z, prior, topic[:active], n_dk[:active], weight)
    if floor > -np.inf and not value >= floor:  # nor may it be no number
        active = int(kept[0, 0])
        for j in range(active):
            n_dk[j], topic[j], row[j] = kept[1, j], int(kept[2, j]), int(kept[3, j])
        active = _reweigh(row, weight, prior, topic, n_dk, length, active)
        active, more, _ = _ascend(document, active, tolerance, max_sweeps, np.bool_(False))
        sweeps += more
        value = _document_value(count, z, prior, topic[:active], n_dk[:active], weight)
    return active, sweeps, value


@njit(cache=True, nogil=True, error_model="numpy")
def _reweigh(row, weight, prior, topic, n_dk, length, active):
    """Set the weights from n_dk; topics that have left the document leave the loop."""
    kept = np.int64(0)
    for j in range(active):
        if n_dk[j] > VANISHED * length:
            topic[kept], n_dk[kept], row[kept] = topic[j], n_dk[j], row[j]
            weight[kept] = prior[topic[j]] + n_dk[j]
            kept += 1
    _exp_expected_log(weight, kept)
    return kept


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _loss_without(block_row, weight, count, z):
    """- sum_w c log(1 - r_dwj): what the document's words lose if topic j goes, all else fixed; inf if one cannot."""
    total, least = 0.0, 1.0
    for i in range(z.size):
        rest = 1.0 - weight * block_row[i] / z[i]
        least = min(least, rest)
        total -= count[i] * math.log(max(rest, SOLE))
    return total if least > SOLE else np.inf


@njit(cache=True, nogil=True, error_model="numpy")
def _restart(document, active, most, value, saved, saved_int, tally):
    """Try the document without each of its `most` smallest topics; keep what raises its value.     docs/math (V17)

    Returns
    -------
    active : int
    value : float
    """
    block, row, weight, prior, topic, n_dk, count, length, z, v, new, _, _ = document
    smallest = saved_int[2]
    n_tried = 0
    for _ in range(min(most, active - 1)):
        best = -1
        for j in range(active):
            seen = n_dk[j] <= RESTART_TOKENS
            for q in range(n_tried):
                seen = seen or smallest[q] == topic[j]
            if not seen and (best < 0 or n_dk[j] < n_dk[best]):
                best = j
        if best < 0 or active < 2:
            break
        k = topic[best]
        smallest[n_tried] = k
        n_tried += 1
        tally[0] += 1
        gain = log_gamma(prior[k]) - log_gamma(prior[k] + n_dk[best]) + n_dk[best] * math.log(weight[best])
        if gain - n_dk[best] < RESTART_HOPE:  # the words lose at least n_dk: - log(1 - r) >= r
            continue
        gain -= _loss_without(block[row[best]], weight[best], count, z)
        if gain < RESTART_HOPE:
            continue
        for j in range(active):
            saved[0, j], saved[1, j], saved_int[0, j], saved_int[1, j] = n_dk[j], weight[j], topic[j], row[j]
        for i in range(z.size):  # the normalisers change by rank one
            v[i] = count[i] / (z[i] - weight[best] * block[row[best], i])
        for j in range(best, active - 1):
            topic[j], n_dk[j], row[j], weight[j] = topic[j + 1], n_dk[j + 1], row[j + 1], weight[j + 1]
        now = active - 1
        _project(block, row, now, v, new)
        for j in range(now):
            n_dk[j] = new[j] * weight[j]
        now = _reweigh(row, weight, prior, topic, n_dk, length, now)
        now, _, _ = _ascend(document, now, 0.0, np.int64(RESTART_SWEEPS), np.bool_(False))
        found = _document_value(count, z, prior, topic[:now], n_dk[:now], weight)
        if found > value + RESTART_GAIN * abs(value):
            active, value = now, found
            tally[1] += 1
        else:
            for j in range(active):
                n_dk[j], weight[j], topic[j], row[j] = saved[0, j], saved[1, j], saved_int[0, j], saved_int[1, j]
            _normalisers(block, row, weight, active, z)
    for i in range(z.size):
        v[i] = count[i] / z[i]
    return active, value


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def ascend_documents(documents, tolerance, max_sweeps, restarts, accelerate, found):
    """Coordinate ascent on (r, theta) of each document, globals fixed.             docs/math (V5), (V6)

        r_dwk ∝ exp(E log pi_dk) weights[w, k],   theta_dk = prior[k] + N_dk,   prior = alpha E[beta] (K + 1)

    Only the topics that still hold tokens are swept. A document with an empty start (start_ptr[d] == start_ptr[d + 1])
    begins with all topics at E[beta]. After the ascent, up to `restarts` of the smallest topics are tried to be left
    out.

    `documents`: `Documents`. `found`: `Ascended`; `value` is what the objective owes to a document up to terms that are
    the same for every (r, theta) of it (docs/math (V5)): sum_k [ log Gamma(theta_dk) - log Gamma(prior_k) ]
    + sum_w c_dw log Z_dw - sum_k N_dk log weight_dk.
    """
    indptr, word, count, weights, prior, start_ptr, start_topic, start_n, capacity_ptr = documents
    topic, n_dk, weight_dk, entropy_dk, ratio, n_active, n_sweeps, value, tally = found
    n_topics = prior.size - 1
    widest = 0
    for d in range(indptr.size - 1):
        widest = max(widest, indptr[d + 1] - indptr[d])
    block = np.empty((n_topics, widest))
    weight, new, row = np.empty(n_topics), np.empty(n_topics), np.empty(n_topics, np.int64)
    saved, saved_int = np.empty((2, n_topics)), np.empty((3, n_topics), np.int64)
    z_all, v_all = np.empty(widest), np.empty(widest)
    change, kept = np.empty((2, n_topics)), np.empty((4, n_topics))
    for d in range(indptr.size - 1):
        begin, end, at = indptr[d], indptr[d + 1], capacity_ptr[d]
        size = end - begin
        if size == 0:
            n_active[d], n_sweeps[d], value[d] = 0, 0, 0.0
            continue
        z, v, counts = z_all[:size], v_all[:size], count[begin:end]
        cold = start_ptr[d + 1] == start_ptr[d]
        active = n_topics if cold else start_ptr[d + 1] - start_ptr[d]
        topics, tokens = topic[at : at + active], n_dk[at : at + active]
        for j in range(active):
            k = j if cold else start_topic[start_ptr[d] + j]
            topics[j] = k
            row[j] = j
            tokens[j] = 0.0 if cold else start_n[start_ptr[d] + j]
            weight[j] = prior[k] + tokens[j]
        if not cold:
            _exp_expected_log(weight, active)
        length = 0.0
        for i in range(size):
            length += counts[i]
        for i in range(size):
            source = weights[word[begin + i]]
            for j in range(active):
                block[j, i] = source[topics[j]]
        document = Document(block, row, weight, prior, topics, tokens, counts, length, z, v, new, change, kept)
        active, sweeps, total = _settle(document, active, tolerance, max_sweeps, accelerate)
        if restarts > 0 and active > 1:
            accepted = tally[1]
            active, total = _restart(document, active, restarts, total, saved, saved_int, tally)
            if tally[1] > accepted and sweeps < max_sweeps:
                active = _reweigh(row, weight, prior, topics, tokens, length, active)
                active, more, total = _settle(document, active, tolerance, max_sweeps - sweeps, accelerate)
                sweeps += more
        for i in range(size):
            ratio[begin + i] = v[i]
            v[i] *= math.log(z[i])
        _project(block, row, active, v, new)
        for j in range(active):
            entropy_dk[at + j] = weight[j] * new[j]
            weight_dk[at + j] = weight[j]
        value[d] = total
        n_active[d] = active
        n_sweeps[d] = sweeps
