"""Batches of counts whose tokens are the observations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from stickbreak.corpus import Corpus
from stickbreak.fitting.executor import Executor, shards
from stickbreak.likelihoods import TokenLikelihood
from stickbreak.numerics.arrays import Float, Int
from stickbreak.variational.documents import DocumentTopics, runs
from stickbreak.variational.kernels import statistics as statistics_kernels
from stickbreak.variational.observations import SHARD_COUNTS, Visit
from stickbreak.variational.state import GlobalParameters

EXPLAINS = 1 / 300  # tau_kw from which exp(E log phi_kw) is no zero of doubles, whatever else multiplies it


@dataclass(frozen=True, slots=True)
class Batch:
    """The counts of a set of documents over the words that occur in it: every token is an observation."""

    likelihood: TokenLikelihood
    indptr: Int  # (D_b + 1,)
    word: np.ndarray  # int32 (nnz,)   row of `words`
    count: Float  # (nnz,)
    words: np.ndarray  # int32 (W_b,)   ascending word numbers
    lengths: Float  # (D_b,)   tokens of a document

    @classmethod
    def from_corpus(cls, corpus: Corpus, likelihood: TokenLikelihood) -> Batch:
        """Take the counts of a corpus (the documents of one batch)."""
        counts = corpus.counts
        occurs = np.zeros(corpus.n_words, dtype=bool)
        occurs[counts.indices] = True
        row = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
        return cls(
            likelihood,
            counts.indptr.astype(np.int64),
            row[counts.indices],
            counts.data.astype(np.float64),
            np.flatnonzero(occurs).astype(np.int32),
            np.asarray(counts.sum(axis=1), dtype=np.float64).ravel(),
        )

    @property
    def n_documents(self) -> int:
        """Number of documents in the batch."""
        return self.indptr.size - 1

    def selected(self, rows: Int) -> Batch:
        """Return some of the documents, over the same words."""
        indptr, place = runs(self.indptr, rows)
        return Batch(self.likelihood, indptr, self.word[place], self.count[place], self.words, self.lengths[rows])

    @classmethod
    def joined(cls, parts: Sequence[Batch]) -> Batch:
        """Return the documents of several batches over all their words."""
        words = np.concatenate([part.words[part.word] for part in parts])
        occurring, word = np.unique(words, return_inverse=True)
        sizes = np.concatenate([np.diff(part.indptr) for part in parts])
        return cls(
            parts[0].likelihood,
            np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
            word.astype(np.int32),
            np.concatenate([part.count for part in parts]),
            occurring.astype(np.int32),
            np.concatenate([part.lengths for part in parts]),
        )

    def under(self, likelihood: TokenLikelihood) -> Batch:
        """Return the same counts under a likelihood whose hyperparameters may have been learned."""
        return self if likelihood is self.likelihood else replace(self, likelihood=likelihood)

    def over_own_rows(self) -> Batch:
        """Return the same counts for a table of topics that has only the rows of these words."""
        return replace(self, words=np.arange(self.words.size, dtype=np.int32))

    def weigh(self, parameters: GlobalParameters, executor: Executor) -> Float:
        """Return exp(E log phi_kw) of the words, (W_b, K).                                    math.md (V4)"""
        weights = np.empty((self.words.size, parameters.n_topics))

        def weigh(rows: tuple[int, int]) -> None:
            part = slice(*rows)
            self.likelihood.weigh(parameters.tau, parameters.tau_sum, self.words[part], weights[part])

        executor.map(weigh, shards(np.full(self.words.size, parameters.n_topics), SHARD_COUNTS))
        return weights

    def feasible(self, start: DocumentTopics, weights: Float) -> DocumentTopics:
        """Return the start: the prior of the topics gives every word some probability in each."""
        return start

    def reopened(self, start: DocumentTopics, parameters: GlobalParameters) -> DocumentTopics:
        """Return the start without what it says of documents whose topics cannot explain one of their words.

        Under a small eta a topic gives a word that it has never seen probability zero. Where the topic that went was
        the only one of a document that knows the word, the document must begin with all topics.
        """
        able = np.empty(self.n_documents, dtype=bool)
        statistics_kernels.explains_all(
            self.indptr, self.word, start.indptr, start.topic, parameters.tau, EXPLAINS, able
        )
        rows = np.flatnonzero(~able)
        return start.replaced(rows, DocumentTopics.empty(rows.size)) if rows.size else start

    def statistics(self, visit: Visit, executor: Executor) -> tuple[Float, Float]:
        """Return S (W_b, K) and sum_w S_wk log weights_wk (K,), word by word.                 math.md (V8)"""
        return row_sums(visit, self.words.size, executor)

    def gathered_statistics(
        self, documents: DocumentTopics, share_ptr: Int, share: Float, n_topics: int
    ) -> tuple[Float, Float]:
        """Return S (W_b, K) and H (K,) of documents whose responsibilities are stored.                  math.md (V8)"""
        S, H = np.zeros((self.words.size, n_topics)), np.zeros(n_topics)
        statistics_kernels.share_statistics(
            self.indptr, self.word, self.count, documents.indptr, documents.topic, share_ptr, share, S, H
        )
        return S, H


def row_sums(visit: Visit, n_rows: int, executor: Executor) -> tuple[Float, Float]:
    """Return R_ik = sum c r over the observations of row i of the weights, (n_rows, K), and sum_i R_ik log weights_ik.

    Row by row, so that the sums do not depend on the number of threads.                         math.md (V8)
    """
    batch, docs, n_topics = visit.batch, visit.documents, visit.weights.shape[1]
    pointer, position = statistics_kernels.group_by_word(batch.word, n_rows)
    document = np.repeat(np.arange(batch.n_documents), np.diff(batch.indptr))
    R = np.zeros((n_rows, n_topics))

    def spread(rows: tuple[int, int]) -> Float:
        cross = np.zeros(n_topics)
        statistics_kernels.word_statistics(
            *rows, pointer, position, document, visit.ratio, docs.indptr, docs.topic, visit.weight, visit.weights,
            R, cross,
        )  # fmt: skip
        return cross

    return R, sum(executor.map(spread, shards(np.diff(pointer), SHARD_COUNTS)), np.zeros(n_topics))
