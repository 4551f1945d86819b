"""Which words occur together: the normalised co-occurrence matrix, never formed as a whole (Arora et al. 2013)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from stickbreak.corpus import Corpus
from stickbreak.numerics.arrays import Float, Real

BLOCK_BYTES = 2**27  # of the (D, columns) table of a product
NO_PAIRS = 1e-9  # a document that holds a smaller share of pairs of different tokens has none


@dataclass(frozen=True, slots=True, eq=False)
class Cooccurrence:
    """The words of a pair of tokens of one document, every document with pairs counting the same.

    Q_wv is the mean over documents of the probability that two different tokens of the document are w and v:

        Q_d = (h_d h_d' - diag(s_d)) / (n_d^2 - sum_w s_dw),     s_dw = floor(h_dw) + (h_dw - floor(h_dw))^2

    For whole counts s_d = h_d, the unbiased form of Arora et al. A weight of 2.3 counts as two tokens and one that
    weighs 0.3: s_dw is what these pair with themselves. The class holds Qbar, Q with rows that sum to one, by its
    factors.                                                                            docs/math (A1)
    """

    left: sp.csr_matrix  # (W, D)  p_dw / (1 - sum_w s_dw / n_d^2), p_dw = h_dw / n_d; zero for documents without pairs
    right: sp.csr_matrix  # (D, W)  p_dw
    itself: Float  # (W,)  sum_d of the diagonal that is taken off
    mass: Float  # (W,)  row sums of Q; zero for words that never occur together with another token
    n_documents: NDArray[np.int64]  # (W,)  documents with pairs that hold the word

    @classmethod
    def of(cls, corpus: Corpus) -> Self:
        """Return the co-occurrence of the words of a corpus."""
        lengths = corpus.document_lengths.astype(np.float64)
        counts = corpus.counts.astype(np.float64)
        per_document = np.diff(counts.indptr)
        n = np.repeat(lengths, per_document)
        whole = np.floor(counts.data)
        share = counts.data / n
        same = whole / n / n + ((counts.data - whole) / n) ** 2  # s_dw / n_d^2
        document = np.repeat(np.arange(corpus.n_documents), per_document)
        pairs = 1.0 - np.bincount(document, same, corpus.n_documents)
        scale = np.divide(1.0, pairs, out=np.zeros_like(pairs), where=(pairs > NO_PAIRS) & (lengths > 0))
        of_count = np.repeat(scale, per_document)
        right = sp.csr_matrix((share, counts.indices, counts.indptr), shape=counts.shape)
        left = sp.csr_matrix((share * of_count, counts.indices, counts.indptr), shape=counts.shape).T.tocsr()
        itself: Float = np.bincount(counts.indices, same * of_count, corpus.n_words).astype(np.float64)
        # A row of Q_d sums to (h_dw n_d - s_dw) / (n_d^2 - sum_w s_dw).
        mass: Float = np.bincount(counts.indices, (share - same) * of_count, corpus.n_words).astype(np.float64)
        n_documents = np.bincount(counts.indices[of_count > 0], minlength=corpus.n_words)
        return cls(left, right, itself, mass, n_documents)

    def blocks(self, n_columns: int) -> Iterator[slice]:
        """Cut columns into slices whose product with all documents fits in the memory set aside."""
        width = max(1, BLOCK_BYTES // (8 * max(self.right.shape)))
        for begin in range(0, n_columns, width):
            yield slice(begin, min(begin + width, n_columns))

    def times(self, columns: Real, words: NDArray[np.int64]) -> Real:
        """Return the rows `words` of Qbar times columns (W, n) as an array of shape (words, n), as precise as these.

        Qbar R = diag(q)^-1 (left (right R) - diag(itself) R): two sparse products.     docs/math (A1)
        Words without a partner have no row to ask for.
        """
        kind = columns.dtype
        left, right = self.left[words].astype(kind, copy=False), self.right.astype(kind, copy=False)
        product: Real = left @ (right @ columns)
        product -= self.itself[words, None].astype(kind, copy=False) * columns[words]
        product /= self.mass[words, None].astype(kind, copy=False)
        return product

    def rows(self, words: NDArray[np.int64]) -> Float:
        """Return rows of Qbar, (words, W): distributions of the partner of a word."""
        rows: Float = (self.left[words] @ self.right).toarray()
        rows[np.arange(words.size), words] -= self.itself[words]
        rows /= self.mass[words, None]
        return rows
