"""Work on all documents: what is done with a shard, what it finds, and how that is summed.

Documents are cut into turns, turns into blocks and blocks into shards, by their sizes alone. Work is a top-level
function of what is given and of one shard. It returns an outcome and writes nothing. So it runs anywhere: in threads,
on shards in memory (`memory.py`), or as jobs that read and replace the file of a block (`files.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from stickbreak.collapsed.kernels import shares as share_kernels
from stickbreak.collapsed.kernels import splits as split_kernels
from stickbreak.collapsed.shards import Aside, Shard, Shares, shares_apart
from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import Engine
from stickbreak.numerics.arrays import Float, Int

Half = NDArray[np.float32]
LONG = 20  # stored counts of a document, on average, from which on few documents say much, and each much of itself


@dataclass(slots=True)
class Outcome:
    """What work on a shard finds."""

    sums: tuple[NDArray[Any], ...] = ()  # to be added up
    shares: Shares | None = None  # in the place of the old ones
    half: Half | None = None  # in the place of the old one
    listed: list[Any] = field(default_factory=list)  # to be listed, in the order of the documents


@dataclass(slots=True)
class Found:
    """What work on many shards found."""

    sums: tuple[NDArray[Any], ...] = ()
    listed: list[Any] = field(default_factory=list)

    def add(self, sums: tuple[NDArray[Any], ...], listed: list[Any]) -> None:
        """Add what was found in the next part."""
        if not self.sums:
            self.sums = tuple(np.array(each) for each in sums)
        else:
            for total, each in zip(self.sums, sums, strict=True):
                total += each
        self.listed += listed


Work = Callable[[Any, Shard], Outcome]
Count = Callable[[Shard, Outcome, int, int, Float, Float], None]
"""Adds what an outcome changes to tables S (W, K) and N (K,), for a range of words."""


class Documents(Protocol):
    """All documents with their shares, wherever they are."""

    n_documents: int
    n_words: int
    n_counts: int
    n_turns: int
    aside: Aside

    def walk(
        self,
        engine: Engine,
        work: Work,
        given: Any = None,
        *,
        turns: range | None = None,
        whole: bool = False,
        count: Count | None = None,
        into: tuple[Float, Float] | None = None,
        at_once: int | None = None,
    ) -> Found:
        """Do work(given, shard) with every shard, and take up new shares and halves.

        Sums are formed over the shards of a block, then over the blocks, in the order of the documents.

        Parameters
        ----------
        engine : Engine
        work : callable
            A top-level function.
        given : object
            What it needs; it can be pickled.
        turns : range, optional
            Only the documents of these turns. None: all.
        whole : bool, default=False
            Work is done with whole blocks, each as one shard, and finds nothing but sums and shares.
        count : callable, optional
            Adds to the tables `into`.
        at_once : int, optional
            Shards whose sums may be in memory at a time.
        """
        ...

    def set_aside(self, aside: Aside, engine: Engine) -> None:
        """Leave these tokens aside."""
        ...

    def lengths(self, engine: Engine) -> Float:
        """Return the tokens of each document that take part, (D,)."""
        ...

    def end_halves(self) -> None:
        """Drop the halves of topics."""
        ...

    def remember(self) -> None:
        """Keep these shares as they are, beside those that replace them."""
        ...

    def exchange(self) -> None:
        """Take up the shares that are kept, and keep these."""
        ...

    def forget(self) -> None:
        """Drop the shares that are kept."""
        ...

    def chosen(self, rows: Int) -> Corpus:
        """Return the counts of some of the documents, by their numbers (ascending)."""
        ...

    def sample(self, rows: Int, engine: Engine) -> Documents:
        """Return some of the documents, by their numbers (ascending), as a collection without shares."""
        ...

    def twin(self) -> Self:
        """Return the same documents without shares, with the same tokens left aside."""
        ...

    def take(self, twin: Self) -> None:
        """Take the shares of a twin."""
        ...

    def clear(self) -> None:
        """Drop all shares."""
        ...

    def packed(self) -> dict[str, NDArray[Any]]:
        """Return the shares of each block as an array, and those that are kept."""
        ...

    def restore(self, arrays: Mapping[str, NDArray[Any]], n_topics: int) -> None:
        """Take up what `packed` returned; a KeyError or ValueError for what cannot be of these documents."""
        ...


def are_short(n_documents: int, n_counts: int) -> bool:
    """Return whether documents are short, on average."""
    return n_counts < LONG * n_documents


def nothing(given: None, shard: Shard) -> Outcome:
    """Leave a shard as it is: it is only counted."""
    return Outcome()


def count_all(shard: Shard, outcome: Outcome, low: int, high: int, S: Float, N: Float) -> None:
    """Count the shares of a shard.                                                                   math.md (C15)"""
    _replace(shard, Shares.none(shard.word.size), shard.shares, low, high, S, N)


def count_new(shard: Shard, outcome: Outcome, low: int, high: int, S: Float, N: Float) -> None:
    """Count new shares in the place of the old ones.                                                 math.md (C15)"""
    assert outcome.shares is not None
    _replace(shard, shard.shares, outcome.shares, low, high, S, N)


def count_halves(shard: Shard, outcome: Outcome, low: int, high: int, S: Float, N: Float) -> None:
    """Count the first halves of the topics.                                                          math.md (C15)"""
    shares = shard.shares
    lists = (shares.start, shares.topic, shares.share, outcome.half)
    split_kernels.add_halves(shard.word, shard.count, *lists, low, high, S, N)


def _replace(shard: Shard, old: Shares, new: Shares, low: int, high: int, S: Float, N: Float) -> None:
    lists = (old.start, old.topic, old.share, new.start, new.topic, new.share)
    share_kernels.replace_shares(shard.word, shard.count, *lists, low, high, S, N)


def keep(shard: Shard, outcome: Outcome) -> None:
    """Let a shard have what an outcome puts in the place of the old."""
    if outcome.shares is not None:
        shard.shares = outcome.shares
    if outcome.half is not None:
        shard.half = outcome.half


def keep_apart(shards: Sequence[Shard], outcome: Outcome) -> None:
    """Let shards have what an outcome of all of them as one puts in the place of the old."""
    if outcome.shares is not None:
        found = shares_apart(outcome.shares, [shard.word.size for shard in shards])
        for shard, shares in zip(shards, found, strict=True):
            shard.shares = shares
