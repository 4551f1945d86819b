"""Table indicators (Chen, Du and Buntine 2011): one token after another; NumPy twin in tests/sampling/reference.py."""

from __future__ import annotations

from numba import njit

from stickbreak.sampling._random import open_stream, uniform
from stickbreak.sampling._topic_draw import (
    HIGH,
    NEW,
    RESUME,
    TABLES,
    draw_topic,
    enter_topic,
    has_room,
    leave_topic,
    new_number,
    put_word,
    retire,
    take_word,
)
from stickbreak.stirling import opened_ratio, seated_ratio


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _support(m, root):
    """R_k: M_k for the root-marginal version, M_k^2 / (M_k + 1) for the root-indicator version.    math.md (G6)"""
    return m * m / (m + 1.0) if root else float(m)


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _weigh(topics, k, alpha, gamma, total_eta, root):
    """coef_k = [ alpha R_k opening_k + (gamma + M) sitting_k ] / (n_k + W eta): (gamma + M) times (G6), no word."""
    opened = alpha * _support(topics.m[k], root) * topics.opening[k]
    seated = (gamma + topics.totals[TABLES]) * topics.sitting[k]
    return (opened + seated) / (topics.n[k] + total_eta)


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _rate(topics, k, ratios):
    """Set the factors of (G6) that n_jk and m_jk alone decide: of a token that opens a table, of one that joins one."""
    n, m = topics.n_d[k], topics.m_d[k]
    if n == 0:
        topics.opening[k], topics.sitting[k] = 1.0, 0.0
    else:
        topics.opening[k] = opened_ratio(ratios, n, m) * (m + 1.0) / (n + 1.0)
        topics.sitting[k] = seated_ratio(ratios, n, m) * (n - m + 1.0) / (n + 1.0)


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _weigh_all(topics, n_here, alpha, gamma, total_eta, root):
    """Weigh the topics of the document anew, after M changed; return by how much their sum grew."""
    grown = 0.0
    for j in range(n_here):
        k = topics.here[j]
        coef = _weigh(topics, k, alpha, gamma, total_eta, root)
        grown += coef - topics.coef[k]
        topics.coef[k] = coef
    return grown


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(first, last, start, word, z, documents, words, topics, ratios, alpha, gamma, eta, root, reuse, key):
    """Resample z and the table indicators of the documents first .. last - 1.                      math.md (G6)

    Returns `last` when all are done; else the document at which the numbers for topics ran out, or in which a topic has
    as many tables as the Stirling ratios know: then totals[RESUME] is the token to go on with.
    """
    total_eta = eta * words.size.size
    fresh, widest = alpha * gamma / words.size.size, ratios.shape[1] - 2
    rng, totals = topics.rng, topics.totals
    n_k, m_k, n_d, m_d, coef = topics.n, topics.m, topics.n_d, topics.m_d, topics.coef
    for d in range(first, last):
        if not has_room(topics, start[d + 1] - start[d]):
            return d
        begin, totals[RESUME] = totals[RESUME], 0
        if begin == 0:
            begin = start[d]
            open_stream(rng, key, d)
        n_here, coef_sum = 0, 0.0
        for k in range(totals[HIGH]):
            topics.opening[k], topics.sitting[k] = 1.0, 0.0
            coef[k] = alpha * _support(m_k[k], root) / (n_k[k] + total_eta)
        for s in range(start[d], start[d] + documents.size[d]):
            k = documents.topic[s]
            n_here = enter_topic(topics, k, n_here)
            n_d[k], m_d[k] = documents.n[s], documents.m[s]
            _rate(topics, k, ratios)
            coef[k] = _weigh(topics, k, alpha, gamma, total_eta, root)
        for k in range(totals[HIGH]):
            coef_sum += coef[k]

        for i in range(begin, start[d + 1]):
            w, k = word[i], z[i]
            head = uniform(rng) * n_d[k] < m_d[k]
            if head and m_d[k] == 1 and n_d[k] > 1:
                continue  # the only head of an occupied topic cannot leave
            if head and root and m_k[k] > 1 and uniform(rng) * m_k[k] < 1.0:
                continue  # it is the topic's root head
            # take the token out
            take_word(words, w, k)
            n_k[k] -= 1
            n_d[k] -= 1
            if head:
                m_d[k] -= 1
                m_k[k] -= 1
                totals[TABLES] -= 1
            coef_sum -= coef[k]
            _rate(topics, k, ratios)
            coef[k] = _weigh(topics, k, alpha, gamma, total_eta, root)
            coef_sum += coef[k]
            if n_d[k] == 0:
                n_here = leave_topic(topics, k, n_here)
            if head:
                coef_sum += _weigh_all(topics, n_here, alpha, gamma, total_eta, root)
            if n_k[k] == 0:
                coef_sum -= coef[k]
                retire(topics, k)
            # draw its topic and whether it opens a table
            k = draw_topic(words, w, coef, totals[HIGH], coef_sum, eta, fresh, rng)
            opens = True
            if k == NEW:
                k = new_number(topics, reuse)
                topics.opening[k], topics.sitting[k], coef[k] = 1.0, 0.0, 0.0
            elif n_d[k] > 0:
                opened = alpha * _support(m_k[k], root) * topics.opening[k]
                seated = (gamma + totals[TABLES]) * topics.sitting[k]
                opens = uniform(rng) * (opened + seated) < opened
            # put the token in
            if n_d[k] == 0:
                n_here = enter_topic(topics, k, n_here)
            z[i] = k
            put_word(words, w, k)
            n_k[k] += 1
            n_d[k] += 1
            if opens:
                m_d[k] += 1
                m_k[k] += 1
                totals[TABLES] += 1
            _rate(topics, k, ratios)
            if opens:
                coef_sum += _weigh_all(topics, n_here, alpha, gamma, total_eta, root)
            else:
                coef_sum -= coef[k]
                coef[k] = _weigh(topics, k, alpha, gamma, total_eta, root)
                coef_sum += coef[k]
            if m_d[k] == widest:
                totals[RESUME] = i + 1
                break

        for j in range(n_here):
            k = topics.here[j]
            s = start[d] + j
            documents.topic[s], documents.n[s], documents.m[s] = k, n_d[k], m_d[k]
            n_d[k], m_d[k] = 0, 0
        documents.size[d] = n_here
        if totals[RESUME] > 0:
            return d
    return last
