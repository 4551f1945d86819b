"""Weights of documents where another inference stands: a start never holds a table of all documents and topics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import sparse

from stickbreak.numerics.arrays import Float

__all__ = ["StartingWeights"]


@dataclass(frozen=True, slots=True)
class StartingWeights:
    """Weights of D documents in K topics, of any sum.

    Attributes
    ----------
    of_all : ndarray of shape (K,)
        What every document has.
    own : csr_array of shape (D, K), optional
        What each has besides: few topics of many.
    """

    of_all: Float
    own: sparse.csr_array | None = None

    @classmethod
    def of_table(cls, theta: Float) -> Self:
        """Return the weights of a table (D, K)."""
        return cls(np.zeros(theta.shape[1]), sparse.csr_array(theta))

    @property
    def n_topics(self) -> int:
        """Number of topics K."""
        return self.of_all.size

    def rows(self, first: int, n: int) -> Float:
        """Return the weights of n documents from the first on, (n, K), as a table that can be written into."""
        found = np.zeros((n, self.n_topics)) if self.own is None else self.own[first : first + n].toarray()
        found += self.of_all
        return found
