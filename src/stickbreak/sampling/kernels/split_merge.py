"""Compiled trials of split-merge moves on tables; NumPy twin in tests/sampling/reference.py.

A trial works on two sides. n (W, 2) holds the tokens of each word on each side and size (2, 2) the tables and tokens of
each side; both are zero between trials. order lists the tables of the trial: the two that were picked, then the others.
"""

from __future__ import annotations

from math import exp, lgamma, log, log1p

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_pseudo_counts import log_gamma_of, of_word, total_of
from stickbreak.numerics.kernel_random import open_stream, uniform

_NOWHERE = np.int8(-1)  # the side of a table that has not been allocated yet
_LARGE = 1e150  # a product beyond this is turned into a logarithm


@njit(cache=True, nogil=True, error_model="numpy")
def run_trials(table_list, n_topics, now, n_words, rules, scans):
    """Change topic (M,) in place by trials; return K and [splits tried, accepted, merges tried, accepted].

    table_list: `TableList`. now: `Concentrations`. rules: `TrialRules`.                           docs/math (M1)
    """
    (start, word, topic), gamma, eta = table_list, now.gamma, now.eta
    M = topic.size
    order, side = np.empty(M, np.int64), np.empty(M, np.int8)
    n, size = np.zeros((n_words, 2)), np.zeros((2, 2))
    rng, made = np.empty(1, np.uint64), np.zeros(4, np.int64)
    for trial in range(rules.trials):
        open_stream(rng, rules.key, trial)
        tables = order[: _choose(topic, order, rng)]
        first, second = topic[tables[0]], topic[tables[1]]
        if first < rules.n_kept or second < rules.n_kept:
            continue
        split = first == second
        if split and n_topics >= rules.max_topics:
            continue
        log_q = propose(start, word, topic, tables, side, n, size, eta, scans, rng)
        log_ratio = settle(start, word, tables, n, size, gamma, eta) - log_q
        accepted = log1p(-uniform(rng)) <= (log_ratio if split else -log_ratio)
        made[0 if split else 2] += 1
        if not accepted:
            continue
        made[1 if split else 3] += 1
        if split:
            for c in tables:
                if side[c] == 1:
                    topic[c] = n_topics
            n_topics += 1
        else:
            n_topics -= 1
            _merge(topic, min(first, second), max(first, second), n_topics)
    return n_topics, made


@njit(cache=True, nogil=True)
def _choose(topic, order, rng):
    """Pick two tables; list them and, in random order, all others of their dishes; return the length of the list."""
    M = topic.size
    order[0], order[1] = int(uniform(rng) * M), int(uniform(rng) * (M - 1))
    order[1] += order[1] >= order[0]
    first, second, length = topic[order[0]], topic[order[1]], 2
    for c in range(M):
        if (topic[c] == first or topic[c] == second) and c != order[0] and c != order[1]:
            order[length] = c
            length += 1
    for i in range(length - 1, 2, -1):
        j = 2 + int(uniform(rng) * (i - 1))
        order[i], order[j] = order[j], order[i]
    return length


@njit(cache=True, nogil=True)
def _merge(topic, kept, gone, last):
    """Move the tables of dish `gone` to `kept`, a lower number; the dish `last`, the highest, takes the number left."""
    for c in range(topic.size):
        if topic[c] == gone:
            topic[c] = kept
        elif topic[c] == last:
            topic[c] = gone


@njit(cache=True, nogil=True)
def propose(start, word, topic, tables, side, n, size, eta, scans, rng):
    """Fill side: drawn if the two picked tables share their dish, else the present one; return log q. docs/math (M1)"""
    split = topic[tables[0]] == topic[tables[1]]
    for c in tables:
        side[c] = _NOWHERE
    for s in range(2):
        side[tables[s]] = s
        _add(start, word, tables[s], n, size, s, 1.0)
    for _ in range(scans + 1 if scans > 0 else 0):
        scan(start, word, topic, tables, side, n, size, eta, np.bool_(True), rng)
    return scan(start, word, topic, tables, side, n, size, eta, split, rng)


@njit(cache=True, nogil=True, error_model="numpy")
def scan(start, word, topic, tables, side, n, size, eta, drawn, rng):
    """Give each table, the two picked ones apart, a side given the others that have one; return log q.  docs/math (M2)

    The side is drawn, or else the present one: side 0 is the dish of the first table.
    """
    total_eta, log_q = total_of(eta, n.shape[0]), 0.0
    for c in tables[2:]:
        if side[c] != _NOWHERE:
            _add(start, word, c, n, size, side[c], -1.0)
        log_odds = _add_to_both(start, word, c, n, size, eta, total_eta)
        first = uniform(rng) * (1.0 + exp(-log_odds)) < 1.0 if drawn else topic[c] == topic[tables[0]]
        side[c] = 0 if first else 1
        _add(start, word, c, n, size, 1 - side[c], -1.0)
        against = -log_odds if first else log_odds
        log_q -= against + log1p(exp(-against)) if against > 0.0 else log1p(exp(against))
    return log_q


@njit(cache=True, nogil=True)
def _add(start, word, c, n, size, s, sign):
    """Add table c to side s, or remove it with sign -1."""
    for i in range(start[c], start[c + 1]):
        n[word[i], s] += sign
    size[s, 0] += sign
    size[s, 1] += sign * (start[c + 1] - start[c])


@njit(cache=True, nogil=True, error_model="numpy")
def _add_to_both(start, word, c, n, size, eta, total_eta):
    """Add table c to both sides; return log of |S_1| f(X_c | S_1) / |S_2| f(X_c | S_2), X_c its words.  docs/math (M2)

    f(X | S) is a product over the words, each given those before: no gamma function is needed, and a word costs
    the same whatever its count.
    """
    ratio, log_scale = size[0, 0] / size[1, 0], 0.0
    n_0, n_1 = size[0, 1] + total_eta, size[1, 1] + total_eta
    for i in range(start[c], start[c + 1]):
        w = word[i]
        ratio *= (n[w, 0] + of_word(eta, w)) * n_1 / ((n[w, 1] + of_word(eta, w)) * n_0)
        n[w, 0] += 1.0
        n[w, 1] += 1.0
        n_0 += 1.0
        n_1 += 1.0
        if ratio > _LARGE or ratio < 1.0 / _LARGE:
            log_scale += log(ratio)
            ratio = 1.0
    for s in range(2):
        size[s, 0] += 1.0
        size[s, 1] += start[c + 1] - start[c]
    return log_scale + log(ratio)


@njit(cache=True, nogil=True)
def settle(start, word, tables, n, size, gamma, eta):
    """Return log of gamma (|S_1| - 1)! (|S_2| - 1)! / (|S| - 1)!  f(S_1) f(S_2) / f(S), and empty both sides.

    docs/math (M1). A word that is on one side only adds nothing to the ratio of the f.
    """
    total_eta, known = total_of(eta, n.shape[0]), lgamma(of_word(eta, 0))
    out = log(gamma) + lgamma(total_eta) + lgamma(size[0, 1] + size[1, 1] + total_eta)
    out -= lgamma(size[0, 0] + size[1, 0])
    for s in range(2):
        out += lgamma(size[s, 0]) - lgamma(size[s, 1] + total_eta)
    for c in tables:
        for i in range(start[c], start[c + 1]):
            a, b = n[word[i], 0], n[word[i], 1]
            if a > 0.0 and b > 0.0:
                of_w = of_word(eta, word[i])
                out += lgamma(a + of_w) + lgamma(b + of_w) - lgamma(a + b + of_w) - log_gamma_of(eta, word[i], known)
            n[word[i], 0] = n[word[i], 1] = 0.0
    size[:] = 0.0
    return out
