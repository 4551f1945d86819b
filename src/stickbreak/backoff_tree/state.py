"""What the kernels work on, as plain arrays: N tokens, W words, L leaves, a tree of `depth` interior levels."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from stickbreak.backoff_tree.kernels.trees import N_COLUMNS, NOBODY
from stickbreak.backoff_tree.shape import Shape
from stickbreak.numerics.arrays import Float, Int, Int32


class Discounts(NamedTuple):
    """Discounts of one kind of trees, and the sums of them that are asked for all the time.      math.md (T1)"""

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
    """Tokens of each word at each leaf, leaves ascending: what a fit leaves behind.                 math.md (T2)"""

    start: Int  # (W + 1,)
    leaf: Int32  # (entries,)
    n: Int32  # (entries,)

    @classmethod
    def none(cls, n_words: int) -> Self:
        """Return counts of no token."""
        return cls(np.zeros(n_words + 1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32))


class WordLeaves(NamedTuple):
    """The leaves of each word, ascending, and how often: all that a word's tree is made of.      math.md (T2)

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


class Scratch(NamedTuple):
    """The tree of one document while it is sampled (`_tree_kernels`), and its product with a word's tree."""

    node: Int32  # (rows, 5)
    path: Int32  # (depth + 1,)  node of a leaf at each level
    own: Int32  # (depth + 1,)  the same of the token taken out
    trail: Int32  # (depth + 1,)  rows of the nodes on a path
    finder: Float | Int32  # `nodes` of the shape
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
            finder=shape.nodes,
            queue=np.zeros((rows, 4), np.int32),
            candidate=np.zeros(rows, np.int32),
            weight=np.zeros(rows),
            share=np.zeros((int(np.sum(shape.n_nodes + 1)) if crowded else 0, 2)),
            sums=np.zeros(depth + 1),
            rng=np.zeros(1, np.uint64),
        )
