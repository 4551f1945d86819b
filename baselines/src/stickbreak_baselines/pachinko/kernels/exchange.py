"""Exchanges of groups of tokens between super-topics, document by document; a twin in baselines/tests/pachinko.

docs/math (P7).
"""

from __future__ import annotations

import math

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_random import open_stream, uniform

_ONE = np.uint64(1)


@njit(cache=True, nogil=True, error_model="numpy")
def _of_super(s, n, a, b_sum):
    """Return the part of log p of a document that depends on how many tokens a super-topic has."""
    return math.lgamma(n + a[s]) - math.lgamma(n + b_sum[s])


@njit(cache=True, nogil=True, error_model="numpy")
def _of_group(s, t, k, n_path, bits, b):
    """Return the gain of log p where super-topics s and t exchange their tokens of topic k, but for `_of_super`."""
    n, m = n_path[s << bits | k], n_path[t << bits | k]
    if n == m:
        return 0.0
    here = math.lgamma(m + b[s, k]) - math.lgamma(n + b[s, k])
    return here + math.lgamma(n + b[t, k]) - math.lgamma(m + b[t, k])


@njit(cache=True, nogil=True, error_model="numpy")
def _trade(s, t, k, n_path, first, now, n_super, bits):
    """Exchange the tokens of topic k. Those of path x had the path first[x] before all; now[first[x]] is x."""
    x, y = s << bits | k, t << bits | k
    n, m = n_path[x], n_path[y]
    n_path[x], n_path[y] = m, n
    first[x], first[y] = first[y], first[x]
    now[first[x]], now[first[y]] = x, y
    n_super[s] += m - n
    n_super[t] += n - m


@njit(cache=True, nogil=True, error_model="numpy")
def _accepts(gain, s, t, moved, n_super, a, b_sum, rng):
    """Decide on an exchange in which s gains `moved` tokens and t loses them."""
    n, m = n_super[s], n_super[t]
    gain += _of_super(s, n + moved, a, b_sum) - _of_super(s, n, a, b_sum)
    gain += _of_super(t, m - moved, a, b_sum) - _of_super(t, m, a, b_sum)
    return math.log(1.0 - uniform(rng)) < gain


@njit(cache=True, nogil=True, error_model="numpy")
def _drawn(n, n_tokens, rng):
    """Return the super-topic of a random token out of n_tokens."""
    u, s, last = uniform(rng) * n_tokens, 0, n.size - 1
    while s < last and u >= n[s]:
        u -= n[s]
        s += 1
    return s


@njit(cache=True, nogil=True, error_model="numpy")
def _visit(topics, least, n_path, first, now, n_here, n_super, bits, a, b, b_sum, rng):
    """Propose an exchange for each topic of a document, ascending, then one of all topics; return how many were taken.

    `least` is the first super-topic that takes part; of `first` and `now` see `_trade`; n_here (S,) is scratch.
    """
    S, taken = a.size, 0
    for place in range(topics.size + 1):
        every = place == topics.size
        k, total = 0 if every else topics[place], 0
        for s in range(S):
            n_here[s] = n_super[s] if every else n_path[s << bits | k]
            total += n_here[s]
        s = _drawn(n_here, total, rng)
        t = least + np.int64(uniform(rng) * (S - least - 1))
        if s < least:
            continue
        if t >= s:
            t += 1
        gain, moved = 0.0, 0
        for i in range(0 if every else place, topics.size if every else place + 1):
            k = topics[i]
            if b[s, k] > 0.0 and b[t, k] > 0.0:
                gain += _of_group(s, t, k, n_path, bits, b)
                moved += n_path[t << bits | k] - n_path[s << bits | k]
        if _accepts(gain, s, t, moved, n_super, a, b_sum, rng):
            taken += 1
            for i in range(0 if every else place, topics.size if every else place + 1):
                k = topics[i]
                if b[s, k] > 0.0 and b[t, k] > 0.0:
                    _trade(s, t, k, n_path, first, now, n_super, bits)
    return taken


@njit(cache=True, nogil=True, error_model="numpy")
def exchange(start, order, z, heads, lists, bits, topic_bits, least, n_super, a, b, key):
    """Let super-topics exchange groups of tokens in each document; return how many exchanges were taken. docs/math (P7)

    Parameters
    ----------
    start : ndarray of shape (D + 1,)
        Document d has the tokens order[start[d]] to order[start[d + 1] - 1].
    order : ndarray of shape (N,)
    z : ndarray of shape (N,)
        Paths, changed in place, as are `lists` and n_super. No token changes its topic.
    heads : ndarray of shape (D,)
    lists : ndarray
    bits, topic_bits : uint64
        Of a path in an entry, and of its topic.
    least : int
        First super-topic that takes part: 1 where 0 is the root.
    n_super : ndarray of shape (D, S)
    a, b : ndarray of shape (S,) and (S, T)
    key : uint64
        Document d has the stream of that number.
    """
    S, T = b.shape
    if S - least < 2:
        return 0
    n_paths = np.int64(_ONE << bits)
    n_path, first, now = np.zeros(n_paths, np.int64), np.arange(n_paths), np.arange(n_paths)
    rng, taken, shift = np.empty(1, np.uint64), 0, np.int64(topic_bits)
    topics, seen, b_sum, n_here = np.empty(T, np.int64), np.zeros(T, np.bool_), b.sum(axis=1), np.empty(S, np.int64)
    mask, of_topic = (_ONE << bits) - _ONE, (_ONE << topic_bits) - _ONE
    for d in range(heads.size):
        head, here = np.uint64(heads[d]), 0
        size = np.uint64(lists[head])
        if size == 0:
            continue
        open_stream(rng, key, d)
        for j in range(_ONE, size + _ONE):
            entry = np.uint64(lists[head + j])
            n_path[entry & mask] = np.int64(entry >> bits)
            k = np.int64(entry & of_topic)
            if not seen[k]:
                seen[k] = True
                topics[here] = k
                here += 1
        topics[:here].sort()
        found = _visit(topics[:here], least, n_path, first, now, n_here, n_super[d], shift, a, b, b_sum, rng)
        if found:
            taken += found
            for i in range(start[d], start[d + 1]):
                z[order[i]] = now[z[order[i]]]
            for j in range(_ONE, size + _ONE):
                entry = np.uint64(lists[head + j])
                lists[head + j] = ((entry >> bits) << bits) | np.uint64(now[entry & mask])
        for i in range(here):
            k = topics[i]
            seen[k] = False
            for s in range(S):
                path = s << shift | k
                n_path[path], first[path], now[path] = 0, path, path
    return taken
