"""The local step of a batch (docs/math (V5)): what it asks of observations and priors, and what results sum to (V8).

Observations are counts of words (`words.py`) or vectors (`vectors.py`); everything else is the same for both. The local
step sees a table of weights with a row for each observation, exp E log p(x | phi_k) up to a factor of the row; a word
stands for all its counts, a vector for itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from scipy.special import gammaln, psi

from stickbreak.fitting.engine import Engine, shards
from stickbreak.numerics.arrays import Float, Int
from stickbreak.variational.documents import DocumentTopics
from stickbreak.variational.kernels import ascent as ascent_kernels
from stickbreak.variational.kernels import statistics as statistics_kernels
from stickbreak.variational.kernels.statistics import Counts, Topics
from stickbreak.variational.objective import rises
from stickbreak.variational.state import GlobalParameters, PairStatistics, Summary

SHARD_COUNTS = 16_384  # stored counts of a shard: large enough to hide the hand-over, small enough to balance threads


class LocalSettings(NamedTuple):
    """When the local step of a document stops."""

    tolerance: float = 1e-4  # largest change of an N_dk
    max_sweeps: int = 100
    restarts: int = 0  # topics of a document that are tried to be left out
    accelerate: bool = True  # extrapolate; without, every sweep is plain


class Observations(Protocol):
    """The observations of a set of documents (of vectors: groups)."""

    @property
    def indptr(self) -> Int:
        """Observations of document d: indptr[d] to indptr[d + 1], (D_b + 1,)."""

    @property
    def word(self) -> Any:
        """Row of each observation in the table of weights, (nnz,)."""

    @property
    def count(self) -> Float:
        """How often each was observed, (nnz,)."""

    @property
    def words(self) -> Any:
        """The rows of S that the batch adds to, int32 ascending."""

    @property
    def lengths(self) -> Float:
        """Total count of each document, (D_b,)."""

    @property
    def n_documents(self) -> int:
        """Number of documents."""

    def selected(self, rows: Int) -> Self:
        """Return some of the documents."""

    @classmethod
    def joined(cls, parts: Sequence[Any]) -> Self:
        """Return the documents of several batches, one after the other."""

    def under(self, likelihood: Any) -> Self:
        """Return the same observations under a likelihood whose hyperparameters may have been learned."""

    def over_own_rows(self) -> Self:
        """Return the same observations for parameters that have only the rows of `words`."""

    def weigh(self, parameters: GlobalParameters, engine: Engine) -> Float:
        """Return exp E log p(x | phi_k) up to a factor for each row, (rows, K)."""

    def feasible(self, start: DocumentTopics, weights: Float) -> DocumentTopics:
        """Return a start in which every observation has a topic of its document that can explain it."""

    def reopened(self, start: DocumentTopics, parameters: GlobalParameters) -> DocumentTopics:
        """Return a start, after topics have gone, in which the topics of every document can explain all it holds."""

    def statistics(self, result: LocalResult, engine: Engine) -> tuple[Float, Float]:
        """Return S (of the rows `words`, K) and sum r log weights of each topic, (K,)."""

    def gathered_statistics(
        self, documents: DocumentTopics, share_ptr: Int, share: Float, n_topics: int
    ) -> tuple[Float, Float]:
        """Return S and H (K,) of documents whose responsibilities are stored."""


@dataclass(slots=True)
class WeightStatistics:
    """The statistics of document weights, additive over documents (docs/math (V8))."""

    T: Float  # (K + 1,) sum_d E log pi_dk
    G: Float  # (K + 1,) sum_d (N_dk - theta_dk) E log pi_dk
    Q: Float  # (K + 1,) sum_d log Gamma(theta_dk)
    Q0: float  # sum_d log Gamma(sum_k theta_dk)

    @classmethod
    def zeros(cls, n_topics: int) -> WeightStatistics:
        """Return the statistics of no documents."""
        return cls(np.zeros(n_topics + 1), np.zeros(n_topics + 1), np.zeros(n_topics + 1), 0.0)


class DroppedTopic(NamedTuple):
    """By how much statistics of documents change if theta of a topic that they lack is dropped (docs/math (V18))."""

    T: float  # the same for every topic that stays
    G: Float | float  # (K,) of the topics that stay and the inactive rest
    Q0: float


class DocumentPrior(Protocol):
    """The prior of the weights of documents that were visited together, and what follows from it."""

    def statistics(self, documents: DocumentTopics, lengths: Float, n_topics: int, engine: Engine) -> WeightStatistics:
        """Return the statistics of documents with `lengths` (D_b,) tokens."""

    def add_statistics(self, documents: DocumentTopics, lengths: Float, total: WeightStatistics) -> None:
        """Add the statistics of documents to a total, in place."""

    def relabelled(self, new_index: Int) -> Self:
        """Return the prior after topics were renamed: pooled where equal, dropped with its mass where -1."""

    def dropped(self, topic: int, lengths: Float) -> DroppedTopic:
        """Return what changes if theta of a topic is dropped that no document with `lengths` (n,) tokens holds."""

    def track_pairs(self, result: LocalResult, rows: tuple[int, int], left: Int, right: Int) -> PairStatistics:
        """Return the statistics of the union of each pair over documents first..last of a visit."""


@dataclass(frozen=True, slots=True)
class LocalResult:
    """All that one visit of a batch found; the responsibilities follow from it and are never stored.

    r_dwk = weight_dk weights[w, k] / Z_dw,   ratio = c_dw / Z_dw.
    """

    batch: Observations
    prior: DocumentPrior  # of the weights of its documents
    weights: Float  # (W_b, K) exp(E log phi), of each vector its likelihood; up to a factor for each row
    ratio: Float  # (nnz,)
    documents: DocumentTopics
    weight: Float  # (documents.topic.size,)
    entropy: Float  # (documents.topic.size,) sum_w c r log Z
    sweeps: Int  # (D_b,)
    value: Float  # (D_b,) each document's part of the objective, up to constants: to compare visits
    restarts: Int  # (2,) tried, accepted

    def factors(self, first: int = 0, last: int | None = None) -> tuple[Counts, Topics]:
        """Return what the responsibilities of the documents first .. last - 1 are products of, as kernels take it."""
        some = slice(first, None if last is None else last + 1)
        counts = Counts(self.batch.indptr[some], self.batch.word, self.ratio, self.weights)
        return counts, Topics(self.documents.indptr[some], self.documents.topic, self.weight)


def ascend_documents(
    batch: Observations,
    parameters: GlobalParameters,
    alpha: float,
    start: DocumentTopics | None,
    settings: LocalSettings,
    engine: Engine,
    among: LocalResult | None = None,
) -> LocalResult:
    """Run the local step of every document of a batch.

    `alpha`: document-level concentration. `start`: expected counts from an earlier visit; documents without any (and
    all, if None) start at E[beta]. `among`: another visit of the batch under the same parameters, whose word weights
    are used again.
    """
    prior = alpha * parameters.expected_beta
    weights = batch.weigh(parameters, engine) if among is None else among.weights
    start = DocumentTopics.empty(batch.n_documents) if start is None else batch.feasible(start, weights)

    def run(rows: tuple[int, int]) -> tuple[np.ndarray, ...]:
        return _shard_step(batch, rows, weights, prior, start, settings)

    parts = engine.map(run, shards(np.diff(batch.indptr), SHARD_COUNTS))
    topic, n_dk, weight, entropy, ratio, n_active, sweeps, value, tally = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    indptr = np.concatenate(([0], np.cumsum(n_active)))
    return LocalResult(
        batch,
        DirichletPrior(prior),
        weights,
        ratio,
        DocumentTopics(indptr, topic, n_dk),
        weight,
        entropy,
        sweeps,
        value,
        tally.sum(axis=0),
    )


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
    documents = ascent_kernels.Documents(
        indptr, batch.word[low:high], batch.count[low:high], weights, prior, start_ptr, start.topic, start.n_dk,
        capacity_ptr,
    )  # fmt: skip
    whole, of_document = np.int64, (last - first,)
    found = ascent_kernels.Ascended(
        np.empty(size, np.int32), np.empty(size), np.empty(size), np.empty(size), np.empty(int(high - low)),
        np.empty(of_document, whole), np.empty(of_document, whole), np.empty(of_document), np.zeros(2, whole),
    )  # fmt: skip
    ascent_kernels.ascend_documents(
        documents, settings.tolerance, settings.max_sweeps, settings.restarts, settings.accelerate, found
    )
    offset = np.arange(size) - np.repeat(capacity_ptr[:-1], capacity)
    used = offset < np.repeat(found.n_active, capacity)
    by_topic = [column[used] for column in (found.topic, found.n_dk, found.weight, found.entropy)]
    return *by_topic, found.ratio, found.n_active, found.sweeps, found.value, found.tally[None]


def better_of(one: LocalResult, other: LocalResult) -> LocalResult:
    """Return, document by document, the visit with the larger objective; ties go to the first.

    Both must be of the same batch under the same globals.
    """
    second = rises(other.value, one.value)
    of_count = np.repeat(second, np.diff(one.batch.indptr))
    rows = np.arange(second.size)
    picks = [
        (result, np.repeat(chosen, np.diff(result.documents.indptr)))
        for result, chosen in ((one, ~second), (other, second))
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


def summarise(result: LocalResult, engine: Engine) -> Summary:
    """Return the additive statistics of a visited batch (docs/math (V8))."""
    batch, docs = result.batch, result.documents
    n_topics = result.weights.shape[1]
    S, cross = batch.statistics(result, engine)
    of_weights = result.prior.statistics(docs, batch.lengths, n_topics, engine)
    tokens = np.bincount(docs.topic, weights=docs.n_dk, minlength=n_topics).astype(np.float64)
    # H_k = sum c r (log Z - log weight_dk - log weights_wk)                        docs/math (V9)
    log_weight = np.log(np.maximum(result.weight, np.finfo(float).tiny))
    own = np.bincount(docs.topic, weights=result.entropy - docs.n_dk * log_weight, minlength=n_topics)
    T, G, Q, Q0 = of_weights.T, of_weights.G, of_weights.Q, of_weights.Q0
    return Summary(batch.n_documents, batch.words, S, tokens, own - cross, T, G, Q, Q0)


def track_pairs(result: LocalResult, left: Int, right: Int, engine: Engine) -> PairStatistics:
    """Return T, G, Q of the union of each pair and H' - H_l - H_m, over the batch (docs/math (V12))."""

    def run(rows: tuple[int, int]) -> PairStatistics:
        return result.prior.track_pairs(result, rows, left, right)

    total = PairStatistics.zeros(left.size)
    for part in engine.map(run, shards(np.diff(result.batch.indptr), SHARD_COUNTS)):
        total.add(part)
    return total


@dataclass(frozen=True, slots=True)
class DirichletPrior:
    """Every document has weights of its own; q(pi_d) = Dir(values + N_d)."""

    values: Float  # (K + 1,) alpha E[beta] of the visit

    def statistics(self, documents: DocumentTopics, lengths: Float, n_topics: int, engine: Engine) -> WeightStatistics:
        """Return the statistics of documents at theta = values + N, the documents cut into shards.    docs/math (V8)"""
        T, Q, Q0 = weight_statistics(documents, lengths, self.values, engine)
        return WeightStatistics(T, -self.values * T, Q, Q0)  # N - theta = -values after the theta update

    def add_statistics(self, documents: DocumentTopics, lengths: Float, total: WeightStatistics) -> None:
        """Add the statistics of documents at theta = values + N to a total, in place.                docs/math (V8)"""
        T = np.zeros(self.values.size)
        total.Q0 += statistics_kernels.document_statistics(
            documents.indptr, documents.topic, documents.n_dk, self.values, lengths, T, total.Q
        )
        total.T += T
        total.G -= self.values * T

    def relabelled(self, new_index: Int) -> DirichletPrior:
        """Return the prior after topics were renamed: pooled where equal, dropped with its mass where -1."""
        n_topics, stays = int(new_index.max(initial=-1)) + 1, new_index >= 0
        active = np.bincount(new_index[stays], weights=self.values[:-1][stays], minlength=n_topics)
        return DirichletPrior(np.append(active, self.values[-1]))

    def dropped(self, topic: int, lengths: Float) -> DroppedTopic:
        """Return what changes if theta of a topic is dropped that no document holds.                 docs/math (V18)

        Then sum_k theta_dk falls by values_j, and every E log pi_dk rises by psi(sum theta) - psi(sum theta
        - values_j).
        """
        before = self.values.sum() + lengths
        after = before - self.values[topic]
        rise = (psi(before) - psi(after)).sum()
        return DroppedTopic(
            rise, -np.delete(self.values, topic) * rise, float((gammaln(after) - gammaln(before)).sum())
        )

    def track_pairs(self, result: LocalResult, rows: tuple[int, int], left: Int, right: Int) -> PairStatistics:
        """Return T, G, Q of the union of each pair and H' - H_l - H_m.                               docs/math (V12)"""
        n_dk, lengths, out = result.documents.n_dk, result.batch.lengths[slice(*rows)], PairStatistics.zeros(left.size)
        statistics_kernels.pair_statistics(
            *result.factors(*rows), n_dk, self.values, lengths, (left, right), out.T, out.G, out.Q, out.H
        )
        return out


@dataclass(frozen=True, slots=True)
class NoPrior:
    """A mixture: documents share one distribution over topics, and have no weights of their own."""

    def statistics(self, documents: DocumentTopics, lengths: Float, n_topics: int, engine: Engine) -> WeightStatistics:
        """Return zeros."""
        return WeightStatistics.zeros(n_topics)

    def add_statistics(self, documents: DocumentTopics, lengths: Float, total: WeightStatistics) -> None:
        """Add nothing."""

    def relabelled(self, new_index: Int) -> NoPrior:
        """Return the same."""
        return self

    def dropped(self, topic: int, lengths: Float) -> DroppedTopic:
        """Return that nothing changes."""
        return DroppedTopic(0.0, 0.0, 0.0)

    def track_pairs(self, result: LocalResult, rows: tuple[int, int], left: Int, right: Int) -> PairStatistics:
        """Return H' - H_l - H_m of the union of each pair; the rest is zero.                         docs/math (V12)"""
        out = PairStatistics.zeros(left.size)
        statistics_kernels.pair_entropies(*result.factors(*rows), (left, right), out.H)
        return out


def weight_statistics(
    documents: DocumentTopics, lengths: Float, prior: Float, engine: Engine
) -> tuple[Float, Float, float]:
    """Return T (K + 1,), Q (K + 1,) and Q0 of documents at theta = prior + N (docs/math (V8)).

    `lengths` (D_b,): tokens of each document. `prior` (K + 1,): alpha E[beta].
    """

    def reduce(rows: tuple[int, int]) -> tuple[Float, Float, float]:
        T, Q = np.zeros(prior.size), np.zeros(prior.size)
        first, last = rows
        Q0 = statistics_kernels.document_statistics(
            documents.indptr[first : last + 1], documents.topic, documents.n_dk, prior, lengths[first:last], T, Q
        )
        return T, Q, float(Q0)

    T, Q, Q0 = np.zeros(prior.size), np.zeros(prior.size), 0.0
    for part in engine.map(reduce, shards(np.diff(documents.indptr), SHARD_COUNTS)):
        T, Q, Q0 = T + part[0], Q + part[1], Q0 + part[2]
    return T, Q, Q0
