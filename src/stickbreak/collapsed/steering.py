"""What steers a fit: topics that keep their numbers, what is known of them before, and labels of documents.

Topics that are kept come first. They are those of labels, then those of seeds; in an update all topics of the model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.collapsed.kernels.shares import UNIT, UNITS
from stickbreak.model.document_labels import DocumentLabels
from stickbreak.model.word_prior import pseudo_of
from stickbreak.numerics.arrays import Float, Int


@dataclass(frozen=True, slots=True)
class Steering:
    """What a fit knows before it sees the documents; nothing, unless it is steered."""

    n_kept: int = 0  # topics 0 to n_kept - 1 keep their numbers: none of them is merged away or left out ...
    n_whole: int = 0  # ... and the first of them, those of labels and seeds, are not split
    n_labels: int = 0  # ... and the first of these are those of labels
    pseudo: sparse.csr_array | None = None  # (W, n_whole)  pseudo-counts: positive for the words of each seed
    past: Float | None = None  # (W, n_kept)  counts of documents that were fitted before ...
    tables: Float | None = None  # (n_kept,)  ... their tables ...
    opened: float = 0.0  # ... and what alpha was learned from
    labels: DocumentLabels | None = None

    def put_into(self, S: Float, N: Float) -> None:
        """Add what is known of the topics to tables S (W, K) and N (K,).                            math.md (C18)"""
        if self.pseudo is not None:
            add_pseudo(self.pseudo, S, N)
        if self.past is not None:
            S[:, : self.n_kept] += self.past
            N[: self.n_kept] += self.past.sum(axis=0)

    def sample(self, rows: Int) -> Self:
        """Return what steers the fit of some of the documents."""
        return self if self.labels is None else replace(self, labels=self.labels.sample(rows))

    def mergeable(self, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the pairs of topics that may become one, (n, 2), a topic that is kept first.

        Nothing is merged into the topic of a label, which few documents may use.
        """
        if not self.n_kept:
            return pairs
        low, high = pairs.min(axis=1), pairs.max(axis=1)
        pairs = np.where((low < self.n_kept)[:, None], np.stack([low, high], axis=1), pairs)
        return np.asarray(pairs[(high >= self.n_kept) & (low >= self.n_labels)], dtype=np.int64)


UNSTEERED = Steering()


def add_pseudo(pseudo: sparse.csr_array, S: Float, N: Float, sign: float = 1.0) -> None:
    """Add pseudo-counts to tables S (W, K) and N (K,), or take them out."""
    entries = pseudo.tocoo()
    S[entries.row, entries.col] += sign * entries.data
    N[: pseudo.shape[1]] += sign * pseudo.sum(axis=0)


def in_units(counts: Float) -> Float:
    """Return counts as whole units, so that sums with them are exact.                               math.md (C15)"""
    return np.asarray(np.floor(counts * UNITS + 0.5) * UNIT, dtype=np.float64)


def seeded(words: list[list[int]], n_words: int, tokens: float, labels: DocumentLabels | None = None) -> Steering:
    """Return what seeds, and labels, say of a fit.                                                  math.md (C18)

    Parameters
    ----------
    words : list of lists of int
        The words of each topic that is kept, none twice; none of a label that has no seed.
    n_words : int
        W.
    tokens : float
        Pseudo-tokens of each seed, shared by its words.
    labels : DocumentLabels, optional
    """
    return expected(pseudo_of(words, n_words, tokens), labels)


def expected(pseudo: sparse.csr_array, labels: DocumentLabels | None = None) -> Steering:
    """Return what pseudo-counts (W, n_kept) of the first topics, and labels, say of a fit.        math.md (C18)"""
    whole = sparse.csr_array(pseudo, copy=True)
    whole.data = np.maximum(in_units(whole.data), UNIT)
    n_kept, n_labels = int(pseudo.shape[1]), 0 if labels is None else labels.n_labels
    return Steering(n_kept, n_kept, n_labels, whole, labels=labels)
