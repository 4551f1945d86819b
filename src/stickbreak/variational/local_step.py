"""The local step of a batch (math.md (V5)), and what responsibilities and weights sum to (math.md (V8))."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from stickbreak.corpus import Corpus
from stickbreak.fitting.executor import Executor, shards
from stickbreak.numerics.arrays import Float, Int
from stickbreak.variational.kernels import ascent as ascent_kernels
from stickbreak.variational.kernels import statistics as statistics_kernels
from stickbreak.variational.objective import rises
from stickbreak.variational.observations import SHARD_COUNTS, Observations, Visit
from stickbreak.variational.state import DocumentTopics, GlobalParameters, PairStatistics, Summary, runs


@dataclass(frozen=True, slots=True)
class Batch:
    """The counts of a set of documents over the words that occur in it."""

    indptr: Int  # (D_b + 1,)
    word: np.ndarray  # int32 (nnz,)   row of `words`
    count: Float  # (nnz,)
    words: np.ndarray  # int32 (W_b,)   ascending word numbers
    lengths: Float  # (D_b,)   tokens of a document

    @classmethod
    def from_corpus(cls, corpus: Corpus) -> Batch:
        """Take the counts of a corpus (the documents of one batch)."""
        counts = corpus.counts
        occurs = np.zeros(corpus.n_words, dtype=bool)
        occurs[counts.indices] = True
        row = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
        return cls(
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
        return Batch(indptr, self.word[place], self.count[place], self.words, self.lengths[rows])

    @classmethod
    def joined(cls, parts: Sequence[Batch]) -> Batch:
        """Return the documents of several batches over all their words."""
        words = np.concatenate([part.words[part.word] for part in parts])
        occurring, word = np.unique(words, return_inverse=True)
        sizes = np.concatenate([np.diff(part.indptr) for part in parts])
        return cls(
            np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
            word.astype(np.int32),
            np.concatenate([part.count for part in parts]),
            occurring.astype(np.int32),
            np.concatenate([part.lengths for part in parts]),
        )

    def under(self, likelihood: object) -> Batch:
        """Return the same counts: their weights follow from the globals alone."""
        return self

    def over_own_rows(self) -> Batch:
        """Return the same counts for a table of topics that has only the rows of these words."""
        return replace(self, words=np.arange(self.words.size, dtype=np.int32))

    def weigh(self, parameters: GlobalParameters, executor: Executor) -> Float:
        """Return exp(E log phi_kw) of the words, (W_b, K).                                    math.md (V4)"""
        return word_weights(self.words, parameters, executor)

    def feasible(self, start: DocumentTopics, weights: Float) -> DocumentTopics:
        """Return the start: the prior of the topics gives every word some probability in each."""
        return start

    def statistics(self, visit: Visit, executor: Executor) -> tuple[Float, Float]:
        """Return S (W_b, K) and sum_w S_wk log weights_wk (K,), word by word.                 math.md (V8)"""
        docs, n_topics = visit.documents, visit.weights.shape[1]
        pointer, position = statistics_kernels.group_by_word(self.word, self.words.size)
        document = np.repeat(np.arange(self.n_documents), np.diff(self.indptr))
        S = np.zeros((self.words.size, n_topics))

        def spread(rows: tuple[int, int]) -> Float:
            cross = np.zeros(n_topics)
            statistics_kernels.word_statistics(
                *rows, pointer, position, document, visit.ratio, docs.indptr, docs.topic, visit.weight,
                visit.weights, S, cross,
            )  # fmt: skip
            return cross

        return S, sum(executor.map(spread, shards(np.diff(pointer), SHARD_COUNTS)), np.zeros(n_topics))

    def gathered_statistics(
        self, documents: DocumentTopics, share_ptr: Int, share: Float, n_topics: int
    ) -> tuple[Float, Float]:
        """Return S (W_b, K) and H (K,) of documents whose responsibilities are stored.                  math.md (V8)"""
        S, H = np.zeros((self.words.size, n_topics)), np.zeros(n_topics)
        statistics_kernels.share_statistics(
            self.indptr, self.word, self.count, documents.indptr, documents.topic, share_ptr, share, S, H
        )
        return S, H


class LocalSettings(NamedTuple):
    """When the local step of a document stops."""

    tolerance: float = 1e-4  # largest change of an N_dk
    max_sweeps: int = 100
    restarts: int = 0  # topics of a document that are tried to be left out
    accelerate: bool = True  # extrapolate; without, every sweep is plain


def local_step(
    batch: Observations,
    parameters: GlobalParameters,
    alpha: float,
    start: DocumentTopics | None,
    settings: LocalSettings,
    executor: Executor,
    among: Visit | None = None,
) -> Visit:
    """Run the local step of every document of a batch.

    Parameters
    ----------
    batch : Observations
    parameters : GlobalParameters
    alpha : float
        Document-level concentration.
    start : DocumentTopics or None
        Expected counts from an earlier visit; documents without any (and all, if None) start at E[beta].
    settings : LocalSettings
    executor : Executor
    among : Visit, optional
        Another visit of the batch under the same parameters, whose word weights are used again.

    Returns
    -------
    Visit
    """
    prior = alpha * parameters.expected_beta
    weights = batch.weigh(parameters, executor) if among is None else among.weights
    start = DocumentTopics.empty(batch.n_documents) if start is None else batch.feasible(start, weights)

    def run(rows: tuple[int, int]) -> tuple[np.ndarray, ...]:
        return _shard_step(batch, rows, weights, prior, start, settings)

    parts = executor.map(run, shards(np.diff(batch.indptr), SHARD_COUNTS))
    topic, n_dk, weight, entropy, ratio, n_active, sweeps, value, tally = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    indptr = np.concatenate(([0], np.cumsum(n_active)))
    return Visit(
        batch,
        prior,
        weights,
        ratio,
        DocumentTopics(indptr, topic, n_dk),
        weight,
        entropy,
        sweeps,
        value,
        tally.sum(axis=0),
    )


def word_weights(words: np.ndarray, parameters: GlobalParameters, executor: Executor) -> Float:
    """Return exp(E log phi_kw) of some words, (W_b, K).                                       math.md (V4)"""
    weights = np.empty((words.size, parameters.n_topics))

    def weigh(rows: tuple[int, int]) -> None:
        part = slice(*rows)
        ascent_kernels.expected_word_weights(parameters.tau, parameters.tau_sum, words[part], weights[part])

    executor.map(weigh, shards(np.full(words.size, parameters.n_topics), SHARD_COUNTS))
    return weights


def _shard_step(
    batch: Observations,
    rows: tuple[int, int],
    weights: Float,
    prior: Float,
    start: DocumentTopics,
    settings: LocalSettings,
) -> tuple[np.ndarray, ...]:
    """Run the kernel over the documents first..last and close up the unused places."""
    first, last = rows
    low, high = batch.indptr[first], batch.indptr[last]
    indptr = batch.indptr[first : last + 1] - low
    start_ptr = start.indptr[first : last + 1]
    n_start = np.diff(start_ptr)
    capacity = np.where(n_start > 0, n_start, prior.size - 1)
    capacity[np.diff(indptr) == 0] = 0
    capacity_ptr = np.concatenate(([0], np.cumsum(capacity)))
    size = int(capacity_ptr[-1])
    topic, n_dk = np.empty(size, np.int32), np.empty(size)
    weight, entropy = np.empty(size), np.empty(size)
    ratio = np.empty(int(high - low))
    n_active, sweeps = np.empty(last - first, np.int64), np.empty(last - first, np.int64)
    value, tally = np.empty(last - first), np.zeros((1, 2), np.int64)
    ascent_kernels.local_step(
        indptr, batch.word[low:high], batch.count[low:high], weights, prior, start_ptr, start.topic, start.n_dk,
        capacity_ptr, settings.tolerance, settings.max_sweeps, settings.restarts,
        settings.accelerate,
        topic, n_dk, weight, entropy, ratio, n_active, sweeps, value, tally[0],
    )  # fmt: skip
    offset = np.arange(size) - np.repeat(capacity_ptr[:-1], capacity)
    used = offset < np.repeat(n_active, capacity)
    return topic[used], n_dk[used], weight[used], entropy[used], ratio, n_active, sweeps, value, tally


def better_of(one: Visit, other: Visit) -> Visit:
    """Return, document by document, the visit with the larger objective; ties go to the first.

    Both must be of the same batch under the same globals.
    """
    second = rises(other.value, one.value)
    of_count = np.repeat(second, np.diff(one.batch.indptr))
    rows = np.arange(second.size)
    picks = [
        (visit, np.repeat(chosen, np.diff(visit.documents.indptr)))
        for visit, chosen in ((one, ~second), (other, second))
    ]
    document = np.concatenate([np.repeat(rows, np.diff(v.documents.indptr))[use] for v, use in picks])
    order = np.argsort(document, kind="stable")
    topic, n_dk, weight, entropy = (
        np.concatenate([column[use] for column, (_, use) in zip(columns, picks, strict=True)])[order]
        for columns in zip(*((v.documents.topic, v.documents.n_dk, v.weight, v.entropy) for v, _ in picks), strict=True)
    )
    indptr = np.concatenate(([0], np.cumsum(np.bincount(document, minlength=rows.size)))).astype(np.int64)
    return replace(
        one,
        ratio=np.where(of_count, other.ratio, one.ratio),
        documents=DocumentTopics(indptr, topic, n_dk),
        weight=weight,
        entropy=entropy,
        sweeps=one.sweeps + other.sweeps,
        value=np.where(second, other.value, one.value),
        restarts=one.restarts + other.restarts,
    )


def summarise(visit: Visit, executor: Executor) -> Summary:
    """Return the additive statistics of a visited batch (math.md (V8))."""
    batch, docs = visit.batch, visit.documents
    n_topics = visit.weights.shape[1]
    S, cross = batch.statistics(visit, executor)
    T, Q, Q0 = np.zeros(n_topics + 1), np.zeros(n_topics + 1), 0.0
    if visit.prior is not None:
        T, Q, Q0 = weight_statistics(docs, batch.lengths, visit.prior, executor)
    tokens = np.bincount(docs.topic, weights=docs.n_dk, minlength=n_topics).astype(np.float64)
    # H_k = sum c r (log Z - log weight_dk - log weights_wk)                        math.md (V9)
    log_weight = np.log(np.maximum(visit.weight, np.finfo(float).tiny))
    own = np.bincount(docs.topic, weights=visit.entropy - docs.n_dk * log_weight, minlength=n_topics)
    return Summary(
        batch.n_documents,
        batch.words,
        S,
        tokens,
        own - cross,
        T,
        np.zeros(n_topics + 1)
        if visit.prior is None
        else -visit.prior * T,  # N - theta = -prior after the theta update
        Q,
        Q0,
    )


def weight_statistics(
    documents: DocumentTopics, lengths: Float, prior: Float, executor: Executor
) -> tuple[Float, Float, float]:
    """Return T (K + 1,), Q (K + 1,) and Q0 of documents at theta = prior + N (math.md (V8)).

    Parameters
    ----------
    documents : DocumentTopics
    lengths : ndarray of shape (D_b,)
        Tokens of each document.
    prior : ndarray of shape (K + 1,)
        alpha E[beta].
    executor : Executor
    """

    def reduce(rows: tuple[int, int]) -> tuple[Float, Float, float]:
        T, Q = np.zeros(prior.size), np.zeros(prior.size)
        first, last = rows
        Q0 = statistics_kernels.document_statistics(
            documents.indptr[first : last + 1], documents.topic, documents.n_dk, prior, lengths[first:last], T, Q
        )
        return T, Q, float(Q0)

    T, Q, Q0 = np.zeros(prior.size), np.zeros(prior.size), 0.0
    for part in executor.map(reduce, shards(np.diff(documents.indptr), SHARD_COUNTS)):
        T, Q, Q0 = T + part[0], Q + part[1], Q0 + part[2]
    return T, Q, Q0


def track_pairs(visit: Visit, left: Int, right: Int, executor: Executor) -> PairStatistics:
    """Return T, G, Q of the union of each pair and H' - H_l - H_m, over the batch (math.md (V12))."""
    batch, docs = visit.batch, visit.documents

    def run(rows: tuple[int, int]) -> PairStatistics:
        first, last = rows
        out = PairStatistics.zeros(left.size)
        if visit.prior is None:
            statistics_kernels.pair_entropies(
                batch.indptr[first : last + 1], batch.word, visit.ratio, visit.weights, docs.indptr[first : last + 1],
                docs.topic, visit.weight, left, right, out.H,
            )  # fmt: skip
            return out
        statistics_kernels.pair_statistics(
            batch.indptr[first : last + 1], batch.word, visit.ratio, visit.weights, visit.prior,
            batch.lengths[first:last], docs.indptr[first : last + 1], docs.topic, docs.n_dk, visit.weight, left, right,
            out.T, out.G, out.Q, out.H,
        )  # fmt: skip
        return out

    total = PairStatistics.zeros(left.size)
    for part in executor.map(run, shards(np.diff(batch.indptr), SHARD_COUNTS)):
        total.add(part)
    return total
