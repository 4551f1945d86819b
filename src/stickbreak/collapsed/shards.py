"""Shards: some documents, with q(z) of every stored count as a short list."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from stickbreak.numerics.arrays import Float, Int


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
