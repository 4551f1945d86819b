"""Slow twin of the sweep of Pachinko allocation, and its exact posterior by enumeration."""

import math
from itertools import product

import numpy as np
from scipy.special import gammaln
from tests.topics.reference import listed, moved

from stickbreak.numerics.kernel_random import open_stream, uniform


def counts_of(word, document, path, shape):
    """Return n_dsk (D, S, T) and n_wk (W, T); `path` is a pair of super-topics and topics."""
    n_documents, n_words, n_super, n_topics = shape
    n_dsk, n_wk = np.zeros((n_documents, n_super, n_topics), int), np.zeros((n_words, n_topics), int)
    np.add.at(n_dsk, (document, *path), 1)
    np.add.at(n_wk, (word, path[1]), 1)
    return n_dsk, n_wk


def conditional(d, w, counts, a, b, eta):
    """Return the weights of all paths (S, T), for counts without the token; eta a number or (W, T).  docs/math (P3)"""
    n_dsk, n_wk = counts
    n_ds, prior = n_dsk[d].sum(axis=1), np.broadcast_to(eta, n_wk.shape)
    phi = (n_wk[w] + prior[w]) / (n_wk.sum(axis=0) + prior.sum(axis=0))
    return ((n_ds + a) / (n_ds + b.sum(axis=1)))[:, None] * (n_dsk[d] + b) * phi


def sweep(word, document, z, paths, shape, priors, key):
    """Return the paths after a sweep with the random numbers of the kernel, and the mean log p of a token."""
    z, a, b = z.astype(int), priors.a, priors.b
    counts, log_p, rng, before = counts_of(word, document, paths.split(z), shape), 0.0, np.empty(1, np.uint64), None
    n_path = np.zeros((shape[0], paths.none + 1), int)
    np.add.at(n_path, (document, z), 1)
    lists = [listed(row) for row in n_path]
    everywhere = [s << paths.bits | k for s in range(shape[2]) for k in range(shape[3])]
    for i, (w, d) in enumerate(zip(word, document, strict=True)):
        if w != before:
            open_stream(rng, key, w)
            before = w
        move(counts, d, w, paths.split(z[i]), -1)
        n_path[d, z[i]] -= 1
        p = conditional(d, w, counts, a, b, table_of(priors, shape))
        log_p += math.log(p.sum() / (counts[0][d].sum() + a.sum()))
        n = counts[0][d]
        g = p / np.where(n + b > 0, n + b, 1.0)
        own = [n_path[d, path] * g[paths.split(np.array(path))] for path in lists[d]]
        values, numbers = np.concatenate([own, (g * b).ravel()]), [*lists[d], *everywhere]
        place = int(np.searchsorted(values.cumsum(), uniform(rng) * values.sum(), side="right"))
        new = numbers[min(place, len(numbers) - 1)]
        move(counts, d, w, paths.split(np.array(new)), 1)
        n_path[d, new] += 1
        if new != z[i]:
            lists[d] = moved(lists[d], z[i], new, n_path[d])
        z[i] = new
    return z, log_p / z.size


def table_of(priors, shape):
    """Return the prior of the words of each topic, (W, T)."""
    table = np.zeros((shape[1], shape[3])) + np.reshape(priors.eta, (-1, 1))
    if priors.pseudo is not None:
        table[:, : priors.pseudo.shape[1]] += priors.pseudo.toarray()
    return table


def move(counts, d, w, path, change):
    n_dsk, n_wk = counts
    s, k = (int(part) for part in path)
    n_dsk[d, s, k] += change
    n_wk[w, k] += change


def log_joint(word, document, path, shape, priors):
    """log p(x, paths), all weights integrated out.                                                  docs/math (P1)"""
    n_dsk, n_wk = counts_of(word, document, path, shape)
    a, b, eta = priors.a, priors.b, table_of(priors, shape)
    n_ds, is_open = n_dsk.sum(axis=2), b > 0
    total = gammaln(n_ds + a).sum() - gammaln(n_ds.sum(axis=1) + a.sum()).sum()
    total += gammaln(np.where(is_open, n_dsk + b, 1.0)).sum() - gammaln(n_ds + b.sum(axis=1)).sum()
    return total + gammaln(n_wk + eta).sum() - gammaln((n_wk + eta).sum(axis=0)).sum()


def posterior(word, document, paths, shape, priors):
    """Return all paths of all tokens, and their probabilities."""
    states = np.array(list(product(paths.numbers(), repeat=word.size)))
    log_p = np.array([log_joint(word, document, paths.split(z), shape, priors) for z in states])
    p = np.exp(log_p - log_p.max())
    return states, p / p.sum()


def of_document(n, a, b):
    """log p of the paths of a document, n (S, T), up to a constant.                                 docs/math (P1)"""
    below = gammaln(np.where(b > 0, n + b, 1.0)).sum(axis=1) - gammaln(n.sum(axis=1) + b.sum(axis=1))
    return float((gammaln(n.sum(axis=1) + a) + below).sum())


def exchange(document, z, paths, shape, priors, key):
    """Return the paths after super-topics have exchanged groups, with the random numbers of the kernel."""
    z, rng, (n_documents, _, S, T), least = z.astype(int), np.empty(1, np.uint64), shape, paths.least
    for d in range(n_documents):
        tokens = np.flatnonzero(document == d)
        if not tokens.size or S - least < 2:
            continue
        open_stream(rng, key, d)
        topics = sorted(set(paths.split(z[tokens])[1].tolist()))
        for group in [*([k] for k in topics), topics]:
            s_of, k_of = paths.split(z[tokens])
            n = np.zeros((S, T), int)
            np.add.at(n, (s_of, k_of), 1)
            here = n[:, group].sum(axis=1)
            s = int(np.searchsorted(here.cumsum(), uniform(rng) * here.sum(), side="right"))
            others = [t for t in range(least, S) if t != s]
            t = least + int(uniform(rng) * (S - least - 1))
            if s < least:
                continue
            t = others[t - least]
            shared = [k for k in group if priors.b[s, k] > 0 and priors.b[t, k] > 0]
            new = n.copy()
            new[s, shared], new[t, shared] = n[t, shared], n[s, shared]
            gain = of_document(new, priors.a, priors.b) - of_document(n, priors.a, priors.b)
            if math.log(1.0 - uniform(rng)) < gain:
                moving = np.isin(k_of, shared)
                at = np.where(s_of == s, t, np.where(s_of == t, s, s_of))
                z[tokens] = np.where(moving, at, s_of) << paths.bits | k_of
    return z
