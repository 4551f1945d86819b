"""The seeds of a fitted tree: at which leaves they are, and what is counted there beside the tokens."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from stickbreak.backoff_tree.seeding import KnownWords, leaves_of
from stickbreak.backoff_tree.shape import Shape
from stickbreak.backoff_tree.state import WordCounts
from stickbreak.corpus import Corpus
from stickbreak.fitting.checkpoint import require
from stickbreak.model.topic_estimator import TopicEstimator
from stickbreak.numerics.arrays import Int


class SeededTree(TopicEstimator):
    """The side of `BackoffTreeTopics` that knows of seeds."""

    _fitted_values: ClassVar[tuple[str, ...]] = ("seed_leaves_", *TopicEstimator._fitted_values)

    _eta_is_of_words = False
    seed_leaves_: list[int]

    @abstractmethod
    def _whole_tree(self) -> Shape:
        """Return the tree that the parameters ask for."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.seeds is not None:
            leaves_of(tuple(self.seeds or ()), self._whole_tree())  # refuses what has no leaf

    def _known(self, documents: Corpus, shape: Shape) -> KnownWords | None:
        """Return what seeds say of a fit to documents."""
        if self.seeds is None:
            return None
        return KnownWords.of(self.seeds, float(self.seed_tokens), documents.words, shape)

    def _take_names(self, documents: Corpus) -> None:
        names = tuple(self.seeds or ())
        self.seed_leaves_ = leaves_of(names, self._whole_tree()).tolist() if names else []
        super()._take_names(documents)

    def _take_seeds(self, known: KnownWords | None, shape: Shape) -> None:
        """Take the leaves of seeds in a tree; where they have moved, as the tree has grown, their names follow."""
        self._pseudo = None if known is None else known.pseudo
        now = [] if known is None else known.leaves_in(shape).tolist()
        if now != self.seed_leaves_:  # of two seeds at a leaf of a coarse tree the first gives the name
            self._labels = dict(reversed([*zip(now, tuple(self.seeds or ()), strict=True)]))
        self.seed_leaves_ = now

    def _pseudo_in(self, shape: Shape) -> WordCounts | None:
        """Return the pseudo-tokens of each word at each leaf of the fitted tree."""
        if self._pseudo is None:
            return None
        return KnownWords(shape, np.array(self.seed_leaves_, dtype=np.int64), self._pseudo).counts_in(shape)

    def _seeds_first(self, leaves: Int) -> Int:
        """Return an order of leaves in which those of seeds come before the others, each in their order here."""
        return np.argsort(~np.isin(leaves, self.seed_leaves_), kind="stable")

    def _seed_numbers(self) -> Sequence[int]:
        return self.seed_leaves_

    def _keeps_number(self, k: int) -> bool:
        return k in self.seed_leaves_

    def _check_seeds(self, shape: Shape) -> None:
        """Refuse seeds of a loaded model that no fit can have left; a ValueError."""
        n_seeds, leaves = 0 if self._pseudo is None else int(self._pseudo.shape[1]), self.seed_leaves_
        inside = isinstance(leaves, list) and all(isinstance(z, int) and 0 <= z < shape.n_leaves for z in leaves)
        require(inside and len(leaves) == n_seeds, "its seeds are not at leaves of its tree")
