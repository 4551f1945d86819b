"""The shape of a tree: how many children its nodes have, or the paths of its leaves. L leaves; level 0 is the root."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

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


@dataclass(frozen=True)
class Taxonomy:
    """A tree whose nodes have any number of children, and whose leaves are at any level.      docs/math (T15)

    Leaves are numbered from left to right. A leaf above the last level is, for the counts, a node with one child on
    each level below it, down to the last: a discount that such a node takes goes back to the same leaf.

    Parameters
    ----------
    branching : tuple of str
        The path of each leaf from left to right, as `taxonomy_of` orders them.

    Examples
    --------
    >>> tree = taxonomy_of(["science/physics/optics", "arts", "science/biology"])
    >>> tree.branching
    ('science/physics/optics', 'science/biology', 'arts')
    >>> tree.n_nodes.tolist(), tree.sizes(1).tolist()
    ([1, 2, 3, 3], [2, 1])
    """

    branching: tuple[str, ...]

    @cached_property
    def _names(self) -> list[list[str]]:
        return [path.split("/") for path in self.branching]

    @cached_property
    def depth(self) -> int:
        """Number of interior levels: the deepest leaves are at level `depth`."""
        return max(map(len, self._names))

    @property
    def n_leaves(self) -> int:
        """Number of leaves L."""
        return len(self.branching)

    @property
    def as_values(self) -> list[str]:
        """The paths as plain values, of which `shape_of` makes this tree."""
        return list(self.branching)

    @property
    def table_bytes(self) -> int:
        """Bytes that tables of the nodes take in memory: those of kernels, and the rates of documents and words."""
        return 28 * (self.depth + 1) * self.n_leaves

    @cached_property
    def places(self) -> dict[str, tuple[int, int]]:
        """Level and number of each node by its path; that of the root is "" (empty)."""
        return {
            "/".join(names[:h]): (h, int(self.nodes[h, z]))
            for z, names in enumerate(self._names)
            for h in range(len(names) + 1)
        }

    @cached_property
    def _leaf_level(self) -> Int:
        return np.array([len(names) for names in self._names])

    @cached_property
    def nodes(self) -> Int32:
        """Node of each leaf at each level, as kernels look it up, (depth + 1, L)."""
        found = np.zeros((self.depth + 1, self.n_leaves), np.int32)
        together = np.ones(self.n_leaves - 1, dtype=bool)  # whether a leaf and the next have the node above in common
        # no path goes on below another, so two that have ended are apart already
        for h, names in enumerate(zip_longest(*self._names), start=1):
            column = np.array(names, dtype=object)
            together &= column[1:] == column[:-1]
            np.cumsum(~together, out=found[h, 1:])
        return found

    @cached_property
    def below(self) -> Int:
        """First leaf of each node of each level, as kernels look it up, (depth + 1, L + 1); L where nodes end."""
        found = np.full((self.depth + 1, self.n_leaves + 1), self.n_leaves, np.int64)
        for h, node in enumerate(self.nodes):
            first = np.flatnonzero(np.diff(node, prepend=-1))
            found[h, : first.size] = first
        return found

    @cached_property
    def n_nodes(self) -> Int:
        """Nodes of each level, (depth + 1,)."""
        return self.nodes[:, -1].astype(np.int64) + 1

    def node_of(self, leaf: Int | Int32, level: int) -> Int:
        """Return the node of leaves at a level."""
        return self.nodes[level][leaf].astype(np.int64)

    def first_leaf(self, level: int, node: int) -> int:
        """Return the first leaf below a node; L for the node after the last."""
        return int(self.below[level, node])

    def first_leaves(self, level: int) -> Int:
        """Return the first leaf of each node of a level, and L, (nodes + 1,)."""
        return self.below[level, : self.n_nodes[level] + 1]

    def first_child(self, level: int, node: int) -> int:
        """Return the number of the first child of a node, among the nodes of the next level."""
        first = self.first_leaf(level, node)
        return int(self.nodes[level + 1, first]) if first < self.n_leaves else int(self.n_nodes[level + 1])

    def sizes(self, level: int) -> Int:
        """Return the number of leaves below each node of a level."""
        return np.diff(self.first_leaves(level))

    def sizes_above(self, leaf: Int) -> Int:
        """Return the number of leaves below the node of each interior level above leaves, (n, depth)."""
        return np.stack([self.sizes(h)[self.node_of(leaf, h)] for h in range(self.depth)], axis=1)

    def n_children(self, level: int) -> Int:
        """Return the number of children of each node of a level."""
        return np.bincount(self.nodes[level, self.first_leaves(level + 1)[:-1]])

    def rates(self, delta: Float) -> Float:
        """Return discounts by the leaves below each node, (depth, L); 0 where there is no node."""
        found = np.zeros((self.depth, self.n_leaves))
        for h in range(self.depth):
            found[h, : self.n_nodes[h]] = delta[h] / self.sizes(h)
        return found

    def sums_below(self, values: Float, level: int) -> Float:
        """Return the sums over the leaves below each node of a level."""
        return np.add.reduceat(values, self.first_leaves(level)[:-1])

    def leaf_levels(self, leaf: Int) -> Int:
        """Return the level at which leaves are."""
        return self._leaf_level[leaf]

    def is_leaf(self, level: int, node: int) -> bool:
        """Whether a node is a leaf of the taxonomy."""
        return bool(self._leaf_level[self.first_leaf(level, node)] <= level)

    def name_of(self, level: int, node: int) -> str | None:
        """Return the name of a node, without those above it; the root has none."""
        return self._names[self.first_leaf(level, node)][level - 1] if level else None

    def levels_below(self, level: int, node: int) -> int:
        """Return the number of levels below a node, down to its deepest leaf."""
        first, last = self.first_leaf(level, node), self.first_leaf(level, node + 1)
        return max(0, int(self._leaf_level[first:last].max()) - level)

    def branching_from(self, level: int) -> tuple[int, ...]:
        """Return nothing: the nodes of a level may have different numbers of children."""
        return ()

    def cut(self, depth: int) -> Self:
        """Return the first levels alone: nodes that were above others become leaves."""
        return type(self)(tuple(dict.fromkeys("/".join(names[:depth]) for names in self._names)))

    def expanded(self, k: int) -> Self:
        """Return the tree in which each leaf has become a node with k leaves, which are called 1, 2, ..., k."""
        return type(self)(tuple(f"{path}/{i + 1}" for path in self.branching for i in range(int(k))))

    def scattered(self, before: Sequence[str], z: Int32, rng: np.random.Generator) -> Int32:
        """Return leaves of this tree for leaves of one with a level less, of this branching: below them, uniformly."""
        number = {path: i for i, path in enumerate(before)}
        parent = [number[path] if path in number else number[path.rpartition("/")[0]] for path in self.branching]
        n = np.bincount(parent, minlength=len(before))
        first = np.concatenate(([0], np.cumsum(n)[:-1]))
        return (first[z] + rng.integers(n[z])).astype(np.int32)


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
        f"branching is {branching!r}; give 'wide', 'tall', 'learned', the children at each level, or the paths of "
        "leaves."
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


def taxonomy_of(paths: Sequence[Any]) -> Taxonomy:
    """Return the tree of the paths of leaves, such as "science/physics/optics".

    `paths`: the names from the root down, with a slash between them; white space around a name does not count. Children
    stand in the order in which their paths come first. Raises InputError if that is not a tree: a path is empty, lacks
    a name, comes twice, or goes on below a leaf.
    """
    root: dict[str, Any] = {}
    for path in paths:
        if not isinstance(path, str):
            raise InputError(f"branching has the path {path!r}; give text for each leaf, such as 'science/physics'.")
        names = [name.strip() for name in path.split("/")]
        if not all(names):
            raise InputError(f"branching has the path {path!r}, which lacks a name; write names with a slash between.")
        _add(root, names)
    found = tuple(_leaves(root))
    if len(found) < 2:
        raise InputError("branching has 1 path, but a tree has at least 2 leaves; give 2 paths or more.")
    return Taxonomy(found)


def _add(root: dict[str, Any], names: list[str]) -> None:
    """Add a leaf to nested dictionaries, in which it is None."""
    node, path = root, "/".join(names)
    for h, name in enumerate(names[:-1]):
        node = node.setdefault(name, {})
        if node is None:
            raise _both("/".join(names[: h + 1]), path)
    if names[-1] not in node:
        node[names[-1]] = None
    elif node[names[-1]] is None:
        raise InputError(f"branching has the path {path!r} twice; give each leaf once.")
    else:
        raise _both(path, f"{path}/{next(iter(node[names[-1]]))}")


def _both(leaf: str, below: str) -> InputError:
    return InputError(f"branching has {leaf!r} as a leaf and {below!r} below it; leave the first out, or rename it.")


def _leaves(root: dict[str, Any]) -> Iterator[str]:
    """Yield the paths of the leaves from left to right."""
    waiting = list(reversed(root.items()))
    while waiting:
        path, node = waiting.pop()
        if node is None:
            yield path
        else:
            waiting.extend((f"{path}/{name}", below) for name, below in reversed(node.items()))
