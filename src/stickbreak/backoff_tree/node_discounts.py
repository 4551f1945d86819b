"""Discounts that nodes of a taxonomy have in place of those of their levels.                         math.md (T15)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from stickbreak.backoff_tree.shape import Shape
from stickbreak.backoff_tree.taxonomy import Taxonomy
from stickbreak.exceptions import InputError
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.ranges import LEAST_DISCOUNT

KINDS = ("alpha", "eta")  # of documents, of words
_MOST = 0.9  # that nodes of a path may be given: the levels beside them need some


@dataclass(frozen=True, slots=True)
class Paths:
    """Discounts of the nodes above some leaves: those of their levels, or of their own.

    Attributes
    ----------
    free : ndarray of shape (n, depth), or (depth,) for all leaves
        1 where a node has the discount of its level, else 0.
    own : ndarray of the same shape
        Discounts of the other nodes; 0 where `free` is 1.
    """

    free: Float
    own: Float

    @classmethod
    def of_levels(cls, depth: int) -> Paths:
        """Return paths without a node that has its own."""
        return cls(np.ones(depth), np.zeros(depth))

    def sums(self, delta: Float) -> Float:
        """Return Delta of each leaf from the discounts of levels, (n,) or ()."""
        return np.asarray((self.free * delta).sum(axis=-1) + self.own.sum(axis=-1))

    def split(self, weight: Float) -> tuple[Float, Float]:
        """Return sums of weighted discounts as a linear function of those of levels: factors and the rest."""
        return weight * self.free, (weight * self.own).sum(axis=-1)

    def largest(self, delta: Sequence[float]) -> float:
        """Return the largest sum of the discounts of a path."""
        return sum(delta) if self.free.ndim == 1 else float(self.sums(np.asarray(delta)).max())

    def within(self, delta: Float, most: float) -> Float:
        """Scale the discounts of levels down where those of a path sum to more."""
        of_levels = np.asarray((self.free * delta).sum(axis=-1))
        room = np.divide(most - self.own.sum(axis=-1), of_levels, where=of_levels > 0, out=np.ones_like(of_levels))
        return delta * min(1.0, float(room.min()))

    def allow(self, delta: Float) -> bool:
        """Whether levels can have these discounts."""
        return bool((delta >= LEAST_DISCOUNT).all()) and bool(self.sums(delta).max() < 1)

    def distinct(self) -> Paths:
        """Return these paths without repetition."""
        if self.free.ndim == 1:
            return self
        both, depth = np.unique(np.hstack([self.free, self.own]), axis=0), self.free.shape[1]
        return Paths(both[:, :depth], both[:, depth:])

    def levels(self) -> Int:
        """Return the levels that have nodes without a discount of their own."""
        return np.flatnonzero(self.free.reshape(-1, self.free.shape[-1]).any(axis=0))


@dataclass(frozen=True, slots=True)
class NodeDiscounts:
    """Discounts that nodes have of their own, by their paths, for trees of one kind: of documents, or of words."""

    of: Mapping[str, float] = field(default_factory=dict)

    def above(self, shape: Shape, leaf: Int | None = None) -> Paths:
        """Return the discounts above leaves, all of them in their order if none are given."""
        places = [(self.of[path], *place) for path, place in self._places(shape).items()]
        if not places:
            return Paths.of_levels(shape.depth)
        found = Paths(np.ones((shape.n_leaves, shape.depth)), np.zeros((shape.n_leaves, shape.depth)))
        for value, level, node in places:
            below = slice(shape.first_leaf(level, node), shape.first_leaf(level, node + 1))
            found.free[below, level], found.own[below, level] = 0.0, value
        return found if leaf is None else Paths(found.free[leaf], found.own[leaf])

    def in_tree(self, shape: Shape) -> dict[str, float]:
        """Return those of nodes that a tree has above leaves: a coarser one lacks some."""
        return {path: self.of[path] for path in self._places(shape)}

    def _places(self, shape: Shape) -> dict[str, tuple[int, int]]:
        """Return level and node of each path."""
        if not self.of or not isinstance(shape, Taxonomy):
            return {}
        places = {path: shape.places[path] for path in self.of if path in shape.places}
        return {path: place for path, place in places.items() if not shape.is_leaf(*place)}


class OfBoth(NamedTuple):
    """Discounts of nodes of both kinds of trees."""

    documents: NodeDiscounts
    words: NodeDiscounts

    def table_bytes(self, shape: Shape) -> int:
        """Bytes that the tables of a tree take where nodes have discounts of their own."""
        return 24 * (shape.depth + 1) * shape.n_leaves * sum(bool(one.of) for one in self)

    def as_values(self, shape: Shape) -> dict[str, dict[str, float]]:
        """Return as plain values what a tree has of them, for each node by kind: `node_discounts` makes them again."""
        found: dict[str, dict[str, float]] = {}
        for kind, one in zip(KINDS, self, strict=True):
            for path, value in one.in_tree(shape).items():
                found.setdefault(path, {})[kind] = value
        return found


NONE = OfBoth(NodeDiscounts(), NodeDiscounts())


def node_discounts(given: Any, shape: Shape) -> OfBoth:
    """Return the discounts of nodes that the parameter `node_discounts` gives.

    Parameters
    ----------
    given : dict or None
        From the path of a node to a number, or to a dict of numbers of "alpha" and "eta".
    shape : Shape

    Raises
    ------
    InputError
        If a path is not that of a node above leaves, or a value not a discount, or they are too large.
    """
    if given is None or given == {}:
        return NONE
    if not isinstance(given, Mapping):
        raise InputError(f"node_discounts is {given!r:.60}; give numbers by the paths of nodes, {{'science': 0.1}}.")
    if not isinstance(shape, Taxonomy):
        raise InputError("node_discounts names nodes, but this tree has no names; give branching the paths of leaves.")
    found: tuple[dict[str, float], ...] = ({}, {})
    seen = set()
    for name, values in given.items():
        path = _checked_path(name, shape)
        if path in seen:
            raise InputError(f"node_discounts has the node {path!r:.60} twice; give each node once.")
        seen.add(path)
        by_kind: Mapping[str, Any] = values if isinstance(values, Mapping) else dict.fromkeys(KINDS, values)
        if not by_kind or not set(by_kind) <= set(KINDS) or not all(map(_is_discount, by_kind.values())):
            raise InputError(
                f"node_discounts[{path!r:.60}] is {values!r:.60}; give a positive number below 1, or such numbers by "
                "kind, {'alpha': 0.1, 'eta': 0.2}."
            )
        for kind, one in zip(KINDS, found, strict=True):
            if kind in by_kind:
                one[path] = float(by_kind[kind])
    both = OfBoth(*map(NodeDiscounts, found))
    for kind, discounts in zip(KINDS, both, strict=True):
        sums = np.atleast_1d(discounts.above(shape).own.sum(axis=-1))
        if sums.max() > _MOST:
            leaf = shape.branching[int(sums.argmax())]
            raise InputError(
                f"node_discounts sum to {sums.max():.4g} ({kind}) above the leaf {leaf!r:.60}; give at most {_MOST:g} "
                "along a path."
            )
    return both


def check_sums(name: str, delta: Float, discounts: NodeDiscounts, shape: Shape) -> None:
    """Refuse discounts of levels that sum to 1 or more with those of nodes.

    Raises
    ------
    InputError
    """
    sums = np.atleast_1d(discounts.above(shape).sums(delta))
    if sums.max() >= 1.0:
        leaf = shape.branching[int(sums.argmax())]
        raise InputError(
            f"{name} and node_discounts sum to {sums.max():.4g} above the leaf {leaf!r:.60}; give smaller ones, to "
            "sum to less than 1."
        )


def _checked_path(name: Any, shape: Taxonomy) -> str:
    path = "/".join(part.strip() for part in name.split("/")) if isinstance(name, str) else None
    if path is None or path not in shape.places or shape.is_leaf(*shape.places[path]):
        raise InputError(
            f"node_discounts has the path {name!r:.60}, which is not that of a node above leaves; give the first names "
            f"of a path of branching ('' is the root)."
        )
    return path


def _is_discount(value: Any) -> bool:
    return isinstance(value, Real) and value is not True and LEAST_DISCOUNT <= float(value) < 1.0
