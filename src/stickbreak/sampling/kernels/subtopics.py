"""Compiled trials that split a topic into sub-topics or merge two; twin in tests/sampling/subtopic_twin.py.

A trial works on the tokens of one topic or of two, its members. Side 0 holds the first anchor, side 1 the second.
n (W, 2) holds the tokens of each word on each side and size (2,) those of all words: expected ones after
`settle_sides`, the sides that the members have after `propose`.
"""

from __future__ import annotations

from math import exp, inf, lgamma, log, log1p, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_pseudo_counts import log_gamma_of, of_word, total_of
from stickbreak.numerics.kernel_random import open_stream, uniform
from stickbreak.sampling.kernels.counts import SHIFT, TOPIC

_SHARPNESS = 4  # power of the affinity that picks the partner of a merge
_FLOOR = 1e-4  # of the weight of a partner
CHUNK = 256  # tokens of a document that are drawn at once
_BACKGROUND = 10.0  # tokens of all members that smooth the two documents of the anchors
_LEAST = 1e-8  # of the prior of a side in a document, where a proposal is made
_SETTLED = 0.003  # mean change of a probability at which the sides have settled
_ROUNDS = 20  # towards the mode of the share of side 0


class TrialTopics(NamedTuple):
    """What a trial is about."""

    first: np.int64  # topic
    second: np.int64  # the topic it may be merged with; `first` for a split
    size: np.int64  # S, tokens of both; 0: no trial is made
    splits: bool
    settles: bool  # whether its sides settle before the draw
    log_pair: float  # log probability of the second topic


@njit(cache=True, nogil=True, error_model="numpy")
def pick(trial, words, n_k, n_topics, n_kept, limit, largest, key, rng):
    """Pick the topics of a trial of at most `largest` tokens; rng goes on from there.               docs/math (M3)

    No trial is about one of the first `n_kept` topics: a pick of one is none.
    """
    open_stream(rng, key, trial)
    splits, log_pair = uniform(rng) < 0.5, 0.0
    settles = uniform(rng) < 0.5
    first = second = np.int64(uniform(rng) * n_topics)
    S = n_k[first]
    if not splits:
        if n_topics < 2:
            return TrialTopics(first, second, np.int64(0), splits, settles, log_pair)
        own, weight = np.zeros(words.size.size), np.empty(n_k.size)
        second, log_pair = _partner(words, first, n_topics, n_k, own, weight, rng)
        S += n_k[second]
    if S < 2 or S > largest or uniform(rng) * S > limit or first < n_kept or second < n_kept:
        S = np.int64(0)
    return TrialTopics(first, second, S, splits, settles, log_pair)


@njit(cache=True, nogil=True, error_model="numpy")
def judge(picked, members, side, words, topics, now, scale, passes, rng):
    """Propose sides, or weigh the present ones; return whether the move is accepted, v, n and size.  docs/math (M3)

    topics: (n_k, beta, n_topics). now: `Concentrations`. `scale`: by which alpha beta_k is multiplied in documents with
    labels.                                                                                          docs/math (G16)
    """
    (n_k, beta, n_topics), alpha, gamma, eta = topics, now.alpha, now.gamma, now.eta
    splits, first, second = picked.splits, picked.first, picked.second
    n, size, S = np.zeros((words.size.size, 2)), np.zeros(2), side.size
    weight, anchors = np.empty(n_k.size), np.empty(2, np.int64)
    sides = Sides(side, n, size)
    count_sides(members, sides)
    _pick_anchors(splits, side, n_k[first], anchors, rng)
    mass = alpha * (beta[first] if splits else beta[first] + beta[second])
    masses = np.array([mass, mass * scale])[: 1 if scale == 1.0 else 2]
    settle, log_pair = passes if picked.settles else 0, picked.log_pair
    log_u, v, log_q = log1p(-uniform(rng)), 0.0, 0.0
    if splits:
        log_q = propose(members, anchors, mass, eta, settle, sides, np.bool_(True), -inf, rng)
        log_pair = _log_partner(words, n, size, first, n_topics, n_k, weight)
    else:
        v = log(beta[first] / beta[second])
    log_ratio, v = weigh(members, side, masses, eta, n, size, v, splits, rng)
    few = n_topics if splits else n_topics - 1
    log_ratio += log(gamma) + log_pair + log(few / (few + 1.0)) + log(S * (S - 1.0)) - log(size[0] * size[1])
    if not splits and log_u <= -log_ratio:  # else it cannot be accepted: log q is no more than zero
        log_q = propose(members, anchors, mass, eta, settle, sides, np.bool_(False), log_u + log_ratio, rng)
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
    """Draw a topic to be merged with `first`; return it and the log of its probability.              docs/math (M4)"""
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
    """Return the log probability that side 0, a topic by itself, would draw side 1 as its partner.    docs/math (M4)"""
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


# --- the two sides: where they settle, how their tokens are drawn, what they weigh ---


class Members(NamedTuple):
    """The tokens of the topics of a trial, document by document; a tuple, so that kernels can take it."""

    token: NDArray[np.int64]  # (S,)  their places in the corpus, ascending
    word: NDArray[np.int64]  # (S,)
    bound: NDArray[np.int64]  # (documents + 1,)  where the documents begin among the members
    labelled: NDArray[np.bool_]  # (documents,)  which have labels


class Sides(NamedTuple):
    """Who of the members is on which side, and the tokens there."""

    side: NDArray[np.int8]  # (S,)
    n: NDArray[np.float64]  # (W, 2)
    size: NDArray[np.float64]  # (2,)


@njit(cache=True, nogil=True)
def gather(document, word, left, right):
    """List the tokens `left` of a topic and `right` of another, both ascending."""
    S, documents, last = left.size + right.size, 0, -1
    token, words, bound = np.empty(S, np.int64), np.empty(S, np.int64), np.empty(S + 1, np.int64)
    i = j = 0
    for p in range(S):
        if j == right.size or (i < left.size and left[i] < right[j]):
            token[p] = left[i]
            i += 1
        else:
            token[p] = right[j]
            j += 1
        words[p] = word[token[p]]
        if document[token[p]] != last:
            last = document[token[p]]
            bound[documents] = p
            documents += 1
    bound[documents] = S
    return Members(token, words, bound[: documents + 1].copy(), np.zeros(documents, np.bool_))


@njit(cache=True, nogil=True, error_model="numpy")
def propose(members, anchors, mass, eta, passes, sides, drawn, floor, rng):
    """Give every member its side, or else take the present ones; return log q.                      docs/math (M4)

    With `passes` = 0 the sides know nothing but the anchors before the draw; else they settle in that many passes at
    most. Stops where log q falls below `floor`.
    """
    side, n, size = sides
    n[:], size[:] = 0.0, 0.0
    expected, tables = np.zeros(side.size), np.full(2, 0.5)
    if passes > 0:
        settle_sides(members, anchors, mass, eta, passes, expected, n, size, tables)
    log_q = draw_sides(members, anchors, mass, eta, (passes > 0, expected, tables), sides, drawn, floor, rng)
    count_sides(members, sides)
    return log_q


@njit(cache=True, nogil=True)
def count_sides(members, sides):
    """Fill n and size with the tokens of each side."""
    side, n, size = sides
    n[:], size[:] = 0.0, 0.0
    for p in range(side.size):
        n[members.word[p], side[p]] += 1.0
        size[side[p]] += 1.0


@njit(cache=True, nogil=True, error_model="numpy")
def settle_sides(members, anchors, mass, eta, passes, expected, n, size, tables):
    """Let two sides settle around the documents of the anchors.                                      docs/math (M4)

    Fills expected (S,), the probability that each member is on side 0, n and size, its sums, and tables (2,), about
    the tables of each side. Nothing is drawn: the result depends on the members and the anchors alone.
    """
    word, bound, W = members.word, members.bound, n.shape[0]
    _seed(members, anchors, expected, n, size)
    total_eta = total_of(eta, W)
    for _ in range(passes):
        share, change = tables[0] / (tables[0] + tables[1]), 0.0
        tables[:] = 0.0
        for d in range(bound.size - 1):
            on_0 = 0.0
            for p in range(bound[d], bound[d + 1]):
                on_0 += expected[p]
            on_1 = bound[d + 1] - bound[d] - on_0
            for p in range(bound[d], bound[d + 1]):
                if p == anchors[0] or p == anchors[1]:
                    continue
                w, x = word[p], expected[p]
                of_w = of_word(eta, w)
                on_0, on_1 = max(on_0 - x, 0.0), max(on_1 - (1.0 - x), 0.0)
                n_0, n_1 = max(n[w, 0] - x, 0.0), max(n[w, 1] - (1.0 - x), 0.0)
                size[0] -= x
                size[1] -= 1.0 - x
                to_0 = (on_0 + mass * share) * (n_0 + of_w) * (size[1] + total_eta)
                to_1 = (on_1 + mass * (1.0 - share)) * (n_1 + of_w) * (size[0] + total_eta)
                x = to_0 / (to_0 + to_1)
                change += abs(x - expected[p])
                expected[p] = x
                on_0, on_1 = on_0 + x, on_1 + (1.0 - x)
                n[w, 0], n[w, 1] = n_0 + x, n_1 + (1.0 - x)
                size[0] += x
                size[1] += 1.0 - x
            tables[0] += _tables(on_0, mass * share)
            tables[1] += _tables(on_1, mass * (1.0 - share))
        if change < _SETTLED * word.size:
            break


@njit(cache=True, nogil=True, error_model="numpy")
def _tables(n, a):
    """About how many tables an expected number of tokens takes."""
    return n if n < 1.0 else 1.0 + a * log((a + n) / (a + 1.0))


@njit(cache=True, nogil=True, error_model="numpy")
def _seed(members, anchors, expected, n, size):
    """Put the documents of the anchors on their sides, then every other member where it fits better so far."""
    word, bound, S = members.word, members.bound, members.word.size
    background = np.zeros(n.shape[0])
    for p in range(S):
        background[word[p]] += _BACKGROUND / S
    expected[:] = -1.0
    place = np.searchsorted(bound, anchors, side="right") - 1
    for s in range(2):
        first, last = bound[place[s]], bound[place[s] + 1]
        if place[0] == place[1]:
            first, last = anchors[s], anchors[s] + 1
        for p in range(first, last):
            expected[p] = 1.0 - s
            n[word[p], s] += 1.0
            size[s] += 1.0
    for d in range(bound.size - 1):
        on_0, on_1 = 1.0, 1.0
        for p in range(bound[d], bound[d + 1]):
            w, x = word[p], expected[p]
            if x < 0.0:
                to_0 = on_0 * (n[w, 0] + background[w]) * (size[1] + _BACKGROUND)
                to_1 = on_1 * (n[w, 1] + background[w]) * (size[0] + _BACKGROUND)
                x = to_0 / (to_0 + to_1)
                expected[p] = x
                n[w, 0] += x
                n[w, 1] += 1.0 - x
                size[0] += x
                size[1] += 1.0 - x
            on_0 += x
            on_1 += 1.0 - x


@njit(cache=True, nogil=True, error_model="numpy")
def draw_sides(members, anchors, mass, eta, start, sides, drawn, floor, rng):
    """Give the members their sides document by document, or else take the present ones; return log q.  docs/math (M4)

    start: whether the sides have settled, and expected and tables of `settle_sides`. n, size and tables hold what is
    expected, zeros where nothing has settled, and are used up.
    """
    (settled, expected, tables), (side, n, size) = start, sides
    word, bound, total_eta, log_q = members.word, members.bound, total_of(eta, n.shape[0]), 0.0
    odds, ahead = np.empty(CHUNK), np.empty((CHUNK + 1, CHUNK + 1))
    for d in range(bound.size - 1):
        rest = np.zeros(2)
        if settled:
            for p in range(bound[d], bound[d + 1]):
                w, x = word[p], expected[p]
                n[w, 0], n[w, 1] = max(n[w, 0] - x, 0.0), max(n[w, 1] - (1.0 - x), 0.0)
                rest[0] += x
                rest[1] += 1.0 - x
            size -= rest
        size_0, size_1 = max(size[0], 0.0) + total_eta, max(size[1], 0.0) + total_eta
        mass_0 = max(mass * tables[0] / (tables[0] + tables[1]), _LEAST)
        mass_1 = max(mass * tables[1] / (tables[0] + tables[1]), _LEAST)
        on_0, on_1 = 0.0, 0.0
        for begin in range(bound[d], bound[d + 1], CHUNK):
            end = min(begin + CHUNK, bound[d + 1])
            for p in range(begin, end):
                w = word[p]
                if settled:
                    rest[0] -= expected[p]
                    rest[1] -= 1.0 - expected[p]
                to_0, to_1 = (n[w, 0] + of_word(eta, w)) * size_1, (n[w, 1] + of_word(eta, w)) * size_0
                odds[p - begin] = to_0 / (to_0 + to_1)
                if p == anchors[0] or p == anchors[1]:
                    odds[p - begin] = 1.0 if p == anchors[0] else 0.0
            a, b = mass_0 + on_0 + max(rest[0], 0.0), mass_1 + on_1 + max(rest[1], 0.0)
            log_q += _draw_chunk(odds, ahead, a, b, side[begin:end], drawn, rng)
            for p in range(begin, end):
                on_0 += side[p] == 0
                on_1 += side[p] == 1
        for p in range(bound[d], bound[d + 1]):
            n[word[p], side[p]] += 1.0
            size[side[p]] += 1.0
        tables[0] += _tables(on_0, mass_0)
        tables[1] += _tables(on_1, mass_1)
        if log_q < floor:
            break
    return log_q


@njit(cache=True, nogil=True, error_model="numpy")
def _draw_chunk(odds, ahead, a, b, side, drawn, rng):
    """Draw sides from prod_i odds_i^{z_i = 0} (1 - odds_i)^{z_i = 1} (a)_{n_0} (b)_{n_1}, exactly; return log q.

    ahead[i, c]: the sum over all sides of the tokens from the i-th, c of those before it on side 0.
    """
    T, log_q, c = side.size, 0.0, 0
    for c in range(T + 1):
        ahead[T, c] = 1.0
    for i in range(T - 1, -1, -1):
        to_0, to_1 = odds[i] / (a + b + i), (1.0 - odds[i]) / (a + b + i)
        for c in range(i + 1):
            ahead[i, c] = to_0 * (a + c) * ahead[i + 1, c + 1] + to_1 * (b + i - c) * ahead[i + 1, c]
    c = 0
    for i in range(T):
        p_0 = odds[i] / (a + b + i) * (a + c) * ahead[i + 1, c + 1] / ahead[i, c]
        if drawn:
            side[i] = 0 if uniform(rng) < p_0 else 1
        log_q += log(p_0) if side[i] == 0 else log(max(1.0 - p_0, 0.0))
        c += side[i] == 0
    return log_q


@njit(cache=True, nogil=True)
def documents_beyond(members, side, kinds):
    """Return C (kinds, longest, 3): the documents with more than i members on side 0, on side 1, on both together.

    Of two kinds, documents with labels are the second.
    """
    bound, longest = members.bound, 0
    for d in range(bound.size - 1):
        longest = max(longest, bound[d + 1] - bound[d])
    out = np.zeros((kinds, longest, 3))
    for d in range(bound.size - 1):
        kind = 1 if kinds > 1 and members.labelled[d] else 0
        on_1 = 0
        for p in range(bound[d], bound[d + 1]):
            on_1 += side[p]
        both = bound[d + 1] - bound[d]
        if both > on_1:
            out[kind, both - on_1 - 1, 0] += 1.0
        if on_1 > 0:
            out[kind, on_1 - 1, 1] += 1.0
        out[kind, both - 1, 2] += 1.0
    for kind in range(kinds):
        for i in range(longest - 2, -1, -1):
            out[kind, i] += out[kind, i + 1]
    return out


@njit(cache=True, nogil=True, error_model="numpy")
def log_documents(beyond, masses, v):
    """Log of prod_d (mass u)_{n_d0} (mass (1 - u))_{n_d1} / (mass)_{n_d}, u = 1 / (1 + e^-v).       docs/math (M3)

    masses (kinds,): that of the documents of each kind.
    """
    share_0, share_1, out = 1.0 / (1.0 + exp(-v)), 1.0 / (1.0 + exp(v)), 0.0
    for kind in range(masses.size):
        mass, of_kind = masses[kind], beyond[kind]
        out += -of_kind[0, 0] * log1p(exp(-v)) - of_kind[0, 1] * log1p(exp(v))
        out += (of_kind[0, 0] + of_kind[0, 1] - of_kind[0, 2]) * log(mass)
        for i in range(1, of_kind.shape[0]):
            out += of_kind[i, 0] * log(mass * share_0 + i) + of_kind[i, 1] * log(mass * share_1 + i)
            out -= of_kind[i, 2] * log(mass + i)
    return out


@njit(cache=True, nogil=True, error_model="numpy")
def _slope(beyond, masses, v):
    """Return the derivative of `log_documents` by v, and the share that the expected tables make."""
    u, tables_0, tables_1 = 1.0 / (1.0 + exp(-v)), 0.0, 0.0
    for kind in range(masses.size):
        mass, of_kind = masses[kind], beyond[kind]
        for i in range(of_kind.shape[0]):
            tables_0 += of_kind[i, 0] * mass * u / (mass * u + i)
            tables_1 += of_kind[i, 1] * mass * (1.0 - u) / (mass * (1.0 - u) + i)
    return tables_0 * (1.0 - u) - tables_1 * u, tables_0 / (tables_0 + tables_1)


@njit(cache=True, nogil=True, error_model="numpy")
def share_proposal(beyond, masses):
    """Return centre and scale of the logistic law from which v is proposed, near its mode.          docs/math (M4)"""
    on_0 = on_1 = 0.0
    for kind in range(masses.size):
        on_0 += beyond[kind, 0, 0]
        on_1 += beyond[kind, 0, 1]
    u = on_0 / (on_0 + on_1)
    for _ in range(_ROUNDS):
        u = min(max(_slope(beyond, masses, log(u / (1.0 - u)))[1], 1e-12), 1.0 - 1e-12)
    v = log(u / (1.0 - u))
    bend = 50.0 * (_slope(beyond, masses, v - 0.01)[0] - _slope(beyond, masses, v + 0.01)[0])
    return v, 1.0 / sqrt(max(bend, 0.25))


@njit(cache=True, nogil=True, error_model="numpy")
def weigh(members, side, masses, eta, n, size, v, drawn, rng):
    """Return the log of (M3) but for the selection and q of the sides, and v: drawn, or the present one."""
    beyond = documents_beyond(members, side, masses.size)
    centre, scale = share_proposal(beyond, masses)
    if drawn:
        x = uniform(rng)
        v = centre + scale * log(x / (1.0 - x))
    x = abs(v - centre) / scale
    log_q = -x - 2.0 * log1p(exp(-x)) - log(scale)  # logistic
    return log_documents(beyond, masses, v) + log_words(members, n, size, eta) - log_q, v


@njit(cache=True, nogil=True, error_model="numpy")
def log_words(members, n, size, eta):
    """Return log f(S_0) f(S_1) / f(S); words that are on one side only add nothing. n: as drawn.    docs/math (M3)"""
    total_eta, known = total_of(eta, n.shape[0]), lgamma(of_word(eta, 0))
    out = lgamma(total_eta) + lgamma(size[0] + size[1] + total_eta)
    out -= lgamma(size[0] + total_eta) + lgamma(size[1] + total_eta)
    seen = np.zeros(n.shape[0], np.bool_)
    for w in members.word:
        if not seen[w]:
            seen[w] = True
            a, b = n[w, 0], n[w, 1]
            if a > 0.0 and b > 0.0:
                of_w = of_word(eta, w)
                out += lgamma(a + of_w) + lgamma(b + of_w) - lgamma(a + b + of_w) - log_gamma_of(eta, w, known)
    return out
