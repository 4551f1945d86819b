"""Table indicators (Chen, Du and Buntine 2011): one token after another; NumPy twin in tests/sampling/twins.py.

The weight of a topic without the word, times gamma + M, is opened_k + (gamma + M) seated_k. Both parts and their sums
are kept apart: M changes with each head, and the parts only with the counts of their topic.
"""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.borrowed_arrays import borrowed
from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_pseudo_counts import of_word, part_of, total_of
from stickbreak.numerics.kernel_random import open_stream, uniform
from stickbreak.sampling.kernels.topic_draw import (
    HIGH,
    NEW,
    RESUME,
    TABLES,
    Parts,
    draw_among_all,
    draw_topic,
    heaviest,
    is_full,
    leave_topic,
    new_number,
    put_word,
    retire,
    sum_of,
    take_word,
    weight_of,
)


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _weigh(k, n_k, m_k, n_d, m_d, factors, alpha, total_eta, opened, seated):
    """Set opened_k and seated_k, (G6) without the word; return the growth of both."""
    share = 1.0 / (n_k[k] + total_eta)
    opened_before, seated_before = opened[k], seated[k]
    opened[k] = alpha * m_k[k] * factors[n_d[k], m_d[k], 0] * share
    seated[k] = factors[n_d[k], m_d[k], 1] * share
    return opened[k] - opened_before, seated[k] - seated_before


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(first, last, tokens, documents, words, topics, factors, now, dense, key):
    """Resample z and the table indicators of the documents first .. last - 1.                      docs/math (G6)

    tokens: (start, word, z). now: `Concentrations`. `dense` computes the weights of all topics for each token: the same
    law, in time that follows K.

    Returns `last` when all are done; else the document at which the numbers for topics ran out, or in which a topic has
    as many tables as the factors know: then totals[RESUME] is the token to go on with.
    """
    alpha, gamma = now.alpha, now.gamma
    (start, word, z), factors, eta = borrowed(tokens), borrowed(factors), borrowed(now.eta)
    documents, words, topics = borrowed(documents), borrowed(words), borrowed(topics)
    w_start, w_size, entry = words.start, words.size, words.entry
    n_k, m_k, n_d, m_d, here, place = topics.n, topics.m, topics.n_d, topics.m_d, topics.here, topics.place
    opened, seated = topics.opened, topics.seated
    totals, free, rng = topics.totals, topics.free, topics.rng
    d_size, d_topic, d_n, d_m = documents.size, documents.topic, documents.n, documents.m
    total_eta, known = total_of(eta, w_size.size), alpha * gamma / w_size.size
    widest, scale = factors.shape[1] - 1, gamma + totals[TABLES]  # the most tables; gamma + M
    for k in range(totals[HIGH]):
        opened[k], seated[k] = alpha * m_k[k] / (n_k[k] + total_eta), 0.0
    for d in range(first, last):
        if totals[HIGH] + start[d + 1] - start[d] > n_k.size:
            return d
        begin, totals[RESUME] = totals[RESUME], 0
        if begin == 0:
            begin = start[d]
            open_stream(rng, key, d)
        sum_opened, sum_seated, n_here = sum_of(opened, totals[HIGH]), 0.0, d_size[d]
        for j in range(n_here):
            k = d_topic[start[d] + j]
            here[j], place[k] = k, j
            n_d[k], m_d[k] = d_n[start[d] + j], d_m[start[d] + j]
            grown = _weigh(k, n_k, m_k, n_d, m_d, factors, alpha, total_eta, opened, seated)
            sum_opened, sum_seated = sum_opened + grown[0], sum_seated + grown[1]

        for i in range(begin, start[d + 1]):
            w, k = np.uint64(word[i]), z[i]
            head = uniform(rng) * n_d[k] < m_d[k]
            if head and m_d[k] == 1 and n_d[k] > 1:
                continue  # the only head of an occupied topic cannot leave
            # take the token out
            take_word(w_start, w_size, entry, w, k)
            n_k[k] -= 1
            n_d[k] -= 1
            if head:
                m_d[k] -= 1
                m_k[k] -= 1
                scale -= 1.0
            grown = _weigh(k, n_k, m_k, n_d, m_d, factors, alpha, total_eta, opened, seated)
            sum_opened, sum_seated = sum_opened + grown[0], sum_seated + grown[1]
            if n_d[k] == 0:
                n_here = leave_topic(here, place, k, n_here)
            if n_k[k] == 0:
                sum_opened -= opened[k]
                opened[k] = 0.0
                retire(totals, free, k)
            # draw its topic and whether it opens a table
            full = is_full(totals)
            fresh = 0.0 if full else part_of(alpha * gamma, known, eta, w, total_eta)
            coef, eta_w = Parts(opened, seated, scale), of_word(eta, w)
            if dense:
                k, at = draw_among_all(words, w, topics, coef, eta_w, fresh)
            else:
                coef_sum = sum_opened + scale * sum_seated
                k, at = draw_topic(words, w, topics, n_here, coef, coef_sum, eta_w, fresh)
            if k == NEW and full:
                k = heaviest(coef, n_k, totals[HIGH])
            if k == NEW:
                k = new_number(totals, free)
                opened[k] = seated[k] = 0.0
            opens = n_d[k] == 0 or uniform(rng) * weight_of(coef, k) < opened[k]
            # put the token in
            if n_d[k] == 0:
                here[n_here], place[k] = k, n_here
                n_here += 1
            z[i] = k
            put_word(w_start, w_size, entry, w, k, at)
            n_k[k] += 1
            n_d[k] += 1
            if opens:
                m_d[k] += 1
                m_k[k] += 1
                scale += 1.0
            grown = _weigh(k, n_k, m_k, n_d, m_d, factors, alpha, total_eta, opened, seated)
            sum_opened, sum_seated = sum_opened + grown[0], sum_seated + grown[1]
            if m_d[k] == widest:
                totals[RESUME] = i + 1
                break

        for j in range(n_here):
            k, s = here[j], start[d] + j
            d_topic[s], d_n[s], d_m[s] = k, n_d[k], m_d[k]
            n_d[k], m_d[k] = 0, 0
            opened[k], seated[k] = alpha * m_k[k] / (n_k[k] + total_eta), 0.0
        d_size[d] = n_here
        totals[TABLES] = np.int64(np.rint(scale - gamma))
        if totals[RESUME] > 0:
            return d
    return last
