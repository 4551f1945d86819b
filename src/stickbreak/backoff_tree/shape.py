"""The shape of a tree: how many children the nodes of each level have. L leaves; level 0 is the root."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.exceptions import InputError

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
                f"branching is {given!r}; give a number of children, 2 or more, for each level from the root down."
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

    def expanded(self, k: int) -> TreeShape:
        """Return the tree in which each leaf has become a node with k leaves."""
        return TreeShape((*self.branching, int(k)))


def shape_of(branching: str | Sequence[int] | NDArray, n_leaves: int) -> TreeShape:
    """Return the tree that a model asks for.

    Parameters
    ----------
    branching : {"wide", "tall"} or sequence of int
        "wide": 3, 6, 6, 9, 9, 12, 12 ... children from the root down; "tall": 2, 2, ... 3, 3, ... (both of the paper).
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
        return TreeShape(tuple(np.atleast_1d(branching).tolist() if isinstance(branching, np.ndarray) else branching))
    if n_leaves < 2:
        raise InputError(f"n_topics is {n_leaves}, but a tree has at least 2 leaves; give 2 or more.")
    if n_leaves > _MOST_LEAVES:
        raise InputError(f"n_topics is {n_leaves:,}, but a tree has at most {_MOST_LEAVES:,} leaves; give fewer.")
    if branching == "wide":
        return TreeShape(_wide(int(n_leaves)))
    if branching == "tall":
        return TreeShape(_tall(int(n_leaves)))
    raise InputError(f"branching is {branching!r}; give 'wide', 'tall', or the number of children at each level.")


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
