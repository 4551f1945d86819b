"""The prior of the words of each topic: eta as a number or a table, and seeds (docs/math (L17))."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from stickbreak.exceptions import InputError
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.pseudo_counts import Eta
from stickbreak.numerics.ranges import LARGEST, SMALLEST


@dataclass(frozen=True, slots=True)
class WordPrior:
    """phi_k ~ Dir(base + pseudo_k); a topic beyond the columns of `pseudo` has the base alone.        docs/math (L17)

    The topics with pseudo-counts come first and keep their numbers.
    """

    base: Eta  # a number, or (W,)
    pseudo: sparse.csr_array | None = None  # (W, n_kept)

    @property
    def n_kept(self) -> int:
        """Number of topics with pseudo-counts of their own."""
        return 0 if self.pseudo is None else int(self.pseudo.shape[1])

    def table(self, n_topics: int) -> Float:
        """Return the pseudo-counts of all topics, (W, K); 0 of those that have none."""
        assert self.pseudo is not None
        return np.pad(self.pseudo.toarray(), ((0, 0), (0, n_topics - self.n_kept)))


def base_of(eta: Any) -> Eta:
    """Return eta of the topics that have no prior of their own: of a table (K, W) its smallest number."""
    array = np.asarray(eta, dtype=np.float64)
    return array.copy() if array.ndim == 1 else float(array.min())


def pseudo_of(words: Sequence[Sequence[int]], n_words: int, tokens: float) -> sparse.csr_array:
    """Return the pseudo-counts of topics with these words, (W, K): `tokens` for each, shared by its words."""
    topic = np.repeat(np.arange(len(words)), [len(row) for row in words])
    place = np.array([w for row in words for w in row], dtype=np.int64), topic
    each = np.array([tokens / len(row) for row in words for _ in row])
    return sparse.csr_array((each, place), shape=(n_words, len(words)))


def in_order(pseudo: sparse.csr_array | None, columns: list[int], n_words: int) -> sparse.csr_array:
    """Return pseudo-counts with the columns in another order; an empty one for -1."""
    if pseudo is None:
        return sparse.csr_array((n_words, len(columns)))
    wide = sparse.csc_array(sparse.hstack([pseudo, sparse.csr_array((n_words, 1))]))
    return sparse.csr_array(wide[:, columns])


def check_eta(eta: Any) -> None:
    """Refuse what cannot be an eta, whatever the documents.

    Raises
    ------
    InputError
    """
    shape = "a number, one for each word (W,), or a row for each of the first topics (K, W)"
    try:
        array = np.asarray(eta, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"eta is {eta!r:.60}, not an array of numbers; give {shape}.") from None
    if array.ndim > 2 or not array.size:
        raise InputError(f"eta is an array of shape {array.shape}; give {shape}.")
    if not bool(((array >= SMALLEST) & (array <= LARGEST)).all()):  # false for NaN
        raise InputError(
            f"eta holds a number outside of {SMALLEST:g} to {LARGEST:g}; give pseudo-counts in this range."
        )
