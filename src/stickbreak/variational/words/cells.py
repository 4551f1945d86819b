"""Batches in which every document has an observation of every word: how often it is there, zeros included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from stickbreak.corpus import Corpus
from stickbreak.fitting.executor import Executor
from stickbreak.likelihoods import CountLikelihood
from stickbreak.numerics.arrays import Float, Int, Int32
from stickbreak.variational.documents import DocumentTopics, runs
from stickbreak.variational.feasible import EXPLAINS, with_explanations
from stickbreak.variational.kernels import statistics as statistics_kernels
from stickbreak.variational.observations import Visit
from stickbreak.variational.state import GlobalParameters
from stickbreak.variational.words.batch import row_sums


@dataclass(frozen=True)
class Cells:
    """The table of counts of a set of documents, cell by cell (math.md (V20)).

    Equal counts of a word have the same weights: a row of the weights stands for one pair (word, count).
    """

    likelihood: CountLikelihood
    indptr: Int  # (D_b + 1,) steps of W
    word: Int32  # (D_b W,) which pair each cell is
    pair_word: Int32  # (P,) the word of each pair
    pair_count: Float  # (P,) its count

    @classmethod
    def from_corpus(cls, corpus: Corpus, likelihood: CountLikelihood) -> Cells:
        """Take the counts of a corpus (the documents of one batch)."""
        counts, D, W = corpus.counts, corpus.n_documents, corpus.n_words
        held = np.stack([counts.indices.astype(np.float64), counts.data.astype(np.float64)], axis=1)
        pairs, which = np.unique(held, axis=0, return_inverse=True)
        row = np.repeat(np.arange(D), np.diff(counts.indptr))
        cell = np.tile(np.arange(W, dtype=np.int32), (D, 1))  # pairs 0..W - 1: the word is not there
        cell[row, counts.indices] = W + which.ravel()
        return cls(
            likelihood,
            np.arange(D + 1, dtype=np.int64) * W,
            cell.ravel(),
            np.concatenate([np.arange(W), pairs[:, 0]]).astype(np.int32),
            np.concatenate([np.zeros(W), pairs[:, 1]]),
        )

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return self.indptr.size - 1

    @cached_property
    def count(self) -> Float:
        """Ones, (D_b W,): each cell is one observation."""
        return np.ones(self.word.size)

    @cached_property
    def words(self) -> Int32:
        """The rows of S: all of them."""
        return np.arange(self.likelihood.n_rows, dtype=np.int32)

    @cached_property
    def lengths(self) -> Float:
        """Observations of each document, (D_b,): W."""
        return np.diff(self.indptr).astype(np.float64)

    def selected(self, rows: Int) -> Cells:
        """Return some of the documents."""
        indptr, place = runs(self.indptr, rows)
        return replace(self, indptr=indptr, word=self.word[place])

    @classmethod
    def joined(cls, parts: Sequence[Cells]) -> Cells:
        """Return the documents of several batches, one after the other."""
        pairs = np.concatenate([np.stack([part.pair_word, part.pair_count], axis=1) for part in parts])
        union, which = np.unique(pairs, axis=0, return_inverse=True)
        begin = np.concatenate(([0], np.cumsum([part.pair_word.size for part in parts])))
        word = [which.ravel()[first + part.word] for part, first in zip(parts, begin, strict=False)]
        sizes = np.concatenate([np.diff(part.indptr) for part in parts])
        return cls(
            parts[0].likelihood,
            np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
            np.concatenate(word).astype(np.int32),
            union[:, 0].astype(np.int32),
            union[:, 1],
        )

    def under(self, likelihood: CountLikelihood) -> Cells:
        """Return the same cells under a likelihood whose hyperparameters may have been learned."""
        return self if likelihood is self.likelihood else replace(self, likelihood=likelihood)

    def over_own_rows(self) -> Cells:
        """Return the same: the batch adds to all rows of S."""
        return self

    def weigh(self, parameters: GlobalParameters, executor: Executor) -> Float:
        """Return exp(E log p(x | phi_k) - s) of each pair, the largest being 1, (P, K).         math.md (V20)"""
        posterior = self.likelihood.posterior(parameters.tau, parameters.tau_sum)
        expected = self.likelihood.expected_log(posterior, self.pair_word, self.pair_count)
        return np.exp(expected - expected.max(axis=1, keepdims=True))

    def feasible(self, start: DocumentTopics, weights: Float) -> DocumentTopics:
        """Return the start with the best topic of each cell that none of its document's topics explains."""
        return with_explanations(self, start, weights, EXPLAINS)

    def reopened(self, start: DocumentTopics, parameters: GlobalParameters) -> DocumentTopics:
        """Return the start: every local step makes it feasible."""
        return start

    def statistics(self, visit: Visit, executor: Executor) -> tuple[Float, Float]:
        """Return S (rows, K) and sum r log weights of each topic, (K,).                       math.md (V8)"""
        R, cross = row_sums(visit, self.pair_word.size, executor)
        return self.likelihood.statistics(self.pair_word, self.pair_count, R), cross

    def gathered_statistics(
        self, documents: DocumentTopics, share_ptr: Int, share: Float, n_topics: int
    ) -> tuple[Float, Float]:
        """Return S (rows, K) and H (K,) of documents whose responsibilities are stored."""
        R, H = np.zeros((self.pair_word.size, n_topics)), np.zeros(n_topics)
        statistics_kernels.share_statistics(
            self.indptr, self.word, self.count, documents.indptr, documents.topic, share_ptr, share, R, H
        )
        return self.likelihood.statistics(self.pair_word, self.pair_count, R), H
