"""The Chinese restaurant franchise (Teh et al. 2006, Sec. 5.1; Wang and Blei 2012, appendix): tokens, then dishes.

NumPy twin in tests/sampling/twins.py.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stickbreak.numerics.borrowed_arrays import borrowed
from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_pseudo_counts import of_word, part_of, total_of
from stickbreak.numerics.kernel_random import open_stream, uniform
from stickbreak.numerics.stirling import opened_ratio
from stickbreak.sampling.kernels.counts import SHIFT, TOPIC
from stickbreak.sampling.kernels.topic_draw import (
    HIGH,
    NEW,
    TABLES,
    draw_topic,
    heaviest,
    is_full,
    leave_topic,
    new_number,
    put_word,
    retire,
    sum_of,
    take_word,
)

_LOG_AFTER = 16  # factors multiplied before a logarithm is taken: each is at most 1e9 / 1e-4


class Table(NamedTuple):
    """The words of a table: word[order[p]], begin <= p < end."""

    word: NDArray[np.int32]
    order: NDArray[np.int64]
    begin: np.int64
    end: np.int64


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _weigh(k, n_k, m_k, n_d, alpha, scale, total_eta, coef):
    """Set coef_k = [ (gamma + M) n_jk + alpha M_k ] / (n_k + W eta), as (G2) without the word; return its growth."""
    before, coef[k] = coef[k], (scale * n_d[k] + alpha * m_k[k]) / (n_k[k] + total_eta)
    return coef[k] - before


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def empty_table(n_t, base, n_tables):
    """Return the first table of a document at which nobody sits, or one more."""
    t = base
    while t < base + n_tables and n_t[t] > 0:
        t += 1
    return t


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def table_of(dish, n_t, base, k, u):
    """Return the table of the u-th token of topic k in a document."""
    t = base - 1
    while u >= 0:
        t += 1
        if dish[t] == k:
            u -= n_t[t]
    return t


@njit(cache=True, nogil=True, error_model="numpy")
def seat_tokens(first, last, tokens, seating, words, topics, now, seated, key):
    """Resample the tables of the tokens of the documents first .. last - 1.                        docs/math (G2)

    tokens: (start, word). now: `Concentrations`. With `seated` false the documents are empty and their tokens come in
    one after another: sequential prediction (Wang and Blei 2012, Sec. 4). Returns the document at which the numbers for
    topics ran out, or `last`.
    """
    alpha, gamma = now.alpha, now.gamma
    (start, word), eta = borrowed(tokens), borrowed(now.eta)
    words, topics, seating = borrowed(words), borrowed(topics), borrowed(seating)
    w_start, w_size, entry = words.start, words.size, words.entry
    n_k, m_k, n_d, here, place, coef = topics.n, topics.m, topics.n_d, topics.here, topics.place, topics.coef
    totals, free, rng = topics.totals, topics.free, topics.rng
    table, dish, n_t = seating.table, seating.topic, seating.n
    total_eta, known = total_of(eta, w_size.size), alpha * gamma / w_size.size
    scale = gamma + totals[TABLES]  # gamma + M
    for d in range(first, last):
        if totals[HIGH] + start[d + 1] - start[d] > n_k.size:
            return d
        open_stream(rng, key, d)
        base, n_tables, n_here = start[d], seating.n_tables[d], 0
        for t in range(base, base + n_tables):
            if n_d[dish[t]] == 0:
                here[n_here], place[dish[t]] = dish[t], n_here
                n_here += 1
            n_d[dish[t]] += n_t[t]
        coef_sum = 0.0
        for k in range(totals[HIGH]):
            coef[k] = (scale * n_d[k] + alpha * m_k[k]) / (n_k[k] + total_eta)
            coef_sum += coef[k]

        for i in range(start[d], start[d + 1]):
            w, moved = word[i], False  # whether M changed
            if seated:  # take the token out
                t = base + table[i]
                k = dish[t]
                take_word(w_start, w_size, entry, w, k)
                n_t[t] -= 1
                n_k[k] -= 1
                n_d[k] -= 1
                if n_t[t] == 0:
                    m_k[k] -= 1
                    scale -= 1.0
                    moved = True
                coef_sum += _weigh(k, n_k, m_k, n_d, alpha, scale, total_eta, coef)
                if n_d[k] == 0:
                    n_here = leave_topic(here, place, k, n_here)
                if n_k[k] == 0:
                    coef_sum -= coef[k]
                    coef[k] = 0.0
                    retire(totals, free, k)
            if moved:
                for j in range(n_here):
                    coef_sum += _weigh(here[j], n_k, m_k, n_d, alpha, scale, total_eta, coef)
            # draw its topic, then its table
            full = is_full(totals)
            fresh = 0.0 if full else part_of(alpha * gamma, known, eta, w, total_eta)
            k, at = draw_topic(words, w, topics, n_here, coef, coef_sum, of_word(eta, w), fresh)
            if k == NEW and full:
                k = heaviest(coef, n_k, totals[HIGH])
            if k == NEW:
                k = new_number(totals, free)
                coef[k] = 0.0
            joined = scale * n_d[k]
            opens = not uniform(rng) * (joined + alpha * m_k[k]) < joined  # nor if one of them is not a number
            if opens:
                t = empty_table(n_t, base, n_tables)
                n_tables = max(n_tables, t - base + 1)
                dish[t], n_t[t] = k, 0
                m_k[k] += 1
                scale += 1.0
            else:
                t = table_of(dish, n_t, base, k, np.int64(uniform(rng) * n_d[k]))
            # put the token in
            if n_d[k] == 0:
                here[n_here], place[k] = k, n_here
                n_here += 1
            table[i] = t - base
            n_t[t] += 1
            put_word(w_start, w_size, entry, w, k, at)
            n_k[k] += 1
            n_d[k] += 1
            coef_sum += _weigh(k, n_k, m_k, n_d, alpha, scale, total_eta, coef)
            if opens:
                for j in range(n_here):
                    coef_sum += _weigh(here[j], n_k, m_k, n_d, alpha, scale, total_eta, coef)

        for j in range(n_here):
            n_d[here[j]] = 0
        seating.n_tables[d] = close_gaps(base, n_tables, start[d + 1], seating)
        totals[TABLES] = np.int64(np.rint(scale - gamma))
    return last


@njit(cache=True, nogil=True, error_model="numpy")
def close_gaps(base, n_tables, end, seating):
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
def serve_tables(first, last, tokens, by_table, seating, words, topics, now, key):
    """Resample the dish of every table of the documents first .. last - 1.                         docs/math (G3)

    tokens: (start, word). by_table: (order, table_start) of `tokens_by_table`. now: `Concentrations`.

    p(k) prop. to M_k f_k(X), new gamma f_new(X): the words X of the table and its count are taken out first.
    """
    gamma, eta = now.gamma, borrowed(now.eta)
    (start, word), (order, table_start) = borrowed(tokens), borrowed(by_table)
    words, topics, seating = borrowed(words), borrowed(topics), borrowed(seating)
    w_start, w_size, entry = words.start, words.size, words.entry
    n_k, m_k = topics.n, topics.m
    totals, free, rng = topics.totals, topics.free, topics.rng
    total_eta = total_of(eta, w_size.size)
    c = 0
    for d in range(first):
        c += seating.n_tables[d]
    for d in range(first, last):
        if totals[HIGH] + seating.n_tables[d] > n_k.size:
            return d
        open_stream(rng, key, d)
        for t in range(start[d], start[d] + seating.n_tables[d]):
            k, n = seating.topic[t], seating.n[t]
            begin, end = table_start[c], table_start[c + 1]
            c += 1
            table = Table(word, order, begin, end)
            for p in range(begin, end):
                take_word(w_start, w_size, entry, word[order[p]], k)
            n_k[k] -= n
            m_k[k] -= 1
            if m_k[k] == 0:
                retire(totals, free, k)
            chosen = draw_dish(table, words, topics, 0.0 if is_full(totals) else gamma, eta, total_eta)
            if chosen == NEW:
                chosen = new_number(totals, free)
            seating.topic[t] = chosen
            for p in range(begin, end):
                put_word(w_start, w_size, entry, word[order[p]], chosen, NEW)
            n_k[chosen] += n
            m_k[chosen] += 1
    return last


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def draw_dish(table, words, topics, fresh, eta, total_eta):
    """Draw k in proportion to M_k f_k(X), or NEW in proportion to fresh f_new(X), for the words X of a `Table`."""
    n_k, weight, log_p = topics.n, topics.m, topics.coef
    high, rng, n, chosen = topics.totals[HIGH], topics.rng, table.end - table.begin, np.int64(NEW)
    if n <= _LOG_AFTER:  # products do as they are
        p = log_p
        _products(table, words, topics, eta, total_eta, p)
        new = fresh / _rising(total_eta, n)
        total = sum_of(p, high) + new
        if 0.0 < total < math.inf:
            u, k = uniform(rng) * total, 0
            while k < high and u >= p[k]:
                u -= p[k]
                k += 1
            if k == high and new > 0.0:
                return np.int64(NEW)
            while p[min(k, high - 1)] == 0.0:  # without a new one, what rounding leaves is the last one's
                k -= 1
            return np.int64(min(k, high - 1))
    new = math.log(fresh) - _log_rising(total_eta, n) if fresh > 0.0 else -math.inf
    largest = new
    _log_word_ratios(table, words, eta, high, log_p)
    for k in range(high):
        if weight[k] > 0:
            log_p[k] += math.log(weight[k]) - _log_rising(n_k[k] + total_eta, n)
            largest = max(largest, log_p[k])
    total = math.exp(new - largest)
    for k in range(high):
        if weight[k] > 0:
            log_p[k] = math.exp(log_p[k] - largest)
            total += log_p[k]
    u = uniform(rng) * total
    for k in range(high):
        if weight[k] > 0:
            u -= log_p[k]
            if u < 0.0:
                return np.int64(k)
            chosen = np.int64(k)
    return np.int64(NEW) if fresh > 0.0 else chosen  # without a new one, what rounding leaves is the last one's


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _rising(x, n):
    """Return x (x + 1) ... (x + n - 1)."""
    product = x
    for i in range(1, n):
        product *= x + i
    return product


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def _same_words(table, p):
    """Return how many tokens of a table, the p-th and those after it, have its word."""
    word, order, c = table.word, table.order, 1
    while p + c < table.end and word[order[p + c]] == word[order[p]]:
        c += 1
    return c


@njit(cache=True, nogil=True, forceinline=True, error_model="numpy")
def _products(table, words, topics, eta, total_eta, out):
    """out[k] = M_k f_k(X) / prod_w (eta)_c, c the tokens of word w at a table."""
    w_start, w_size, entry = words.start, words.size, words.entry
    n_k, weight, high = topics.n, topics.m, topics.totals[HIGH]
    n, p = table.end - table.begin, table.begin
    if n == 1:
        for k in range(high):
            out[k] = weight[k] / (n_k[k] + total_eta)
    else:
        for k in range(high):
            out[k] = weight[k] / _rising(n_k[k] + total_eta, n)
    while p < table.end:
        w, c = table.word[table.order[p]], _same_words(table, p)
        p += c
        of_w = of_word(eta, w)
        share = 1.0 / _rising(of_w, c)
        for s in range(w_start[w], w_start[w] + w_size[w]):
            out[entry[s] & TOPIC] *= _rising(np.int64(entry[s] >> SHIFT) + of_w, c) * share


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
def _log_word_ratios(table, words, eta, high, out):
    """out[k] = sum over the words of a table of log (n_kw + eta)_c / (eta)_c: 0 for topics that have none of them."""
    w_start, w_size, entry = words.start, words.size, words.entry
    for k in range(high):
        out[k] = 0.0
    p = table.begin
    while p < table.end:
        w, c = table.word[table.order[p]], _same_words(table, p)
        p += c
        of_w = of_word(eta, w)
        base = _log_rising(of_w, c)
        for s in range(w_start[w], w_start[w] + w_size[w]):
            out[entry[s] & TOPIC] += _log_rising(np.int64(entry[s] >> SHIFT) + of_w, c) - base


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
    """Draw a seating given z and m: each is as likely as it has ways to seat, prod_t (n_jt - 1)!.       docs/math (G5)

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
            # scratch[1, j]: the token beside which token j sits; itself: a table of its own
            for j in range(n - 1, -1, -1):
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
