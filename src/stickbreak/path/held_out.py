"""Tokens that are held out of fitted topics, to say what a join of topics costs (math.md (J1))."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.streams import stream

SHARE = 0.1  # of the tokens of a document
MOST_TOKENS = 50_000  # about, in all
MOST_TOPICS = 2000  # that are joined pair by pair: the work grows with the third power of their number
MOST_WEIGHTS = 1 << 23  # of topics in documents: 64 MiB


@dataclass(frozen=True, slots=True)
class HeldOutTokens:
    """I counts of words in D documents: stored as a sparse matrix by rows, with the words that occur numbered."""

    indptr: Int  # (D + 1,)
    word: Int  # (I,)  number among `words`
    count: Float  # (I,)
    words: NDArray[np.integer]  # (W',)  their columns in the model

    @classmethod
    def of(cls, counts: sparse.csr_matrix) -> HeldOutTokens:
        """Take them from a table of counts, (D, W)."""
        words, word = np.unique(counts.indices, return_inverse=True)
        return cls(counts.indptr.astype(np.int64), word.astype(np.int64), counts.data.astype(np.float64), words)

    @property
    def n_documents(self) -> int:
        """Documents D."""
        return self.indptr.size - 1

    @property
    def n_tokens(self) -> float:
        """Tokens in all."""
        return float(self.count.sum())

    @property
    def document(self) -> Int:
        """Document of each count, (I,)."""
        return np.repeat(np.arange(self.n_documents), np.diff(self.indptr))

    def by_document(self, values: Float) -> Float:
        """Return the sums of values of the counts, (I,), over each document, (D,)."""
        return np.bincount(self.document, values, minlength=self.n_documents).astype(np.float64)


def hold_out(corpus: Corpus, n_topics: int, seed: int) -> tuple[Corpus, HeldOutTokens]:
    """Take a tenth of the tokens out of documents that are drawn at random, about 50,000 tokens at most.

    Each token is taken with probability `SHARE`; of a weight only its whole part counts as tokens. Documents without a
    token taken are left out. For many topics there are fewer documents: K D is at most `MOST_WEIGHTS`.

    Parameters
    ----------
    corpus : Corpus
    n_topics : int
        K.
    seed : int

    Returns
    -------
    observed : Corpus
        The other tokens of the D documents.
    held_out : HeldOutTokens
        Of the same documents.

    Raises
    ------
    InputError
        If no token was taken, or there are more topics than can be joined in a few minutes.
    """
    if n_topics > MOST_TOPICS:
        raise InputError(
            f"the model has {n_topics} topics, too many to join pair by pair; fit with {MOST_TOPICS} or fewer."
        )
    rng = stream(seed, "tokens held out of joined topics")
    order = rng.permutation(corpus.n_documents)
    expected = SHARE * np.cumsum(np.asarray(corpus.document_lengths, dtype=np.float64)[order])
    n = int(np.searchsorted(expected, MOST_TOKENS)) + 1
    rows = np.sort(order[: min(n, max(1, MOST_WEIGHTS // n_topics))])
    counts = corpus.counts[rows]
    taken = rng.binomial(np.floor(counts.data).astype(np.int64), SHARE)
    held = _with_data(counts, taken.astype(np.float64))
    filled = np.flatnonzero(np.diff(held.indptr))
    if filled.size == 0:
        raise InputError(
            f"the documents hold {corpus.n_tokens:.12g} tokens, too few to hold some of them out; give more documents."
        )
    observed = _with_data(counts, counts.data - taken)[filled]
    return Corpus.from_counts(observed, vocabulary=corpus.vocabulary), HeldOutTokens.of(held[filled])


def _with_data(pattern: sparse.csr_matrix, data: NDArray) -> sparse.csr_matrix:
    """Return a table with other numbers in the same places, without zeros."""
    table = sparse.csr_matrix((data, pattern.indices.copy(), pattern.indptr.copy()), shape=pattern.shape)
    table.eliminate_zeros()
    return table
