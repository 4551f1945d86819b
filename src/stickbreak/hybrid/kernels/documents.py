"""The sampler of one document under given globals; NumPy twin in tests/hybrid/reference.py.

The topics of the document stand in a list: place[k] is where topic k stands, -1 if it is not there. `coef` is what the
weight of a topic of the document is without the word, `opened` its share for a token that opens a table. What the word
is to topic k, phi_kw, is base_k + delta_wk; delta of the topic at place j is in column at[j].
"""

from __future__ import annotations

import math

import numpy as np

from stickbreak.numerics.borrowed_arrays import borrowed
from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_random import open_stream, uniform

REJECTIONS = 16  # draws from an alias table; then the topics that are not in the document are looked through
TINY = 1e-12  # share of Q_w below which Q_w - Delta is too inexact to be used


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _rest_mass(base, delta, b, e, place):
    """Return the sum of e_k phi_kw over the topics that are not in the document."""
    total = 0.0
    for k in range(e.size):
        total += e[k] * (base[k] + delta[b, k]) if place[k] < 0 else 0.0
    return total


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def _walk_rest(base, delta, b, e, place, u):
    """Return the topic that is not in the document at which the sum of e_k phi_kw passes u.

    Where no such topic has a positive weight, it is the topic with the largest e_k.
    """
    chosen, largest = np.int64(-1), np.int64(0)
    for k in range(e.size):
        mass = e[k] * (base[k] + delta[b, k])
        if place[k] < 0 and mass > 0.0:
            chosen = np.int64(k)
            u -= mass
            if u < 0.0:
                break
        if e[k] > e[largest]:
            largest = np.int64(k)
    return chosen if chosen >= 0 else largest


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def _draw(own, smooth, first, end, entry_topic, entry_sum, prob, alias, rng):
    """Draw k in proportion to q_w(k) = e_k phi_kw, in the document or not.                    docs/math (B3)"""
    u = uniform(rng) * (own + smooth)
    if u < own:
        last = end - 1
        while first < last:  # the first of the word's topics whose running sum passes u
            middle = (first + last) >> 1
            if entry_sum[middle] > u:
                last = middle
            else:
                first = middle + 1
        return np.int64(entry_topic[first])
    x = uniform(rng) * prob.size
    k = np.int64(x)
    return k if x - k < prob[k] else np.int64(alias[k])


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def _weigh(j, e, factors, here):
    """coef_j = opened_j + what joining a table is worth, without the word.                    docs/math (B2)"""
    n, m = here.n[j], here.m[j]
    here.opened[j] = e[here.topic[j]] * factors[n, m, 0]
    here.coef[j] = here.opened[j] + factors[n, m, 1]


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def _enter(k, of_topics, here, n_here):
    """Add a topic to the end of the document's list; return how many there are."""
    here.topic[n_here], here.place[k] = k, n_here
    here.n[n_here], here.m[n_here], here.at[n_here] = 0, 0, of_topics.column[k]
    here.own_e[n_here], here.own_base[n_here] = of_topics.e[k], of_topics.base[k]
    return n_here + 1


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def _leave(j, here, n_here):
    """Take the topic at place j out of the list; return how many there are."""
    last = n_here - 1
    here.place[here.topic[j]] = -1
    if j < last:
        here.topic[j], here.n[j], here.m[j], here.at[j] = here.topic[last], here.n[last], here.m[last], here.at[last]
        here.own_e[j], here.own_base[j] = here.own_e[last], here.own_base[last]
        here.coef[j], here.opened[j] = here.coef[last], here.opened[last]
        here.place[here.topic[j]] = j
    return last


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def _start(word, alpha, weights, factors, sparse, here):
    """Draw the topics of a document token by token; return how many it has and the score.     docs/math (B4), (B6)"""
    of_topics, of_words = weights.of_topics, weights.of_words
    e, base, prob, alias, mean_base = of_topics.e, of_topics.base, of_topics.prob, of_topics.alias, of_topics.mean_base
    smooth, delta, mean_delta, entry = of_topics.smooth[0], of_words.delta, of_words.mean_delta, of_words.start
    entry_topic, entry_sum, own, mean = of_words.topic, of_words.sum, of_words.own, of_words.mean
    topic, n, m, place, now, rng = here.topic, here.n, here.m, here.place, here.now, here.rng
    own_base, at, absent, log_unit = here.own_base, here.at, here.absent, of_words.log_unit
    n_here, score = 0, 0.0
    for i in range(word.size):
        b = word[i]
        mass, predicted = 0.0, mean[b]
        for j in range(n_here):
            mass += n[j] * (own_base[j] + delta[b, at[j]])
            predicted += n[j] * (mean_base[topic[j]] + mean_delta[b, at[j]])
        score += math.log(predicted / (alpha + i)) + log_unit[b]
        u = uniform(rng) * (mass + (own[b] + smooth if sparse else _rest_mass(base, delta, b, e, absent)))
        if u < mass:
            j = 0
            u -= n[0] * (own_base[0] + delta[b, at[0]])
            while u >= 0.0 and j < n_here - 1:
                j += 1
                u -= n[j] * (own_base[j] + delta[b, at[j]])
            k = topic[j]
        elif sparse:
            k = _draw(own[b], smooth, entry[b], entry[b + 1], entry_topic, entry_sum, prob, alias, rng)
        else:
            k = _walk_rest(base, delta, b, e, absent, u - mass)
        if place[k] < 0:
            n_here = _enter(k, of_topics, here, n_here)
            m[place[k]] = 1
        n[place[k]] += 1
        now[i] = k
    for j in range(n_here):
        _weigh(j, e, factors, here)
    return n_here, score


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def _sweep(word, n_here, weights, factors, sparse, here):
    """Resample every token of a document; return how many topics it has, -1 if the factors are too narrow.

    docs/math (B2), (B4)
    """
    of_topics, of_words = weights.of_topics, weights.of_words
    e, base, prob, alias, smooth = of_topics.e, of_topics.base, of_topics.prob, of_topics.alias, of_topics.smooth[0]
    delta, entry, entry_topic, entry_sum = of_words.delta, of_words.start, of_words.topic, of_words.sum
    own, widest = of_words.own, factors.shape[1] - 1
    topic, n, m, place, now, rng = here.topic, here.n, here.m, here.place, here.now, here.rng
    coef, opened, own_e, own_base, at = here.coef, here.opened, here.own_e, here.own_base, here.at
    for i in range(word.size):
        b = word[i]
        j = place[now[i]]
        # take the token out
        head = uniform(rng) * n[j] < m[j]
        if head and m[j] == 1 and n[j] > 1:
            continue  # the only head of an occupied topic cannot leave
        n[j] -= 1
        m[j] -= head
        if n[j] == 0:
            n_here = _leave(j, here, n_here)
        else:
            _weigh(j, e, factors, here)
        # draw its topic
        mass, discard = 0.0, 0.0
        for j in range(n_here):
            rate = own_base[j] + delta[b, at[j]]
            mass += coef[j] * rate
            discard += own_e[j] * rate
        whole = own[b] + smooth
        rest = whole - discard if sparse else _rest_mass(base, delta, b, e, place)
        exact = not sparse or rest > TINY * whole
        spread = rest if exact else 2.0 * TINY * whole
        u = uniform(rng) * (mass + spread)
        inside = u < mass
        if not (inside or exact):  # once in 1e12 draws or so, at most
            inside = u / (mass + spread) * (mass + _rest_mass(base, delta, b, e, place)) < mass
            u = uniform(rng) * mass
        k, tries = np.int64(-1), 0 if sparse and exact else REJECTIONS
        if inside:
            j = 0
            u -= coef[0] * (own_base[0] + delta[b, at[0]])
            while u >= 0.0 and j < n_here - 1:
                j += 1
                u -= coef[j] * (own_base[j] + delta[b, at[j]])
            k = topic[j]
        while k < 0 and tries < REJECTIONS:
            k = _draw(own[b], smooth, entry[b], entry[b + 1], entry_topic, entry_sum, prob, alias, rng)
            k = k if place[k] < 0 else np.int64(-1)
            tries += 1
        if k < 0:
            k = _walk_rest(base, delta, b, e, place, uniform(rng) * _rest_mass(base, delta, b, e, place))
        # put the token in
        j, opens = place[k], True
        if j < 0:
            j = n_here
            n_here = _enter(k, of_topics, here, n_here)
        else:
            opens = uniform(rng) * coef[j] < opened[j]
        if opens and m[j] == widest:
            n_here = -n_here
            break
        n[j] += 1
        m[j] += opens
        _weigh(j, e, factors, here)
        now[i] = k
    return n_here


@njit(cache=True, nogil=True, error_model="numpy")
def sample_documents(first, last, part, alpha, weights, factors, sweeps, here, out):
    """Start and sweep the documents first .. last - 1, each with its own stream.                   docs/math (B6)

    part: `MinibatchTokens`. weights: `Weights`. sweeps: those of burn-in, the saved ones, and whether draws are sparse.
    here: `Scratch`. Of out, z (S, N) gets the topics of the saved sweeps, tables (K,) their tables, and score (D,) is
    set. Returns `last`, or the document in which a topic would have more tables than the factors know: all is to be
    done again with wider factors then, which changes no draw.
    """
    (burn_in, n_saved, sparse), key = sweeps, part.key
    weights, here, factors = borrowed(weights), borrowed(here), borrowed(factors)
    (start, word), (z, tables, score) = borrowed((part.start, part.word)), borrowed(out)
    topic, m, place, now, rng = here.topic, here.m, here.place, here.now, here.rng
    for d in range(first, last):
        open_stream(rng, key, d)
        mine, n_tokens = word[start[d] : start[d + 1]], start[d + 1] - start[d]
        n_here, score[d] = _start(mine, alpha, weights, factors, sparse, here)
        for sweep in range(-burn_in, n_saved):
            if n_here >= 0:
                n_here = _sweep(mine, n_here, weights, factors, sparse, here)
            if sweep >= 0 and n_here > 0:
                z[sweep, start[d] : start[d + 1]] = now[:n_tokens]
                for j in range(n_here):
                    tables[topic[j]] += m[j]
        for j in range(abs(n_here)):
            place[topic[j]] = -1
        if n_here < 0:
            return d
    return last
