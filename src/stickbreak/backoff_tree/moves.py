"""The shape of a tree is learned: grow, cut and regraft moves, judged by the likelihood of leaves in sequence.

A shape is the set of its inner nodes below the root, each the set of leaves below it. A move leads to another such set.
docs/math (T17), (T18)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy import sparse

from stickbreak.backoff_tree.kernels import shapes as kernels
from stickbreak.backoff_tree.shape import Shape, Taxonomy, taxonomy_of
from stickbreak.numerics.arrays import Float, Int, Int32

Group = frozenset[int]  # the leaves below a node
Groups = frozenset[Group]  # of the inner nodes below the root: of any two one holds the other, or they are apart

FALSE = 0.05  # how likely, at most, a node is added that does not predict better: of as many nodes as pairs of leaves
NEAREST = 2  # leaves beside which a node is tried


@dataclass(frozen=True, slots=True)
class LeafSequences:
    """Leaves of the tokens of some documents, or words, one after another in random order.            docs/math (T17)

    `start` (G + 1,): of each document or word. `leaf` (N,). `own` (N,): tokens before each at the same leaf. `prior`
    (L,): P* of words; 1 for documents. `delta` (depth,): discounts. `counts` (L, G): tokens.
    """

    start: Int
    leaf: Int32
    own: Int
    prior: Float
    delta: Float
    counts: sparse.csr_array

    @classmethod
    def of(cls, start: Int, leaf: Int32, prior: Float, delta: Float, rng: np.random.Generator) -> LeafSequences:
        """Put the tokens of each document or word in random order, and count what each finds before it."""
        group = np.repeat(np.arange(start.size - 1), np.diff(start))
        leaf = leaf[np.lexsort((rng.random(leaf.size), group))]
        pair = group * prior.size + leaf
        order = np.argsort(pair, kind="stable")
        first = np.flatnonzero(np.diff(pair[order], prepend=-1))
        own = np.empty(leaf.size, np.int64)
        own[order] = np.arange(leaf.size) - np.repeat(first, np.diff(first, append=leaf.size))
        counts = sparse.csr_array((np.ones(leaf.size), (leaf, group)), shape=(prior.size, start.size - 1))
        return cls(start, leaf, own, prior, delta, counts)

    def log_likelihoods(self, groups: Groups, chosen: Int) -> Float:
        """Return the log likelihood of some documents or words, but for the first token of each.   docs/math (T17)"""
        L, depth = self.prior.size, self.delta.size
        node, out = nodes_of(groups, L, depth), np.empty(chosen.size)
        rate = self.delta / np.bincount(node.ravel(), minlength=depth * L)[node]
        means = np.bincount(node.ravel(), np.repeat(self.prior, depth), minlength=depth * L)[node]
        discount = float(self.delta.sum())
        kernels.log_likelihoods(
            chosen, self.start, self.leaf, self.own, node, rate * self.prior[:, None],
            discount - (rate * means).sum(axis=1), discount, np.zeros(depth * L, np.int64), out,
        )  # fmt: skip
        return out

    def with_leaves(self, leaves: Iterable[int]) -> Int:
        """Return the documents or words that have tokens at some leaves."""
        indptr, indices = self.counts.indptr, self.counts.indices
        return np.unique(np.concatenate([indices[indptr[z] : indptr[z + 1]] for z in leaves])).astype(np.int64)

    def cosines(self) -> Float:
        """Return how alike leaves are in their documents, or words, (L, L)."""
        table = self.counts.toarray()
        table /= np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-300)
        return np.asarray(table @ table.T)


class ShapeSearch:
    """A shape, and what moves would add to the log likelihood of leaves that stay where they are.   docs/math (T18)"""

    def __init__(self, groups: Groups, sequences: Sequence[LeafSequences]) -> None:
        self.sequences = sequences
        self.n_leaves, self.depth = sequences[0].prior.size, sequences[0].delta.size
        self.price = math.log(self.n_leaves**2 / FALSE)  # of an inner node, in nats
        self.take(groups)

    def take(self, groups: Groups) -> None:
        """Take a shape."""
        self.groups = groups
        self._values = [one.log_likelihoods(groups, np.arange(one.start.size - 1)) for one in self.sequences]

    @property
    def objective(self) -> float:
        """The log likelihood of the leaves in this shape, less the price of its inner nodes."""
        return float(sum(values.sum() for values in self._values)) - self.price * len(self.groups)

    def with_discounts(self, groups: Groups, *deltas: Float) -> ShapeSearch:
        """Return another shape, judged by other discounts of the documents and the words."""
        sequences = [replace(one, delta=delta) for one, delta in zip(self.sequences, deltas, strict=True)]
        return ShapeSearch(groups, sequences)

    def gain(self, other: Groups) -> float:
        """Return what another shape would add; minus infinity if it has too many levels.

        Documents and words without tokens below the nodes that change stay as they are.
        """
        before, after = levels_of(self.groups), levels_of(other)
        changed = frozenset().union(*(group for group, _ in before.items() ^ after.items()))
        if max(after.values(), default=0) >= self.depth:
            return -np.inf
        total = self.price * (len(self.groups) - len(other))
        for one, values in zip(self.sequences, self._values, strict=True):
            chosen = one.with_leaves(changed) if changed else np.zeros(0, np.int64)
            total += float((one.log_likelihoods(other, chosen) - values[chosen]).sum())
        return total

    def cut_nodes(self, rng: np.random.Generator) -> None:
        """Try to dissolve each inner node once, in random order."""
        nodes = in_order(self.groups)
        for i in rng.permutation(len(nodes)).tolist():
            without = self.groups - {nodes[i]}
            if self.gain(without) > 0.0:
                self.take(without)

    def move_nodes(self, rng: np.random.Generator) -> int:
        """Try moves of each node once, in random order, and make the best of each that adds something; count them."""
        near: Float = np.sum([one.cosines() for one in self.sequences], axis=0)
        n_moves = 0
        nodes = [*(frozenset([z]) for z in range(self.n_leaves)), *in_order(self.groups)]
        for i in rng.permutation(len(nodes)).tolist():
            if len(nodes[i]) > 1 and nodes[i] not in self.groups:
                continue
            likeness = near[list(nodes[i])].mean(axis=0)
            gains = {other: self.gain(other) for other in moves_of(self.groups, nodes[i], likeness)}
            best = max(gains, key=gains.__getitem__)
            if gains[best] > 0.0:
                self.take(best)
                n_moves += 1
        return n_moves


def in_order(groups: Groups) -> list[Group]:
    """Return inner nodes, each before those below it."""
    return sorted(groups, key=lambda group: (-len(group), min(group)))


def levels_of(groups: Groups) -> dict[Group, int]:
    """Return the level of each inner node."""
    ordered, level = in_order(groups), dict[int, int]()
    found = {}
    for group in ordered:
        found[group] = level.get(next(iter(group)), 0) + 1
        level.update(dict.fromkeys(group, found[group]))
    return found


def nodes_of(groups: Groups, n_leaves: int, depth: int) -> Int:
    """Return the nodes above each leaf, (L, depth), numbered by their level and first leaf.          docs/math (T15)"""
    first = np.tile(np.arange(n_leaves)[:, None], depth)
    first[:, 0] = 0
    for group, level in levels_of(groups).items():
        first[list(group), level] = min(group)
    return first + np.arange(depth) * n_leaves


def groups_of(shape: Shape) -> Groups:
    """Return the inner nodes of a tree below the root."""
    firsts = [shape.first_leaves(h).tolist() for h in range(1, shape.depth)]
    spans = {span for first in firsts for span in pairwise(first)}
    return frozenset(frozenset(range(a, b)) for a, b in spans if b - a > 1)


def shape_of_groups(groups: Groups, n_leaves: int) -> tuple[Taxonomy, Int32]:
    """Return the tree with these inner nodes, and the leaf there of each leaf here, (L,).

    Nodes are called by their place among the children of their parent.
    """
    ways: list[list[int]] = [[] for _ in range(n_leaves)]  # of each leaf the first leaves of the nodes above it
    for group in in_order(groups):
        for z in group:
            ways[z].append(min(group))
    order = sorted(range(n_leaves), key=lambda z: (*ways[z], z))
    children: dict[tuple[int, ...], dict[int, int]] = {}
    paths = []
    for z in order:
        way, names = (*ways[z], z), list[str]()
        for h, first in enumerate(way):
            own = children.setdefault(way[:h], {})
            names.append(str(own.setdefault(first, len(own))))
        paths.append("/".join(names))
    to = np.empty(n_leaves, np.int32)
    to[order] = np.arange(n_leaves, dtype=np.int32)
    return taxonomy_of(paths), to


def regraft(groups: Groups, node: Group, parent: Group | None) -> Groups:
    """Put a node, with all below it, under another parent; None: the root.                          docs/math (T18)"""
    found = set()
    for group in groups:
        without = group - node if group > node else group
        found.add(without | node if parent is not None and group >= parent else without)
    return frozenset(found)


def nodes_above(groups: Groups, node: Group) -> list[Group]:
    """Return the inner nodes above a node, the nearest first."""
    return sorted((group for group in groups if group > node), key=len)


def moves_of(groups: Groups, node: Group, near: Float) -> Iterator[Groups]:
    """Yield the shapes to which moves of a node lead; `near` (L,): how alike it and each leaf are.  docs/math (T18)"""
    for found in _moves_of(groups, node, near):
        yield frozenset(group for group in found if 1 < len(group) < near.size)


def _moves_of(groups: Groups, node: Group, near: Float) -> Iterator[Groups]:
    if node in groups:
        yield groups - {node}  # cut
    parents = [*nodes_above(groups, node), None]
    yield from (regraft(groups, node, parent) for parent in parents[1:])
    others = [z for z in np.argsort(-near, kind="stable").tolist() if z not in node]
    for leaf in (frozenset([z]) for z in others[:NEAREST]):
        for other in (leaf, *(group for group in nodes_above(groups, leaf) if not group & node)):
            beside = regraft(groups, node, next(iter(nodes_above(groups, other)), None))
            yield beside | {node | other}  # grow
            if len(other) > 1:
                yield regraft(groups, node, other)
