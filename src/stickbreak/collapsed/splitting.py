"""Splits of topics, judged by tokens that are held out (math.md (C11), (C12)): how topics are born.

Each topic gets two sub-topics that share its tokens (Chang and Fisher 2014). They start from a blind cut through its
documents and are swept until they have settled. Then the tokens held out say whether two topics predict better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from stickbreak.collapsed.cvb0 import RANGES, add_up
from stickbreak.collapsed.kernels import splits as split_kernels
from stickbreak.collapsed.merging import LEAST_TOKENS, LEAST_WEIGHT
from stickbreak.collapsed.state import SMALLEST_BETA, CollapsedState, Priors, Shard, Shares
from stickbreak.fitting.executor import Executor
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.keys import key_of

SCANS = 10  # sweeps over the halves, at least
FEW_TOPICS = 32  # halves of so few topics part slowly, and are swept until they settle
SETTLED = 1e-3  # part of the tokens: halves have settled when fewer change their half in a sweep
MOST_VISITS = 200  # of a count, once in a sweep for each of its topics: then the sweeps end anyhow
NEAR = 0.9  # part of a share that its half has at first
LEAST_GAIN = 1.0  # standard errors that a split must gain
LEAST_HALF = 1.0  # expected tokens of each half


@dataclass(slots=True)
class Halves:
    """The two sub-topics of every topic."""

    part: list[NDArray[np.float32]]  # of each shard: the part h of every share that is in the first half
    S: Float  # (W, K)  counts of the first halves
    N: Float  # (K,)


def split(state: CollapsedState, priors: Priors, max_topics: int, seed: int, executor: Executor) -> tuple[int, int]:
    """Split the topics whose halves predict better, the best first; return how many were tried and made.

    Parameters
    ----------
    state : CollapsedState
        With S and N of its shares; changed in place.
    priors : Priors
    max_topics : int
        There are never more.
    seed : int
    executor : Executor
    """
    halves = settled(state, priors, seed, executor)
    gain, error, tokens = gains(state, priors, halves, executor)
    enough = tokens >= LEAST_TOKENS
    good = enough & (gain > LEAST_GAIN * error) & (np.minimum(halves.N, state.N - halves.N) >= LEAST_HALF)
    found = np.flatnonzero(good)
    room = max(0, max_topics - state.beta.size)
    found = found[np.argsort(-gain[found], kind="stable")][:room]
    divide(state, halves, found, executor)
    return int(enough.sum()), int(found.size)


def settled(state: CollapsedState, priors: Priors, seed: int, executor: Executor) -> Halves:
    """Return halves of all topics that have settled, from a blind cut.                                 math.md (C11)"""
    shards, prior, total_eta = state.shards, priors.alpha * state.beta, state.S.shape[0] * priors.eta
    key = key_of(seed, state.n_sweeps, "collapsed halves")
    part = []
    for shard in shards:
        half = np.empty(shard.shares.topic.size, np.float32)
        split_kernels.first_halves(
            shard.indptr, shard.shares.start, shard.shares.topic, key, shard.first, prior.size, NEAR, half
        )
        part.append(half)
    halves = Halves(part, np.empty_like(state.S), np.empty_like(state.N))
    add_up_halves(state, halves, executor)
    scans, n_tokens = most_scans(shards, prior.size), float(state.N.sum())
    for scan in range(scans):

        def run(i: int) -> tuple[NDArray[np.float32], float]:
            shard, shares, new = shards[i], shards[i].shares, np.empty_like(halves.part[i])
            lists = (shares.start, shares.topic, shares.share, halves.part[i])
            tables = (state.S, state.N, halves.S, halves.N, prior, priors.eta, total_eta)
            return new, split_kernels.update_halves(shard.indptr, shard.word, shard.count, *lists, *tables, new)

        found = executor.map(run, range(len(shards)))
        halves.part = [new for new, _ in found]
        add_up_halves(state, halves, executor)
        if scan + 1 >= SCANS and sum(moved for _, moved in found) <= SETTLED * n_tokens:
            break
    return halves


def most_scans(shards: Sequence[Shard], n_topics: int) -> int:
    """Return how many sweeps over the halves there are at most."""
    if n_topics > FEW_TOPICS:
        return SCANS
    counts, shares = sum(p.word.size for p in shards), sum(p.shares.share.size for p in shards)
    return max(SCANS, MOST_VISITS * counts // max(shares, 1))


def add_up_halves(state: CollapsedState, halves: Halves, executor: Executor) -> None:
    """Sum S and N of the first halves; each thread has words of its own."""
    edges = np.linspace(0, halves.S.shape[0], RANGES + 1).astype(np.int64).tolist()
    halves.S[:] = 0.0

    def run(words: tuple[int, int]) -> None:
        for shard, half in zip(state.shards, halves.part, strict=True):
            shares = shard.shares
            lists = (shares.start, shares.topic, shares.share, half)
            split_kernels.add_halves(shard.word, shard.count, *lists, *words, halves.S)

    for _ in executor.map(run, list(pairwise(edges))):
        pass
    halves.N = halves.S.sum(axis=0)


def gains(state: CollapsedState, priors: Priors, halves: Halves, executor: Executor) -> tuple[Float, Float, Float]:
    """Return what splits add to the log probability of the tokens held out, its standard error, and these tokens.

    Returns
    -------
    gain, error : ndarray of shape (K,)
        Nats.                                                                                        math.md (C12)
    tokens : ndarray of shape (K,)
        Expected tokens held out of each topic.
    """
    prior, total_eta, shards = priors.alpha * state.beta, state.S.shape[0] * priors.eta, state.shards

    def run(i: int) -> Float:
        shard, shares, out = shards[i], shards[i].shares, np.zeros((prior.size, 3))
        lists = (shares.start, shares.topic, shares.share, halves.part[i])
        tables = (state.S, state.N, halves.S, halves.N, prior, priors.eta, total_eta, LEAST_WEIGHT)
        split_kernels.split_gains(shard.indptr, shard.word, shard.count, shard.held, *lists, *tables, out)
        return out

    out = np.zeros((prior.size, 3))
    for of_shard in executor.map(run, [i for i, shard in enumerate(shards) if shard.held is not None]):
        out += of_shard
    return out[:, 0], np.sqrt(out[:, 1]), out[:, 2]


def divide(state: CollapsedState, halves: Halves, found: Int, executor: Executor) -> None:
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
    for shard, half in zip(state.shards, halves.part, strict=True):
        old, most = shard.shares, 2 * shard.shares.topic.size
        wide = Shares(np.empty_like(old.start), np.empty(most, np.uint16), np.empty(most, np.float32))
        split_kernels.divide(old.start, old.topic, old.share, half, to, wide.start, wide.topic, wide.share)
        shard.shares = wide.trimmed()
    state.S, state.N = np.zeros((state.S.shape[0], state.beta.size)), np.zeros(state.beta.size)
    add_up(state, executor)
