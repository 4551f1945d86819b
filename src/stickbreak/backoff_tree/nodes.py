"""A fitted tree to walk in: its nodes that have tokens, from the root to the topics; made where they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from stickbreak.backoff_tree.model import LeafWords, TreeModel
from stickbreak.exceptions import InputError
from stickbreak.fitting.checks import check_whole
from stickbreak.model.tree_nodes import Node
from stickbreak.numerics.arrays import Float, Int


class _TreeData:
    """What all nodes of a tree read: the leaves with tokens, ascending (K of them), and their words."""

    def __init__(self, model: TreeModel, vocabulary: tuple[str, ...]) -> None:
        self.model, self.vocabulary, self.shape = model, vocabulary, model.shape
        self.leaves: Int = np.flatnonzero(model.n_tokens)  # (K,)
        self.before: Int = np.concatenate(
            ([0], np.cumsum(model.own_tokens[self.leaves]))
        )  # (K + 1,) tokens before each

    @cached_property
    def words(self) -> LeafWords:
        """The words at the leaves; made when the first node is asked for them."""
        return self.model.leaf_words()


@dataclass(frozen=True, slots=True)
class TopicNode(Node):
    """A node with tokens of a fitted tree: `BackoffTreeTopics.tree_` is the root, and `node_of` gives leaves.

    A node stores only its place, so you can walk through trees of a million leaves. Nodes are equal if they are at the
    same place of the same fitted model.

    Attributes
    ----------
    level : int
        0 at the root; the number of levels of the tree at the leaves.
    index : int
        Place among all nodes of this level, with or without tokens, from the left.

    Examples
    --------
    >>> from stickbreak import BackoffTreeTopics
    >>> from stickbreak.corpus import toy_bars
    >>> corpus, _ = toy_bars(n_documents=50, seed=0)
    >>> root = BackoffTreeTopics(branching=(3, 4), n_laps=10, random_state=0).fit(corpus).tree_
    >>> root.n_tokens == corpus.n_tokens == sum(node.n_tokens for node in root.children)
    True
    >>> all(node.parent.parent == root for node in root.walk() if node.is_leaf)
    True
    """

    _ground: _TreeData = field(repr=False)
    level: int
    index: int

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TopicNode):
            return NotImplemented
        same_model = self._ground.model is other._ground.model
        return same_model and (self.level, self.index) == (other.level, other.index)

    def __hash__(self) -> int:
        return hash((id(self._ground.model), self.level, self.index))

    @property
    def is_leaf(self) -> bool:
        """Whether this is a topic."""
        return self._ground.shape.is_leaf(self.level, self.index)

    @property
    def name(self) -> str | None:
        """The name of the node, if the tree has paths of names, or is learned; None at the root."""
        return self._ground.shape.name_of(self.level, self.index)

    @property
    def topic(self) -> int | None:
        """The number of the topic that a leaf is; None at other nodes."""
        return self.first_leaf if self.is_leaf else None

    @property
    def depth(self) -> int:
        """Number of levels below this node."""
        return self._ground.shape.levels_below(self.level, self.index)

    @property
    def branching(self) -> tuple[int, ...]:
        """Children of each node, level by level, from this one on; () if the tree has paths of names, or is learned."""
        return self._ground.shape.branching_from(self.level)

    @property
    def n_nodes(self) -> int:
        """Number of nodes with tokens, of this node and of those below."""
        leaves, shape = self.leaves, self._ground.shape
        total = leaves.size
        for level in range(self.level, self.level + self.depth):
            total += np.unique(shape.node_of(leaves[shape.leaf_levels(leaves) > level], level)).size
        return int(total)

    @property
    def place(self) -> dict[str, Any]:
        """Where in the tree this is, as plain values: the first and the last leaf below."""
        return {"leaves": [self.first_leaf, self.last_leaf]}

    @property
    def first_leaf(self) -> int:
        """First of the leaves below, with or without tokens. A leaf counts as below itself."""
        return self._ground.shape.first_leaf(self.level, self.index)

    @property
    def last_leaf(self) -> int:
        """Last of the leaves below, with or without tokens."""
        return self._ground.shape.first_leaf(self.level, self.index + 1) - 1

    @property
    def leaves(self) -> Int:
        """The leaves below that have tokens, in ascending order: the topics."""
        low, high = self._range
        return self._ground.leaves[low:high]

    @property
    def n_topics(self) -> int:
        """Number of leaves below that have tokens."""
        low, high = self._range
        return high - low

    @property
    def n_tokens(self) -> int:
        """Number of tokens at the leaves below."""
        low, high = self._range
        return int(self._ground.before[high] - self._ground.before[low])

    @property
    def share(self) -> float:
        """Share of all tokens that are at the leaves below."""
        return self.n_tokens / int(self._ground.before[-1])

    @property
    def path(self) -> tuple[int, ...]:
        """The path from the root: the child at each level, counted from 0 and from the left; () at the root."""
        shape, leaf = self._ground.shape, np.array(self.first_leaf)
        at = [int(shape.node_of(leaf, level)) for level in range(self.level + 1)]
        return tuple(at[h + 1] - shape.first_child(h, at[h]) for h in range(self.level))

    @property
    def parent(self) -> TopicNode | None:
        """The parent node; None at the root."""
        return self.ancestor(self.level - 1) if self.level else None

    @property
    def children(self) -> tuple[TopicNode, ...]:
        """The child nodes that have tokens, from the left; () at a leaf."""
        if self.is_leaf:
            return ()
        ground, level = self._ground, self.level + 1
        first, last = (ground.shape.first_child(self.level, node) for node in (self.index, self.index + 1))
        starts = [ground.shape.first_leaf(level, node) for node in range(first, last + 1)]
        bounds = np.searchsorted(ground.leaves, starts)
        return tuple(TopicNode(ground, level, first + int(i)) for i in np.flatnonzero(np.diff(bounds)))

    def ancestor(self, level: int) -> TopicNode:
        """Return the ancestor at a level; at its own level this is the node itself.

        Parameters
        ----------
        level : int
            From 0, the root, to the level of this node.

        Raises
        ------
        InputError
            If there is no such level.
        """
        if check_whole("level", level, 0) > self.level:
            raise InputError(f"level is {level}; give a level from 0 to {self.level}, that of the node.")
        ground = self._ground
        return TopicNode(ground, level, int(ground.shape.node_of(np.array(self.first_leaf), level)))

    def descend(self, path: Sequence[int]) -> TopicNode:
        """Return the node at the end of a path from this one.

        Parameters
        ----------
        path : sequence of int
            The child at each level, counted from 0, as in the `path` of a node.

        Raises
        ------
        InputError
            If there is no such node, or it has no token.
        """
        node, way = self, ""
        for step in path:
            child = check_whole(f"the child of node {way or 'all'}", step, 0)
            way += f".{child}" if way else str(child)
            shape = self._ground.shape
            first = shape.first_child(node.level, node.index) if not node.is_leaf else 0
            n_children = shape.first_child(node.level, node.index + 1) - first if not node.is_leaf else 0
            if child >= n_children:
                reason = f"there are {n_children} children" if n_children else "its parent is a leaf"
                raise InputError(f"there is no node {way}: {reason}; children count from 0.")
            node = TopicNode(self._ground, node.level + 1, first + child)
            if node.n_topics == 0:
                raise InputError(f"node {way} has no token; choose from the nodes with tokens (children).")
        return node

    def leaf(self, leaf: int) -> TopicNode:
        """Return a leaf below by its number.

        Parameters
        ----------
        leaf : int
            One of `leaves`.

        Raises
        ------
        InputError
            If it is not below, or has no token.
        """
        ground = self._ground
        if not self.first_leaf <= check_whole("leaf", leaf, 0) <= self.last_leaf:
            raise InputError(f"there is no leaf {leaf!r} here; give a leaf from {self.first_leaf} to {self.last_leaf}.")
        level = int(ground.shape.leaf_levels(np.array(leaf)))
        node = TopicNode(ground, level, int(ground.shape.node_of(np.array(leaf), level)))
        if node.n_topics == 0:
            raise InputError(f"leaf {leaf} has no token; choose from the leaves with tokens (leaves).")
        return node

    def word_distribution(self) -> Float:
        """Return P(w | node) of all words.                                                      docs/math (T6) (T14)

        Returns
        -------
        ndarray of shape (W,)
            It sums to one. At a leaf it is smoothed; at other nodes it has the shares of the tokens.
        """
        ground = self._ground
        if self.is_leaf:
            return ground.model.word_distributions(np.array([self.first_leaf]))[0]
        out = np.zeros(len(ground.vocabulary))
        words, probability = ground.words.below(*self._range)
        out[words] = probability
        return out

    @property
    def _vocabulary(self) -> tuple[str, ...]:
        return self._ground.vocabulary

    def _best(self, n: int) -> tuple[Int, Float]:
        """Return the words that say most, by their columns, with their probabilities."""
        table, (low, high) = self._ground.words, self._range
        return table.best(table.at_leaf(low) if self.is_leaf else table.below(low, high), n)

    @property
    def _range(self) -> tuple[int, int]:
        """Where the leaves with tokens below stand among all of them: from the first to before the second."""
        low, high = np.searchsorted(self._ground.leaves, (self.first_leaf, self.last_leaf + 1))
        return int(low), int(high)


def tree_of(model: TreeModel, vocabulary: tuple[str, ...]) -> TopicNode:
    """Return the root of the tree of a model; the vocabulary has a name for each word."""
    return TopicNode(_TreeData(model, vocabulary), 0, 0)


def paths_of_words(model: TreeModel, vocabulary: tuple[str, ...]) -> list[str]:
    """Return the paths of the leaves of a taxonomy, its nodes named by their words.

    Nodes without tokens keep their names; of siblings with the same words the later ones get a number.
    """
    shape, names = model.shape, dict[tuple[int, int], str]()
    for node in tree_of(model, vocabulary).walk():
        names[node.level, node.index] = node.name_by_words()
    paths, siblings = [], dict[str, dict[str, int]]()  # below each path: whose each name is
    for z in range(shape.n_leaves):
        path = ""
        for h in range(1, int(shape.leaf_levels(np.array(z))) + 1):
            a = int(shape.node_of(np.array(z), h))
            name = wanted = names.get((h, a)) or shape.name_of(h, a) or str(a)
            taken, again = siblings.setdefault(path, {}), 1
            while taken.setdefault(name, a) != a:
                again += 1
                name = f"{wanted} ({again})"
            path = f"{path}/{name}" if path else name
        paths.append(path)
    return paths
