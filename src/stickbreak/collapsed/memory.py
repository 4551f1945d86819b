"""Documents and shares in the memory of this process, worked on by its threads, in place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stickbreak.collapsed import aside as left_aside
from stickbreak.collapsed.cutting import blocks_of, counts_of, shards_of
from stickbreak.collapsed.packing import packed_shares, unpacked_shares
from stickbreak.collapsed.shards import Aside, Shard, Shares, joined
from stickbreak.collapsed.walking import Count, Found, Outcome, Work, keep, keep_apart
from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import Engine
from stickbreak.numerics.arrays import Float, Int

RANGES = 8  # of words, whose counts are brought up to date by one thread each; one thread has all words at once


class InMemory:
    """All documents with their shares: `Documents` of a fit that fits into memory.

    Parameters
    ----------
    corpus : Corpus
    """

    def __init__(self, corpus: Corpus) -> None:
        self._corpus, self.aside = corpus, Aside()
        self.n_documents, self.n_words, self.n_counts = corpus.n_documents, corpus.n_words, int(corpus.counts.nnz)
        self._blocks = [
            [shards_of(corpus[rows.first : rows.last], rows.first, self.aside) for rows in turn]
            for turn in blocks_of(corpus)
        ]
        self.n_turns = len(self._blocks)
        self._kept: list[Shares] | None = None

    @property
    def turns(self) -> list[list[Shard]]:
        """The shards of each turn."""
        return [list(chain.from_iterable(turn)) for turn in self._blocks]

    @property
    def shards(self) -> list[Shard]:
        """All shards, in the order of the documents."""
        return list(chain.from_iterable(self.turns))

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
        """Do work with every shard."""
        found = Found()
        if whole:
            return self._walk_whole(engine, work, given, turns or range(self.n_turns), count, into)
        for blocks in self._blocks if turns is None else self._blocks[turns.start : turns.stop]:
            shards, made = list(chain.from_iterable(blocks)), []
            outcomes = _outcomes(engine, work, given, shards, at_once or len(shards))
            for block in blocks:
                of_block = found if len(block) == 1 else Found()
                for shard in block:
                    outcome = next(outcomes)
                    of_block.add(outcome.sums, outcome.listed)
                    made.append((shard, Outcome(shares=outcome.shares, half=outcome.half)))
                if of_block is not found:
                    found.add(of_block.sums, of_block.listed)
            if count is not None and into is not None:
                _count(engine, count, made, *into)
            for shard, outcome in made:
                keep(shard, outcome)
        return found

    def _walk_whole(
        self,
        engine: Engine,
        work: Work,
        given: Any,
        turns: range,
        count: Count | None,
        into: tuple[Float, Float] | None,
    ) -> Found:
        """Do work with every block as one shard."""
        blocks, found, made = list(chain.from_iterable(self._blocks[turns.start : turns.stop])), Found(), []

        def run(block: list[Shard]) -> tuple[Shard, Outcome]:
            shard = joined(block)
            return shard, work(given, shard)

        for shard, outcome in engine.map(run, blocks):
            found.add(outcome.sums, outcome.listed)
            made.append((shard, Outcome(shares=outcome.shares, half=outcome.half)))
        if count is not None and into is not None:
            _count(engine, count, made, *into)
        for block, (_, outcome) in zip(blocks, made, strict=True):
            keep_apart(block, outcome)
        return found

    def set_aside(self, aside: Aside, engine: Engine) -> None:
        """Leave these tokens aside."""
        self.aside = aside

        def part(shard: Shard) -> None:
            total = counts_of(self._corpus, shard.first, shard.first + shard.indptr.size - 1)[2]
            shard.count, shard.held, shard.apart = left_aside.parted(total, shard.indptr, shard.first, aside)

        engine.map(part, self.shards)

    def lengths(self, engine: Engine) -> Float:
        """Return the tokens of each document that take part, (D,)."""
        return np.concatenate(self.walk(engine, left_aside.lengths).listed)

    def end_halves(self) -> None:
        """Drop the halves of topics."""
        for shard in self.shards:
            shard.half = None

    def remember(self) -> None:
        """Keep these shares, which are replaced and never written to."""
        self._kept = [shard.shares for shard in self.shards]

    def exchange(self) -> None:
        """Take up the shares that are kept, and keep these."""
        assert self._kept is not None
        kept = self._kept
        self.remember()
        for shard, shares in zip(self.shards, kept, strict=True):
            shard.shares = shares

    def forget(self) -> None:
        """Drop the shares that are kept."""
        self._kept = None

    def chosen(self, rows: Int) -> Corpus:
        """Return the counts of some of the documents."""
        return self._corpus[rows]

    def sample(self, rows: Int, engine: Engine) -> InMemory:
        """Return some of the documents, without shares."""
        return InMemory(self.chosen(rows))

    def twin(self) -> Self:
        """Return the same documents without shares, with the same tokens left aside."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__, _kept=None)
        other._blocks = [
            [[replace(shard, shares=Shares.none(shard.word.size)) for shard in block] for block in turn]
            for turn in self._blocks
        ]
        return other

    def take(self, twin: Self) -> None:
        """Take the shares of a twin."""
        for shard, other in zip(self.shards, twin.shards, strict=True):
            shard.shares = other.shares

    def clear(self) -> None:
        """Drop all shares."""
        self.forget()
        for shard in self.shards:
            shard.shares = Shares.none(shard.word.size)

    def packed(self) -> dict[str, NDArray[Any]]:
        """Return the shares of each block as an array, and those that are kept."""
        blocks = list(chain.from_iterable(self._blocks))
        arrays = {f"shares.{number}": packed_shares(block) for number, block in enumerate(blocks)}
        if self._kept is not None:
            self.exchange()
            arrays |= {f"kept.{number}": packed_shares(block) for number, block in enumerate(blocks)}
            self.exchange()
        return arrays

    def restore(self, arrays: Mapping[str, NDArray[Any]], n_topics: int) -> None:
        """Take up what `packed` returned."""
        self._restore("shares", arrays, n_topics)
        if "kept.0" in arrays:
            self.remember()
            self._restore("kept", arrays, n_topics)
            self.exchange()

    def _restore(self, name: str, arrays: Mapping[str, NDArray[Any]], n_topics: int) -> None:
        for number, block in enumerate(chain.from_iterable(self._blocks)):
            sizes = [shard.word.size for shard in block]
            content = np.array(arrays[f"{name}.{number}"])  # of a file that may go
            for shard, shares in zip(block, unpacked_shares(content, sizes, n_topics), strict=True):
                shard.shares = shares


def _outcomes(engine: Engine, work: Work, given: Any, shards: Sequence[Shard], at_once: int) -> Iterator[Outcome]:
    """Yield what is found in each shard, some at a time."""
    for first in range(0, len(shards), at_once):
        yield from engine.map(lambda shard: work(given, shard), shards[first : first + at_once])


def _count(engine: Engine, count: Count, made: Sequence[tuple[Shard, Outcome]], S: Float, N: Float) -> None:
    """Count what was found; each thread has words of its own, so none waits. No cut changes an exact sum."""
    edges = [0, S.shape[0]]
    if engine.n_threads > 1:
        edges = np.linspace(0, S.shape[0], RANGES + 1).astype(np.int64).tolist()

    def run(words: tuple[int, int]) -> Float:
        change = np.zeros_like(N)
        for shard, outcome in made:
            count(shard, outcome, *words, S, change)
        return change

    for change in engine.map(run, list(pairwise(edges))):
        N += change
