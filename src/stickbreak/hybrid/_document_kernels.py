"""The sampler of one document under given globals; NumPy twin in tests/hybrid/reference.py.

The topics of the document stand in a list: place[k] is where topic k stands, -1 if it is not there. `coef` is what the
weight of a topic of the document is without the word, `opened` its share for a token that opens a table.

The loop over tokens takes no array out of another and hands none to an inlined function: each would cost a reference
count, and together they take longer than the draw.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from stickbreak.kernel_random import open_stream, uniform

REJECTIONS = 16  # draws from an alias table; then the topics that are not in the document are looked through
TINY = 1e-12  # share of Q_w below which Q_w - Delta is too inexact to be used


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _rest_mass(phi, b, e, place):
    """Return the sum of e_k phi_kw over the topics that are not in the document."""
    total = 0.0
    for k in range(e.size):
        total += e[k] * phi[b, k] if place[k] < 0 else 0.0
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _walk_rest(phi, b, e, place, u):
    """Return the topic that is not in the document at which the sum of e_k phi_kw passes u."""
    chosen = np.int64(-1)
    for k in range(e.size):
        mass = e[k] * phi[b, k]
        if place[k] < 0 and mass > 0.0:
            chosen = np.int64(k)
            u -= mass
            if u < 0.0:
                break
    return chosen


@njit(cache=True, nogil=True, error_model="numpy")
def _alias_draw(own, smooth, begin, end, entry_topic, entry_prob, entry_alias, smooth_prob, smooth_alias, rng):
    """Draw k in proportion to q_w(k) = e_k phi_kw, in the document or not.                    math.md (B3)"""
    if uniform(rng) * (own + smooth) < own:
        x = uniform(rng) * (end - begin)
        i = np.int64(x)
        if x - i >= entry_prob[begin + i]:
            i = np.int64(entry_alias[begin + i])
        return np.int64(entry_topic[begin + i])
    x = uniform(rng) * smooth_prob.size
    k = np.int64(x)
    return k if x - k < smooth_prob[k] else np.int64(smooth_alias[k])


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _weigh(j, e, topic, n, m, factors, coef, opened):
    """coef_j = opened_j + what joining a table is worth, without the word.                    math.md (B2)"""
    opened[j] = e[topic[j]] * factors[n[j], m[j], 0]
    coef[j] = opened[j] + factors[n[j], m[j], 1]


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _enter(k, e, topic, place, n, m, own_e, n_here):
    """Add a topic to the end of the document's list; return how many there are."""
    topic[n_here], place[k] = k, n_here
    n[n_here], m[n_here], own_e[n_here] = 0, 0, e[k]
    return n_here + 1


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _leave(j, topic, place, n, m, own_e, coef, opened, n_here):
    """Take the topic at place j out of the list; return how many there are."""
    last = n_here - 1
    place[topic[j]] = -1
    if j < last:
        topic[j], n[j], m[j], own_e[j] = topic[last], n[last], m[last], own_e[last]
        coef[j], opened[j] = coef[last], opened[last]
        place[topic[j]] = j
    return last


@njit(cache=True, nogil=True, error_model="numpy")
def _start(word, words, counts, globals_, weights, factors, sparse, scratch):
    """Draw the topics of a document token by token; return how many it has and the score.     math.md (B4), (B6)"""
    e, smooth_prob, smooth_alias, inverse_mean = globals_.e, globals_.prob, globals_.alias, globals_.inverse_mean
    smooth, scale, eta, alpha = globals_.numbers[0], globals_.numbers[1], globals_.numbers[2], globals_.numbers[3]
    phi, entry, entry_topic, entry_prob = weights.phi, weights.start, weights.topic, weights.prob
    entry_alias, own, mean = weights.alias, weights.own, weights.mean
    topic, n, m, place, now = scratch.topic, scratch.n, scratch.m, scratch.place, scratch.now
    coef, opened, own_e, absent, rng = scratch.coef, scratch.opened, scratch.own_e, scratch.absent, scratch.rng
    n_here, score = 0, 0.0
    for i in range(word.size):
        b = word[i]
        w, mass, predicted = words[b], 0.0, mean[b]
        for j in range(n_here):
            mass += n[j] * phi[b, topic[j]]
            predicted += n[j] * (eta + scale * counts[w, topic[j]]) * inverse_mean[topic[j]]
        score += math.log(predicted / (alpha + i))
        u = uniform(rng) * (mass + (own[b] + smooth if sparse else _rest_mass(phi, b, e, absent)))
        if u < mass:
            j = 0
            u -= n[0] * phi[b, topic[0]]
            while u >= 0.0 and j < n_here - 1:
                j += 1
                u -= n[j] * phi[b, topic[j]]
            k = topic[j]
        elif sparse:
            k = _alias_draw(
                own[b], smooth, entry[b], entry[b + 1], entry_topic, entry_prob, entry_alias,
                smooth_prob, smooth_alias, rng,
            )  # fmt: skip
        else:
            k = _walk_rest(phi, b, e, absent, u - mass)
        if place[k] < 0:
            n_here = _enter(k, e, topic, place, n, m, own_e, n_here)
            m[place[k]] = 1
        n[place[k]] += 1
        now[i] = k
    for j in range(n_here):
        _weigh(j, e, topic, n, m, factors, coef, opened)
    return n_here, score


@njit(cache=True, nogil=True, error_model="numpy")
def _sweep(word, n_here, globals_, weights, factors, sparse, scratch):
    """Resample every token of a document; return how many topics it has, -1 if the factors are too narrow.

    math.md (B2), (B4)
    """
    e, smooth_prob, smooth_alias, smooth = globals_.e, globals_.prob, globals_.alias, globals_.numbers[0]
    phi, entry, entry_topic, entry_prob = weights.phi, weights.start, weights.topic, weights.prob
    entry_alias, own, widest = weights.alias, weights.own, factors.shape[1] - 1
    topic, n, m, place, now = scratch.topic, scratch.n, scratch.m, scratch.place, scratch.now
    coef, opened, own_e, rng = scratch.coef, scratch.opened, scratch.own_e, scratch.rng
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
            n_here = _leave(j, topic, place, n, m, own_e, coef, opened, n_here)
        else:
            _weigh(j, e, topic, n, m, factors, coef, opened)
        # draw its topic
        mass, discard = 0.0, 0.0
        for j in range(n_here):
            rate = phi[b, topic[j]]
            mass += coef[j] * rate
            discard += own_e[j] * rate
        whole = own[b] + smooth
        rest = whole - discard if sparse else _rest_mass(phi, b, e, place)
        exact = not sparse or rest > TINY * whole
        spread = rest if exact else 2.0 * TINY * whole
        u = uniform(rng) * (mass + spread)
        inside = u < mass
        if not (inside or exact):  # once in 1e12 draws or so, at most
            inside = u / (mass + spread) * (mass + _rest_mass(phi, b, e, place)) < mass
            u = uniform(rng) * mass
        k, tries = np.int64(-1), 0 if sparse and exact else REJECTIONS
        if inside:
            j = 0
            u -= coef[0] * phi[b, topic[0]]
            while u >= 0.0 and j < n_here - 1:
                j += 1
                u -= coef[j] * phi[b, topic[j]]
            k = topic[j]
        while k < 0 and tries < REJECTIONS:
            k = _alias_draw(
                own[b], smooth, entry[b], entry[b + 1], entry_topic, entry_prob, entry_alias,
                smooth_prob, smooth_alias, rng,
            )  # fmt: skip
            k = k if place[k] < 0 else np.int64(-1)
            tries += 1
        if k < 0:
            k = _walk_rest(phi, b, e, place, uniform(rng) * _rest_mass(phi, b, e, place))
        # put the token in
        j, opens = place[k], True
        if j < 0:
            j = n_here
            n_here = _enter(k, e, topic, place, n, m, own_e, n_here)
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
    first, last, start, word, words, counts, globals_, weights, factors, schedule, sparse, key, scratch,
    z, tables, score,
):  # fmt: skip
    """Start and sweep the documents first .. last - 1, each with its own stream.                   math.md (B6)

    Sets z (S, N) to the topics of the saved sweeps, adds their tables to tables (K,), sets score (D,). Returns `last`,
    or the document in which a topic would have more tables than the factors know: all is to be done anew with wider
    factors then, which changes no draw.
    """
    burn_in, n_saved = schedule
    topic, m, place, now, rng = scratch.topic, scratch.m, scratch.place, scratch.now, scratch.rng
    for d in range(first, last):
        open_stream(rng, key, d)
        mine, n_tokens = word[start[d] : start[d + 1]], start[d + 1] - start[d]
        n_here, score[d] = _start(mine, words, counts, globals_, weights, factors, sparse, scratch)
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
