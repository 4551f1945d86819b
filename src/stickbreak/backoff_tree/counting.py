"""Counting tokens by word and leaf: a job for each block, whose lists are then merged."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from stickbreak.backoff_tree.blocks import Blocks, Job
from stickbreak.backoff_tree.kernels import lists as list_kernels
from stickbreak.backoff_tree.state import WordCounts
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.executor import Executor, ThreadExecutor, shards
from stickbreak.numerics.arrays import Int, Int32

_SHARD_ENTRIES = 1 << 16
_DIGIT = 11  # bits: as many heads as stay near the processor


def count_tokens(blocks: Blocks, n_leaves: int, engine: Engine) -> WordCounts:
    """Return the tokens of all words at each leaf.                                                  math.md (T2)

    Sums of whole numbers: the blocks change nothing.
    """
    total = WordCounts.none(blocks.n_words)
    for parts in blocks.run_summed(engine, counts_of_block, blocks.n_words, partial(summed, n_leaves)):
        total = merged(total, parts, n_leaves, engine)
    return total


def counts_of_block(n_words: int, job: Job) -> tuple[None, WordCounts]:
    """Return the tokens of each word at each leaf, in a block: a part of a sum, beside no result."""
    return None, listed(job.tokens()[1], job.leaves.load(), n_words)


def summed(n_leaves: int, parts: Sequence[WordCounts]) -> WordCounts:
    """Return the sum of the counts of some blocks."""
    return merged(parts[0], parts[1:], n_leaves, ThreadExecutor())


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


def merged(total: WordCounts, parts: Sequence[WordCounts], n_leaves: int, executor: Executor) -> WordCounts:
    """Return the sum of counts."""
    parts = [total, *parts]
    first = np.concatenate(([0], np.cumsum([part.leaf.size for part in parts])))
    start = np.stack([part.start + offset for part, offset in zip(parts, first[:-1], strict=True)])
    leaf, n = (np.concatenate([getattr(part, name) for part in parts]) for name in ("leaf", "n"))
    words = shards(np.diff(start, axis=1).sum(axis=0), _SHARD_ENTRIES)
    size = np.empty(start.shape[1] - 1, np.int32)
    executor.map(lambda part: list_kernels.count_different(*part, start, leaf, np.zeros(n_leaves, bool), size), words)
    ends: Int = _starts(size)
    found = WordCounts(ends, np.empty(ends[-1], np.int32), np.empty(ends[-1], np.int32))
    executor.map(
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
