"""Compiled loops of collapsed inference; NumPy twins in tests/collapsed/reference.py."""

from __future__ import annotations

import math

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_eta import of_word
from stickbreak.numerics.kernel_random import open_stream, uniform
from stickbreak.numerics.prefetch import prefetch
from stickbreak.numerics.special import digamma

CHUNK = 8  # topics that are passed over at once where none of them is kept
LEAST_TOTAL, MOST_TOTAL = 1e-30, 1e30  # of values, whose shares pass through float32: 1e-45 to 3e38
UNITS = 2.0**20  # shares and counts are whole numbers of 1 / UNITS, so that sums up to 2**33 are exact
UNIT = 1.0 / UNITS
WHOLE = np.int64(1) << np.int64(32)  # t of (C3) as a whole number: such sums need no rounding, and wait for less
LEAST_PRODUCT = 1e-200  # of probabilities, whose logarithm is taken once for many
LINE, LINES = 8, 16  # counts in a line of the cache; lines of the next word's row that are asked for: more would wait
_AHEAD = np.uint64(8)  # stored counts, whose entries of S are asked for before they are changed
_NONE, _ONE, _CHUNK, _LINE = (np.uint64(n) for n in (0, 1, CHUNK, LINE))


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
    """sums[c] = sum of a chunk of values; return the sum of all. Apart from the stores: one order for all."""
    for c in range(sums.size):
        k = c * CHUNK
        first = (value[k] + value[k + 1]) + (value[k + 2] + value[k + 3])
        sums[c] = first + ((value[k + 4] + value[k + 5]) + (value[k + 6] + value[k + 7]))
    total = 0.0
    for c in range(sums.size):
        total += sums[c]
    return total


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
    return _chunk_sums(value, sums)


@njit(cache=True, nogil=True, error_model="numpy")
def _keep(value, sums, total, smallest, u, kept, amount):
    """List the topics that are kept with their amounts; return how many there are, ceil(1 / smallest) + 1 at most.

    A value of at least t = smallest * total stays as it is. Of the others one is kept, as t, wherever their running sum
    passes (j - u) t, j = 1, 2, ...: each with probability value / t. Running sums are whole numbers of t / 2**32, less
    what was passed; t is one unit of total at least.                                                     math.md (C3)

    `value` is padded to whole chunks with zeros, of which none is kept. `kept` and `amount` have a place more than
    there are topics: it is written to, and not counted.
    """
    n, t = np.uint64(0), max(smallest, UNIT) * total
    scale, running = WHOLE / t if t > 0.0 else 0.0, np.int64(u * WHOLE)
    for c in range(np.uint64(sums.size)):
        after = running + np.int64(sums[c] * scale)
        if after < WHOLE:
            running = after
            continue
        for k in range(c * _CHUNK, (c + _ONE) * _CHUNK):  # without branches, which would be guessed wrong
            large = value[k] >= t
            running += np.int64(0) if large else np.int64(value[k] * scale)
            kept[n], amount[n] = k, value[k] if large else t
            n += np.uint64(large | (running >= WHOLE))
            running &= WHOLE - 1
    return n


@njit(cache=True, nogil=True, error_model="numpy")
def _write(kept, amount, n, topic, share, at):
    """Write shares in proportion to amounts, in whole units, from `at` on; return where they end.       math.md (C15)

    They are differences of rounded running sums, so they sum to one exactly; those of none are left out, and nothing is
    written beyond the room. Indices are unsigned: Numba takes others for places from the end where they are negative,
    and asks each time.
    """
    total, before, running, room = 0.0, 0.0, 0.0, np.uint64(topic.size)
    for j in range(n):
        total += amount[j]
    scale = UNITS / total
    for j in range(n):
        running += amount[j]
        now = math.floor(running * scale + 0.5) if j + _ONE < n else UNITS
        if now > before and at < room:
            topic[at], share[at] = kept[j], np.float32((now - before) * UNIT)
            at += _ONE
            before = now
    return at


@njit(cache=True, nogil=True, error_model="numpy")
def _expected_tables(n, absent, prior, base, tables):
    """tables[k] += expected tables of a document in topic k.                                        math.md (C2)

    absent[k] is q(N_dk = 0); base[k] is psi(prior_k). Of a share of one token these are as many as the share says.
    """
    for k in range(n.size):
        present = 1.0 - absent[k]
        if n[k] == present:
            tables[k] += present
        elif n[k] > 0.0 and present > 0.0:
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
    value, kept, amount = np.zeros(CHUNK * sums.size), np.empty(K + 1, np.uint16), np.empty(K + 1)
    rng = np.empty(1, np.uint64)
    most, near = np.uint64(max(word.size, 1) - 1), np.uint64(min(K, LINE * LINES))
    for k in range(K):
        inverse[k] = 1.0 / (N[k] + total_eta)
        base[k] = digamma(prior[k])
    concentration = prior.sum() + of_word(rest, 0) * total_eta / of_word(eta, 0)
    log_p, product, at = 0.0, 1.0, np.uint64(0)
    new_start[0] = 0
    for d in range(indptr.size - 1):
        open_stream(rng, key, first + d)
        length = _count_topics(indptr[d], indptr[d + 1], count, start, topic, share, n)  # tokens that have shares
        for k in range(K):
            factor[k] = (n[k] + prior[k]) * inverse[k]
        for p in range(np.uint64(indptr[d]), np.uint64(indptr[d + 1])):
            w, c = np.uint64(word[p]), count[p]
            own, begin, end = min(c, 1.0), np.uint64(start[p]), np.uint64(start[p + _ONE])
            of_w, following = of_word(eta, w), np.uint64(word[min(p + _ONE, most)])
            for k in range(_NONE, near, _LINE):
                prefetch(S, (following, k))
            _weigh(S, w, of_w, factor, value)
            for j in range(begin, end):
                k, r = topic[j], np.float64(share[j])
                x = own * r
                y = x if counted else 0.0
                new = (S[w, k] - y + of_w) / (N[k] - y + total_eta) * (n[k] - x + prior[k])
                value[k] = max(new, 0.0)  # of weights, rounding may leave less than the token
                n[k] = max(n[k] - c * r, 0.0)
                factor[k] = (n[k] + prior[k]) * inverse[k]
            total = _chunk_sums(value, sums)
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
            if not LEAST_TOTAL < total < MOST_TOTAL:
                total = _level(value, sums, K)
            before, n_kept = at, _keep(value, sums, total, smallest, uniform(rng), kept, amount)
            at = _write(kept, amount, n_kept, new_topic, new_share, before)
            for j in range(before, at):
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
            left = max(1.0 - x, 0.0)
            absent[topic[j]] *= left if c == 1.0 else left * left if c == 2.0 else left**c


@njit(cache=True, nogil=True)
def replace_shares(word, count, old_start, old_topic, old_share, start, topic, share, low, high, S, N):
    """S[w, k] and N[k] += c (r - old r) of the counts of the words low <= w < high, in whole units.  math.md (C15)"""
    n = np.uint64(word.size)
    for p in range(n):
        ahead = min(p + _AHEAD, n - _ONE)
        w = np.uint64(word[ahead])
        if low <= w < high:
            for s in range(np.uint64(old_start[ahead]), np.uint64(old_start[ahead + _ONE])):
                prefetch(S, (w, old_topic[s]))
            for s in range(np.uint64(start[ahead]), np.uint64(start[ahead + _ONE])):
                prefetch(S, (w, topic[s]))
        w, c = np.uint64(word[p]), count[p]
        if low <= w < high:
            i, j = np.uint64(old_start[p]), np.uint64(start[p])
            i_end, j_end = np.uint64(old_start[p + _ONE]), np.uint64(start[p + _ONE])
            if i_end == i + _ONE and j_end == j + _ONE and old_topic[i] == topic[j]:
                continue  # all of a count stays where it is
            while i < i_end:
                x = on_grid(c * np.float64(old_share[i]))
                S[w, old_topic[i]] -= x
                N[old_topic[i]] -= x
                i += _ONE
            while j < j_end:
                x = on_grid(c * np.float64(share[j]))
                S[w, topic[j]] += x
                N[topic[j]] += x
                j += _ONE


@njit(cache=True, nogil=True, error_model="numpy")
def first_shares(indptr, word, topic_word, theta, smallest, key, first, new_start, new_topic, new_share):
    """Write shares r_dwk ∝ topic_word[w, k] theta[d, k], kept as by `update_documents`.        math.md (C1), (C3)"""
    K = theta.shape[1]
    sums, rng = np.empty((K + CHUNK - 1) // CHUNK), np.empty(1, np.uint64)
    value, kept, amount = np.zeros(CHUNK * sums.size), np.empty(K + 1, np.uint16), np.empty(K + 1)
    at = np.uint64(0)
    new_start[0] = 0
    for d in range(indptr.size - 1):
        open_stream(rng, key, first + d)
        for p in range(indptr[d], indptr[d + 1]):
            _weigh(topic_word, word[p], 0.0, theta[d], value)
            total = _chunk_sums(value, sums)
            if not LEAST_TOTAL < total < MOST_TOTAL:
                total = _level(value, sums, K)
            n_kept = _keep(value, sums, total, smallest, uniform(rng), kept, amount)
            at = _write(kept, amount, n_kept, new_topic, new_share, at)
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
