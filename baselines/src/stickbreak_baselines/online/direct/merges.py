"""Merges: two topics become one where the bound of the minibatch rises by it (docs/math (O15))."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, xlogy

from stickbreak.numerics.arrays import Float
from stickbreak.numerics.pseudo_counts import of_words, total_of
from stickbreak_baselines.online.direct.local_step import Visit
from stickbreak_baselines.online.laps import Rules
from stickbreak_baselines.online.topics import evidence

LEAST_CORRELATION = 0.05


def candidates(N: Float, n: int, n_kept: int = 0) -> list[tuple[int, int]]:
    """Return the pairs of topics whose N_dk correlate most over the documents, at most `n`.   docs/math (O15)

    No pair is of two of the first `n_kept`.
    """
    centred = N - N.mean(axis=0)
    deviation = np.sqrt((centred * centred).sum(axis=0))
    found = np.triu((centred.T @ centred) / np.maximum(np.outer(deviation, deviation), 1e-300), 1)
    found[:n_kept, :n_kept] = 0.0
    order = np.argsort(-found, axis=None, kind="stable")[:n]
    pairs = [tuple(map(int, np.unravel_index(i, found.shape))) for i in order]
    return [(k, other) for k, other in pairs if found[k, other] > LEAST_CORRELATION]


def gain_of(visit: Visit, k: int, other: int, share: float, rules: Rules, W: int) -> float:
    """Return what the bound gains if two topics merge, in nats of all documents.             docs/math (O15), (O16)

    Parameters
    ----------
    visit : Visit
        Of the minibatch, from before the merge.
    k, other : int
        If one of them has pseudo-counts, it is k.
    share : float
        Documents of all to those of the minibatch.
    rules : Rules
    W : int
        Words of the vocabulary.
    """
    counts, a, b = visit.minibatch.count, visit.tokens_of(k), visit.tokens_of(other)
    r, s = a / counts, b / counts
    entropy = float(counts @ (xlogy(r, r) + xlogy(s, s) - xlogy(r + s, r + s)))
    documents = entropy + _of_weights(visit.N[:, k] + visit.N[:, other], visit.prior[k] + visit.prior[other])
    documents -= _of_weights(visit.N[:, k], visit.prior[k]) + _of_weights(visit.N[:, other], visit.prior[other])
    words, total = visit.minibatch.words, total_of(rules.eta, W)
    eta, S = of_words(rules.eta, words), share * visit.S[:, [k, other]].T
    if k >= rules.n_kept:
        topics = evidence(S.sum(axis=0)[None], eta, total).sum() - evidence(S, eta, total).sum()
        return share * documents + float(topics) - float(np.log(rules.gamma))
    assert rules.pseudo is not None
    known = rules.pseudo[:, [k]].toarray().ravel()
    more = float(known.sum() - known[words].sum())
    topics = evidence(known[words] + S.sum(axis=0)[None], eta, total, more).sum()
    topics -= evidence(known[words] + S[:1], eta, total, more).sum() + evidence(S[1:], eta, total).sum()
    weight = float(np.log1p(visit.prior[other] / visit.prior[k]))  # of the table that is known of topic k
    return share * documents + float(topics) + weight - float(np.log(rules.gamma))


def _of_weights(N: Float, prior: float) -> float:
    return float((gammaln(prior + N) - gammaln(prior)).sum())
