"""Direct assignment (Teh, Jordan, Beal and Blei 2006, Sec. 5.3); NumPy twin in tests/sampling/twins.py."""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.borrowing import borrowed
from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_eta import of_word, part_of, total_of
from stickbreak.numerics.kernel_random import open_stream, uniform
from stickbreak.sampling.kernels.labels import fill_prior, labels_in
from stickbreak.sampling.kernels.topic_draw import (
    HIGH,
    NEW,
    draw_topic,
    foresee,
    heaviest,
    is_full,
    leave_topic,
    new_number,
    put_word,
    retire,
    sum_of,
    take_word,
)

SMALLEST = 1e-300  # a weight that underflowed: its topic has tokens, so the weight is positive


@njit(cache=True, nogil=True, error_model="numpy")
def _fill(labels, d, alpha, beta, n_k, total_eta, high, prior, coef):
    """Fill prior and coef of a document without tokens."""
    for k in range(high):
        prior[k] = alpha * beta[k]
    fill_prior(labels, d, high, prior)
    for k in range(high):
        coef[k] = prior[k] / (n_k[k] + total_eta)


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(first, last, start, word, z, documents, words, topics, labels, alpha, gamma, eta, reuse, key):
    """Resample z of the documents first .. last - 1 given the corpus weights.              math.md (G4), (G16)

    `topics.beta` holds beta_k and as its last entry beta_u, the weight of all topics without tokens. Topics of labels
    stay, also without tokens. Returns the document at which the numbers for topics ran out; `last` when all are done.
    """
    start, word, z, eta = borrowed((start, word, z, eta))
    documents, words, topics, labels = borrowed(documents), borrowed(words), borrowed(topics), borrowed(labels)
    w_start, w_size, entry = words.start, words.size, words.entry
    n_k, n_d, here, place, coef = topics.n, topics.n_d, topics.here, topics.place, topics.coef
    totals, free, rng, beta, rest = topics.totals, topics.free, topics.rng, topics.beta, topics.beta.size - 1
    prior = topics.prior
    d_size, d_topic, d_n = documents.size, documents.topic, documents.n
    total_eta, plain = total_of(eta, w_size.size), False  # plain: prior and coef are those of no labels and no tokens
    for d in range(first, last):
        if totals[HIGH] + start[d + 1] - start[d] > n_k.size:
            return d
        open_stream(rng, key, d)
        labelled = labels_in(labels, d) > 0
        if labelled or not plain:
            _fill(labels, d, alpha, beta, n_k, total_eta, totals[HIGH], prior, coef)
        plain, scale = not labelled, labels.scale if labelled else 1.0
        n_here = d_size[d]
        for j in range(n_here):
            k = d_topic[start[d] + j]
            here[j], place[k], n_d[k] = k, j, d_n[start[d] + j]
            coef[k] = (n_d[k] + prior[k]) / (n_k[k] + total_eta)
        coef_sum = sum_of(coef, totals[HIGH])

        for i in range(start[d], start[d + 1]):
            foresee(w_start, entry, word, i, start[d + 1])
            w, k = np.uint64(word[i]), z[i]
            # take the token out
            take_word(w_start, w_size, entry, w, k)
            n_k[k] -= 1
            n_d[k] -= 1
            coef_sum -= coef[k]
            coef[k] = (n_d[k] + prior[k]) / (n_k[k] + total_eta)
            coef_sum += coef[k]
            if n_d[k] == 0:
                n_here = leave_topic(here, place, k, n_here)
            if n_k[k] == 0 and k >= labels.n_labels:
                beta[rest] += beta[k]
                beta[k] = prior[k] = 0.0
                coef_sum -= coef[k]
                coef[k] = 0.0
                retire(totals, free, k)
            # draw its topic
            mass = alpha * beta[rest] * scale
            full = is_full(totals)
            fresh = 0.0 if full else part_of(mass, mass / w_size.size, eta, w, total_eta)
            k, at = draw_topic(
                w_start, w_size, entry, w, coef, totals[HIGH], coef_sum, here, n_here, n_d, of_word(eta, w), fresh, rng
            )
            if k == NEW and full:
                k = heaviest(coef, n_k, totals[HIGH])
            if k == NEW:
                k = new_number(totals, free, reuse)
                share = 1.0 - (1.0 - uniform(rng)) ** (1.0 / gamma)  # Beta(1, gamma)
                beta[k] = share * beta[rest]
                beta[rest] *= 1.0 - share
                prior[k] = alpha * beta[k] * scale
                coef[k] = 0.0
            # put the token in
            if n_d[k] == 0:
                here[n_here], place[k] = k, n_here
                n_here += 1
            z[i] = k
            put_word(w_start, w_size, entry, w, k, at)
            n_k[k] += 1
            n_d[k] += 1
            coef_sum -= coef[k]
            coef[k] = (n_d[k] + prior[k]) / (n_k[k] + total_eta)
            coef_sum += coef[k]

        for j in range(n_here):
            k = here[j]
            d_topic[start[d] + j], d_n[start[d] + j] = k, n_d[k]
            n_d[k] = 0
            coef[k] = prior[k] / (n_k[k] + total_eta)
        d_size[d] = n_here
    return last


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def tables_of(n, a, rng):
    """Draw m = sum_{i < n} Bernoulli(a / (a + i)), the tables of n tokens.                             math.md (G5)"""
    tables = 1
    for i in range(1, n):
        if uniform(rng) * (a + i) < a:
            tables += 1
    return tables


@njit(cache=True, nogil=True, error_model="numpy")
def draw_tables(first, start, documents, prior, labels, rng, key):
    """Draw m_jk of documents, a = prior_k = alpha beta_k; `first`: number of the first of them.  math.md (G5), (G16)"""
    for d in range(start.size - 1):
        open_stream(rng, key, first + d)
        n_own = labels_in(labels, first + d)
        for s in range(start[d], start[d] + documents.size[d]):
            k = documents.topic[s]
            a = prior[k]
            if n_own > 0:
                a = labels.own / n_own if k < labels.n_labels else a * labels.scale
            documents.m[s] = tables_of(documents.n[s], a, rng)
