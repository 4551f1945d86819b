"""State of collapsed inference: q(z) of every stored count as a short list, and the expected counts that it makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus import Corpus
from stickbreak.fitting.executor import shards
from stickbreak.numerics.arrays import Float, Int

MOST_TOPICS = 1 << 16  # topics of shares are stored in two bytes
SMALLEST_BETA = 1e-12
SUM_TOLERANCE = 1e-3  # of the sum of a count's shares, which are added in float32
TURNS = 16  # of a lap: the counts S are brought up to date after each
COUNT_BYTES = 220  # that a stored count of a start takes, about: its word and number, and some thirty shares at most
SHARD_COUNTS = 4096  # stored counts of a shard: documents that one thread works on


@dataclass(frozen=True, slots=True)
class Priors:
    """Hyperparameters."""

    alpha: float
    gamma: float
    eta: float


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


@dataclass(slots=True)
class CollapsedState:
    """Expected counts under q(z) (math.md (C1)); D documents, W words, K topics."""

    turns: list[list[Shard]]
    S: Float  # (W, K)  sum_d c_dw r_dwk
    N: Float  # (K,)    S.sum(0)
    beta: Float  # (K,)    corpus weights; the rest, 1 - beta.sum(), belongs to the inactive topics
    tables: Float  # (K,)    expected tables of the last sweep
    log_p: float = 0.0  # of the last sweep: sum of the log probabilities of all tokens, each given all others
    n_sweeps: int = 0

    @property
    def shards(self) -> list[Shard]:
        """All shards, in the order of the documents."""
        return [shard for turn in self.turns for shard in turn]


def cut(corpus: Corpus) -> list[list[Shard]]:
    """Cut documents into turns and these into shards, by their sizes alone, without shares.

    Parameters
    ----------
    corpus : Corpus

    Returns
    -------
    list of list of Shard
    """
    counts = corpus.counts
    indptr = counts.indptr.astype(np.int64)
    sizes = np.diff(indptr)
    turns = []
    for low, high in shards(sizes, max(1, int(indptr[-1]) // TURNS)):
        turn = []
        for a, b in shards(sizes[low:high], SHARD_COUNTS):
            first, last = low + a, low + b
            part = slice(indptr[first], indptr[last])
            word, count = counts.indices[part].astype(np.int32), counts.data[part].astype(np.float64)
            turn.append(Shard(first, indptr[first : last + 1] - indptr[first], word, count, Shares.none(word.size)))
        turns.append(turn)
    return turns


def packed_shares(parts: Sequence[Shard]) -> dict[str, NDArray]:
    """Return the shares of all shards as arrays: how many each count has, their topics, the shares."""
    return {
        "kept": np.concatenate([np.diff(part.shares.start) for part in parts]).astype(np.uint16),
        "topic": np.concatenate([part.shares.topic for part in parts]),
        "share": np.concatenate([part.shares.share for part in parts]),
    }


def unpack_shares(arrays: dict[str, NDArray], parts: Sequence[Shard], n_topics: int) -> None:
    """Give shards the shares that `packed_shares` returned.

    Raises
    ------
    KeyError, ValueError
        If they cannot be of these documents.
    """
    kept, topic, share = arrays["kept"], arrays["topic"], arrays["share"]
    sizes = [part.word.size for part in parts]
    if kept.shape != (sum(sizes),) or topic.shape != share.shape or topic.shape != (int(kept.sum(dtype=np.int64)),):
        raise ValueError("its shares are not those of these documents")
    if kept.dtype != np.uint16 or topic.dtype != np.uint16 or share.dtype != np.float32:
        raise ValueError("its shares are not shares")
    if topic.size and (
        max(int(topic.max()), int(kept.max()) - 1) >= n_topics
        or not ((share >= 0) & (share <= 1 + SUM_TOLERANCE)).all()
    ):
        raise ValueError("a share is not between 0 and 1, or of a topic that is not there")
    start = np.concatenate(([0], np.cumsum(kept, dtype=np.int64)))
    sums = np.add.reduceat(np.append(share, np.float32(0)), start[:-1], dtype=np.float64)[kept > 0]
    if not (np.abs(sums - 1.0) <= SUM_TOLERANCE).all():
        raise ValueError("the shares of a count do not sum to one")
    begin = 0
    for part, size in zip(parts, sizes, strict=True):
        low, high = start[begin], start[begin + size]
        own = start[begin : begin + size + 1] - low
        part.shares = Shares(own, topic[low:high].copy(), share[low:high].copy())
        begin += size
