"""A pass: the leaves of all tokens are sampled again, a job for each block, at the same trees of the words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from stickbreak.backoff_tree.blocks import Job
from stickbreak.backoff_tree.kernels import documents as document_kernels
from stickbreak.backoff_tree.kernels.crowded import LEAVES_A_TOKEN
from stickbreak.backoff_tree.lists import directories, lists_of, with_room
from stickbreak.backoff_tree.shape import Shape
from stickbreak.backoff_tree.state import Directory, Discounts, Scratch, WordCounts, WordLeaves
from stickbreak.fitting.executor import Executor, ThreadExecutor
from stickbreak.numerics.arrays import Float, Int


@dataclass(slots=True)
class WordTrees:
    """The trees of all words, as all jobs of a pass need them; they travel as counts.               math.md (T6)"""

    counts: WordCounts
    shape: Shape
    discounts: Discounts
    scale: Float  # (L,)  1 / P*(z)
    words: WordLeaves
    directory: Directory

    @classmethod
    def of(
        cls,
        counts: WordCounts,
        shape: Shape,
        discounts: Discounts,
        scale: Float,
        executor: Executor,
        *,
        room: Int | None = None,
    ) -> WordTrees:
        """Make the trees; with `room`, (W,), for changes one by one."""
        words = lists_of(counts) if room is None else with_room(counts, room)
        return cls(counts, shape, discounts, scale, words, directories(words, scale, discounts, shape, executor))

    def __reduce__(self) -> tuple[Any, ...]:
        return _made_again, (self.counts, self.shape, self.discounts, self.scale)


def _made_again(counts: WordCounts, shape: Shape, discounts: Discounts, scale: Float) -> WordTrees:
    return WordTrees.of(counts, shape, discounts, scale, ThreadExecutor())


@dataclass(frozen=True, slots=True)
class Pass:
    """What all jobs of a pass share."""

    trees: WordTrees
    of_documents: Discounts
    peak: float  # C of (T6)
    n_tokens: int  # N of the whole collection, with pseudo-tokens
    key: np.uint64
    at_once: bool = False  # whether each draw changes the trees of the words


def sampled(task: Pass, job: Job) -> tuple[Any, Float]:
    """Sample a block; return what takes the place of its leaves, and the log probability of each document.

    With `at_once` it writes into the trees of the words, and so is done by the process of the fit alone.
    """
    trees, shape = task.trees, task.trees.shape
    start, word = job.tokens()
    longest = int(np.diff(start).max(initial=1))
    z, log_p = job.leaves.load().copy(), np.zeros(start.size - 1)
    document_kernels.sweep_documents(
        job.first, task.n_tokens, start, word, z, shape.below, task.of_documents, trees.discounts, trees.words,
        trees.directory, trees.scale, task.peak, task.key, task.at_once,
        Scratch.of(longest, shape, crowded=LEAVES_A_TOKEN * longest >= shape.n_leaves), log_p,
    )  # fmt: skip
    return job.leaves.kept(z), log_p
