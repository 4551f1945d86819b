"""The augmented representation (Teh et al. 2006, Sec. 5.2): tables as in the franchise, given explicit corpus weights.

NumPy twin in tests/sampling/twins.py.
"""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.borrowing import borrowed
from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_eta import of_word, part_of, total_of
from stickbreak.numerics.kernel_random import open_stream, uniform
from stickbreak.sampling.kernels.direct import SMALLEST
from stickbreak.sampling.kernels.franchise import close_gaps, draw_dish, empty_table, table_of
from stickbreak.sampling.kernels.topic_draw import (
    HIGH,
    NEW,
    draw_topic,
    heaviest,
    is_full,
    leave_topic,
    new_number,
    put_word,
    retire,
    take_word,
)


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _new_topic(totals, free, beta, gamma, reuse, rng):
    """Return the number of a new topic, which takes its part of the rest of the corpus weights."""
    k, rest = new_number(totals, free, reuse), beta.size - 1
    share = 1.0 - (1.0 - uniform(rng)) ** (1.0 / gamma)  # Beta(1, gamma)
    beta[k] = share * beta[rest]
    beta[rest] *= 1.0 - share
    return k


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _retire(totals, free, beta, k):
    """Give the number and the weight of a topic without tables back."""
    beta[beta.size - 1] += beta[k]
    beta[k] = 0.0
    retire(totals, free, k)


@njit(cache=True, nogil=True, error_model="numpy")
def seat_tokens(first, last, start, word, seating, words, topics, alpha, gamma, eta, reuse, key):
    """Resample the tables of the tokens of the documents first .. last - 1 given the corpus weights. math.md (G17)

    `topics.beta` holds beta_k and as its last entry beta_u, the weight of all topics without tables. Returns the
    document at which the numbers for topics ran out, or `last`.
    """
    start, word, eta = borrowed((start, word, eta))
    words, topics, seating = borrowed(words), borrowed(topics), borrowed(seating)
    w_start, w_size, entry = words.start, words.size, words.entry
    n_k, n_d, here, place, coef = topics.n, topics.n_d, topics.here, topics.place, topics.coef
    totals, free, rng, beta, rest = topics.totals, topics.free, topics.rng, topics.beta, topics.beta.size - 1
    table, dish, n_t = seating.table, seating.topic, seating.n
    total_eta = total_of(eta, w_size.size)
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
            coef[k] = (n_d[k] + alpha * beta[k]) / (n_k[k] + total_eta)
            coef_sum += coef[k]

        for i in range(start[d], start[d + 1]):
            w, t = word[i], base + table[i]
            k = dish[t]
            # take the token out
            take_word(w_start, w_size, entry, w, k)
            n_t[t] -= 1
            n_k[k] -= 1
            n_d[k] -= 1
            coef_sum -= coef[k]
            coef[k] = (n_d[k] + alpha * beta[k]) / (n_k[k] + total_eta)
            coef_sum += coef[k]
            if n_d[k] == 0:
                n_here = leave_topic(here, place, k, n_here)
            if n_k[k] == 0:
                coef_sum -= coef[k]
                coef[k] = 0.0
                _retire(totals, free, beta, k)
            # draw its topic, then its table
            mass = alpha * beta[rest]
            full = is_full(totals)
            fresh = 0.0 if full else part_of(mass, mass / w_size.size, eta, w, total_eta)
            k, at = draw_topic(
                w_start, w_size, entry, w, coef, totals[HIGH], coef_sum, here, n_here, n_d, of_word(eta, w), fresh, rng
            )
            if k == NEW and full:
                k = heaviest(coef, n_k, totals[HIGH])
            if k == NEW:
                k = _new_topic(totals, free, beta, gamma, reuse, rng)
                coef[k] = 0.0
            if not uniform(rng) * (n_d[k] + alpha * beta[k]) < n_d[k]:
                t = empty_table(n_t, base, n_tables)
                n_tables = max(n_tables, t - base + 1)
                dish[t], n_t[t] = k, 0
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
            coef_sum -= coef[k]
            coef[k] = (n_d[k] + alpha * beta[k]) / (n_k[k] + total_eta)
            coef_sum += coef[k]

        for j in range(n_here):
            n_d[here[j]] = 0
        seating.n_tables[d] = close_gaps(base, n_tables, start[d + 1], seating)
    return last


@njit(cache=True, nogil=True, error_model="numpy")
def serve_tables(first, last, start, word, seating, order, table_start, words, topics, gamma, eta, reuse, key):
    """Resample the dish of every table of the documents first .. last - 1 given the corpus weights. math.md (G17)"""
    start, word, order, table_start, eta = borrowed((start, word, order, table_start, eta))
    words, topics, seating = borrowed(words), borrowed(topics), borrowed(seating)
    w_start, w_size, entry = words.start, words.size, words.entry
    n_k, log_p, totals, free, rng = topics.n, topics.coef, topics.totals, topics.free, topics.rng
    beta, rest, total_eta = topics.beta, topics.beta.size - 1, total_of(eta, w_size.size)
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
            for p in range(begin, end):
                take_word(w_start, w_size, entry, word[order[p]], k)
            n_k[k] -= n
            if n_k[k] == 0:
                _retire(totals, free, beta, k)
            # where all other weights have underflowed, too, one that is not zero
            fresh = 0.0 if is_full(totals) else max(beta[rest], SMALLEST)
            chosen = draw_dish(
                word, order, begin, end, w_start, w_size, entry, n_k, beta, fresh, eta, total_eta, totals[HIGH],
                log_p, rng,
            )  # fmt: skip
            if chosen == NEW:
                chosen = _new_topic(totals, free, beta, gamma, reuse, rng)
            seating.topic[t] = chosen
            for p in range(begin, end):
                put_word(w_start, w_size, entry, word[order[p]], chosen, NEW)
            n_k[chosen] += n
    return last
