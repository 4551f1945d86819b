"""Shards: some documents, with q(z) of every stored count as a short list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from stickbreak.numerics.arrays import Float, Int

ONE_DRAW = 1.0  # smallest share that is kept: one topic has all of a count


@dataclass(slots=True)
class Shares:
    """q(z) of some stored counts: count p has the entries start[p]:start[p + 1]."""

    start: Int  # (n + 1,)
    topic: NDArray[np.uint16]  # (start[-1],)
    share: NDArray[np.float32]  # (start[-1],)  the shares of a count sum to one

    @classmethod
    def none(cls, n_counts: int) -> Shares:
        """Return the shares of counts that are not in the model."""
        return cls(np.zeros(n_counts + 1, np.int64), np.zeros(0, np.uint16), np.zeros(0, np.float32))

    @classmethod
    def room(cls, n_counts: int, slots: int) -> Shares:
        """Return room for shares that are yet to be found."""
        n = n_counts * slots
        return cls(np.empty(n_counts + 1, np.int64), np.empty(n, np.uint16), np.empty(n, np.float32))

    def trimmed(self) -> Shares:
        """Return the same shares in arrays of their size."""
        n = int(self.start[-1])
        return Shares(self.start, self.topic[:n].copy(), self.share[:n].copy())


@dataclass(slots=True)
class Shard:
    """Some consecutive documents."""

    first: int  # number of the first document
    indptr: Int  # (D_s + 1,)  their counts, from 0
    word: NDArray[np.int32]  # (n,)
    count: Float  # (n,)
    shares: Shares
    held: Float | None = None  # (n,)  further tokens that are held out
    apart: Float | None = None  # (n,)  tokens of whole documents that are set apart
    half: NDArray[np.float32] | None = None  # of each share: the part that is in the first half of its topic


def joined(shards: Sequence[Shard]) -> Shard:
    """Return consecutive shards as one, without what is left aside."""
    counted = [shard.indptr[-1] for shard in shards]
    listed = [shard.shares.start[-1] for shard in shards]
    shares = Shares(
        _running([shard.shares.start for shard in shards], listed),
        np.concatenate([shard.shares.topic for shard in shards]),
        np.concatenate([shard.shares.share for shard in shards]),
    )
    word, count = (np.concatenate([getattr(shard, name) for shard in shards]) for name in ("word", "count"))
    return Shard(shards[0].first, _running([shard.indptr for shard in shards], counted), word, count, shares)


def _running(parts: Sequence[Int], ends: Sequence[int]) -> Int:
    """Return several arrays of where something begins as one, each after the end of the one before."""
    before = np.cumsum([0, *ends[:-1]])
    return np.concatenate([[0], *(part[1:] + first for part, first in zip(parts, before, strict=True))])


def shares_apart(shares: Shares, sizes: Sequence[int]) -> list[Shares]:
    """Return the shares of as many counts as `sizes` says, one after another."""
    found, begin = [], 0
    for size in sizes:
        start = shares.start[begin : begin + size + 1]
        low, high, begin = int(start[0]), int(start[-1]), begin + size
        found.append(Shares(start - low, shares.topic[low:high], shares.share[low:high]))
    return found


@dataclass(frozen=True, slots=True)
class Aside:
    """What is left aside: nothing, unless a share is named."""

    apart: float = 0.0  # share of the documents that are set apart
    apart_seed: int = 0
    held: float = 0.0  # share of the other tokens that is held out; of a weight, only its whole part is tokens
    held_seed: int = 0
    turn: int = 0  # other tokens are held out in each


def slots_of(smallest: float, n_topics: int) -> int:
    """Return how many shares a count can have."""
    return n_topics if smallest * n_topics < 1 else min(n_topics, ceil(1 / smallest) + 1)
