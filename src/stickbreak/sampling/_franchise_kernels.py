"""The Chinese restaurant franchise (Teh et al. 2006, Sec. 5.1; Wang and Blei 2012, appendix): tokens, then dishes.

NumPy twin in tests/sampling/reference.py.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from stickbreak.sampling._random import open_stream, uniform
from stickbreak.sampling._topic_draw import (
    HIGH,
    NEW,
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
from stickbreak.sampling.state import SHIFT, TOPIC
from stickbreak.stirling import opened_ratio

_LOG_AFTER = 16  # factors multiplied before a logarithm is taken: each is at most 1e9 / 1e-4


@njit(cache=True, nogil=True, error_model="numpy")
def _weigh(topics, k, alpha, gamma, total_eta):
    """coef_k = [ (gamma + M) n_jk + alpha M_k ] / (n_k + W eta): (gamma + M) times (G2) without the word."""
    seated = (gamma + topics.totals[TABLES]) * topics.n_d[k]
    return (seated + alpha * topics.m[k]) / (topics.n[k] + total_eta)


@njit(cache=True, nogil=True, error_model="numpy")
def _weigh_all(topics, n_here, alpha, gamma, total_eta):
    """Weigh the topics of the document anew, after M changed; return by how much their sum grew."""
    grown = 0.0
    for j in range(n_here):
        k = topics.here[j]
        coef = _weigh(topics, k, alpha, gamma, total_eta)
        grown += coef - topics.coef[k]
        topics.coef[k] = coef
    return grown


@njit(cache=True, nogil=True, error_model="numpy")
def seat_tokens(first, last, start, word, seating, words, topics, alpha, gamma, eta, seated, reuse, key):
    """Resample the tables of the tokens of the documents first .. last - 1.                        math.md (G2)

    With `seated` false the documents are empty and their tokens come in one after another: sequential prediction
    (Wang and Blei 2012, Sec. 4). Returns the document at which the numbers for topics ran out, or `last`.
    """
    total_eta = eta * words.size.size
    fresh = alpha * gamma / words.size.size
    rng, totals = topics.rng, topics.totals
    n_k, m_k, n_d, coef = topics.n, topics.m, topics.n_d, topics.coef
    for d in range(first, last):
        if not has_room(topics, start[d + 1] - start[d]):
            return d
        open_stream(rng, key, d)
        base, n_tables, n_here, coef_sum = start[d], seating.n_tables[d], 0, 0.0
        for t in range(base, base + n_tables):
            k = seating.topic[t]
            if n_d[k] == 0:
                n_here = enter_topic(topics, k, n_here)
            n_d[k] += seating.n[t]
        for k in range(totals[HIGH]):
            coef[k] = _weigh(topics, k, alpha, gamma, total_eta)
            coef_sum += coef[k]

        for i in range(start[d], start[d + 1]):
            w = word[i]
            if seated:  # take the token out
                t = base + seating.table[i]
                k = seating.topic[t]
                seating.n[t] -= 1
                take_word(words, w, k)
                n_k[k] -= 1
                n_d[k] -= 1
                if seating.n[t] == 0:
                    m_k[k] -= 1
                    totals[TABLES] -= 1
                coef_sum -= coef[k]
                coef[k] = _weigh(topics, k, alpha, gamma, total_eta)
                coef_sum += coef[k]
                if n_d[k] == 0:
                    n_here = leave_topic(topics, k, n_here)
                if seating.n[t] == 0:
                    coef_sum += _weigh_all(topics, n_here, alpha, gamma, total_eta)
                if n_k[k] == 0:
                    coef_sum -= coef[k]
                    retire(topics, k)
            # draw its topic, then its table
            k = draw_topic(words, w, coef, totals[HIGH], coef_sum, eta, fresh, rng)
            opens = True
            if k == NEW:
                k = new_number(topics, reuse)
                coef[k] = 0.0
            elif n_d[k] > 0:
                joined = (gamma + totals[TABLES]) * n_d[k]
                opens = uniform(rng) * (joined + alpha * m_k[k]) >= joined
            if opens:
                t = base
                while t < base + n_tables and seating.n[t] > 0:
                    t += 1
                n_tables = max(n_tables, t - base + 1)
                seating.topic[t], seating.n[t] = k, 0
                m_k[k] += 1
                totals[TABLES] += 1
            else:
                t, u = base - 1, np.int64(uniform(rng) * n_d[k])
                while u >= 0:  # the table of the u-th of its tokens
                    t += 1
                    if seating.topic[t] == k:
                        u -= seating.n[t]
            # put the token in
            if n_d[k] == 0:
                n_here = enter_topic(topics, k, n_here)
            seating.table[i] = t - base
            seating.n[t] += 1
            put_word(words, w, k)
            n_k[k] += 1
            n_d[k] += 1
            coef_sum -= coef[k]
            coef[k] = _weigh(topics, k, alpha, gamma, total_eta)
            coef_sum += coef[k]
            if opens:
                coef_sum += _weigh_all(topics, n_here, alpha, gamma, total_eta)

        for j in range(n_here):
            n_d[topics.here[j]] = 0
        seating.n_tables[d] = _close_gaps(base, n_tables, start[d + 1], seating)
    return last


@njit(cache=True, nogil=True, error_model="numpy")
def _close_gaps(base, n_tables, end, seating):
    """Leave out the tables of a document that stand empty; return how many are left."""
    label, kept = np.empty(n_tables, np.int32), 0
    for t in range(n_tables):
        label[t] = kept
        if seating.n[base + t] > 0:
            seating.topic[base + kept], seating.n[base + kept] = seating.topic[base + t], seating.n[base + t]
            kept += 1
    for i in range(base, end):
        seating.table[i] = label[seating.table[i]]
    return kept


@njit(cache=True, nogil=True, error_model="numpy")
def tokens_by_table(start, seating, order, table_start):
    """Order the tokens by table: those of the c-th table of all are order[table_start[c]] .. in ascending order."""
    c = 0
    table_start[0] = 0
    for d in range(start.size - 1):
        place = np.zeros(seating.n_tables[d], np.int64)
        for t in range(seating.n_tables[d]):
            place[t] = table_start[c + t]
            table_start[c + t + 1] = table_start[c + t] + seating.n[start[d] + t]
        for i in range(start[d], start[d + 1]):
            t = seating.table[i]
            order[place[t]] = i
            place[t] += 1
        c += seating.n_tables[d]


@njit(cache=True, nogil=True, error_model="numpy")
def serve_tables(first, last, start, word, seating, order, table_start, words, topics, gamma, eta, reuse, key):
    """Resample the dish of every table of the documents first .. last - 1.                         math.md (G3)

    p(k) prop. to M_k f_k(X), new gamma f_new(X): the words X of the table and its count are taken out first.
    """
    W = words.size.size
    total_eta = eta * W
    rng, totals, log_p = topics.rng, topics.totals, topics.coef
    n_k, m_k = topics.n, topics.m
    c = 0
    for d in range(first):
        c += seating.n_tables[d]
    for d in range(first, last):
        if not has_room(topics, seating.n_tables[d]):
            return d
        open_stream(rng, key, d)
        for t in range(start[d], start[d] + seating.n_tables[d]):
            k, n = seating.topic[t], seating.n[t]
            begin, end = table_start[c], table_start[c + 1]
            c += 1
            for p in range(begin, end):
                take_word(words, word[order[p]], k)
            n_k[k] -= n
            m_k[k] -= 1
            if m_k[k] == 0:
                retire(topics, k)
            high = totals[HIGH]
            new = math.log(gamma) - _log_rising(total_eta, n)
            largest = new
            _log_word_ratios(word, order, begin, end, words, eta, high, log_p)
            for k in range(high):
                if m_k[k] > 0:
                    log_p[k] += math.log(m_k[k]) - _log_rising(n_k[k] + total_eta, n)
                    largest = max(largest, log_p[k])
            total = math.exp(new - largest)
            for k in range(high):
                if m_k[k] > 0:
                    log_p[k] = math.exp(log_p[k] - largest)
                    total += log_p[k]
            u, chosen = uniform(rng) * total, NEW
            for k in range(high):
                if m_k[k] > 0:
                    u -= log_p[k]
                    if u < 0.0:
                        chosen = k
                        break
            if chosen == NEW:
                chosen = new_number(topics, reuse)
            seating.topic[t] = chosen
            for p in range(begin, end):
                put_word(words, word[order[p]], chosen)
            n_k[chosen] += n
            m_k[chosen] += 1
    return last


@njit(cache=True, nogil=True, error_model="numpy")
def _log_rising(x, n):
    """Return log x (x + 1) ... (x + n - 1)."""
    if n > 4 * _LOG_AFTER:
        return math.lgamma(x + n) - math.lgamma(x)
    total, product = 0.0, 1.0
    for i in range(n):
        product *= x + i
        if i % _LOG_AFTER == _LOG_AFTER - 1:
            total += math.log(product)
            product = 1.0
    return total + math.log(product)


@njit(cache=True, nogil=True, error_model="numpy")
def _log_word_ratios(word, order, begin, end, words, eta, high, out):
    """out[k] = sum over the words of a table of log (n_kw + eta)_c / (eta)_c: 0 for topics that have none of them."""
    for k in range(high):
        out[k] = 0.0
    p = begin
    while p < end:
        w, c = word[order[p]], 0
        while p < end and word[order[p]] == w:
            p += 1
            c += 1
        base = _log_rising(eta, c)
        for s in range(words.start[w], words.start[w] + words.size[w]):
            entry = words.entry[s]
            out[entry & TOPIC] += _log_rising(np.int64(entry >> SHIFT) + eta, c) - base


@njit(cache=True, nogil=True, error_model="numpy")
def count_tables(start, seating, scratch, z, documents):
    """Fill z and the topics, n_jk and m_jk of `documents` from a seating; scratch (2, >= K) holds zeros."""
    for d in range(start.size - 1):
        size, base = 0, start[d]
        for t in range(base, base + seating.n_tables[d]):
            k = seating.topic[t]
            if scratch[1, k] == 0:
                documents.topic[base + size] = k
                size += 1
            scratch[0, k] += seating.n[t]
            scratch[1, k] += 1
        for s in range(base, base + size):
            k = documents.topic[s]
            documents.n[s], documents.m[s] = scratch[0, k], scratch[1, k]
            scratch[0, k], scratch[1, k] = 0, 0
        documents.size[d] = size
        for i in range(base, start[d + 1]):
            z[i] = seating.topic[base + seating.table[i]]


@njit(cache=True, nogil=True, error_model="numpy")
def draw_seating(start, z, documents, ratios, scratch, seating, rng, key):
    """Draw a seating given z and m: each is as likely as it has ways to seat, prod_t (n_jt - 1)!.       math.md (G5)

    Backwards over the tokens of a topic in a document: the last of n tokens at m tables sits alone with probability
    s(n-1, m-1) / s(n, m), else beside one of the other n - 1, all as likely. scratch (2, longest document).
    """
    for d in range(start.size - 1):
        open_stream(rng, key, d)
        base, n_tables = start[d], 0
        for s in range(base, base + documents.size[d]):
            k, n, m = documents.topic[s], 0, documents.m[s]
            for i in range(base, start[d + 1]):
                if z[i] == k:
                    scratch[0, n] = i
                    n += 1
            for j in range(
                n - 1, -1, -1
            ):  # scratch[1, j]: the token beside which token j sits; itself: a table of its own
                alone = m == j + 1 or (m > 1 and uniform(rng) * opened_ratio(ratios, j, m - 1) < 1.0)
                if j == 0 or alone:
                    scratch[1, j] = j
                    m -= 1
                else:
                    scratch[1, j] = np.int64(uniform(rng) * j)
            for j in range(n):
                i, beside = scratch[0, j], scratch[1, j]
                if beside == j:
                    seating.topic[base + n_tables], seating.n[base + n_tables] = k, 0
                    seating.table[i] = n_tables
                    n_tables += 1
                else:
                    seating.table[i] = seating.table[scratch[0, beside]]
                seating.n[base + seating.table[i]] += 1
        seating.n_tables[d] = n_tables
