"""Compiled trials that split a topic into sub-topics or merge two; twin in tests/sampling/subtopic_twin.py."""

from __future__ import annotations

from math import exp, inf, log, log1p, sqrt
from typing import NamedTuple

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_random import open_stream, uniform
from stickbreak.sampling.kernels.sides import count_sides, propose, weigh
from stickbreak.sampling.state import SHIFT, TOPIC

_SHARPNESS = 4  # power of the affinity that picks the partner of a merge
_FLOOR = 1e-4  # of the weight of a partner


class Pick(NamedTuple):
    """What a trial is about."""

    first: np.int64  # topic
    second: np.int64  # the topic it may be merged with; `first` for a split
    size: np.int64  # S, tokens of both; 0: no trial is made
    splits: bool
    settles: bool  # whether its sides settle before the draw
    log_pair: float  # log probability of the second topic


@njit(cache=True, nogil=True, error_model="numpy")
def pick(trial, words, n_k, n_topics, n_kept, limit, largest, key, rng):
    """Pick the topics of a trial of at most `largest` tokens; rng goes on from there.               math.md (M3)

    No trial is about one of the first `n_kept` topics: a pick of one is none.
    """
    open_stream(rng, key, trial)
    splits, log_pair = uniform(rng) < 0.5, 0.0
    settles = uniform(rng) < 0.5
    first = second = np.int64(uniform(rng) * n_topics)
    S = n_k[first]
    if not splits:
        if n_topics < 2:
            return Pick(first, second, np.int64(0), splits, settles, log_pair)
        own, weight = np.zeros(words.size.size), np.empty(n_k.size)
        second, log_pair = _partner(words, first, n_topics, n_k, own, weight, rng)
        S += n_k[second]
    if S < 2 or S > largest or uniform(rng) * S > limit or first < n_kept or second < n_kept:
        S = np.int64(0)
    return Pick(first, second, S, splits, settles, log_pair)


@njit(cache=True, nogil=True, error_model="numpy")
def judge(picked, members, side, words, n_k, beta, n_topics, alpha, scale, gamma, eta, passes, rng):
    """Propose sides, or weigh the present ones; return whether the move is accepted, v, n and size.  math.md (M3)

    `scale`: by which alpha beta_k is multiplied in documents with labels.                           math.md (G16)
    """
    splits, first, second = picked.splits, picked.first, picked.second
    n, size, S = np.zeros((words.size.size, 2)), np.zeros(2), side.size
    weight, anchors = np.empty(n_k.size), np.empty(2, np.int64)
    count_sides(members, side, n, size)
    _pick_anchors(splits, side, n_k[first], anchors, rng)
    mass = alpha * (beta[first] if splits else beta[first] + beta[second])
    masses = np.array([mass, mass * scale])[: 1 if scale == 1.0 else 2]
    settle, log_pair = passes if picked.settles else 0, picked.log_pair
    log_u, v, log_q = log1p(-uniform(rng)), 0.0, 0.0
    if splits:
        log_q = propose(members, anchors, mass, eta, settle, side, np.bool_(True), -inf, n, size, rng)
        log_pair = _log_partner(words, n, size, first, n_topics, n_k, weight)
    else:
        v = log(beta[first] / beta[second])
    log_ratio, v = weigh(members, side, masses, eta, n, size, v, splits, rng)
    few = n_topics if splits else n_topics - 1
    log_ratio += log(gamma) + log_pair + log(few / (few + 1.0)) + log(S * (S - 1.0)) - log(size[0] * size[1])
    if not splits and log_u <= -log_ratio:  # else it cannot be accepted: log q is no more than zero
        log_q = propose(members, anchors, mass, eta, settle, side, np.bool_(False), log_u + log_ratio, n, size, rng)
    log_ratio -= log_q
    return log_u <= (log_ratio if splits else -log_ratio), v, n, size


@njit(cache=True, nogil=True)
def index(z, n_k):
    """Return the tokens topic by topic, those of a topic ascending."""
    place, found = np.zeros(n_k.size, np.int64), np.empty(z.size, np.int64)
    for k in range(1, n_k.size):
        place[k] = place[k - 1] + n_k[k - 1]
    for i in range(z.size):
        found[place[z[i]]] = i
        place[z[i]] += 1
    return found


@njit(cache=True, nogil=True)
def _pick_anchors(split, side, on_0, anchors, rng):
    """Pick a member of each side, or, where all are of one topic, any two members."""
    S = side.size
    if split:
        anchors[0], anchors[1] = np.int64(uniform(rng) * S), np.int64(uniform(rng) * (S - 1))
        anchors[1] += anchors[1] >= anchors[0]
        return
    left = np.array([np.int64(uniform(rng) * on_0), np.int64(uniform(rng) * (S - on_0))])
    for p in range(S):
        if left[side[p]] == 0:
            anchors[side[p]] = p
        left[side[p]] -= 1


@njit(cache=True, nogil=True, error_model="numpy")
def _weight(common, n_1, n_2):
    """Return the weight of a partner from sum_w sqrt(n_1w n_2w): a power of the affinity of the words."""
    if n_1 == 0 or n_2 == 0:
        return _FLOOR  # the topic of a label may have no token
    return (common / sqrt(n_1 * n_2)) ** _SHARPNESS + _FLOOR


@njit(cache=True, nogil=True, error_model="numpy")
def _weigh(words, own, own_size, skipped, n_topics, n_k, weight):
    """Fill `weight` with those of all topics but one as partners of a topic with the words `own`; return the sum."""
    weight[:n_topics] = 0.0
    for w in range(own.size):
        if own[w] > 0.0:
            for s in range(words.start[w], words.start[w] + words.size[w]):
                weight[words.entry[s] & TOPIC] += sqrt(own[w] * np.int64(words.entry[s] >> SHIFT))
    total = 0.0
    for k in range(n_topics):
        weight[k] = 0.0 if k == skipped else _weight(weight[k], own_size, n_k[k])
        total += weight[k]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _partner(words, first, n_topics, n_k, own, weight, rng):
    """Draw a topic to be merged with `first`; return it and the log of its probability.              math.md (M4)"""
    for w in range(own.size):
        own[w] = 0.0
        for s in range(words.start[w], words.start[w] + words.size[w]):
            if np.int64(words.entry[s] & TOPIC) == first:
                own[w] = np.int64(words.entry[s] >> SHIFT)
                break
    total = _weigh(words, own, n_k[first], first, n_topics, n_k, weight)
    u, second = uniform(rng) * total, -1
    for k in range(n_topics):
        if weight[k] > 0.0 and u >= 0.0:
            second = k
            u -= weight[k]
    return second, log(weight[second] / total)


@njit(cache=True, nogil=True, error_model="numpy")
def _log_partner(words, n, size, divided, n_topics, n_k, weight):
    """Return the log probability that side 0, a topic by itself, would draw side 1 as its partner.    math.md (M4)"""
    total = _weigh(words, n[:, 0], size[0], divided, n_topics, n_k, weight)
    common = 0.0
    for w in range(n.shape[0]):
        common += sqrt(n[w, 0] * n[w, 1])
    own = _weight(common, size[0], size[1])
    return log(own / (total + own))


@njit(cache=True, nogil=True)
def _set_entry(words, w, k, count):
    """n_kw = count."""
    s, end = words.start[w], words.start[w] + words.size[w]
    while s < end and np.int64(words.entry[s] & TOPIC) != k:
        s += 1
    if count > 0:
        words.size[w] += s == end
        words.entry[s] = (np.uint64(count) << SHIFT) | np.uint64(k)
    elif s < end:
        words.size[w] -= 1
        words.entry[s] = words.entry[end - 1]


@njit(cache=True, nogil=True, error_model="numpy")
def split(n, size, v, words, n_k, beta, k, new):
    """Give side 1 of topic k the number `new`, in the counts and weights."""
    for w in range(n.shape[0]):
        if n[w, 1] > 0.0:
            _set_entry(words, w, k, np.int64(n[w, 0]))
            _set_entry(words, w, new, np.int64(n[w, 1]))
    n_k[new] = np.int64(size[1])
    n_k[k] -= n_k[new]
    beta[new] = beta[k] / (1.0 + exp(v))
    beta[k] /= 1.0 + exp(-v)


@njit(cache=True, nogil=True)
def merge(words, n_k, beta, kept, gone, last, label):
    """Make topic `gone` a part of `kept`, in the counts and weights.

    The topic `last`, the highest, takes the number that is left. Fills label (K,), the new number of each topic.
    """
    home = gone if kept == last else kept  # the number of the merged topic
    free = gone if kept != last else last
    for topic in range(last + 1):
        label[topic] = topic
    label[last] = free
    label[kept] = label[gone] = home
    total, weight = n_k[kept] + n_k[gone], beta[kept] + beta[gone]
    n_k[free], beta[free] = n_k[last], beta[last]
    n_k[home], beta[home] = total, weight
    for w in range(words.size.size):
        count = moved = np.int64(0)
        for s in range(words.start[w], words.start[w] + words.size[w]):
            k = np.int64(words.entry[s] & TOPIC)
            if k == kept or k == gone:
                count += np.int64(words.entry[s] >> SHIFT)
            elif k == last:
                moved = np.int64(words.entry[s] >> SHIFT)
        if count > 0:
            _set_entry(words, w, kept, 0)
            _set_entry(words, w, gone, 0)
            _set_entry(words, w, home, count)
        if moved > 0 and free != last:
            _set_entry(words, w, last, 0)
            _set_entry(words, w, free, moved)
