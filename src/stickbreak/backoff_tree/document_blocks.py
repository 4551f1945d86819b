"""Documents in blocks, and what is done with a block: its tokens are counted, and their leaves sampled again.

The leaves of the tokens are in memory, or in a file for each block. What is done with a block is a job. It reads the
documents and leaves of the block, and returns what it counts, and new leaves in the place of the old ones. Blocks of a
pass see the same trees of words, so their number changes nothing. A fit to a large collection begins with some blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from stickbreak.backoff_tree.kernels import documents as document_kernels
from stickbreak.backoff_tree.kernels import lists as list_kernels
from stickbreak.backoff_tree.kernels.products import LEAVES_A_TOKEN
from stickbreak.backoff_tree.shape import Shape
from stickbreak.backoff_tree.state import Discounts, Scratch, Trees, WordCounts, directories, lists_of, with_room
from stickbreak.corpus import Corpus
from stickbreak.corpus.sources import Source
from stickbreak.corpus.tokens import refuse_fractions, written_out
from stickbreak.fitting.batch_store import BatchRef, BatchStore
from stickbreak.fitting.engine import Engine, blocks, shards
from stickbreak.numerics.arrays import Float, Int, Int32

BLOCKS = 64  # of a collection, unless they would be too small or too large ...
BLOCK_TOKENS = (1 << 14, 1 << 20)  # ... tokens: a block is a job, and its leaves are a file
TOKENS_AT_ONCE = 1 << 25  # of the jobs whose results are in memory at a time

_SHARD_ENTRIES = 1 << 16
_DIGIT = 11  # bits: as many heads as stay near the processor

Shared = TypeVar("Shared")
Result = TypeVar("Result")
Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class BlockJob:
    """A block: its documents, the number of the first of them, and where the leaves of its tokens are."""

    documents: Source
    first: int
    leaves: BatchRef[Int32]

    def tokens(self) -> tuple[Int, Int32]:
        """Return where each document begins, (D + 1,), and the word of each token, (N,), of this block."""
        return written_out(self.documents.load())


def _packed(z: Int32) -> dict[str, NDArray[Any]]:
    return {"z": z}


def _unpacked(arrays: dict[str, NDArray[Any]]) -> Int32:
    return arrays["z"]


def leaves_in(folder: Path | None) -> BatchStore[Int32]:
    """Return an empty store for the leaves of the tokens of each block; None: in memory."""
    return BatchStore(_packed, _unpacked, folder)


class DocumentBlocks:
    """All documents in blocks, and the leaves of their tokens.

    `engine`: names the documents as its jobs load them. `leaves`: z of the tokens of each block, at first empty; in
    memory, or on a disk that all workers see. `n_read`: the number of blocks that are read, from the first on; all,
    unless it is set. Raises InvalidCorpus if a count is not a whole number.
    """

    def __init__(self, corpus: Corpus, engine: Engine, leaves: BatchStore[Int32]) -> None:
        refuse_fractions(corpus)
        lengths = corpus.document_lengths.astype(np.int64)
        self.n_words, self.leaves = corpus.n_words, leaves
        self._start: Int = np.concatenate(([0], np.cumsum(lengths)))  # of all documents, block by block
        self._rows, source = blocks(lengths, BLOCKS, BLOCK_TOKENS), engine.source(corpus)
        self._sources = [source.part(slice(first, last)) for first, last in self._rows]
        self.n_read = len(self._rows)

    def spread(self) -> None:
        """Change the order of the blocks, so that any number of first ones is spread evenly over the collection."""
        order = np.argsort([int(f"{number:032b}"[::-1], 2) for number in range(len(self._rows))]).tolist()
        lengths = np.diff(self._start)
        self._rows, self._sources = [self._rows[i] for i in order], [self._sources[i] for i in order]
        lengths = np.concatenate([lengths[first:last] for first, last in self._rows])
        self._start = np.concatenate(([0], np.cumsum(lengths)))

    @property
    def n_blocks(self) -> int:
        """Number of blocks, read or not."""
        return len(self._rows)

    def number_for(self, n_tokens: float) -> int:
        """Return the number of blocks to read for `n_tokens` tokens or more; all blocks if there are fewer tokens."""
        ends = self._start[list(accumulate(last - first for first, last in self._rows))]
        return min(int(np.searchsorted(ends, n_tokens)) + 1, self.n_blocks)

    @property
    def edges(self) -> list[int]:
        """The first document of each block that is read, counted as they are read, and the number of documents."""
        return list(accumulate((last - first for first, last in self._rows[: self.n_read]), initial=0))

    @property
    def start(self) -> Int:
        """Where documents begin, (D + 1,): document d of those read has the tokens start[d] .. start[d + 1] - 1."""
        return self._start[: self.edges[-1] + 1]

    @property
    def n_tokens(self) -> int:
        """Number of tokens N that are read."""
        return int(self.start[-1])

    @property
    def sizes(self) -> list[int]:
        """Tokens of each block that is read."""
        return [int(b - a) for a, b in pairwise(self._start[self.edges])]

    def put(self, leaves: Iterable[Int32]) -> None:
        """Give the tokens of each block these leaves."""
        for index, z in enumerate(leaves):
            self.leaves.put(index, self.leaves.ref(index).save(z))

    def jobs(self) -> list[BlockJob]:
        """Return a job for each block that is read."""
        return [
            BlockJob(self._sources[index], self._rows[index][0], self.leaves.ref(index)) for index in range(self.n_read)
        ]

    def run(
        self, engine: Engine, work: Callable[[Shared, BlockJob], tuple[Any, Result]], shared: Shared, first: int = 0
    ) -> list[Result]:
        """Do work with the blocks from `first` on, some at a time; keep its leaves, return what else it returns."""
        jobs, results = self.jobs()[first:], list[Result]()
        for begin, end in _groups(self.sizes[first:]):
            for index, (kept, result) in enumerate(engine.run(work, jobs[begin:end], shared), start=first + begin):
                self.leaves.put(index, kept)
                results.append(result)
        return results

    def run_summed(
        self,
        engine: Engine,
        work: Callable[[Shared, BlockJob], Part],
        shared: Shared,
        add: Callable[[Sequence[Part]], Part],
    ) -> Iterator[list[Part]]:
        """Do work with every block that is read, some at a time; yield parts that add up to theirs."""
        jobs = self.jobs()
        for first, last in _groups(self.sizes):
            yield engine.run_summed(work, jobs[first:last], shared, add)

    def of_documents(self, chosen: Sequence[int] | Int) -> list[Int32]:
        """Return the leaves of the tokens of some documents."""
        found, block, edges = list[Int32](), dict[int, Int32](), self.edges
        begins = self._start[edges]
        for d in chosen:
            index = int(np.searchsorted(edges, d, side="right")) - 1
            if index not in block:
                block[index] = _unpacked(self.leaves.arrays(index))
            a, b = self._start[d : d + 2] - begins[index]
            found.append(block[index][a:b])
        return found


def _groups(sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first of the blocks that are worked on at a time, and the one after the last."""
    return shards(np.asarray(sizes), TOKENS_AT_ONCE)


def count_tokens(blocks: DocumentBlocks, n_leaves: int, engine: Engine) -> WordCounts:
    """Return the tokens of all words at each leaf.                                                  docs/math (T2)

    Sums of whole numbers: the blocks change nothing.
    """
    total = WordCounts.none(blocks.n_words)
    for parts in blocks.run_summed(engine, counts_of_block, blocks.n_words, partial(summed, n_leaves)):
        total = merged(total, parts, n_leaves, engine)
    return total


def counts_of_block(n_words: int, job: BlockJob) -> WordCounts:
    """Return the tokens of each word at each leaf, in a block: a part of a sum."""
    return listed(job.tokens()[1], job.leaves.load(), n_words)


def summed(n_leaves: int, parts: Sequence[WordCounts]) -> WordCounts:
    """Return the sum of the counts of some blocks."""
    return merged(parts[0], parts[1:], n_leaves, Engine())


def listed(word: Int32, z: Int32, n_words: int) -> WordCounts:
    """Count tokens, given by word and leaf."""
    for shift in range(0, int(z.max(initial=0)).bit_length(), _DIGIT):
        tokens = np.empty_like(word), np.empty_like(z)
        list_kernels.sort_by_digit(word, z, shift, np.zeros((1 << _DIGIT) + 1, np.int64), *tokens)
        word, z = tokens
    start = np.concatenate(([0], np.cumsum(np.bincount(word, minlength=n_words))))
    leaf, n = np.empty(word.size, np.int32), np.empty(word.size, np.int32)
    size = np.empty(n_words, np.int32)
    list_kernels.list_leaves(word, z, start, start[:-1].copy(), size, leaf, n)
    kept = int(size.sum(dtype=np.int64))
    return WordCounts(_starts(size), leaf[:kept].copy(), n[:kept].copy())


def merged(total: WordCounts, parts: Sequence[WordCounts], n_leaves: int, engine: Engine) -> WordCounts:
    """Return the sum of counts."""
    parts = [total, *parts]
    first = np.concatenate(([0], np.cumsum([part.leaf.size for part in parts])))
    start = np.stack([part.start + offset for part, offset in zip(parts, first[:-1], strict=True)])
    leaf, n = (np.concatenate([getattr(part, name) for part in parts]) for name in ("leaf", "n"))
    words = shards(np.diff(start, axis=1).sum(axis=0), _SHARD_ENTRIES)
    size = np.empty(start.shape[1] - 1, np.int32)
    engine.map(lambda part: list_kernels.count_different(*part, start, leaf, np.zeros(n_leaves, bool), size), words)
    ends: Int = _starts(size)
    found = WordCounts(ends, np.empty(ends[-1], np.int32), np.empty(ends[-1], np.int32))
    engine.map(
        lambda part: list_kernels.merge_lists(*part, start, leaf, n, np.zeros(n_leaves, np.int32), *found), words
    )
    return found


def check_counts(counts: WordCounts, n_words: int, n_leaves: int) -> None:
    """Refuse counts that no fit can have left; a ValueError."""
    start, leaf, n = counts
    if start.shape != (n_words + 1,) or start[0] != 0 or start[-1] != leaf.size or (start[1:] < start[:-1]).any():
        raise ValueError("the leaves of its words do not belong together")
    if start.dtype != np.int64 or leaf.dtype != np.int32 or n.dtype != np.int32 or n.shape != leaf.shape:
        raise ValueError("the leaves of its words are not whole numbers")
    if not leaf.size or leaf.min() < 0 or leaf.max() >= n_leaves or n.min() < 1:
        raise ValueError("a leaf is outside the tree, or has no token")
    inner = np.ones(leaf.size, dtype=bool)
    inner[start[:-1][start[:-1] < leaf.size]] = False
    if (leaf[1:] <= leaf[:-1])[inner[1:]].any():
        raise ValueError("the leaves of a word do not ascend")


def _starts(size: Int32) -> Int:
    return np.concatenate(([0], np.cumsum(size, dtype=np.int64)))


@dataclass(slots=True)
class WordTrees:
    """The trees of all words, as all jobs of a pass need them; they travel as counts.               docs/math (T6)"""

    counts: WordCounts
    shape: Shape
    scale: Float  # (L,)  1 / P*(z)
    trees: Trees

    @classmethod
    def of(
        cls,
        counts: WordCounts,
        shape: Shape,
        discounts: tuple[Discounts, Discounts],
        scale: Float,
        engine: Engine,
        *,
        room: Int | None = None,
    ) -> WordTrees:
        """Make the trees, for discounts of documents and of words; with `room`, (W,), for changes one by one."""
        words = lists_of(counts) if room is None else with_room(counts, room)
        directory = directories(words, scale, discounts[1], shape, engine)
        return cls(counts, shape, scale, Trees(shape.below, shape.nodes, *discounts, words, directory))

    def __reduce__(self) -> tuple[Any, ...]:
        discounts = self.trees.of_documents, self.trees.of_words
        return _made_again, (self.counts, self.shape, discounts, self.scale)


def _made_again(counts: WordCounts, shape: Shape, discounts: tuple[Discounts, Discounts], scale: Float) -> WordTrees:
    return WordTrees.of(counts, shape, discounts, scale, Engine())


@dataclass(frozen=True, slots=True)
class SweepWork:
    """What all jobs of a pass share."""

    of_words: WordTrees
    peak: float  # C of (T6)
    n_tokens: int  # N of what is read, with pseudo-tokens
    key: np.uint64
    at_once: bool = False  # whether each draw changes the trees of the words


def sampled(task: SweepWork, job: BlockJob) -> tuple[Any, Float]:
    """Sample a block; return what takes the place of its leaves, and the log probability of each document.

    With `at_once` it writes into the trees of the words, and so is done by the process of the fit alone.
    """
    words, shape = task.of_words, task.of_words.shape
    start, word = job.tokens()
    longest = int(np.diff(start).max(initial=1))
    z, log_p = job.leaves.load().copy(), np.zeros(start.size - 1)
    scratch = Scratch.of(longest, shape, crowded=LEAVES_A_TOKEN * longest >= shape.n_leaves)
    totals = task.n_tokens, task.peak
    document_kernels.sweep_documents(
        job.first, (start, word, z), words.trees, words.scale, totals, task.key, task.at_once, scratch, log_p
    )
    return job.leaves.save(z), log_p


def placed(task: SweepWork, job: BlockJob) -> tuple[Any, None]:
    """Place each token of a block given those before it in its document.                           docs/math (T19)

    Return what is kept of the leaves.
    """
    start, word = job.tokens()
    z = np.zeros((1, word.size), np.int32)
    scratch = Scratch.of(int(np.diff(start).max(initial=1)), task.of_words.shape)
    document_kernels.sample_documents(
        0, start.size - 1, start, word, task.of_words.trees, task.key, job.first, 0, z, scratch
    )
    return job.leaves.save(z[0]), None
