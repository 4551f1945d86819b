"""The sampler of one document under given globals; NumPy twin in tests/hybrid/reference.py.

The topics of the document stand in a list: place[k] is where topic k stands, -1 if it is not there. `coef` is what the
weight of a topic of the document is without the word, `opened` its share for a token that opens a table. What the word
is to topic k, phi_kw, is base_k + delta_wk; delta of the topic at place j is in column at[j].
"""

from __future__ import annotations

import math

import numpy as np

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
def _weigh(j, e, topic, n, m, factors, coef, opened):
    """coef_j = opened_j + what joining a table is worth, without the word.                    docs/math (B2)"""
    opened[j] = e[topic[j]] * factors[n[j], m[j], 0]
    coef[j] = opened[j] + factors[n[j], m[j], 1]


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def _enter(k, e, base, column, topic, place, n, m, own_e, own_base, at, n_here):
    """Add a topic to the end of the document's list; return how many there are."""
    topic[n_here], place[k] = k, n_here
    n[n_here], m[n_here], own_e[n_here], own_base[n_here], at[n_here] = 0, 0, e[k], base[k], column[k]
    return n_here + 1


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def _leave(j, topic, place, n, m, own_e, own_base, at, coef, opened, n_here):
    """Take the topic at place j out of the list; return how many there are."""
    last = n_here - 1
    place[topic[j]] = -1
    if j < last:
        topic[j], n[j], m[j], own_e[j] = topic[last], n[last], m[last], own_e[last]
        own_base[j], at[j], coef[j], opened[j] = own_base[last], at[last], coef[last], opened[last]
        place[topic[j]] = j
    return last


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def _start(word, alpha, globals_, weights, factors, sparse, scratch):
    """Draw the topics of a document token by token; return how many it has and the score.     docs/math (B4), (B6)"""
    e, base, prob, alias, mean_base = globals_.e, globals_.base, globals_.prob, globals_.alias, globals_.mean_base
    smooth, delta, mean_delta, entry = globals_.smooth[0], weights.delta, weights.mean_delta, weights.start
    entry_topic, entry_sum, own, mean = weights.topic, weights.sum, weights.own, weights.mean
    log_unit = weights.log_unit
    topic, n, m, place, now = scratch.topic, scratch.n, scratch.m, scratch.place, scratch.now
    coef, opened, own_e, own_base = scratch.coef, scratch.opened, scratch.own_e, scratch.own_base
    absent, at, column, rng = scratch.absent, scratch.at, globals_.column, scratch.rng
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
            n_here = _enter(k, e, base, column, topic, place, n, m, own_e, own_base, at, n_here)
            m[place[k]] = 1
        n[place[k]] += 1
        now[i] = k
    for j in range(n_here):
        _weigh(j, e, topic, n, m, factors, coef, opened)
    return n_here, score


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def _sweep(word, n_here, globals_, weights, factors, sparse, scratch):
    """Resample every token of a document; return how many topics it has, -1 if the factors are too narrow.

    docs/math (B2), (B4)
    """
    e, base, prob, alias, smooth = globals_.e, globals_.base, globals_.prob, globals_.alias, globals_.smooth[0]
    delta, entry, entry_topic, entry_sum = weights.delta, weights.start, weights.topic, weights.sum
    own, widest = weights.own, factors.shape[1] - 1
    topic, n, m, place, now = scratch.topic, scratch.n, scratch.m, scratch.place, scratch.now
    coef, opened, own_e, own_base = scratch.coef, scratch.opened, scratch.own_e, scratch.own_base
    at, column, rng = scratch.at, globals_.column, scratch.rng
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
            n_here = _leave(j, topic, place, n, m, own_e, own_base, at, coef, opened, n_here)
        else:
            _weigh(j, e, topic, n, m, factors, coef, opened)
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
            n_here = _enter(k, e, base, column, topic, place, n, m, own_e, own_base, at, n_here)
        else:
            opens = uniform(rng) * coef[j] < opened[j]
        if opens and m[j] == widest:
            n_here = -n_here
            break
        n[j] += 1
        m[j] += opens
        _weigh(j, e, topic, n, m, factors, coef, opened)
        now[i] = k
    return n_here


@njit(cache=True, nogil=True, error_model="numpy")
def sample_documents(
    first, last, start, word, alpha, globals_, weights, factors, schedule, sparse, key, scratch, z, tables, score
):
    """Start and sweep the documents first .. last - 1, each with its own stream.                   docs/math (B6)

    Sets z (S, N) to the topics of the saved sweeps, adds their tables to tables (K,), sets score (D,). Returns `last`,
    or the document in which a topic would have more tables than the factors know: all is to be done again with wider
    factors then, which changes no draw.
    """
    burn_in, n_saved = schedule
    topic, m, place, now, rng = scratch.topic, scratch.m, scratch.place, scratch.now, scratch.rng
    for d in range(first, last):
        open_stream(rng, key, d)
        mine, n_tokens = word[start[d] : start[d + 1]], start[d + 1] - start[d]
        n_here, score[d] = _start(mine, alpha, globals_, weights, factors, sparse, scratch)
        for sweep in range(-burn_in, n_saved):
            if n_here >= 0:
                n_here = _sweep(mine, n_here, globals_, weights, factors, sparse, scratch)
            if sweep >= 0 and n_here > 0:
                z[sweep, start[d] : start[d + 1]] = now[:n_tokens]
                for j in range(n_here):
                    tables[topic[j]] += m[j]
        for j in range(abs(n_here)):
            place[topic[j]] = -1
        if n_here < 0:
            return d
    return last
