"""The trees of documents and words as plain arrays, and how those of words are made: N tokens, W words, L leaves.

A tree has `depth` interior levels. What words have at leaves is first counted, then made into lists with mass sums and
directories, which the kernels work on. The backoff distribution P*(z) says what a word keeps of a token at a leaf.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from stickbreak.backoff_tree.kernels import lists as list_kernels
from stickbreak.backoff_tree.kernels.trees import N_COLUMNS, NOBODY
from stickbreak.backoff_tree.shape import Shape
from stickbreak.fitting.engine import Engine, shards
from stickbreak.numerics.arrays import Float, Int, Int32

_SLACK = 1.001  # the least ratio of C to the largest smoothing of a leaf
LEAST_SHARE, MOST_SHARE = 1e-6, 0.999  # of the words of a leaf, that may be smoothing
_SHARD_TOKENS = 16_384


class Discounts(NamedTuple):
    """Discounts of one kind of trees, and the sums of them that are asked for all the time.      docs/math (T1)"""

    delta: Float  # (depth,)      delta_h of the nodes at level h
    rate: Float  # (depth,)       delta_h / leaves below a node of level h; (depth, L), of each node, in a `Taxonomy`
    given: Float  # (depth + 1,)  sum of delta over levels <= h; the last entry is Delta
    from_here: Float  # (depth + 1,)  sum of delta over levels >= h

    @classmethod
    def of(cls, delta: Float, shape: Shape) -> Discounts:
        """Return the sums for one discount a level."""
        delta = np.require(delta, np.float64, ["C", "W"])
        above = np.concatenate(([0.0], np.cumsum(delta)))
        return cls(delta, shape.rates(delta), np.append(above[1:], above[-1]), above[-1] - above)


class WordCounts(NamedTuple):
    """Tokens of each word at each leaf, leaves ascending: what a fit leaves behind.                 docs/math (T2)"""

    start: Int  # (W + 1,)
    leaf: Int32  # (entries,)
    n: Int32  # (entries,)

    @classmethod
    def none(cls, n_words: int) -> Self:
        """Return counts of no token."""
        return cls(np.zeros(n_words + 1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32))


class WordLeaves(NamedTuple):
    """The leaves of each word, ascending, and how often: all that a word's tree is made of.      docs/math (T2)

    Word w has size[w] entries from start[w] on; there may be room for more. Its mass sums begin at
    start[w] + w of `mass`: entry j is the sum of v over the entries before j, and there are size[w] + 1.
    """

    start: Int  # (W + 1,)
    size: Int32  # (W,)
    leaf: Int32  # (room,)
    n: Int32  # (room,)
    mass: Float  # (room + W,)


class Directory(NamedTuple):
    """Where the nodes of the upper levels begin in the list of a word: no level has more nodes than the list entries.

    Row a of level h <= level[w], start[w] + offset[h] + a, is (entries before node a, mass before node a); a last row
    closes the last node.
    """

    start: Int  # (W + 1,)
    level: Int32  # (W,)
    offset: Int  # (depth + 2,)
    row: Float  # (rows, 2)


class Trees(NamedTuple):
    """What a document is sampled under: the shape, the discounts, and the trees of all words."""

    below: Int  # of the shape, as kernels read it
    finder: Float | Int32  # `nodes` of the shape
    of_documents: Discounts
    of_words: Discounts
    words: WordLeaves
    directory: Directory


class Scratch(NamedTuple):
    """The tree of one document while it is sampled, and its product with a word's tree."""

    node: Int32  # (rows, 5)
    path: Int32  # (depth + 1,)  node of a leaf at each level
    own: Int32  # (depth + 1,)  the same of the token taken out
    trail: Int32  # (depth + 1,)  rows of the nodes on a path
    queue: Int32  # (rows, 4)
    candidate: Int32  # (rows,)
    weight: Float  # (rows,)
    share: Float  # (nodes, 2) in the rows of a directory, or (0, 2): of documents with tokens at many of the leaves
    sums: Float  # (depth + 1,)
    rng: NDArray[np.uint64]  # (1,)

    @classmethod
    def of(cls, room: int, shape: Shape, *, crowded: bool = False) -> Scratch:
        """Return scratch for documents of at most `room` tokens, some of which may be `crowded`."""
        depth = shape.depth
        rows = max(1, int(room)) * depth + 1
        return cls(
            node=np.zeros((rows, N_COLUMNS), np.int32),
            path=np.zeros(depth + 1, np.int32),
            own=np.full(depth + 1, NOBODY, np.int32),
            trail=np.zeros(depth + 1, np.int32),
            queue=np.zeros((rows, 4), np.int32),
            candidate=np.zeros(rows, np.int32),
            weight=np.zeros(rows),
            share=np.zeros((int(np.sum(shape.n_nodes + 1)) if crowded else 0, 2)),
            sums=np.zeros(depth + 1),
            rng=np.zeros(1, np.uint64),
        )


class Backoff(NamedTuple):
    """The marginal of all leaves, held fixed during a pass.                                         docs/math (T6)"""

    peak: float  # C
    smoothing: Float  # (L,)  B_z = sum_w B_w(z)
    prob: Float  # (L,)  P*(z); of a leaf without tokens, as if it had one
    scale: Float  # (L,)  1 / P*(z)


def is_smoothing_share(value: object) -> bool:
    """Whether a value can be the `share` of a backoff."""
    return isinstance(value, float) and LEAST_SHARE <= value <= MOST_SHARE


def word_smoothing(n_words: Int, discounts: Discounts, shape: Shape) -> Float:
    """Return B_z, the smoothing that all words together give to each leaf, (L,).                    docs/math (T6)

    `n_words` (L,): words that have tokens at each leaf. `discounts`: of the words.
    """
    out = np.zeros(1)
    for level in range(shape.depth):
        if level > 0:
            out = np.repeat(out, shape.n_children(level - 1))
        out += discounts.delta[level] / shape.sizes(level) * shape.sums_below(n_words.astype(np.float64), level)
    return np.repeat(out, shape.n_children(shape.depth - 1))


def solve_backoff(
    n_tokens: Int, n_words: Int, discounts: Discounts, shape: Shape, share: float | None = None
) -> Backoff:
    """Return P* and C from what all words together have at each leaf.                               docs/math (T6)

    A_z = n_z - Delta(z) D_z: all counts are 1 or more, and Delta is less.

    `n_tokens` (L,): tokens of each leaf; at least one in all. `n_words` (L,): words D_z that have tokens at each leaf.
    `discounts`: of the words; their sum is below 1. `share`: max_z B_z / C, which gives C. The default solves C so that
    P* adds up to the tokens.
    """
    discount = float(discounts.given[-1])
    smoothing = word_smoothing(n_words, discounts, shape)
    kept = n_tokens - discount * n_words
    largest, used = float(smoothing.max()), n_tokens > 0
    if share is None:
        given = float(discount * n_words.sum())
        peak = max(_conserving(kept[used], smoothing[used], given), _SLACK * largest)
    else:
        peak = largest / share
    prob = np.maximum(kept, 1.0 - discount) / (peak - smoothing)
    return Backoff(peak, smoothing, prob, 1.0 / prob)


def _conserving(A: Float, B: Float, given: float) -> float:
    """Return the C with C sum_z A_z / (C - B_z) = N, that is sum_z A_z B_z / (C - B_z) = N - sum A, which is `given`.

    The sum falls from infinity at max B to zero.
    """
    least = float(B.max())

    def excess(log_gap: float) -> float:
        gap = np.exp(log_gap)
        return float((A * B / (least - B + gap)).sum() / given) - 1.0

    low = high = np.log(least)
    while excess(low) < 0:
        low -= 4.0
    while excess(high) > 0:
        high += 4.0
    return least + float(np.exp(brentq(excess, low, high, xtol=1e-13, rtol=1e-15)))


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


def directories(words: WordLeaves, scale: Float, discounts: Discounts, shape: Shape, engine: Engine) -> Directory:
    """Sum the masses of the lists, and make their directories."""
    below = shape.below
    n_nodes = shape.n_nodes
    level = (np.searchsorted(n_nodes, np.maximum(words.size, 1), side="right") - 1).astype(np.int32)
    offset = np.concatenate(([0], np.cumsum(n_nodes + 1)))
    start = np.concatenate(([0], np.cumsum(offset[level + 1]))).astype(np.int64)
    directory = Directory(start, level, offset, np.empty((int(start[-1]), 2)))

    def work(part: tuple[int, int]) -> None:
        list_kernels.sum_masses(*part, words, scale, discounts.given)
        list_kernels.fill_directories(*part, words, below, directory)

    engine.map(work, shards(np.diff(words.start), _SHARD_TOKENS))
    return directory
