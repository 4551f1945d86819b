"""Batches of documents, the unit of work of every family."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from stickbreak.corpus.corpus import Corpus
from stickbreak.corpus.splits import checked_seed
from stickbreak.exceptions import InputError


def make_batches(corpus: Corpus, n_batches: int, *, seed: int = 0) -> list[np.ndarray]:
    """Partition the documents at random into batches.

    Parameters
    ----------
    corpus : Corpus
        Only its number of documents D matters.
    n_batches : int
        Number of batches; there are never more than documents.
    seed : int
        The same seed gives the same batches.

    Returns
    -------
    list of ndarray of int64
        Rows of each batch in increasing order. Sizes differ by at most 1, with the larger batches first.

    Raises
    ------
    InputError
        If `n_batches` is not at least 1.

    Examples
    --------
    >>> corpus = Corpus.from_counts([[1], [2], [3]])
    >>> [batch.tolist() for batch in make_batches(corpus, 2)]
    [[0, 2], [1]]
    """
    return partition(corpus.n_documents, n_batches, seed=seed)


@dataclass(frozen=True, slots=True)
class Cut:
    """One batch of a partition, as a job names it."""

    n: int  # these three: what `partition` was called with
    n_batches: int
    seed: int
    index: int  # number of the batch

    def rows(self) -> np.ndarray:
        """Return the rows of the batch; the partition is drawn once by each process."""
        return _known(self.n, self.n_batches, self.seed)[self.index]


def cuts(n: int, n_batches: int, *, seed: int) -> list[Cut]:
    """Return the batches of a partition as data."""
    return [Cut(n, n_batches, seed, index) for index in range(len(_known(n, n_batches, seed)))]


@lru_cache(maxsize=2)
def _known(n: int, n_batches: int, seed: int) -> list[np.ndarray]:
    return partition(n, n_batches, seed=seed)


def partition(n: int, n_batches: Any, *, seed: int = 0) -> list[np.ndarray]:
    """Partition n documents, groups or vectors at random, as `make_batches` does."""
    if not isinstance(n_batches, int | float | np.number) or not 1 <= n_batches < np.inf or n_batches != int(n_batches):
        raise InputError(f"n_batches is {n_batches!r:.40}; give a whole number from 1 upwards")
    order = np.random.default_rng(checked_seed(seed)).permutation(n)
    batches = np.array_split(order, min(int(n_batches), max(n, 1)))
    return [np.sort(batch) for batch in batches]
