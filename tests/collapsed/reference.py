"""Slow NumPy twin of CVB0, written from math.md (C1) to (C4)."""

from __future__ import annotations

import numpy as np
from scipy.special import psi

from stickbreak.numerics.kernel_random import open_stream, uniform

UNITS = 2.0**20


def on_grid(x):
    """The nearest whole number of units."""
    return np.floor(x * UNITS + 0.5) / UNITS


def keep(values, smallest, u):
    """Round the small shares of one token at random: a kept one wherever the running sum passes a multiple of t."""
    t = max(smallest, 1 / UNITS) * values.sum()
    running, out = int(u * 2**32), np.zeros(values.size)  # whole numbers of t / 2**32
    for k, value in enumerate(values):
        if value >= t:
            out[k] = value
        else:
            running += int(value / t * 2**32)
            if running >= 2**32:
                running -= 2**32
                out[k] = t
    running = np.round(np.cumsum(out / out.sum()) * UNITS)  # shares are whole units
    return (np.diff(running, prepend=0.0) / UNITS).astype(np.float32)


def uniforms(key, document):
    """Yield the numbers of a document."""
    state = np.empty(1, np.uint64)
    open_stream(state, key, document)
    while True:
        yield uniform(state)


def sweep(counts, r, beta, *, alpha, eta, turns, smallest=0.0, key=0, known=0.0, of_documents=None):
    """One sweep over a dense (D, W) array of counts; r is (D, W, K) and is changed in place. Return log p.

    Eta is a number, or one for each word. `known` are counts (W, K) besides those of the documents, `of_documents`
    (D, K) weights of each in place of beta.

    For every (d, w) the counts of the document are summed anew from r, those of the words once a turn, without the one
    token that is updated. Of a weight below one, only that weight is there to be taken out.
    """
    W, log_p = counts.shape[1], 0.0
    eta = np.broadcast_to(eta, W)
    for documents in turns:
        S = np.einsum("dw,dwk->wk", counts, r) + known
        N = S.sum(axis=0)
        for d in documents:
            weights = beta if of_documents is None else of_documents[d]
            numbers = uniforms(key, d)
            for w in np.flatnonzero(counts[d]):
                here = min(counts[d, w], 1.0)
                own = r[d, w] * here
                new = (S[w] - own + eta[w]) / (N - own + eta.sum()) * (counts[d] @ r[d] - own + alpha * weights)
                new = np.maximum(new, 0.0)
                rest = alpha * (1 - weights.sum()) * eta[w] / eta.sum()
                log_p += counts[d, w] * np.log((new.sum() + rest) / (counts[d].sum() - here + alpha))
                r[d, w] = keep(new, smallest, next(numbers))
    return log_p


def expected_tables(counts, r, prior):
    """M_k, with the probability that a document has a topic at all."""
    out = np.zeros(prior.size)
    for d in range(counts.shape[0]):
        for k in range(prior.size):
            present = 1 - np.prod((1 - r[d, :, k]) ** counts[d])
            n = counts[d] @ r[d, :, k]
            if present > 0:
                out[k] += present * prior[k] * (psi(prior[k] + n / present) - psi(prior[k]))
    return out


def corpus_weights(counts, r, beta, *, alpha, gamma):
    """beta_k from the expected tables."""
    tables = expected_tables(counts, r, alpha * beta)
    return tables / (gamma + tables.sum())


def draws_word_by_word(shard, given):
    """Draw the topics of a block word by word; return them, and the sum of log p of all tokens.

    The topics of a document stand in a list, in the order in which they came; one that goes leaves its place to the
    last. A draw runs through this list, then through all topics.
    """
    S, N, prior, priors, z = given.counts.S, given.counts.N.copy(), given.prior, given.priors, shard.shares.topic.copy()
    n_words, K = S.shape
    eta = np.broadcast_to(priors.eta, n_words)
    rest = (priors.alpha - prior.sum()) * eta / eta.sum()
    document = np.repeat(np.arange(shard.indptr.size - 1), np.diff(shard.indptr))
    lists, lengths = [{} for _ in shard.indptr[1:]], np.bincount(document, shard.count, shard.indptr.size - 1)
    for p in np.flatnonzero(shard.count):
        lists[document[p]][z[p]] = lists[document[p]].get(z[p], 0.0) + shard.count[p]
    log_p = 0.0
    for w in np.unique(shard.word):
        numbers, row = uniforms(given.key, shard.first * n_words + w), S[w].copy()
        for p in np.flatnonzero((shard.word == w) & (shard.count > 0)):
            n, c, old = lists[document[p]], shard.count[p], z[p]
            own = np.zeros(K)
            own[old] = min(c, 1.0)
            phi = np.maximum((row - own + eta[w]) / (N - own + eta.sum()), 0.0)
            of_document = [max(n[k] - own[k], 0.0) * phi[k] for k in n]
            total = sum(of_document) + prior @ phi
            log_p += c * np.log((total + rest[w]) / (lengths[document[p]] - own[old] + priors.alpha))
            running = np.cumsum([*of_document, *(prior * phi)])
            new = [*n, *range(K)][np.searchsorted(running, next(numbers) * total, side="right")]
            if new == old:
                continue
            z[p], row[old], row[new], N[old], N[new] = new, row[old] - c, row[new] + c, N[old] - c, N[new] + c
            n[old] -= c
            if n[old] <= 1e-9:
                entries = [(k, x) for k, x in n.items() if k != old]
                if list(n)[-1] != old:
                    entries.insert(list(n).index(old), entries.pop())
                n.clear()
                n.update(entries)
            n[new] = n.get(new, 0.0) + c
    return z, log_p
