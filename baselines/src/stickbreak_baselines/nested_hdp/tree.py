"""The shape of a tree of topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stickbreak.numerics.arrays import Float, Int


@dataclass(frozen=True)
class Tree:
    """Nodes 0 to K - 1, each a topic, level by level, children of one parent beside each other.         docs/math (F1)

    The root has no topic: it is node -1. The children of node p are `start[p + 1]` to `start[p + 2] - 1`.
    """

    parent: Int  # (K,)  -1: the root
    level: Int  # (K,)  1 below the root
    start: Int  # (K + 2,)
    n_levels: int  # L, below the root; nodes of the last level have no children

    @classmethod
    def of(cls, parent: Int, level: Int, n_levels: int) -> Tree:
        """Return the tree of nodes that come level by level, children beside each other."""
        start = np.searchsorted(parent, np.arange(-1, parent.size + 1))
        return cls(parent, level, start.astype(np.int64), n_levels)

    @classmethod
    def truncated(cls, branching: Sequence[int]) -> Tree:
        """Return the tree in which all nodes of a level have the same number of children.

        Examples
        --------
        >>> tree = Tree.truncated((2, 3))
        >>> tree.parent.tolist(), tree.level.tolist()
        ([-1, -1, 0, 0, 0, 1, 1, 1], [1, 1, 2, 2, 2, 2, 2, 2])
        """
        parents, levels, above = [], [], np.array([-1])
        for h, n_children in enumerate(branching):
            parents.append(np.repeat(above, n_children))
            levels.append(np.full(parents[-1].size, h + 1))
            above = sum(p.size for p in parents[:-1]) + np.arange(parents[-1].size)
        return cls.of(np.concatenate(parents), np.concatenate(levels), len(branching))

    @property
    def n_nodes(self) -> int:
        """Nodes K, the root not among them."""
        return self.parent.size

    @cached_property
    def inner(self) -> np.ndarray:
        """Whether tokens may go on below a node, (K,)."""
        return self.level < self.n_levels

    @cached_property
    def last(self) -> np.ndarray:
        """Whether a node is the last child of its parent, which has the rest of the stick, (K,)."""
        found = np.zeros(self.n_nodes, bool)
        found[np.unique(self.start[1:][np.diff(self.start) > 0]) - 1] = True
        return found

    def below(self, own: Float) -> Float:
        """Return sums over each node and all nodes below it, (K,).

        Parameters
        ----------
        own : ndarray of shape (K,)
        """
        total = own.astype(np.float64)
        for k in range(self.n_nodes - 1, -1, -1):
            if self.parent[k] >= 0:
                total[self.parent[k]] += total[k]
        return total

    def earlier(self, own: Float) -> Float:
        """Return for each node the sum over the siblings before it, (K,)."""
        total = np.concatenate(([0.0], np.cumsum(own)))
        first = self.start[self.parent + 1]
        return total[:-1] - total[first]

    def later(self, own: Float) -> Float:
        """Return for each node the sum over the siblings after it, (K,)."""
        total = np.concatenate(([0.0], np.cumsum(own)))
        end = self.start[self.parent + 2]
        return total[end] - total[1:]
