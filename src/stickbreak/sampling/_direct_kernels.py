"""Direct assignment (Teh, Jordan, Beal and Blei 2006, Sec. 5.3); NumPy twin in tests/sampling/reference.py."""

from __future__ import annotations

from numba import njit

from stickbreak.sampling._random import open_stream, uniform
from stickbreak.sampling._topic_draw import (
    HIGH,
    NEW,
    draw_topic,
    enter_topic,
    has_room,
    leave_topic,
    new_number,
    put_word,
    retire,
    take_word,
)


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(first, last, start, word, z, documents, words, topics, alpha, gamma, eta, reuse, key):
    """Resample z of the documents first .. last - 1 given the corpus weights.                      math.md (G4)

    `topics.beta` holds beta_k and as its last entry beta_u, the weight of all topics without tokens. Returns the
    document at which the numbers for topics ran out; `last` when all are done.
    """
    total_eta = eta * words.size.size
    rng, totals, beta, rest = topics.rng, topics.totals, topics.beta, topics.beta.size - 1
    n_k, n_d, coef = topics.n, topics.n_d, topics.coef
    for d in range(first, last):
        if not has_room(topics, start[d + 1] - start[d]):
            return d
        open_stream(rng, key, d)
        n_here, coef_sum = 0, 0.0
        for k in range(totals[HIGH]):
            coef[k] = alpha * beta[k] / (n_k[k] + total_eta)
        for s in range(start[d], start[d] + documents.size[d]):
            k = documents.topic[s]
            n_here = enter_topic(topics, k, n_here)
            n_d[k] = documents.n[s]
            coef[k] = (n_d[k] + alpha * beta[k]) / (n_k[k] + total_eta)
        for k in range(totals[HIGH]):
            coef_sum += coef[k]

        for i in range(start[d], start[d + 1]):
            w, k = word[i], z[i]
            take_word(words, w, k)
            n_k[k] -= 1
            n_d[k] -= 1
            coef_sum -= coef[k]
            coef[k] = (n_d[k] + alpha * beta[k]) / (n_k[k] + total_eta)
            coef_sum += coef[k]
            if n_d[k] == 0:
                n_here = leave_topic(topics, k, n_here)
            if n_k[k] == 0:
                beta[rest] += beta[k]
                beta[k] = 0.0
                coef_sum -= coef[k]
                retire(topics, k)
            fresh = alpha * beta[rest] / words.size.size
            k = draw_topic(words, w, coef, totals[HIGH], coef_sum, eta, fresh, rng)
            if k == NEW:
                k = new_number(topics, reuse)
                share = 1.0 - (1.0 - uniform(rng)) ** (1.0 / gamma)  # Beta(1, gamma)
                beta[k] = share * beta[rest]
                beta[rest] *= 1.0 - share
                coef[k] = 0.0
            if n_d[k] == 0:
                n_here = enter_topic(topics, k, n_here)
            z[i] = k
            put_word(words, w, k)
            n_k[k] += 1
            n_d[k] += 1
            coef_sum -= coef[k]
            coef[k] = (n_d[k] + alpha * beta[k]) / (n_k[k] + total_eta)
            coef_sum += coef[k]

        for j in range(n_here):
            k = topics.here[j]
            documents.topic[start[d] + j], documents.n[start[d] + j] = k, n_d[k]
            n_d[k] = 0
        documents.size[d] = n_here
    return last


@njit(cache=True, nogil=True, error_model="numpy")
def draw_tables(start, documents, prior, rng, key):
    """Draw m_jk = sum_{i < n_jk} Bernoulli(a / (a + i)), a = prior_k = alpha beta_k.                   math.md (G5)"""
    for d in range(start.size - 1):
        open_stream(rng, key, d)
        for s in range(start[d], start[d] + documents.size[d]):
            a, tables = prior[documents.topic[s]], 1
            for i in range(1, documents.n[s]):
                if uniform(rng) * (a + i) < a:
                    tables += 1
            documents.m[s] = tables
