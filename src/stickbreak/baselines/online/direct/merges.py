"""Merges: two topics become one where the bound of the minibatch rises by it (math.md (O15))."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, xlogy

from stickbreak.baselines.online.direct.local_step import Visit
from stickbreak.baselines.online.topics import evidence
from stickbreak.numerics.arrays import Float

LEAST_CORRELATION = 0.05


def candidates(N: Float, n: int) -> list[tuple[int, int]]:
    """Return the pairs of topics whose N_dk correlate most over the documents, at most `n`.   math.md (O15)"""
    centred = N - N.mean(axis=0)
    deviation = np.sqrt((centred * centred).sum(axis=0))
    found = np.triu((centred.T @ centred) / np.maximum(np.outer(deviation, deviation), 1e-300), 1)
    order = np.argsort(-found, axis=None, kind="stable")[:n]
    pairs = [tuple(map(int, np.unravel_index(i, found.shape))) for i in order]
    return [(k, other) for k, other in pairs if found[k, other] > LEAST_CORRELATION]


def gain_of(visit: Visit, k: int, other: int, share: float, eta: float, gamma: float, W: int) -> float:
    """Return what the bound gains if two topics merge, in nats of all documents.                    math.md (O15)

    Parameters
    ----------
    visit : Visit
        Of the minibatch, from before the merge.
    k, other : int
    share : float
        Documents of all to those of the minibatch.
    eta, gamma : float
    W : int
        Words of the vocabulary.
    """
    counts, a, b = visit.minibatch.count, visit.tokens_of(k), visit.tokens_of(other)
    r, s = a / counts, b / counts
    entropy = float(counts @ (xlogy(r, r) + xlogy(s, s) - xlogy(r + s, r + s)))
    documents = entropy + _of_weights(visit.N[:, k] + visit.N[:, other], visit.prior[k] + visit.prior[other])
    documents -= _of_weights(visit.N[:, k], visit.prior[k]) + _of_weights(visit.N[:, other], visit.prior[other])
    S = share * visit.S[:, [k, other]].T
    topics = evidence(S.sum(axis=0)[None], eta, W).sum() - evidence(S, eta, W).sum()
    return share * documents + float(topics) - float(np.log(gamma))


def _of_weights(N: Float, prior: float) -> float:
    return float((gammaln(prior + N) - gammaln(prior)).sum())
