"""Merges of topics, judged by tokens that are held out: the number of topics (math.md (C8), (C9)).

A part of the tokens is kept out of the first laps, another one after every round of moves. Two topics become one where
that predicts these tokens as well. In the end all tokens are learned from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from stickbreak.collapsed.kernels import merges as merge_kernels
from stickbreak.collapsed.packing import Counts
from stickbreak.collapsed.shards import Shard, Shares
from stickbreak.collapsed.state import SMALLEST_BETA, CollapsedState, Priors
from stickbreak.collapsed.walking import Outcome
from stickbreak.fitting.alive import ALIVE
from stickbreak.fitting.engine import Engine
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.pseudo_counts import Eta, factor_of, total_of

SLACK = 1.0  # standard errors that a merge may cost, as many as a split must gain ...
MOST_LOSS = 0.1  # ... and nats for each token held out of the smaller topic: of few tokens the error is large
LEAST_TOKENS = 10.0  # held out, that a pair of topics is judged by
LEAST_WEIGHT = 1e-3  # of a topic in a document, to be looked at there
PAIRS_PER_TOPIC = 4  # pairs whose gain is computed ...
LEAST_PAIRS = 200  # ... and those of twenty topics all: of few topics, the bounds of very different ones are too loose
AT_ONCE = 8  # shards whose tables of all pairs of topics are in memory at a time


def merge(state: CollapsedState, priors: Priors, engine: Engine) -> tuple[int, int]:
    """Merge pairs of topics, the best first, each topic once; return how many were tried and made.

    Parameters
    ----------
    state : CollapsedState
        After a sweep; changed in place.
    priors : Priors
    engine : Engine
    """
    pairs, tokens = candidates(state, priors, engine)
    if pairs.size == 0:
        return 0, 0
    merged = chosen(pairs, *gains(state, priors, pairs, engine), tokens)
    to = np.arange(state.beta.size)
    to[merged[:, 1]] = merged[:, 0]
    join(state, to, engine)
    return len(pairs), len(merged)


def chosen(pairs: NDArray[np.int64], gain: Float, error: Float, tokens: Float) -> NDArray[np.int64]:
    """Return the pairs that become one, the best first, each topic in one of them.                      math.md (C8)

    Parameters
    ----------
    pairs : ndarray of shape (n, 2)
    gain, error : ndarray of shape (n,)
        What `gains` returned.
    tokens : ndarray of shape (K,)
        Expected tokens held out of each topic.

    Returns
    -------
    ndarray of shape (n', 2)
    """
    of_pair = tokens[pairs]
    most_loss = np.minimum(SLACK * error, MOST_LOSS * of_pair.min(axis=1))
    says = (error > 0) & (of_pair.sum(axis=1) >= LEAST_TOKENS)  # the tokens have something to say about the pair
    free, found = np.ones(tokens.size, dtype=bool), []
    for q in np.argsort(-gain, kind="stable"):
        if says[q] and gain[q] >= -most_loss[q] and free[pairs[q]].all():
            free[pairs[q]] = False
            found.append(q)
    return pairs[found]


def candidates(state: CollapsedState, priors: Priors, engine: Engine) -> tuple[NDArray[np.int64], Float]:
    """Return the pairs with the largest bounds of their gain, and the tokens of each topic.             math.md (C9)

    Returns
    -------
    pairs : ndarray of shape (n, 2)
        The larger topic of each first, or the one that is kept.
    tokens : ndarray of shape (K,)
        X_kk, the expected tokens held out.
    """
    judged = Judged.of(state, priors)
    X, Y = state.documents.walk(engine, crossings, judged, at_once=AT_ONCE).sums
    total_eta = judged.total_eta
    bound = gain_bounds(X, Y, state.N, factor_of(priors.eta), total_eta)
    order = np.argsort(-state.N, kind="stable")
    topics = order[state.N[order] >= ALIVE]
    pairs = state.steering.mergeable(topics[np.stack(np.triu_indices(topics.size, 1), axis=1)])
    n = max(LEAST_PAIRS, PAIRS_PER_TOPIC * topics.size)
    best = np.argsort(-bound[pairs[:, 0], pairs[:, 1]], kind="stable")[:n]
    return np.asarray(pairs[best], dtype=np.int64), np.diag(X).copy()


def gain_bounds(X: Float, Y: Float, N: Float, eta: float, total_eta: float) -> Float:
    """Return sum_i c_i (p_i' - p_i) / p_i >= sum_i c_i log p_i' / p_i of every pair, (K, K).            math.md (C9)"""
    mass, own = N + total_eta, np.diag(X)
    apart = own[:, None] + own[None]
    mixed = mass[:, None] * (own[:, None] + X.T) + mass[None] * (X + own[None]) - eta * (Y[:, None] + Y[None])
    bounds: Float = mixed / (N[:, None] + N[None] + total_eta) - apart
    return bounds


def gains(state: CollapsedState, priors: Priors, pairs: NDArray[np.int64], engine: Engine) -> tuple[Float, Float]:
    """Return what merges add to the log probability of the tokens held out, with standard errors.      math.md (C8)"""
    judged = Judged.of(state, priors)
    (out,) = state.documents.walk(engine, gains_of_pairs, (judged, pairs)).sums
    return out[:, 0], np.sqrt(out[:, 1])


def join(state: CollapsedState, to: NDArray[np.int64], engine: Engine) -> None:
    """Give all that topic k has to topic to[k]."""
    gone = np.flatnonzero(to != np.arange(to.size))
    if gone.size == 0:
        return
    state.documents.walk(engine, relabel, to)
    state.summed = False  # of weights, each product is rounded
    for table in (state.S.T, state.N, state.beta, state.tables):
        np.add.at(table, to[gone], table[gone])
        table[gone] = 0.0
    state.beta[gone] = SMALLEST_BETA


def compact(state: CollapsedState, engine: Engine) -> None:
    """Leave out the topics that no count has a share of, but for those that are kept."""
    (n_shares,) = state.documents.walk(engine, shares_of_topics, state.beta.size).sums
    used = n_shares > 0
    used[: state.steering.n_kept] = True
    used[0] |= not used.any()
    if used.all():
        return
    state.documents.walk(engine, relabel, np.cumsum(used) - 1)
    state.S = np.ascontiguousarray(state.S[:, used])
    state.N, state.beta, state.tables = state.N[used], state.beta[used], state.tables[used]


@dataclass(frozen=True, slots=True)
class Judged:
    """What tokens that are held out are predicted from."""

    counts: Counts
    prior: Float  # (K,)  alpha beta
    eta: Eta
    total_eta: float

    @classmethod
    def of(cls, state: CollapsedState, priors: Priors) -> Self:
        """Return that of a state."""
        total_eta = float(total_of(priors.eta, state.S.shape[0]))
        return cls(Counts(state.S, state.N), priors.alpha * state.beta, priors.eta, total_eta)

    def arrays(self) -> tuple[Float, Float, Float, Eta, float, float]:
        """Return all that as the kernels take it."""
        return self.counts.S, self.counts.N, self.prior, self.eta, self.total_eta, LEAST_WEIGHT


def crossings(judged: Judged, shard: Shard) -> Outcome:
    """Find X and Y of all pairs.                                                                     math.md (C9)"""
    K = judged.prior.size
    X, Y = np.zeros((K, K)), np.zeros(K)
    merge_kernels.crossings(*_parts(shard), *judged.arrays(), X, Y)
    return Outcome((X, Y))


def gains_of_pairs(given: tuple[Judged, NDArray[np.int64]], shard: Shard) -> Outcome:
    """Find what merges of pairs add to the log probability, and the squares of that.                 math.md (C8)"""
    judged, pairs = given
    out = np.zeros((len(pairs), 2))
    merge_kernels.gains(*_parts(shard), *judged.arrays(), pairs, out)
    return Outcome((out,))


def relabel(to: NDArray[np.int64], shard: Shard) -> Outcome:
    """Give the shares of topic k to topic to[k]."""
    old = shard.shares
    new = Shares(np.empty_like(old.start), np.empty_like(old.topic), np.empty_like(old.share))
    merge_kernels.relabel(old.start, old.topic, old.share, to, new.start, new.topic, new.share)
    return Outcome(shares=new.trimmed())


def shares_of_topics(n_topics: int, shard: Shard) -> Outcome:
    """Count the shares of each topic."""
    return Outcome((np.bincount(shard.shares.topic, minlength=n_topics),))


def _parts(shard: Shard) -> tuple[Int, NDArray, Float, Float, Int, NDArray, NDArray]:
    """Return the arrays of a shard as the kernels take them."""
    shares, held = shard.shares, np.zeros_like(shard.count) if shard.held is None else shard.held
    return shard.indptr, shard.word, shard.count, held, shares.start, shares.topic, shares.share
