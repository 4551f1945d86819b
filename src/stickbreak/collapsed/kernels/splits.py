"""Compiled loops over the two halves of each topic; NumPy twins in tests/collapsed/test_splitting.py."""

from __future__ import annotations

import math

import numpy as np

from stickbreak.collapsed.kernels.shares import on_grid
from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_eta import of_word
from stickbreak.numerics.kernel_random import open_stream, uniform
from stickbreak.numerics.prefetch import prefetch

LEAST_PART = 0.05  # of a share, that a half keeps of it
_AHEAD = np.uint64(8)  # stored counts, whose entries of S are asked for before they are read
_ONE = np.uint64(1)


@njit(cache=True, nogil=True, error_model="numpy")
def first_halves(indptr, start, topic, key, first, n_topics, near, half):
    """Put what a document has of a topic into one half of it, drawn at random: h is near or 1 - near."""
    side, rng = np.full(n_topics, -1.0), np.empty(1, np.uint64)
    for d in range(indptr.size - 1):
        open_stream(rng, key, first + d)
        low, high = start[indptr[d]], start[indptr[d + 1]]
        for j in range(low, high):
            if side[topic[j]] < 0.0:
                side[topic[j]] = near if uniform(rng) < 0.5 else 1.0 - near
            half[j] = side[topic[j]]
        for j in range(low, high):
            side[topic[j]] = -1.0


@njit(cache=True, nogil=True, error_model="numpy")
def add_halves(word, count, start, topic, share, half, low, high, S, N):
    """S[w, k] and N[k] += c r h over the counts of the words low <= w < high, in whole units.   math.md (C15)"""
    n = np.uint64(word.size)
    for p in range(n):
        ahead = min(p + _AHEAD, n - _ONE)
        w = np.uint64(word[ahead])
        if low <= w < high:
            for j in range(np.uint64(start[ahead]), np.uint64(start[ahead + _ONE])):
                prefetch(S, (w, topic[j]))
        w, c = np.uint64(word[p]), count[p]
        if low <= w < high:
            for j in range(np.uint64(start[p]), np.uint64(start[p + _ONE])):
                x = on_grid(c * np.float64(share[j]) * np.float64(half[j]))
                S[w, topic[j]] += x
                N[topic[j]] += x


@njit(cache=True, nogil=True, error_model="numpy")
def update_halves(indptr, word, count, start, topic, share, half, S, N, S1, N1, prior, eta, total_eta, counted, new):
    """Write the new part h of every share r that is in the first half of its topic; S and N are fixed.  math.md (C11)

        h ∝ (S1_kw - r h + eta) / (N1_k - r h + W eta) (N1_dk - r h + prior_k / 2),    1 - h alike of S - S1

    S1, N1 and N1_dk are the counts of the first halves; r h is taken out once for each count, as in (C1), and out of S,
    S1, N and N1 only where these documents are `counted` in them.
    Return the tokens that have changed their half, sum of c r |h - old h|.
    """
    K, last = N.size, np.uint64(max(word.size, 1) - 1)
    one, both, moved = np.zeros(K), np.zeros(K), 0.0
    for d in range(indptr.size - 1):
        for p in range(np.uint64(indptr[d]), np.uint64(indptr[d + 1])):
            for j in range(np.uint64(start[p]), np.uint64(start[p + _ONE])):
                x = count[p] * np.float64(share[j])
                one[topic[j]] += x * np.float64(half[j])
                both[topic[j]] += x
        for p in range(np.uint64(indptr[d]), np.uint64(indptr[d + 1])):
            ahead = min(p + _AHEAD, last)
            w = np.uint64(word[ahead])
            for j in range(np.uint64(start[ahead]), np.uint64(start[ahead + _ONE])):
                prefetch(S, (w, topic[j]))
                prefetch(S1, (w, topic[j]))
            w, c = np.uint64(word[p]), count[p]
            own, of_w = min(c, 1.0), of_word(eta, w)
            for j in range(np.uint64(start[p]), np.uint64(start[p + _ONE])):
                k, r, h = topic[j], np.float64(share[j]), np.float64(half[j])
                x, y = own * r * h, own * r * (1.0 - h)
                a, b = one[k] - x + 0.5 * prior[k], both[k] - one[k] - y + 0.5 * prior[k]
                if not counted:
                    x, y = 0.0, 0.0
                a *= (S1[w, k] - x + of_w) / (N1[k] - x + total_eta)
                b *= (S[w, k] - S1[w, k] - y + of_w) / (N[k] - N1[k] - y + total_eta)
                first, second = max(a, 0.0), max(b, 0.0)  # rounding may leave a count a little below its own token
                now = first / (first + second) if first + second > 0.0 else 0.5
                new[j] = now
                moved += c * r * abs(now - h)
                one[k] = min(max(one[k] + c * r * (now - h), 0.0), both[k])
        for j in range(start[indptr[d]], start[indptr[d + 1]]):
            one[topic[j]] = 0.0
            both[topic[j]] = 0.0
    return moved


@njit(cache=True, nogil=True, error_model="numpy")
def split_gains(indptr, word, count, held, start, topic, share, half, S, N, S1, N1, prior, eta, total_eta, least, out):
    """out[k] += (sum_i c_i g_i, sum_i c_i g_i^2, sum_i c_i theta_k phi_k / p_i) of the split of topic k.  math.md (C12)

    g_i = log p_i' / p_i over tokens held out, in documents where topic k has a share of `least`.
    """
    K = N.size
    theta, one, phi = np.empty(K), np.empty(K), np.empty(K)
    for d in range(indptr.size - 1):
        for k in range(K):
            theta[k], one[k] = prior[k], 0.5 * prior[k]
        for p in range(indptr[d], indptr[d + 1]):
            for j in range(start[p], start[p + 1]):
                x = count[p] * np.float64(share[j])
                theta[topic[j]] += x
                one[topic[j]] += x * np.float64(half[j])
        total = theta.sum()
        for p in range(indptr[d], indptr[d + 1]):
            if held[p] == 0.0:
                continue
            w, before = word[p], 0.0
            of_w = of_word(eta, w)
            for k in range(K):
                phi[k] = (S[w, k] + of_w) / (N[k] + total_eta)
                before += theta[k] * phi[k]
            for k in range(K):
                if theta[k] < least * total:
                    continue
                after = one[k] * (S1[w, k] + of_w) / (N1[k] + total_eta)
                after += (theta[k] - one[k]) * max(S[w, k] - S1[w, k] + of_w, 0.0) / (N[k] - N1[k] + total_eta)
                gain = math.log((before - theta[k] * phi[k] + after) / before)
                out[k, 0] += held[p] * gain
                out[k, 1] += held[p] * gain * gain
                out[k, 2] += held[p] * theta[k] * phi[k] / before


@njit(cache=True, nogil=True, error_model="numpy")
def divide(start, topic, share, half, to, new_start, new_topic, new_share):
    """Give the second half of topic k to topic to[k], where that is another one; small parts go to the other half.

    The first half is rounded to whole units, and the second has the rest.                       math.md (C15)
    """
    at = 0
    new_start[0] = 0
    for p in range(start.size - 1):
        for j in range(start[p], start[p + 1]):
            k, r, h = topic[j], np.float64(share[j]), np.float64(half[j])
            if to[k] == k or h > 1.0 - LEAST_PART:
                h = np.float64(1.0)
            elif h < LEAST_PART:
                h = np.float64(0.0)
            one = on_grid(r * h)
            if one > 0.0:
                new_topic[at], new_share[at] = k, np.float32(one)
                at += 1
            if one < r:
                new_topic[at], new_share[at] = to[k], np.float32(r - one)
                at += 1
        new_start[p + 1] = at
