"""Compiled loops of collapsed inference; NumPy twins in tests/collapsed/reference.py."""

from __future__ import annotations

import math

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_eta import of_word
from stickbreak.numerics.kernel_random import open_stream, uniform
from stickbreak.numerics.special import digamma

CHUNK = 16  # topics that are passed over at once where none of them is kept
LEAST_TOTAL, MOST_TOTAL = 1e-30, 1e30  # of values, whose shares pass through float32: 1e-45 to 3e38
UNITS = 2.0**20  # shares and counts are whole numbers of 1 / UNITS, so that sums up to 2**33 are exact
UNIT = 1.0 / UNITS
LEAST_PRODUCT = 1e-200  # of probabilities, whose logarithm is taken once for many
_ONE, _TWO, _THREE, _FOUR, _CHUNK = (np.uint64(n) for n in (1, 2, 3, 4, CHUNK))


@njit(cache=True, nogil=True, inline="always")
def on_grid(x):
    """Return the nearest whole number of units."""
    return math.floor(x * UNITS + 0.5) * UNIT


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _weigh(S, w, eta, factor, value):
    """value[k] = (S_kw + eta) factor[k]."""
    for k in range(factor.size):
        value[k] = (S[w, k] + eta) * factor[k]


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _chunk_sums(value, sums):
    """sums[c] = sum of a chunk of values; apart from the stores, so that its order is the same everywhere."""
    for c in range(sums.size):
        total, first = 0.0, c * CHUNK
        for i in range(CHUNK):
            total += value[first + i]
        sums[c] = total


@njit(cache=True, nogil=True, error_model="numpy")
def _level(value, sums, n_topics):
    """Scale values that are too small or too large for shares; all become alike if one is not a number. Sum them."""
    largest, finite = 0.0, True
    for k in range(n_topics):
        largest = max(largest, value[k])
        finite = finite and value[k] < np.inf
    if finite and largest == 0.0:
        return 0.0
    for k in range(n_topics):
        value[k] = value[k] / largest if finite else 1.0
    _chunk_sums(value, sums)
    total = 0.0
    for i in range(sums.size):
        total += sums[i]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _keep(value, sums, n_topics, total, smallest, u, topic, share, at):
    """Write the shares that are kept from `at` on and return where they end, ceil(1 / smallest) + 1 further at most.

    A value of at least t = smallest * total stays as it is. Of the others one is kept, as t, wherever their running sum
    passes (j - u) t, j = 1, 2, ...: each with probability value / t. Shares are differences of running sums that are
    rounded to whole units: they sum to one exactly.                                            math.md (C3), (C15)

    `value` is padded to whole chunks. Nothing is kept of the padding or beyond the room, whatever the values are.
    Indices are unsigned: Numba takes others for places from the end where they are negative, and asks each time.
    """
    if not LEAST_TOTAL < total < MOST_TOTAL:
        total = _level(value, sums, n_topics)
    t = smallest * total
    running, n, kept = u * t, np.uint64(at), 0.0
    end, room = np.uint64(n_topics), np.uint64(topic.size)
    for c in range(np.uint64(sums.size)):
        if running + sums[c] < t:
            running += sums[c]
            continue
        k, last = c * _CHUNK, (c + _ONE) * _CHUNK
        while k < last:
            four = (value[k] + value[k + _ONE]) + (value[k + _TWO] + value[k + _THREE])
            if running + four < t:
                running += four
                k += _FOUR
                continue
            for _ in range(_FOUR):
                amount = value[k]
                if amount < t:
                    running += amount
                    if running < t:
                        k += _ONE
                        continue
                    running -= t
                    amount = t
                if amount > 0.0 and k < end and n < room:
                    topic[n] = k
                    share[n] = amount
                    kept += amount
                    n += _ONE
                k += _ONE
    return _in_units(kept, topic, share, np.uint64(at), n)


@njit(cache=True, nogil=True, error_model="numpy")
def _in_units(kept, topic, share, begin, end):
    """Write shares of amounts that sum to `kept`, in whole units; return where they end without those of none."""
    at, before, running, scale = begin, 0.0, 0.0, UNITS / kept
    for j in range(begin, end):
        running += np.float64(share[j])
        now = math.floor(running * scale + 0.5) if j + _ONE < end else UNITS
        if now > before:
            topic[at], share[at] = topic[j], np.float32((now - before) * UNIT)
            at += _ONE
            before = now
    return np.int64(at)


@njit(cache=True, nogil=True, error_model="numpy")
def _expected_tables(n, absent, prior, base, tables):
    """tables[k] += expected tables of a document in topic k.                                        math.md (C2)

    absent[k] is q(N_dk = 0); base[k] is psi(prior_k).
    """
    for k in range(n.size):
        present = 1.0 - absent[k]
        if n[k] > 0.0 and present > 0.0:
            tables[k] += present * prior[k] * (digamma(prior[k] + n[k] / present) - base[k])


@njit(cache=True, nogil=True, error_model="numpy")
def update_documents(
    indptr,
    word,
    count,
    start,
    topic,
    share,
    S,
    N,
    prior,
    rest,
    eta,
    total_eta,
    smallest,
    key,
    first,
    counted,
    new_start,
    new_topic,
    new_share,
    tables,
):
    """Update q(z) of documents one count at a time; return the sum of log p(token | all others).  math.md (C1), (C4)

        r_dwk ∝ (S_kw - r + eta) / (N_k - r + W eta) (N_dk - r + prior_k)

    All counts are without the one token, or without all there is of it where the weight of a pair is below one. S and N
    stay as they are, and hold the old shares of these documents where they are `counted`. Count p has the shares
    start[p] to start[p + 1]; the new ones are written beside them. `rest` is what the inactive topics weigh for a
    word. Document `first` + d has the stream of that number. Eta and `rest` are numbers, or arrays by word.
    """
    K = N.size
    inverse, base, n, absent = np.empty(K), np.empty(K), np.empty(K), np.empty(K)
    factor, sums = np.empty(K), np.empty((K + CHUNK - 1) // CHUNK)
    value = np.zeros(CHUNK * sums.size)
    rng = np.empty(1, np.uint64)
    for k in range(K):
        inverse[k] = 1.0 / (N[k] + total_eta)
        base[k] = digamma(prior[k])
    concentration = prior.sum() + of_word(rest, 0) * total_eta / of_word(eta, 0)
    log_p, product, at = 0.0, 1.0, np.int64(0)  # not a literal, for which the kernels below would be compiled as well
    new_start[0] = 0
    for d in range(indptr.size - 1):
        open_stream(rng, key, first + d)
        length = _count_topics(indptr[d], indptr[d + 1], count, start, topic, share, n)  # tokens that have shares
        for k in range(K):
            factor[k] = (n[k] + prior[k]) * inverse[k]
        for p in range(np.uint64(indptr[d]), np.uint64(indptr[d + 1])):
            w, c = np.uint64(word[p]), count[p]
            own, begin, end = min(c, 1.0), np.uint64(start[p]), np.uint64(start[p + _ONE])
            of_w = of_word(eta, w)
            _weigh(S, w, of_w, factor, value)
            for j in range(begin, end):
                k, r = topic[j], np.float64(share[j])
                x = own * r
                y = x if counted else 0.0
                new = (S[w, k] - y + of_w) / (N[k] - y + total_eta) * (n[k] - x + prior[k])
                value[k] = max(new, 0.0)  # of weights, rounding may leave less than the token
                n[k] = max(n[k] - c * r, 0.0)
                factor[k] = (n[k] + prior[k]) * inverse[k]
            _chunk_sums(value, sums)
            total = 0.0
            for i in range(np.uint64(sums.size)):
                total += sums[i]
            others = length if begin == end else length - own
            probability = (total + of_word(rest, w)) / (others + concentration)
            if begin == end:
                length += c
            if c == 1.0:
                product *= probability
                if product < LEAST_PRODUCT:
                    log_p, product = log_p + math.log(product), 1.0
            else:
                log_p += c * math.log(probability)
            at, before = _keep(value, sums, K, total, smallest, uniform(rng), new_topic, new_share, at), np.uint64(at)
            for j in range(before, np.uint64(at)):
                k = new_topic[j]
                n[k] += c * np.float64(new_share[j])
                factor[k] = (n[k] + prior[k]) * inverse[k]
            new_start[p + _ONE] = at
        _count_tables(indptr[d], indptr[d + 1], count, new_start, new_topic, new_share, n, absent)
        _expected_tables(n, absent, prior, base, tables)
    return log_p + math.log(product)


@njit(cache=True, nogil=True, error_model="numpy")
def _count_topics(begin, end, count, start, topic, share, n):
    """Sum N_dk of a document; return how many of its tokens have shares."""
    n[:] = 0.0
    length = 0.0
    for p in range(np.uint64(begin), np.uint64(end)):
        if start[p + _ONE] > start[p]:
            length += count[p]
        for j in range(np.uint64(start[p]), np.uint64(start[p + _ONE])):
            n[topic[j]] += count[p] * np.float64(share[j])
    return length


@njit(cache=True, nogil=True, error_model="numpy")
def _count_tables(begin, end, count, start, topic, share, n, absent):
    """Sum N_dk again and q(N_dk = 0) = prod_w (1 - r_dwk) ^ c_dw of a document."""
    n[:] = 0.0
    absent[:] = 1.0
    for p in range(np.uint64(begin), np.uint64(end)):
        c = count[p]
        for j in range(np.uint64(start[p]), np.uint64(start[p + _ONE])):
            x = np.float64(share[j])
            n[topic[j]] += c * x
            absent[topic[j]] *= 1.0 - x if c == 1.0 else max(1.0 - x, 0.0) ** c


@njit(cache=True, nogil=True)
def replace_shares(word, count, old_start, old_topic, old_share, start, topic, share, low, high, S, N):
    """S[w, k] and N[k] += c (r - old r) of the counts of the words low <= w < high, in whole units.  math.md (C15)"""
    for p in range(word.size):
        w, c = word[p], count[p]
        if low <= w < high:
            i, j = old_start[p], start[p]
            if old_start[p + 1] == i + 1 and start[p + 1] == j + 1 and old_topic[i] == topic[j]:
                continue  # all of a count stays where it is
            for j in range(old_start[p], old_start[p + 1]):
                x = on_grid(c * np.float64(old_share[j]))
                S[w, old_topic[j]] -= x
                N[old_topic[j]] -= x
            for j in range(start[p], start[p + 1]):
                x = on_grid(c * np.float64(share[j]))
                S[w, topic[j]] += x
                N[topic[j]] += x


@njit(cache=True, nogil=True, error_model="numpy")
def first_shares(indptr, word, topic_word, theta, smallest, key, first, new_start, new_topic, new_share):
    """Write shares r_dwk ∝ topic_word[w, k] theta[d, k], kept as by `update_documents`.        math.md (C1), (C3)"""
    K = theta.shape[1]
    sums, rng = np.empty((K + CHUNK - 1) // CHUNK), np.empty(1, np.uint64)
    value = np.zeros(CHUNK * sums.size)
    at = np.int64(0)
    new_start[0] = 0
    for d in range(indptr.size - 1):
        open_stream(rng, key, first + d)
        for p in range(indptr[d], indptr[d + 1]):
            _weigh(topic_word, word[p], 0.0, theta[d], value)
            _chunk_sums(value, sums)
            total = 0.0
            for i in range(sums.size):
                total += sums[i]
            at = _keep(value, sums, K, total, smallest, uniform(rng), new_topic, new_share, at)
            new_start[p + 1] = at


@njit(cache=True, nogil=True)
def whole_tails(S, limit):
    """Return T_j = sum of P(n > j) over 0 < S_kw < limit, n the whole number below or above S.     math.md (C7)"""
    tails, whole = np.zeros(limit), np.zeros(limit)
    for w in range(S.shape[0]):
        for k in range(S.shape[1]):
            if 0.0 < S[w, k] < limit:
                n = int(S[w, k])
                whole[n] += 1.0
                tails[n] += S[w, k] - n
    above = 0.0
    for j in range(limit - 1, -1, -1):
        tails[j] += above  # the pairs of more than j whole tokens
        above += whole[j]
    return tails
