"""What the kernels work on, as plain arrays: N tokens, W words, L leaves, a tree of `depth` interior levels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stickbreak.backoff_tree.shape import TreeShape

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Int32 = NDArray[np.int32]


class Discounts(NamedTuple):
    """Discounts of one kind of trees, and the sums of them that are asked for all the time.      math.md (T1)"""

    delta: Float  # (depth,)      delta_h of the nodes at level h
    rate: Float  # (depth,)       delta_h / leaves below a node of level h
    above: Float  # (depth + 1,)  sum of delta over levels < h; the last entry is Delta
    from_here: Float  # (depth + 1,)  sum of delta over levels >= h

    @classmethod
    def of(cls, delta: Float, shape: TreeShape) -> Discounts:
        """Return the sums for one discount a level."""
        delta = np.ascontiguousarray(delta, np.float64)
        above = np.concatenate(([0.0], np.cumsum(delta)))
        return cls(delta, delta / shape.leaves_below[:-1], above, above[-1] - above)


class WordLeaves(NamedTuple):
    """The leaves of each word, ascending, and how often: all that a word's tree is made of.      math.md (T2)

    Word w has size[w] entries from start[w] on; there is room for as many as it has tokens. Its mass sums begin at
    start[w] + w of `mass`: entry j is the sum of v over the entries before j, and there are size[w] + 1.
    """

    start: Int  # (W + 1,)
    size: Int32  # (W,)
    leaf: Int32  # (N,)
    n: Int32  # (N,)
    mass: Float  # (N + W,)


class Directory(NamedTuple):
    """Where the nodes of one level begin in the list of a word; the level has no more nodes than the list entries.

    Row a of word w, start[w] + a, is (entries before node a, mass before node a); the last closes the last node.
    """

    start: Int  # (W + 1,)
    level: Int32  # (W,)
    row: Float  # (rows, 2)


class Scratch(NamedTuple):
    """The tree of one document while it is sampled: its leaves, ascending, in room for as many as it has tokens.

    `common[j]` is the deepest level at which entries j - 1 and j have the same node. Entries keep their path, the node
    at each level, at a fixed place `slot`.
    """

    leaf: Int32  # (room,)
    n: Int32  # (room,)
    common: Int32  # (room + 1,)
    slot: Int32  # (room + 1,)  beyond the entries: the free places
    path: Int32  # (room + 1, depth + 1); the last row is that of the token taken out
    weight: Float  # (room,)  running sum of the product over entries
    low: Int  # (depth + 1,)  first entry of the word at the node of each level, on the way down
    high: Int  # (depth + 1,)
    smoothed: Float  # (depth + 1,)
    shared: Float  # (depth + 1,)
    stride: Int  # (depth + 1,)
    rng: NDArray[np.uint64]  # (1,)

    @classmethod
    def of(cls, room: int, depth: int) -> Scratch:
        """Return scratch for documents of at most `room` tokens."""
        room = max(1, int(room))
        return cls(
            leaf=np.zeros(room, np.int32),
            n=np.zeros(room, np.int32),
            common=np.zeros(room + 1, np.int32),
            slot=np.zeros(room + 1, np.int32),
            path=np.zeros((room + 1, depth + 1), np.int32),
            weight=np.zeros(room),
            low=np.zeros(depth + 1, np.int64),
            high=np.zeros(depth + 1, np.int64),
            smoothed=np.zeros(depth + 1),
            shared=np.zeros(depth + 1),
            stride=np.zeros(depth + 1, np.int64),
            rng=np.zeros(1, np.uint64),
        )
