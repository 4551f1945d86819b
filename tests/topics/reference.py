"""Slow twins of the kernels of LDA, and its exact posterior by enumeration."""

import math
from itertools import product

import numpy as np
from scipy.special import gammaln

from stickbreak.numerics.kernel_random import open_stream, uniform
from stickbreak.sparse_gibbs.kernels.sweeps import REPEAT


def by_word(corpus):
    """Return the word and the document of each token, word by word."""
    columns = corpus.counts.tocsc()
    word = np.repeat(np.repeat(np.arange(corpus.n_words), np.diff(columns.indptr)), columns.data.astype(int))
    return word, np.repeat(columns.indices, columns.data.astype(int))


def counts_of(word, document, z, shape):
    """Return n_dk, n_wk and n_k of topics of tokens; those that repeat their document have none."""
    n_documents, n_words, n_topics = shape
    fresh = z < n_topics
    word, document, z = word[fresh], document[fresh], z[fresh]
    n_dk, n_wk = np.zeros((n_documents, n_topics), int), np.zeros((n_words, n_topics), int)
    np.add.at(n_dk, (document, z), 1)
    np.add.at(n_wk, (word, z), 1)
    return n_dk, n_wk, n_wk.sum(axis=0)


def conditional(d, w, counts, a, eta):
    """Return (n_dk + a_k)(n_kw + eta) / (n_k + W eta) of all topics, for counts without the token.

    eta is a number, or a table (W, K).
    """
    n_dk, n_wk, n_k = counts
    prior = np.broadcast_to(eta, n_wk.shape)
    return (n_dk[d] + a) * (n_wk[w] + prior[w]) / (n_k + prior.sum(axis=0))


def sweep(word, document, z, shape, a, eta, key, part=0, chosen=lambda w, d: True, strength=math.inf):
    """Return the topics after a sweep with the random numbers of the kernel, and the mean log p of a token.

    Only the tokens that are chosen by word and document are drawn; `part` numbers these documents. With a finite
    strength token j of a word and document has the further choice REPEAT, of weight j - 1.      docs/math (L23)
    """
    z, counts, log_p, n_topics = z.astype(int), counts_of(word, document, z, shape), 0.0, shape[2]
    lists = [listed(row) for row in counts[0]]
    rng, before = np.empty(1, np.uint64), None
    for i, (w, d) in enumerate(zip(word, document, strict=True)):
        if not chosen(w, d):
            continue
        if w != before:
            open_stream(rng, key, part * shape[1] + w)
            before = w
        if z[i] != REPEAT:
            move(counts, d, w, z[i], -1)
        p = conditional(d, w, counts, a, eta)
        alike, repeats, mass = (word == w) & (document == d), 0.0, p.sum() / (counts[0][d].sum() + a.sum())
        if math.isfinite(strength):
            repeats = alike[:i].sum() * (counts[0][d].sum() + a.sum()) / strength
            mass = (strength * mass + alike.sum() - 1) / (strength + (document == d).sum() - 1)
        log_p += math.log(mass)
        phi = p / (counts[0][d] + a)
        order = lists[d]
        values = np.concatenate([[counts[0][d, k] * phi[k] for k in order], a * phi, [repeats]])
        topics = np.concatenate([order, np.arange(n_topics), [REPEAT]]).astype(int)
        place = int(np.searchsorted(values.cumsum(), uniform(rng) * values.sum(), side="right"))
        new = topics[min(place, topics.size - (1 if repeats else 2))]
        if new != REPEAT:
            move(counts, d, w, new, 1)
        if new != z[i]:
            lists[d] = moved(order, z[i], new, counts[0][d])
        z[i] = new
    return z, log_p / z.size


def move(counts, d, w, k, change):
    for of, at in zip(counts, ((d, k), (w, k), k), strict=True):
        of[at] += change


def listed(n):
    """Return the topics of a document: by count, then by number, the largest first."""
    return sorted(np.flatnonzero(n), key=lambda k: (-n[k], -k))


def moved(order, old, new, n):
    """Return the list after a move: the new topic goes one place up if it now has more, the last fills an empty one."""
    order, before = list(order), {k: n[k] - (k == new) + (k == old) for k in {*order, new} - {REPEAT}}
    if new != REPEAT:
        if new not in order:
            order.append(new)
        s = order.index(new)
        now = (before[new] + 1, new)
        if s and now > (before[order[s - 1]], order[s - 1]):
            order[s - 1], order[s] = order[s], order[s - 1]
    if old != REPEAT and n[old] == 0:
        place, last = order.index(old), order.pop()
        if place < len(order):
            order[place] = last
    return order


def log_joint(word, document, z, shape, a, eta):
    """log p(x, z) of LDA, theta and phi integrated out.                                             docs/math (L1)"""
    n_dk, n_wk, n_k = counts_of(word, document, z, shape)
    documents = gammaln(n_dk + a).sum() - gammaln(n_dk.sum(axis=1) + a.sum()).sum()
    return documents + gammaln(n_wk + eta).sum() - gammaln(n_k + np.broadcast_to(eta, n_wk.shape).sum(axis=0)).sum()


def posterior(word, document, shape, a, eta):
    """Return all topics of all tokens, and their probabilities."""
    states = np.array(list(product(range(shape[2]), repeat=word.size)))
    log_p = np.array([log_joint(word, document, z, shape, a, eta) for z in states])
    p = np.exp(log_p - log_p.max())
    return states, p / p.sum()
