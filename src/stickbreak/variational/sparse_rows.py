"""`SparseRows`: the word statistics S of one batch without their zeros (math.md (V8)).

Memoized inference keeps S of every batch, (W_b, K). A word meets in a batch only the topics of the few documents that
hold it, so that most entries are exactly zero: dense, they would cost more memory than everything else together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stickbreak.numerics.arrays import Float, Int
from stickbreak.variational.kernels import rows as row_kernels

NARROW = 2**16  # topics whose numbers fit two bytes


@dataclass(frozen=True, slots=True)
class SparseRows:
    """A table of R rows and K topics, compressed by rows; entries that are not listed are exactly zero.

    An entry takes 10 bytes (12 for more than 65,536 topics), so that this pays below a share of 0.8.
    """

    n_topics: int  # K
    indptr: Int  # int64 (R + 1,)
    topic: NDArray[np.uint16 | np.int32]  # (nnz,) ascending within a row
    value: Float  # (nnz,)

    @classmethod
    def from_dense(cls, table: Float) -> SparseRows:
        """Compress a table of shape (R, K)."""
        n_rows, n_topics = table.shape
        indptr = np.empty(n_rows + 1, np.int64)
        row_kernels.count_entries(table, indptr)
        topic, value = np.empty(int(indptr[-1]), topic_type(n_topics)), np.empty(indptr[-1])
        row_kernels.take_entries(table, indptr, topic, value)
        return cls(n_topics, indptr, topic, value)

    @property
    def n_rows(self) -> int:
        """Number of rows R."""
        return self.indptr.size - 1

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self.indptr.nbytes + self.topic.nbytes + self.value.nbytes

    def dense(self) -> Float:
        """Return the table, (R, K)."""
        out = np.zeros((self.n_rows, self.n_topics))
        self.add_to(out, np.arange(self.n_rows, dtype=np.int32))
        return out

    def add_to(self, table: Float, rows: NDArray[np.int32], sign: float = 1.0) -> None:
        """Add sign times row i to row `rows[i]` of a dense table with the same topics, in place.

        Parameters
        ----------
        table : ndarray of shape (W, K)
        rows : ndarray of shape (R,)
            Without repeats, as in a batch's `words`.
        sign : float, default=1.0

        Raises
        ------
        ValueError
            If the table has another number of topics, or `rows` another length.
        """
        if table.shape[1] != self.n_topics or rows.size != self.n_rows:
            raise ValueError(
                f"{self.n_rows} rows of {self.n_topics} topics cannot be added to {rows.size} rows of {table.shape[1]}"
            )
        row_kernels.add_entries(self.indptr, self.topic, self.value, rows, sign, table)

    def relabelled(self, new_index: Int, n_topics: int) -> SparseRows:
        """Return the table with topic k called `new_index[k]`, -1 dropped; topics with equal new index are pooled.

        Parameters
        ----------
        new_index : ndarray of shape (K,)
            Each below `n_topics`; a new topic that no old one becomes has no entries.
        n_topics : int
            Topics of the new table.

        Returns
        -------
        SparseRows
        """
        indptr = np.empty_like(self.indptr)
        topic, value = np.empty(self.topic.size, topic_type(n_topics)), np.empty(self.topic.size)
        size = row_kernels.relabel_entries(
            self.indptr, self.topic, self.value, new_index, n_topics, indptr, topic, value
        )
        if size < topic.size:
            topic, value = topic[:size].copy(), value[:size].copy()  # not views, which would keep the whole
        return SparseRows(n_topics, indptr, topic, value)


def topic_type(n_topics: int) -> type[np.uint16] | type[np.int32]:
    """Return the narrowest of the two types that hold topic numbers."""
    return np.uint16 if n_topics <= NARROW else np.int32
