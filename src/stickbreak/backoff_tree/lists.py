"""Making the lists of all words, from the leaves of the tokens."""

from __future__ import annotations

import numpy as np

from stickbreak.backoff_tree.backoff import Backoff, solve_backoff
from stickbreak.backoff_tree.kernels import lists as list_kernels
from stickbreak.backoff_tree.shape import TreeShape
from stickbreak.backoff_tree.state import Directory, Discounts, WordLeaves
from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.executor import Executor, shards
from stickbreak.numerics.arrays import Float, Int, Int32

_SHARD_TOKENS = 16_384


def empty_lists(tokens: Tokens) -> WordLeaves:
    """Return room for the lists of the words of these tokens."""
    N, W = tokens.word.size, tokens.n_words
    leaf, n = (np.zeros(N, np.int32) for _ in range(2))
    return WordLeaves(tokens.word_start, np.zeros(W, np.int32), leaf, n, np.zeros(N + W))


def fill_lists(words: WordLeaves, tokens: Tokens, z: Int32, executor: Executor) -> None:
    """Count all tokens again.

    Parameters
    ----------
    words : WordLeaves
        Written; the mass sums are left alone.
    tokens : Tokens
    z : ndarray of shape (N,)
        Leaf of each token.
    executor : Executor
    """

    def work(part: tuple[int, int]) -> None:
        list_kernels.list_leaves(*part, tokens.by_word, words.start, z, words.size, words.leaf, words.n)

    executor.map(work, shards(np.diff(words.start), _SHARD_TOKENS))


def leaf_totals(words: WordLeaves, z: Int32, n_leaves: int) -> tuple[Int, Int]:
    """Return tokens and words of each leaf, (L,) both."""
    n_words = np.zeros(n_leaves, np.int64)
    list_kernels.words_of_leaves(words.start, words.size, words.leaf, n_words)
    return np.bincount(z, minlength=n_leaves).astype(np.int64), n_words


def word_trees(
    words: WordLeaves, z: Int32, discounts: Discounts, shape: TreeShape, executor: Executor
) -> tuple[Backoff, Directory]:
    """Solve the backoff, sum the masses of the lists, and make their directories.

    Parameters
    ----------
    words : WordLeaves
        With all tokens counted; the mass sums are written.
    z : ndarray of shape (N,)
    discounts : Discounts
        Of the words.
    shape : TreeShape
    executor : Executor
    """
    backoff = solve_backoff(*leaf_totals(words, z, shape.n_leaves), discounts, shape)
    return backoff, directories(words, backoff.scale, discounts, shape, executor)


def directories(
    words: WordLeaves, scale: Float, discounts: Discounts, shape: TreeShape, executor: Executor
) -> Directory:
    """Sum the masses of the lists, and make their directories."""
    below, discount = shape.leaves_below, float(discounts.above[-1])
    n_nodes = shape.n_leaves // below
    level = (np.searchsorted(n_nodes, np.maximum(words.size, 1), side="right") - 1).astype(np.int32)
    offset = np.concatenate(([0], np.cumsum(n_nodes + 1)))
    start = np.concatenate(([0], np.cumsum(offset[level + 1]))).astype(np.int64)
    row = np.empty((int(start[-1]), 2))

    def work(part: tuple[int, int]) -> None:
        list_kernels.sum_masses(*part, words.start, words.size, words.leaf, words.n, scale, discount, words.mass)
        list_kernels.fill_directories(
            *part, words.start, words.size, words.leaf, words.mass, below, start, level, offset, row
        )

    executor.map(work, shards(np.diff(words.start), _SHARD_TOKENS))
    return Directory(start, level, offset, row)
