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
    t = smallest * values.sum()
    running, out = u * t, np.zeros(values.size)
    for k, value in enumerate(values):
        if value >= t:
            out[k] = value
        else:
            running += value
            if running >= t:
                running -= t
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
