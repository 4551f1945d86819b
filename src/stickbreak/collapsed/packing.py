"""Shares of a block as bytes, and tables of counts as short lists: what is written, and what travels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stickbreak.collapsed.kernels import entries as entry_kernels
from stickbreak.collapsed.shards import Shard, Shares
from stickbreak.numerics.arrays import Float, Int

Bytes = NDArray[np.uint8]


def packed_shares(shards: Sequence[Shard]) -> Bytes:
    """Return the shares of a block as bytes: all shares, all topics, and how many each count has."""
    parts = [shard.shares for shard in shards]
    arrays: list[NDArray[Any]] = [
        *(part.share for part in parts),
        *(part.topic for part in parts),
        *(np.diff(part.start).astype(np.uint16) for part in parts),
    ]
    return np.concatenate([array.view(np.uint8) for array in arrays] or [np.zeros(0, np.uint8)])


def unpacked_shares(content: Bytes, sizes: Sequence[int], n_topics: int) -> list[Shares]:
    """Return what `packed_shares` packed, for shards of as many counts as `sizes` says.

    Raises
    ------
    ValueError
        If they cannot be shares of these counts.
    """
    n, whole = sum(sizes), content.dtype == np.uint8 and content.ndim == 1
    if not whole or content.size < 2 * n or (content.size - 2 * n) % 6:
        raise ValueError("its shares are not those of these documents")
    entries = (content.size - 2 * n) // 6
    kept = content[6 * entries :].copy().view(np.uint16)
    if int(kept.sum(dtype=np.int64)) != entries:
        raise ValueError("its shares are not those of these documents")
    share = content[: 4 * entries].view(np.float32)
    topic = content[4 * entries : 6 * entries].view(np.uint16)
    start = np.concatenate(([0], np.cumsum(kept, dtype=np.int64)))
    _check(share, topic, kept, start, n_topics)
    found, begin = [], 0
    for size in sizes:
        own = start[begin : begin + size + 1]
        found.append(Shares(own - own[0], topic[own[0] : own[-1]].copy(), share[own[0] : own[-1]].copy()))
        begin += size
    return found


def _check(share: NDArray, topic: NDArray, kept: NDArray, start: NDArray, n_topics: int) -> None:
    """Raise a ValueError unless the shares of each count are of topics that are there, and sum to one."""
    if topic.size and (
        max(int(topic.max()), int(kept.max()) - 1) >= n_topics or not ((share > 0) & (share <= 1)).all()
    ):
        raise ValueError("a share is not between 0 and 1, or of a topic that is not there")
    sums = np.add.reduceat(np.append(share, np.float32(0)), start[:-1], dtype=np.float64)[kept > 0]
    if not (sums == 1.0).all():
        raise ValueError("the shares of a count do not sum to one")


@dataclass(frozen=True, slots=True)
class Entries:
    """A table of whole units (math.md (C15)) as the list of its entries that are not 0."""

    shape: tuple[int, int]
    start: NDArray[np.int64]  # (W + 1,)  of each row
    column: NDArray[np.uint16]
    units: NDArray[np.signedinteger[Any]]

    @classmethod
    def of(cls, table: Float, rows: Int | None = None) -> Self:
        """List the entries of a table, all others than these rows being 0."""
        rows, start = np.arange(table.shape[0]) if rows is None else rows, np.empty(table.shape[0] + 1, np.int64)
        entry_kernels.where_rows_begin(table, rows, start)
        column, units = np.empty(start[-1], np.uint16), np.empty(start[-1], np.int64)
        entry_kernels.list_entries(table, rows, start, column, units)
        small = not units.size or max(-int(units.min()), int(units.max())) < 2**31
        return cls((table.shape[0], table.shape[1]), start, column, units.astype(np.int32) if small else units)

    def add_to(self, table: Float) -> None:
        """Add the entries to a table."""
        units = self.units.astype(np.int64, copy=False)  # of one kind, for which alone the kernel is compiled
        entry_kernels.add_entries(self.start, self.column, units, table)

    def table(self) -> Float:
        """Return the table."""
        found = np.zeros(self.shape)
        self.add_to(found)
        return found


@dataclass(slots=True)
class Counts:
    """Counts of words in topics, as all jobs of a step need them; they travel as a list of their entries."""

    S: Float  # (W, K)
    N: Float  # (K,)

    def __reduce__(self) -> tuple[Any, ...]:
        return _counts, (Entries.of(self.S), self.N)


def _counts(entries: Entries, N: Float) -> Counts:
    return Counts(entries.table(), N)
