"""A fitted tree of any shape to walk in: its nodes from the root down, with the topics that they lead to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from stickbreak.exceptions import InputError
from stickbreak.fitting.checks import check_whole
from stickbreak.model.tree_nodes import Node
from stickbreak.numerics.arrays import Float, Int
from stickbreak.prediction.words import relevance


@dataclass(eq=False)
class TreeData:
    """What all nodes of a tree read. J nodes, parents before their children; K topics over W words."""

    parent: Int  # (J,)  -1 of the root, which is node 0
    topic: Int  # (J,)  the topic whose words the node has itself; -1: none
    tokens: Float  # (J,)  tokens that are at the node itself, not below
    topic_word: Float  # (K, W)
    topic_tokens: Float  # (K,)
    vocabulary: tuple[str, ...]

    @cached_property
    def children(self) -> list[list[int]]:
        """The children of each node, in their order."""
        found: list[list[int]] = [[] for _ in self.parent]
        for j, above in enumerate(self.parent.tolist()):
            if above >= 0:
                found[above].append(j)
        return found

    @cached_property
    def tokens_below(self) -> Float:
        """Tokens at each node and below it, (J,)."""
        total = self.tokens.astype(np.float64)
        for j in range(self.parent.size - 1, 0, -1):
            total[self.parent[j]] += total[j]
        return total

    @cached_property
    def word_tokens(self) -> Float:
        """Expected tokens of each word, (W,)."""
        return np.asarray(self.topic_tokens @ self.topic_word)

    def agrees(self, other: TreeData) -> bool:
        """Whether another tree has the same nodes, with the same topics and tokens."""
        names = "parent", "topic", "tokens", "topic_word"
        return other is self or all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)

    def below(self, node: int) -> list[int]:
        """Return a node and all nodes below it: parents first, children in their order."""
        found, waiting = [], [node]
        while waiting:
            found.append(waiting.pop())
            waiting.extend(reversed(self.children[found[-1]]))
        return found


@dataclass(frozen=True, slots=True)
class TreeNode(Node):
    """A node of a fitted tree: the root is `tree_` of `NestedCRP`, `NestedHDP`, `Pachinko`, `HierarchicalPachinko`.

    Nodes are equal if they are at the same place of equal trees.

    Attributes
    ----------
    index : int
        Place among all nodes: 0 is the root, and parents come before their children.

    Examples
    --------
    >>> from stickbreak_baselines import Pachinko
    >>> from stickbreak.corpus import toy_bars
    >>> corpus, _ = toy_bars(n_documents=50, seed=0)
    >>> root = Pachinko(n_super=2, n_topics=5, n_laps=10, random_state=0).fit(corpus).tree_
    >>> [node.level for node in root.walk(depth=1)]
    [0, 1, 1]
    >>> all(node.parent.parent == root for node in root.walk() if node.is_leaf)
    True
    """

    _ground: TreeData = field(repr=False)
    index: int

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TreeNode):
            return NotImplemented
        return self.index == other.index and self._ground.agrees(other._ground)

    def __hash__(self) -> int:
        return hash((self._ground.parent.size, self.index))

    @property
    def level(self) -> int:
        """0 at the root."""
        return len(self.path)

    @property
    def is_leaf(self) -> bool:
        """Whether there is no node below."""
        return not self._ground.children[self.index]

    @property
    def topic(self) -> int | None:
        """The number of the topic whose words the node has itself; None where it only has those below."""
        k = int(self._ground.topic[self.index])
        return None if k < 0 else k

    @property
    def topics(self) -> Int:
        """The topics of this node and of those below, in ascending order."""
        found = self._ground.topic[self._ground.below(self.index)]
        return np.unique(found[found >= 0])

    @property
    def n_topics(self) -> int:
        """Number of topics of this node and of those below."""
        return self.topics.size

    @property
    def n_tokens(self) -> int:
        """Expected number of tokens at this node and below, rounded."""
        return round(float(self._ground.tokens_below[self.index]))

    @property
    def share(self) -> float:
        """Share of all tokens that are at this node and below."""
        below = self._ground.tokens_below
        return float(below[self.index] / below[0])

    @property
    def path(self) -> tuple[int, ...]:
        """The path from the root: the child at each level, counted from 0; () at the root."""
        ground, way, j = self._ground, [], self.index
        while j:
            above = int(ground.parent[j])
            way.append(ground.children[above].index(j))
            j = above
        return tuple(reversed(way))

    @property
    def parent(self) -> TreeNode | None:
        """The parent node; None at the root."""
        return TreeNode(self._ground, int(self._ground.parent[self.index])) if self.index else None

    @property
    def children(self) -> tuple[TreeNode, ...]:
        """The child nodes, the largest first; () at a leaf."""
        return tuple(TreeNode(self._ground, j) for j in self._ground.children[self.index])

    @property
    def depth(self) -> int:
        """Number of levels below this node."""
        return max((1 + child.depth for child in self.children), default=0)

    @property
    def name(self) -> str | None:
        """None: the nodes of this tree have no names."""
        return None

    @property
    def branching(self) -> tuple[int, ...]:
        """Nothing: the nodes of a level differ in their number of children."""
        return ()

    @property
    def n_nodes(self) -> int:
        """Number of nodes: this one and those below."""
        return len(self._ground.below(self.index))

    @property
    def place(self) -> dict[str, Any]:
        """What of the topics is here, as plain values: the numbers of all topics of the node and of those below."""
        return {"topics": self.topics.tolist()}

    def ancestor(self, level: int) -> TreeNode:
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
        node = self
        while node.level > level and node.parent is not None:
            node = node.parent
        return node

    def descend(self, path: Sequence[int]) -> TreeNode:
        """Return the node at the end of a path from this one.

        Parameters
        ----------
        path : sequence of int
            The child at each level, counted from 0, as in the `path` of a node.

        Raises
        ------
        InputError
            If there is no such node.
        """
        node, way = self, ""
        for step in path:
            child = check_whole(f"the child of node {way or 'all'}", step, 0)
            way += f".{child}" if way else str(child)
            children = node.children
            if child >= len(children):
                reason = f"there are {len(children)} children" if children else "its parent is a leaf"
                raise InputError(f"there is no node {way}: {reason}; children count from 0.")
            node = children[child]
        return node

    def leaf(self, leaf: int) -> TreeNode:
        """Return the node of a topic here or below; of several, the one with the most tokens.

        Parameters
        ----------
        leaf : int
            Number of the topic; one of `topics`.

        Raises
        ------
        InputError
            If it is not here or below.
        """
        ground, wanted = self._ground, check_whole("leaf", leaf, 0)
        found = [j for j in ground.below(self.index) if ground.topic[j] == wanted]
        if not found:
            topics = self.topics
            raise InputError(f"there is no topic {leaf!r} here; give one of {_few(topics.tolist())}.")
        return TreeNode(ground, max(found, key=lambda j: (ground.tokens[j], -j)))

    def word_distribution(self) -> Float:
        """Return P(w | node) of all words: of the topic of the node; without one, the mean of those below.

        Returns
        -------
        ndarray of shape (W,)
            It sums to one.
        """
        ground = self._ground
        if self.topic is not None:
            return ground.topic_word[self.topic].copy()
        nodes = ground.below(self.index)
        weight = np.bincount(
            np.maximum(ground.topic[nodes], 0),
            ground.tokens[nodes] * (ground.topic[nodes] >= 0),
            len(ground.topic_word),
        )
        total = weight.sum()
        return np.asarray(
            (weight / total if total > 0 else np.full(weight.size, 1.0 / weight.size)) @ ground.topic_word
        )

    @property
    def _vocabulary(self) -> tuple[str, ...]:
        return self._ground.vocabulary

    def _best(self, n: int) -> tuple[Int, Float]:
        """Return the words that say most, by their columns, with their probabilities."""
        p = self.word_distribution()
        with np.errstate(divide="ignore"):
            order = np.argsort(-relevance(p, np.log(self._ground.word_tokens)), kind="stable")[:n]
        return order, p[order]


def _few(numbers: Sequence[int]) -> str:
    """Write some numbers, the first of many."""
    shown = ", ".join(map(str, numbers[:10]))
    return f"{shown}, ..." if len(numbers) > 10 else shown
