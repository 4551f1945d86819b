"""The two sides of a sub-topic trial: where they settle, how their tokens are drawn, what they weigh.

Twin in tests/sampling/subtopic_twin.py. A trial works on the tokens of one topic or of two, its members. Side 0 holds
the first anchor, side 1 the second. n (W, 2) holds the tokens of each word on each side and size (2,) those of all
words: expected ones after `settle_sides`, the sides that the members have after `propose`.
"""

from __future__ import annotations

from math import exp, lgamma, log, log1p, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_eta import log_gamma_of, of_word, total_of
from stickbreak.numerics.kernel_random import uniform

CHUNK = 256  # tokens of a document that are drawn at once
_BACKGROUND = 10.0  # tokens of all members that smooth the two documents of the anchors
_LEAST = 1e-8  # of the prior of a side in a document, where a proposal is made
_SETTLED = 0.003  # mean change of a probability at which the sides have settled
_ROUNDS = 20  # towards the mode of the share of side 0


class Members(NamedTuple):
    """The tokens of the topics of a trial, document by document; a tuple, so that kernels can take it."""

    token: NDArray[np.int64]  # (S,)  their places in the corpus, ascending
    word: NDArray[np.int64]  # (S,)
    bound: NDArray[np.int64]  # (documents + 1,)  where the documents begin among the members
    labelled: NDArray[np.bool_]  # (documents,)  which have labels


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
def propose(members, anchors, mass, eta, passes, side, drawn, floor, n, size, rng):
    """Give every member its side, or else take the present ones; return log q.                      math.md (M4)

    With `passes` = 0 the sides know nothing but the anchors before the draw; else they settle in that many passes at
    most. Stops where log q falls below `floor`.
    """
    n[:], size[:] = 0.0, 0.0
    expected, tables = np.zeros(side.size), np.full(2, 0.5)
    if passes > 0:
        settle_sides(members, anchors, mass, eta, passes, expected, n, size, tables)
    log_q = draw_sides(members, anchors, mass, eta, passes > 0, expected, tables, side, drawn, floor, n, size, rng)
    count_sides(members, side, n, size)
    return log_q


@njit(cache=True, nogil=True)
def count_sides(members, side, n, size):
    """Fill n and size with the tokens of each side."""
    n[:], size[:] = 0.0, 0.0
    for p in range(side.size):
        n[members.word[p], side[p]] += 1.0
        size[side[p]] += 1.0


@njit(cache=True, nogil=True, error_model="numpy")
def settle_sides(members, anchors, mass, eta, passes, expected, n, size, tables):
    """Let two sides settle around the documents of the anchors.                                      math.md (M4)

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
def draw_sides(members, anchors, mass, eta, settled, expected, tables, side, drawn, floor, n, size, rng):
    """Give the members their sides document by document, or else take the present ones; return log q.  math.md (M4)

    n, size and tables hold what is expected, zeros where nothing has settled, and are used up.
    """
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
    """Log of prod_d (mass u)_{n_d0} (mass (1 - u))_{n_d1} / (mass)_{n_d}, u = 1 / (1 + e^-v).       math.md (M3)

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
    """Return centre and scale of the logistic law from which v is proposed, near its mode.          math.md (M4)"""
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
    """Return log f(S_0) f(S_1) / f(S); words that are on one side only add nothing. n: as drawn.    math.md (M3)"""
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
