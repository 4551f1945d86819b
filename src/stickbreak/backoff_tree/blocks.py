"""Documents in blocks, and the leaves of their tokens: in memory, or in a file for each block.

What is done with a block is a job. It reads the documents and leaves of the block, and returns what it counts, and new
leaves in the place of the old ones. Blocks of a pass see the same trees of words, so their number changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus import Corpus
from stickbreak.corpus.sources import Source
from stickbreak.corpus.tokens import refuse_fractions, written_out
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.executor import blocks, shards
from stickbreak.fitting.shelves import Entry, Packing, Shelf
from stickbreak.numerics.arrays import Int, Int32

BLOCKS = 64  # of a collection, unless they would be too small or too large ...
BLOCK_TOKENS = (1 << 14, 1 << 20)  # ... tokens: a block is a job, and its leaves are a file
TOKENS_AT_ONCE = 1 << 25  # of the jobs whose results are in memory at a time

Shared = TypeVar("Shared")
Result = TypeVar("Result")
Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class Job:
    """A block: its documents, the number of the first of them, and where the leaves of its tokens are."""

    documents: Source
    first: int
    leaves: Entry[Int32]

    def tokens(self) -> tuple[Int, Int32]:
        """Return where each document begins, (D + 1,), and the word of each token, (N,), of this block."""
        return written_out(self.documents.load())


def _packed(z: Int32) -> dict[str, NDArray[Any]]:
    return {"z": z}


def _unpacked(arrays: dict[str, NDArray[Any]]) -> Int32:
    return arrays["z"]


LEAVES: Packing[Int32] = Packing(_packed, _unpacked)


class Blocks:
    """All documents in blocks, and the leaves of their tokens.

    Parameters
    ----------
    corpus : Corpus
    engine : Engine
        Names the documents as its jobs load them.
    leaves : Shelf
        Empty; in memory, or on a disk that all workers see.

    Attributes
    ----------
    start : ndarray of shape (D + 1,)
        Document d has the tokens start[d] .. start[d + 1] - 1 of the collection.
    leaves : Shelf
        z of the tokens of each block.

    Raises
    ------
    InvalidCorpus
        If a count is not a whole number.
    """

    def __init__(self, corpus: Corpus, engine: Engine, leaves: Shelf[Int32]) -> None:
        refuse_fractions(corpus)
        lengths = corpus.document_lengths.astype(np.int64)
        self.n_words, self.leaves = corpus.n_words, leaves
        self.start: Int = np.concatenate(([0], np.cumsum(lengths)))
        rows, source = blocks(lengths, BLOCKS, BLOCK_TOKENS), engine.source(corpus)
        self.edges = [0, *(last for _, last in rows)]  # of documents
        self._sources = [source.part(slice(first, last)) for first, last in rows]

    @property
    def n_tokens(self) -> int:
        """Number of tokens N."""
        return int(self.start[-1])

    @property
    def sizes(self) -> list[int]:
        """Tokens of each block."""
        return [int(b - a) for a, b in pairwise(self.start[self.edges])]

    def put(self, leaves: Iterable[Int32]) -> None:
        """Give the tokens of each block these leaves."""
        for index, z in enumerate(leaves):
            self.leaves.take(index, self.leaves.entry(index).kept(z))

    def jobs(self) -> list[Job]:
        """Return a job for each block."""
        return [
            Job(source, first, self.leaves.entry(index))
            for index, (source, first) in enumerate(zip(self._sources, self.edges, strict=False))
        ]

    def run(
        self, engine: Engine, work: Callable[[Shared, Job], Result], shared: Shared
    ) -> Iterator[tuple[int, list[Result]]]:
        """Do work with every block, some at a time; yield the number of the first of these, and the results."""
        jobs = self.jobs()
        for first, last in _groups(self.sizes):
            yield first, engine.run(work, jobs[first:last], shared)

    def run_summed(
        self,
        engine: Engine,
        work: Callable[[Shared, Job], tuple[None, Part]],
        shared: Shared,
        add: Callable[[Sequence[Part]], Part],
    ) -> Iterator[list[Part]]:
        """Do work with every block, some at a time; yield parts that add up to theirs."""
        jobs = self.jobs()
        for first, last in _groups(self.sizes):
            yield engine.run_summed(work, jobs[first:last], shared, add)[1]

    def of_documents(self, chosen: Sequence[int] | Int) -> list[Int32]:
        """Return the leaves of the tokens of some documents."""
        found, block, begins = list[Int32](), dict[int, Int32](), list(accumulate(self.sizes, initial=0))
        for d in chosen:
            index = int(np.searchsorted(self.edges, d, side="right")) - 1
            if index not in block:
                block[index] = _unpacked(self.leaves.arrays(index))
            a, b = self.start[d : d + 2] - begins[index]
            found.append(block[index][a:b])
        return found


def _groups(sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first of the blocks that are worked on at a time, and the one after the last."""
    return shards(np.asarray(sizes), TOKENS_AT_ONCE)
