"""Joins of topics by the definitions, in dense NumPy."""

import numpy as np


def shares(S, eta):
    """Return phi, (K, W)."""
    return (S + eta) / (S + eta).sum(axis=1, keepdims=True)


def swept(S, outside, eta, theta, prior, counts):
    """Share the tokens of dense documents, (D, W), among topics; return S and theta that follow."""
    phi = shares(S, eta)
    made, weights = outside.copy(), np.tile(prior, (len(counts), 1))
    for d, w in zip(*np.nonzero(counts), strict=True):
        r = theta[d] * phi[:, w]
        made[:, w] += counts[d, w] * r / r.sum()
        weights[d] += counts[d, w] * r / r.sum()
    return made, weights


def log_p(S, eta, theta, held):
    """Return the log probability of the tokens held out of each document, (D,)."""
    return (held * np.log(theta @ shares(S, eta))).sum(axis=1)


def joined(S, theta, a, b):
    """Return S and theta with group b in group a, whose row stays."""
    S, theta = S.copy(), theta.copy()
    S[a] += S[b]
    theta[:, a] += theta[:, b]
    return np.delete(S, b, axis=0), np.delete(theta, b, axis=1)


def greedy(S, eta, theta, held):
    """Return joins (by the least topic of each group), and log p of documents along the path, trying every pair."""
    number, joins, found = np.arange(len(S)), [], [log_p(S, eta, theta, held)]
    while len(S) > 1:
        pairs = [(a, b) for b in range(len(S)) for a in range(b)]
        values = [log_p(*_at(joined(S, theta, a, b), eta), held).sum() for a, b in pairs]
        a, b = pairs[int(np.argmax(values))]
        joins.append(sorted((number[a], number[b])))
        S, theta = joined(S, theta, a, b)
        number[a] = joins[-1][0]
        number = np.delete(number, b)
        found.append(log_p(S, eta, theta, held))
    return np.array(joins).reshape(-1, 2), np.array(found)


def _at(pair, eta):
    return pair[0], eta, pair[1]
