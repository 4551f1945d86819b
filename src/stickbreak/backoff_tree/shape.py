"""The shape of a tree: how many children the nodes of each level have. L leaves; level 0 is the root."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.backoff_tree.taxonomy import Taxonomy, taxonomy_of
from stickbreak.exceptions import InputError
from stickbreak.numerics.arrays import Float, Int, Int32

_WIDE = (3, 6, 6, 9, 9, 12, 12)  # of the paper; larger trees go on in the same way, 15, 15, 18, 18, ...
_MOST_LEAVES = 2**31 - 1  # leaves are 32-bit numbers


@dataclass(frozen=True, slots=True)
class TreeShape:
    """A tree whose nodes of one level all have the same number of children.

    No pointers are stored: the node of leaf z at level h is ``z // leaves_below[h]``, and leaves are numbered from left
    to right.

    Parameters
    ----------
    branching : tuple of int
        Children of a node at level 0 (the root), 1, ...; each at least 2.

    Raises
    ------
    InputError
        If that is not a tree, or it has more leaves than can be numbered.

    Examples
    --------
    >>> TreeShape((2, 2, 3)).leaves_below.tolist()
    [12, 6, 3, 1]
    """

    branching: tuple[Any, ...]

    def __post_init__(self) -> None:
        given = self.branching
        whole = all(isinstance(k, Integral) and not isinstance(k, bool) for k in given)
        if not given or not whole or min(given) < 2:
            raise InputError(
                f"branching is {given!r}; give a number of children, 2 or more, for each level from the root down, "
                "or the path of each leaf."
            )
        if self.n_leaves > _MOST_LEAVES:
            raise InputError(f"the tree would have {self.n_leaves:,} leaves; give at most {_MOST_LEAVES:,}.")

    @property
    def depth(self) -> int:
        """Number of interior levels: leaves are at level `depth`."""
        return len(self.branching)

    @property
    def n_leaves(self) -> int:
        """Number of leaves L."""
        return math.prod(map(int, self.branching))

    @property
    def leaves_below(self) -> NDArray[np.int64]:
        """Leaves below a node of each level, (depth + 1,); L at the root, 1 at the leaves."""
        return np.append(np.cumprod(np.asarray(self.branching[::-1], np.int64))[::-1], 1)

    @property
    def as_values(self) -> list[int]:
        """The branching as plain values, of which `shape_of` makes this tree."""
        return [int(k) for k in self.branching]

    @property
    def table_bytes(self) -> int:
        """Bytes that tables of the nodes take in memory: there are none."""
        return 0

    @property
    def below(self) -> Int:
        """Leaves below a node of each level, as kernels read it: `leaves_below`."""
        return self.leaves_below

    @property
    def nodes(self) -> Float:
        """One by the leaves below a node of each level, (depth + 1,), as kernels find the nodes of leaves."""
        return 1.0 / self.leaves_below

    @property
    def n_nodes(self) -> Int:
        """Nodes of each level, (depth + 1,)."""
        return self.n_leaves // self.leaves_below

    def node_of(self, leaf: Int | Int32, level: int) -> Int:
        """Return the node of leaves at a level."""
        return leaf // self.leaves_below[level]

    def first_leaf(self, level: int, node: int) -> int:
        """Return the first leaf below a node; L for the node after the last."""
        return node * math.prod(map(int, self.branching[level:]))

    def first_leaves(self, level: int) -> Int:
        """Return the first leaf of each node of a level, and L, (nodes + 1,)."""
        return np.arange(0, self.n_leaves + 1, int(self.leaves_below[level]))

    def first_child(self, level: int, node: int) -> int:
        """Return the number of the first child of a node, among the nodes of the next level."""
        return node * int(self.branching[level])

    def sizes(self, level: int) -> Int:
        """Return the number of leaves below each node of a level: one number for all, ()."""
        return self.leaves_below[level]

    def sizes_above(self, leaf: Int) -> Int:
        """Return the number of leaves below the node of each interior level above leaves: (depth,), for all leaves."""
        return self.leaves_below[:-1]

    def n_children(self, level: int) -> int:
        """Return the number of children of each node of a level."""
        return int(self.branching[level])

    def rates(self, delta: Float) -> Float:
        """Return discounts by the leaves below a node of each level, (depth,)."""
        return delta / self.leaves_below[:-1]

    def sums_below(self, values: Float, level: int) -> Float:
        """Return the sums over the leaves below each node of a level."""
        return values.reshape(-1, int(self.leaves_below[level])).sum(axis=1)

    def leaf_levels(self, leaf: Int) -> Int:
        """Return the level at which leaves are: the last."""
        return np.full(leaf.shape, self.depth)

    def is_leaf(self, level: int, node: int) -> bool:
        """Whether a node is a leaf."""
        return level == self.depth

    def name_of(self, level: int, node: int) -> str | None:
        """Return the name of a node: there are none in such a tree."""
        return None

    def levels_below(self, level: int, node: int) -> int:
        """Return the number of levels below a node."""
        return self.depth - level

    def branching_from(self, level: int) -> tuple[int, ...]:
        """Return the children of a node of each level, from one level on."""
        return tuple(int(n) for n in self.branching[level:])

    def cut(self, depth: int) -> TreeShape:
        """Return the first levels alone: nodes that were above others become leaves."""
        return TreeShape(self.branching[:depth])

    def expanded(self, k: int) -> TreeShape:
        """Return the tree in which each leaf has become a node with k leaves."""
        return TreeShape((*self.branching, int(k)))

    def scattered(self, before: Sequence[Any], z: Int32, rng: np.random.Generator) -> Int32:
        """Return leaves of this tree for leaves of one with a level less, of this branching: below them, uniformly."""
        k = self.n_children(len(before))
        return (z * np.int32(k) + rng.integers(k, size=z.size, dtype=np.int32)).astype(np.int32)


Shape = TreeShape | Taxonomy


def shape_of(branching: str | Sequence[int] | Sequence[str] | NDArray, n_leaves: int) -> Shape:
    """Return the tree that a model asks for.

    Parameters
    ----------
    branching : {"wide", "tall"}, sequence of int or sequence of str
        "wide": 3, 6, 6, 9, 9, 12, 12 ... children from the root down; "tall": 2, 2, ... 3, 3, ... (both of the paper).
        Text in a sequence is the path of a leaf.
    n_leaves : int
        Leaves that are wished for, with a name. The tree is the smallest of its kind that has them: the last level of
        a wide one is narrowed, and a tall one has the next number of leaves 2^a 3^b.

    Raises
    ------
    InputError

    Examples
    --------
    >>> shape_of("wide", 972).branching, shape_of("tall", 972).branching
    ((3, 6, 6, 9), (2, 2, 3, 3, 3, 3, 3))
    """
    if not isinstance(branching, str):
        given = tuple(np.atleast_1d(branching).tolist() if isinstance(branching, np.ndarray) else branching)
        return taxonomy_of(given) if any(isinstance(part, str) for part in given) else TreeShape(given)
    if n_leaves < 2:
        raise InputError(f"n_topics is {n_leaves}, but a tree has at least 2 leaves; give 2 or more.")
    if n_leaves > _MOST_LEAVES:
        raise InputError(f"n_topics is {n_leaves:,}, but a tree has at most {_MOST_LEAVES:,} leaves; give fewer.")
    if branching == "wide":
        return TreeShape(_wide(int(n_leaves)))
    if branching == "tall":
        return TreeShape(_tall(int(n_leaves)))
    raise InputError(
        f"branching is {branching!r}; give 'wide', 'tall', the children at each level, or the paths of leaves."
    )


def _wide(wished: int) -> tuple[int, ...]:
    """Return the levels of a wide tree."""
    levels: list[int] = []
    leaves = 1
    while leaves < wished:
        depth = len(levels)
        most = _WIDE[depth] if depth < len(_WIDE) else 3 * ((depth + 3) // 2)
        levels.append(max(2, min(most, -(-wished // leaves))))
        leaves *= levels[-1]
    return tuple(levels)


def _tall(wished: int) -> tuple[int, ...]:
    """Return the levels of a tall tree."""
    best = (0, 0, 1 << 62)
    for threes in range(21):
        twos = max(0, (-(-wished // 3**threes) - 1).bit_length())
        if 2**twos * 3**threes < best[2]:
            best = (twos, threes, 2**twos * 3**threes)
    return (2,) * best[0] + (3,) * best[1]
