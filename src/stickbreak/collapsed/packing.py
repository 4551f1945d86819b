"""Shares of a block as bytes, and tables of counts as short lists: what is written, and what travels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stickbreak.collapsed.kernels import entries as entry_kernels
from stickbreak.collapsed.shards import Shard, Shares
from stickbreak.numerics.arrays import Float, Int, Int32

Bytes = NDArray[np.uint8]
DENSE = 1 / 3  # of the entries of a table: above, it is written as it is, which is quicker than to list and add them
PART_ENTRIES = 1 << 18  # of a table that is listed row by row: a part fits into the cache


def packed_shares(shards: Sequence[Shard]) -> Bytes:
    """Return the shares of a block as bytes: all shares, all topics, and how many each count has."""
    parts = [shard.shares for shard in shards]
    arrays: list[NDArray[Any]] = [
        *(part.share for part in parts),
        *(part.topic for part in parts),
        *(np.diff(part.start).astype(np.uint16) for part in parts),
    ]
    return np.concatenate([array.view(np.uint8) for array in arrays] or [np.zeros(0, np.uint8)])


def unpacked_shares(content: Bytes, sizes: Sequence[int], n_topics: int | None = None) -> list[Shares]:
    """Return what `packed_shares` packed, for shards of as many counts as `sizes` says: views of it.

    Parameters
    ----------
    content : ndarray of bytes
    sizes : sequence of int
    n_topics : int, optional
        Shares are checked, and topics are below this number. None: another check has found that they are as written.

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
    if n_topics is not None:
        _check(share, topic, kept, start, n_topics)
    found, begin = [], 0
    for size in sizes:
        own = start[begin : begin + size + 1]
        found.append(Shares(own - own[0], topic[own[0] : own[-1]], share[own[0] : own[-1]]))
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
    row: Int32  # (n,)  rows that have entries
    start: Int  # (n + 1,)  of each of them
    column: NDArray[np.uint16]
    units: Int32  # modulo 2**32
    wide: Int  # entries of more units than four bytes hold: few, of the most frequent words ...
    beyond: Int  # ... and what must be added to theirs

    @classmethod
    def of(cls, table: Float) -> Self:
        """List the entries of a table."""
        return cls.of_parts(table.shape[0], np.arange(table.shape[0], dtype=np.int32), table.shape[1], [table])

    @classmethod
    def of_parts(cls, n_rows: int, row: Int32, n_columns: int, parts: Iterable[Float]) -> Self:
        """List the entries of some rows of a table, which come in parts: tables of consecutive rows among them."""
        start, at = np.zeros(row.size + 1, np.int64), 0
        columns, units = [np.zeros(0, np.uint16)], [np.zeros(0, np.int32)]
        wide, beyond = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for part in parts:
            entry_kernels.where_rows_begin(part, start[at:])
            begin, end = int(start[at]), int(start[at + len(part)])
            column, exact = np.empty(end - begin + 1, np.uint16), np.empty(end - begin + 1, np.int64)
            entry_kernels.list_entries(part, column, exact)
            exact = exact[:-1]
            columns.append(column[:-1])
            units.append(exact.astype(np.int32))
            over = np.flatnonzero(units[-1] != exact)
            wide.append(begin + over)
            beyond.append(exact[over] - units[-1][over])
            at += len(part)
        filled = start[1:] > start[:-1]
        begin_of = np.append(start[:-1][filled], start[-1])
        of_entries = np.concatenate(columns), np.concatenate(units), np.concatenate(wide), np.concatenate(beyond)
        return cls((n_rows, n_columns), row[filled], begin_of, *of_entries)

    @classmethod
    def total(cls, parts: Sequence[Self]) -> Self:
        """Return the sum of several lists, which is exact: some rows at a time, so that no whole table is held."""
        n_rows, K = parts[0].shape
        row = np.unique(np.concatenate([part.row for part in parts]))
        own = [(part, np.searchsorted(row, part.row).astype(np.int32), part.exact_units()) for part in parts]
        at_once = max(1, PART_ENTRIES // K)

        def tables() -> Iterator[Float]:
            table = np.zeros((at_once, K))
            for first in range(0, row.size, at_once):
                for part, place, units in own:
                    a, b = np.searchsorted(place, (first, first + at_once))
                    begin = np.ascontiguousarray(part.start[a : b + 1])
                    entry_kernels.add_entries(place[a:b] - np.int32(first), begin, part.column, units, table)
                yield table[: row.size - first]
                table[:] = 0.0

        return cls.of_parts(n_rows, row, K, tables())

    def exact_units(self) -> Int:
        """Return the units of all entries, in eight bytes."""
        units = self.units.astype(np.int64)
        units[self.wide] += self.beyond
        return units

    def add_to(self, table: Float) -> None:
        """Add the entries to a table."""
        entry_kernels.add_entries(self.row, self.start, self.column, self.exact_units(), table)

    def table(self) -> Float:
        """Return the table."""
        found = np.zeros(self.shape)
        self.add_to(found)
        return found


@dataclass(slots=True)
class Counts:
    """Counts of words in topics, as all jobs of a step need them; where many are 0, a list of the others travels."""

    S: Float  # (W, K)
    N: Float  # (K,)
    dense: bool | None = None  # whether they are written as they are; None: they were not written yet

    def __reduce__(self) -> tuple[Any, ...]:
        if self.dense is None:  # later in a lap there are about as many: to count them each time takes a while
            self.dense = bool(np.count_nonzero(self.S) > DENSE * self.S.size)
        if self.dense:
            return Counts, (self.S, self.N)
        return _counts, (Entries.of(self.S), self.N)


def _counts(entries: Entries, N: Float) -> Counts:
    return Counts(entries.table(), N)
