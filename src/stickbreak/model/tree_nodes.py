"""Walking in a fitted tree: what the nodes of all trees share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Self

from stickbreak.fitting.checks import check_whole
from stickbreak.numerics.arrays import Float, Int
from stickbreak.prediction.words import words_to_show

NAME_WORDS = 3


class Node(ABC):
    """A place in a tree, from which one goes up to the parent and down to the children."""

    __slots__ = ()

    @property
    @abstractmethod
    def parent(self) -> Self | None:
        """The parent node; None at the root."""

    @property
    @abstractmethod
    def children(self) -> tuple[Self, ...]:
        """The child nodes; () at a leaf."""

    @property
    @abstractmethod
    def _vocabulary(self) -> tuple[str, ...]:
        """The words of the model."""

    @abstractmethod
    def _best(self, n: int) -> tuple[Int, Float]:
        """Return the words that say most, by their columns, with their probabilities."""

    @property
    @abstractmethod
    def name(self) -> str | None:
        """The name of the node; None if it has none."""

    @property
    def shown_name(self) -> str | None:
        """The name, unless it is made of the words that are shown beside it."""
        return None if self.name is not None and self.name.startswith(self.name_by_words()) else self.name

    def name_by_words(self) -> str:
        """Return a name: the most relevant words that are not among those of the parent."""
        words = self.top_words()
        shared = () if self.parent is None else self.parent.top_words()
        own = [word for word in words if word not in shared] or words
        return ", ".join(own[:NAME_WORDS]).replace("/", " ")

    @property
    def siblings(self) -> tuple[Self, ...]:
        """The other children of the parent; () at the root."""
        above = self.parent
        return () if above is None else tuple(node for node in above.children if node != self)

    def walk(self, depth: int | None = None) -> Iterator[Self]:
        """Yield this node and all nodes below: parents first, children in their order.

        Parameters
        ----------
        depth : int, optional
            Maximum number of levels below this node. The default goes down to the leaves. 0 yields this node alone.

        Raises
        ------
        InputError
            If `depth` is not a whole number of at least 0.
        """
        return self._walk(None if depth is None else check_whole("depth", depth, 0))

    def _walk(self, depth: int | None) -> Iterator[Self]:
        waiting = [(self, 0)]
        while waiting:
            node, below = waiting.pop()
            yield node
            if depth is None or below < depth:
                waiting.extend((child, below + 1) for child in reversed(node.children))

    def top_words(self, n: int = 10, vocabulary: Sequence[str] | None = None) -> list[str]:
        """Return the most relevant words of the node.                                                docs/math (T14)

        Parameters
        ----------
        n : int, default=10
            Maximum number of words.
        vocabulary : sequence of str, optional
            Names of the columns, if the fit did not know them.

        Raises
        ------
        InputError
            If `n` is not a whole number of at least 1, or some column has no name.
        """
        names = words_to_show(n, vocabulary, self._vocabulary)
        return [str(names[w]) for w in self._best(n)[0]]

    def words(self, n: int = 10) -> list[tuple[str, float]]:
        """Return words as `top_words` ranks them, with their probabilities P(w | node).              docs/math (T14)

        Parameters
        ----------
        n : int, default=10
            Maximum number of words.

        Raises
        ------
        InputError
            If `n` is not a whole number of at least 1.
        """
        names = words_to_show(n, None, self._vocabulary)
        words, probability = self._best(n)
        return [(str(names[w]), float(p)) for w, p in zip(words, probability, strict=True)]
