"""The local step of a batch (math.md (V5)), and what responsibilities and weights sum to (math.md (V8))."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from stickbreak.fitting.executor import Executor, shards
from stickbreak.numerics.arrays import Float, Int
from stickbreak.variational.document_prior import DirichletPrior
from stickbreak.variational.documents import DocumentTopics
from stickbreak.variational.kernels import ascent as ascent_kernels
from stickbreak.variational.objective import rises
from stickbreak.variational.observations import SHARD_COUNTS, Observations, Visit
from stickbreak.variational.state import GlobalParameters, PairStatistics, Summary


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
    of_weights = visit.prior.statistics(docs, batch.lengths, n_topics, executor)
    tokens = np.bincount(docs.topic, weights=docs.n_dk, minlength=n_topics).astype(np.float64)
    # H_k = sum c r (log Z - log weight_dk - log weights_wk)                        math.md (V9)
    log_weight = np.log(np.maximum(visit.weight, np.finfo(float).tiny))
    own = np.bincount(docs.topic, weights=visit.entropy - docs.n_dk * log_weight, minlength=n_topics)
    T, G, Q, Q0 = of_weights.T, of_weights.G, of_weights.Q, of_weights.Q0
    return Summary(batch.n_documents, batch.words, S, tokens, own - cross, T, G, Q, Q0)


def track_pairs(visit: Visit, left: Int, right: Int, executor: Executor) -> PairStatistics:
    """Return T, G, Q of the union of each pair and H' - H_l - H_m, over the batch (math.md (V12))."""

    def run(rows: tuple[int, int]) -> PairStatistics:
        return visit.prior.track_pairs(visit, rows, left, right)

    total = PairStatistics.zeros(left.size)
    for part in executor.map(run, shards(np.diff(visit.batch.indptr), SHARD_COUNTS)):
        total.add(part)
    return total
