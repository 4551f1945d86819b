"""The counts of a minibatch over the words that occur in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import shards
from stickbreak.numerics.arrays import Float, Int, Int32

SHARD_COUNTS = 4_096  # stored counts of a shard
MOST_SHARDS = 8  # each has a table of its own for the statistics of its documents


@dataclass(frozen=True, slots=True)
class Minibatch:
    """Documents of a step."""

    indptr: Int  # (D_b + 1,)
    word: Int32  # (nnz,)   row of `words`
    count: Float  # (nnz,)
    words: NDArray[np.integer]  # (W_b,)   ascending word numbers

    @classmethod
    def from_corpus(cls, corpus: Corpus) -> Minibatch:
        """Take the counts of a corpus."""
        counts = corpus.counts
        words, word = np.unique(counts.indices, return_inverse=True)
        indptr, count = counts.indptr.astype(np.int64), counts.data.astype(np.float64)
        return cls(indptr, word.astype(np.int32).ravel(), count, words)

    @property
    def n_documents(self) -> int:
        """Documents, empty ones among them."""
        return self.indptr.size - 1

    @property
    def n_tokens(self) -> float:
        """Tokens of all documents."""
        return float(self.count.sum())

    def shards(self) -> list[tuple[int, int]]:
        """Cut the documents into runs, by their sizes alone: [(first, last), ...]."""
        target = max(SHARD_COUNTS, -(-self.count.size // MOST_SHARDS))
        return shards(np.diff(self.indptr), target)
