"""Making the trees of all words, from their tokens at the leaves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickbreak.backoff_tree.kernels import lists as list_kernels
from stickbreak.backoff_tree.shape import Shape
from stickbreak.backoff_tree.state import Directory, Discounts, WordCounts, WordLeaves
from stickbreak.fitting.executor import Executor, shards
from stickbreak.numerics.arrays import Float, Int

_SHARD_TOKENS = 16_384


class Totals(NamedTuple):
    """What counts add up to."""

    n_tokens: Int  # (L,)  of each leaf
    n_words: Int  # (L,)  that have tokens there
    of_word: Int  # (W,)  tokens of each word

    @classmethod
    def of(cls, counts: WordCounts, n_leaves: int) -> Totals:
        """Add up counts."""
        found = cls(*(np.zeros(n, np.int64) for n in (n_leaves, n_leaves, counts.start.size - 1)))
        list_kernels.add_up(*counts, *found)
        return found


def lists_of(counts: WordCounts) -> WordLeaves:
    """Return the lists of words, which share the memory of the counts; the mass sums are not there yet.

    Counts that may only be read, of a model in a mapped file, are copied: all kernels would be compiled again for them.
    """
    size = np.diff(counts.start).astype(np.int32)
    start, leaf = np.require(counts.start, requirements="W"), np.require(counts.leaf, requirements="W")
    return WordLeaves(start, size, leaf, np.require(counts.n, requirements="W"), np.zeros(leaf.size + size.size))


def with_room(counts: WordCounts, of_word: Int) -> WordLeaves:
    """Return lists with room for as many leaves as each word may come to have, (W,): for changes one by one."""
    start, size = np.concatenate(([0], np.cumsum(of_word))), np.diff(counts.start).astype(np.int32)
    leaf, n = (np.zeros(start[-1], np.int32) for _ in range(2))
    list_kernels.make_room(*counts, start, leaf, n)
    return WordLeaves(start, size, leaf, n, np.zeros(start[-1] + size.size))


def directories(words: WordLeaves, scale: Float, discounts: Discounts, shape: Shape, executor: Executor) -> Directory:
    """Sum the masses of the lists, and make their directories."""
    below = shape.below
    n_nodes = shape.n_nodes
    level = (np.searchsorted(n_nodes, np.maximum(words.size, 1), side="right") - 1).astype(np.int32)
    offset = np.concatenate(([0], np.cumsum(n_nodes + 1)))
    start = np.concatenate(([0], np.cumsum(offset[level + 1]))).astype(np.int64)
    row = np.empty((int(start[-1]), 2))

    def work(part: tuple[int, int]) -> None:
        list_kernels.sum_masses(*part, words.start, words.size, words.leaf, words.n, scale, discounts.given, words.mass)
        list_kernels.fill_directories(
            *part, words.start, words.size, words.leaf, words.mass, below, start, level, offset, row
        )

    executor.map(work, shards(np.diff(words.start), _SHARD_TOKENS))
    return Directory(start, level, offset, row)
