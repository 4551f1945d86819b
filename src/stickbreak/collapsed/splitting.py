"""Splits of topics, judged by tokens that are held out (math.md (C11), (C12)): how topics are born.

Each topic gets two sub-topics that share its tokens (Chang and Fisher 2014). They start from a blind cut through its
documents and are swept until they have settled. Then the tokens held out say whether two topics predict better.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from stickbreak.collapsed.cvb0 import add_up
from stickbreak.collapsed.kernels import splits as split_kernels
from stickbreak.collapsed.merging import LEAST_TOKENS, LEAST_WEIGHT, Judged
from stickbreak.collapsed.packing import Counts
from stickbreak.collapsed.shards import Shard, Shares
from stickbreak.collapsed.state import SMALLEST_BETA, CollapsedState, Priors
from stickbreak.collapsed.thinned import one_in, thinned
from stickbreak.collapsed.walking import Half, Outcome, count_halves
from stickbreak.fitting.engine import Engine
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.keys import key_of
from stickbreak.numerics.pseudo_counts import Eta

SCANS = 10  # sweeps over the halves, at least
FEW_TOPICS = 32  # halves of so few topics part slowly, and are swept until they settle
SETTLED = 1e-3  # part of the tokens: halves have settled when fewer change their half in a sweep
LAST_SCANS = 4  # sweeps over all documents, where the halves settled in some of them
MOST_VISITS = 200  # of a count, once in a sweep for each of its topics: then the sweeps end anyhow
NEAR = 0.9  # part of a share that its half has at first
LEAST_GAIN = 1.0  # standard errors that a split must gain
LEAST_HALF = 1.0  # expected tokens of each half


@dataclass(slots=True)
class Halves:
    """Counts of the first of the two sub-topics of every topic; the documents have the parts of the shares."""

    S: Float  # (W, K)
    N: Float  # (K,)

    @classmethod
    def none(cls, state: CollapsedState) -> Self:
        """Return the counts of no document: what is known before is in the first halves."""
        halves = cls(np.zeros_like(state.S), np.zeros_like(state.N))
        state.steering.put_into(halves.S, halves.N)
        return halves


def split(state: CollapsedState, priors: Priors, max_topics: int, seed: int, engine: Engine) -> tuple[int, int]:
    """Split the topics whose halves predict better, the best first; return how many were tried and made.

    Parameters
    ----------
    state : CollapsedState
        With S and N of its shares; changed in place.
    priors : Priors
    max_topics : int
        There are never more.
    seed : int
    engine : Engine
    """
    halves = settled(state, priors, seed, engine)
    gain, error, tokens = gains(state, priors, halves, engine)
    enough = tokens >= LEAST_TOKENS
    good = enough & (gain > LEAST_GAIN * error) & (np.minimum(halves.N, state.N - halves.N) >= LEAST_HALF)
    good[: state.steering.n_whole] = False
    found = np.flatnonzero(good)
    room = max(0, max_topics - state.beta.size)
    found = found[np.argsort(-gain[found], kind="stable")][:room]
    divide(state, halves, found, engine)
    state.documents.end_halves()
    return int(enough.sum()), int(found.size)


def settled(state: CollapsedState, priors: Priors, seed: int, engine: Engine) -> Halves:
    """Return halves of all topics that have settled: in some documents first, where topics are large.  math.md (C22)"""
    past = state.steering.past is not None  # of documents that were fitted before, there are counts alone
    m = 1 if past else one_in(state.documents, float(state.N.sum()), state.beta.size, engine)
    if m == 1:
        return settled_in(state, priors, seed, engine)
    some = thinned(state.documents, m, seed, state.n_sweeps, engine)
    part = replace(state, documents=some, S=np.empty_like(state.S), N=np.empty_like(state.N))
    add_up(part, engine)
    found = settled_in(part, priors, seed, engine)
    cut = Cut(Judged.of(part, priors), Counts(found.S, found.N), counted=False)
    for _ in range(LAST_SCANS):
        halves = Halves.none(state)
        state.documents.walk(engine, update_halves, cut, count=count_halves, into=(halves.S, halves.N))
        cut = Cut.of(state, priors, halves)
    return halves


def settled_in(state: CollapsedState, priors: Priors, seed: int, engine: Engine) -> Halves:
    """Return halves of all topics that have settled, from a blind cut.                                 math.md (C11)"""
    documents, key, halves = state.documents, key_of(seed, state.n_sweeps, "collapsed halves"), Halves.none(state)
    given, into = (key, state.beta.size), (halves.S, halves.N)
    (n_shares,) = documents.walk(engine, first_halves, given, count=count_halves, into=into).sums
    n_tokens, scans = float(state.N.sum()), most_scans(documents.n_counts, int(n_shares), state.beta.size)
    for scan in range(scans):
        cut, halves = Cut.of(state, priors, halves), Halves.none(state)
        found = documents.walk(engine, update_halves, cut, count=count_halves, into=(halves.S, halves.N))
        if scan + 1 >= SCANS and float(found.sums[0]) <= SETTLED * n_tokens:
            break
    return halves


def most_scans(n_counts: int, n_shares: int, n_topics: int) -> int:
    """Return how many sweeps over the halves there are at most."""
    return SCANS if n_topics > FEW_TOPICS else max(SCANS, MOST_VISITS * n_counts // max(n_shares, 1))


def gains(state: CollapsedState, priors: Priors, halves: Halves, engine: Engine) -> tuple[Float, Float, Float]:
    """Return what splits add to the log probability of the tokens held out, its standard error, and these tokens.

    Returns
    -------
    gain, error : ndarray of shape (K,)
        Nats.                                                                                        math.md (C12)
    tokens : ndarray of shape (K,)
        Expected tokens held out of each topic.
    """
    (out,) = state.documents.walk(engine, gains_of_splits, Cut.of(state, priors, halves)).sums
    return out[:, 0], np.sqrt(out[:, 1]), out[:, 2]


def divide(state: CollapsedState, halves: Halves, found: Int, engine: Engine) -> None:
    """Make the second halves of some topics new topics, behind the others; sum S and N again."""
    if found.size == 0:
        return
    K = state.beta.size
    to, new = np.arange(K), np.arange(K, K + found.size)
    to[found] = new
    second = 1.0 - halves.N[found] / state.N[found]
    for name in ("tables", "beta"):
        table = getattr(state, name)
        grown = np.append(table, table[found] * second)
        grown[found] *= 1.0 - second
        setattr(state, name, grown)
    state.beta = np.maximum(state.beta, SMALLEST_BETA)
    state.S, state.N = np.zeros((state.S.shape[0], state.beta.size)), np.zeros(state.beta.size)
    state.documents.walk(engine, divided, to)
    add_up(state, engine)


@dataclass(frozen=True, slots=True)
class Cut:
    """Topics with their halves, as work on shards takes them."""

    judged: Judged
    halves: Counts
    counted: bool = True  # whether the documents are in both

    @classmethod
    def of(cls, state: CollapsedState, priors: Priors, halves: Halves) -> Self:
        """Return those of a state."""
        return cls(Judged.of(state, priors), Counts(halves.S, halves.N))

    def arrays(self) -> tuple[Float, Float, Float, Float, Float, Eta, float]:
        """Return all that as the kernels take it."""
        judged = self.judged
        counts = judged.counts.S, judged.counts.N, self.halves.S, self.halves.N
        return *counts, judged.prior, judged.eta, judged.total_eta


def first_halves(given: tuple[np.uint64, int], shard: Shard) -> Outcome:
    """Cut the topics of a shard blindly; find how many shares it has."""
    (key, n_topics), shares = given, shard.shares
    half = np.empty(shares.topic.size, np.float32)
    split_kernels.first_halves(shard.indptr, shares.start, shares.topic, key, shard.first, n_topics, NEAR, half)
    return Outcome((np.array(shares.topic.size),), half=half)


def update_halves(cut: Cut, shard: Shard) -> Outcome:
    """Find the new halves of a shard, and the tokens that change theirs.                            math.md (C11)"""
    if not cut.counted:
        shard = replace(shard, half=np.full(shard.shares.topic.size, 0.5, np.float32))  # nothing is known of them
    half, lists = _parts(shard)
    new = np.empty_like(half)
    moved = split_kernels.update_halves(shard.indptr, shard.word, shard.count, *lists, *cut.arrays(), cut.counted, new)
    return Outcome((np.array(moved),), half=new)


def gains_of_splits(cut: Cut, shard: Shard) -> Outcome:
    """Find what splits add to the log probability, the squares of that, and the tokens.             math.md (C12)"""
    out = np.zeros((cut.judged.prior.size, 3))
    held = np.zeros_like(shard.count) if shard.held is None else shard.held
    tables = (*cut.arrays(), LEAST_WEIGHT)
    split_kernels.split_gains(shard.indptr, shard.word, shard.count, held, *_parts(shard)[1], *tables, out)
    return Outcome((out,))


def divided(to: Int, shard: Shard) -> Outcome:
    """Give the second half of topic k to topic to[k]."""
    old, most = shard.shares, 2 * shard.shares.topic.size
    wide = Shares(np.empty_like(old.start), np.empty(most, np.uint16), np.empty(most, np.float32))
    split_kernels.divide(*_parts(shard)[1], to, wide.start, wide.topic, wide.share)
    return Outcome(shares=wide.trimmed())


def _parts(shard: Shard) -> tuple[Half, tuple[Int, NDArray[np.uint16], Half, Half]]:
    """Return the halves of a shard, and its lists as the kernels take them."""
    assert shard.half is not None
    shares = shard.shares
    return shard.half, (shares.start, shares.topic, shares.share, shard.half)
