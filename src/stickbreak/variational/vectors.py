"""Vectors as the core sees them: batches, the DP mixture, components that moves propose, and where jobs find vectors.

A mixture (docs/math (N3)) has vectors without groups, which share one distribution over components.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from stickbreak.corpus.batches import Cut
from stickbreak.exceptions import ReadError
from stickbreak.fitting.engine import Engine, Workers, shards
from stickbreak.initialization import gains_alone, start_of_components
from stickbreak.likelihoods import VectorLikelihood
from stickbreak.likelihoods.quadratic_forms import whole
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.streams import stream
from stickbreak.storage.atomic import told_as_write_error
from stickbreak.variational.documents import DocumentCounts, Documents, DocumentTopics, runs
from stickbreak.variational.global_step import SMALLEST_RHO, interpolate, sticks_of
from stickbreak.variational.kernels import statistics as statistics_kernels
from stickbreak.variational.local_step import SHARD_COUNTS, LocalResult, LocalSettings, NoPrior, Observations
from stickbreak.variational.model import Inference, Model, Schedule
from stickbreak.variational.moves import Birth, Proposal, Proposals
from stickbreak.variational.objective import expected_log_sticks
from stickbreak.variational.state import GlobalParameters, Summary

SHARD_VECTORS = 2048  # of which E log p is computed at once: the table of a shard stays in the cache
LEAST_SHARE = 1e-16  # of a vector: a smaller responsibility is below the rounding of every sum that it enters
EXPLAINS = 1e-130  # of the largest weight of a vector: with less the responsibilities could underflow
IDLE = 1e-3  # vectors: a component with fewer is of no use
LEAST_RESPONSIBILITY = (
    1e-12  # of the largest responsibility of a vector; smaller ones are zero, and the others sum to one
)
COMPONENTS = 10  # that are born at once, at most
POOL = 2_000  # vectors that are looked at
TARGET = 500  # of them, those that lose most
VALUES, OFFSETS = "values.npy", "offsets.npy"


@dataclass(frozen=True)
class VectorBatch:
    """Vectors of one batch, group by group; each stands for itself, with count one."""

    likelihood: VectorLikelihood
    values: NDArray  # (n, dim) float32 or float64
    indptr: Int  # (G + 1,)
    whole: bool = False  # whether what a vector is told may not depend on the others, to the last bit

    @property
    def n_documents(self) -> int:
        """Number of groups in the batch."""
        return self.indptr.size - 1

    @property
    def n_vectors(self) -> int:
        """Number of vectors n."""
        return self.values.shape[0]

    @cached_property
    def word(self) -> NDArray[np.int32]:
        """The row of each vector in the table of weights: its own."""
        return np.arange(self.n_vectors, dtype=np.int32)

    @cached_property
    def count(self) -> Float:
        """Ones, (n,)."""
        return np.ones(self.n_vectors)

    @cached_property
    def words(self) -> NDArray[np.int32]:
        """The rows of S: all of them."""
        return np.arange(self.likelihood.n_rows, dtype=np.int32)

    @cached_property
    def lengths(self) -> Float:
        """Vectors of each group, (G,)."""
        return np.diff(self.indptr).astype(np.float64)

    def selected(self, rows: Int) -> VectorBatch:
        """Return some of the groups."""
        indptr, place = runs(self.indptr, rows)
        return replace(self, values=self.values[place], indptr=indptr)

    @classmethod
    def joined(cls, parts: Sequence[VectorBatch]) -> VectorBatch:
        """Return the groups of several batches, one after the other."""
        sizes = np.concatenate([np.diff(part.indptr) for part in parts])
        indptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        return cls(parts[0].likelihood, np.concatenate([part.values for part in parts]), indptr)

    def under(self, likelihood: VectorLikelihood) -> VectorBatch:
        """Return the same vectors under a likelihood whose hyperparameters may have been learned."""
        return self if likelihood is self.likelihood else replace(self, likelihood=likelihood)

    def over_own_rows(self) -> VectorBatch:
        """Return the same: the batch adds to all rows of S."""
        return self

    def expected_log(self, parameters: GlobalParameters, engine: Engine, use: Callable[[slice, Float], None]) -> None:
        """Compute E log p(x_n | phi_k) shard by shard; `use` is given the vectors of each and the table (n, K)."""
        posterior = self.likelihood.posterior(parameters.tau, parameters.tau_sum)

        def run(rows: tuple[int, int]) -> None:
            part = slice(*rows)
            values = self.values[part]
            expected = self.likelihood.expected_log(posterior, whole(values) if self.whole else values)
            use(part, expected[: len(values)])

        engine.map(run, shards(np.ones(self.n_vectors, np.int64), SHARD_VECTORS))

    def weigh(self, parameters: GlobalParameters, engine: Engine) -> Float:
        """Return exp(E log p(x_n | phi_k) - s_n), the largest of each vector being 1, (n, K).     docs/math (N1)"""
        weights = np.empty((self.n_vectors, parameters.n_topics))

        def use(part: slice, expected: Float) -> None:
            out = weights[part]
            np.subtract(expected, expected.max(axis=1, keepdims=True), out=out)
            np.exp(out, out=out)

        self.expected_log(parameters, engine, use)
        return weights

    def feasible(self, start: DocumentTopics, weights: Float) -> DocumentTopics:
        """Return the start with the best component of each vector that none of its group's components explains.

        Densities differ by hundreds of nats, so such a vector gains more by it than all else of its group can lose.
        """
        best = np.empty(self.word.size, np.int64)
        statistics_kernels.best_unexplained(self.indptr, self.word, start.indptr, start.topic, weights, EXPLAINS, best)
        lost = np.flatnonzero(best >= 0)
        if not lost.size:
            return start
        document = np.repeat(np.arange(self.n_documents), np.diff(self.indptr))[lost]
        sizes = np.bincount(document, minlength=self.n_documents)
        more = DocumentTopics(
            np.concatenate(([0], np.cumsum(sizes))).astype(np.int64), best[lost].astype(np.int32), np.ones(lost.size)
        )
        return start.added(more, weights.shape[1])

    def reopened(self, start: DocumentTopics, parameters: GlobalParameters) -> DocumentTopics:
        """Return the start: every local step makes it feasible."""
        return start

    def statistics(self, result: LocalResult, engine: Engine) -> tuple[Float, Float]:
        """Return S (rows, K) and sum_n r_nk log weights_nk (K,), a shard of vectors at a time.  docs/math (V8), (V9)"""
        n_components = result.weights.shape[1]
        document = np.repeat(np.arange(self.n_documents), np.diff(self.indptr))
        _, topics = result.factors()

        def spread(rows: tuple[int, int]) -> tuple[Float, Float]:
            R, cross = np.zeros((rows[1] - rows[0], n_components)), np.zeros(n_components)
            statistics_kernels.spread_responsibilities(
                *rows, document, result.ratio, topics, result.weights, LEAST_SHARE, R, cross
            )
            return self.likelihood.statistics(self.values[slice(*rows)], R), cross

        S, cross = np.zeros((self.likelihood.n_rows, n_components)), np.zeros(n_components)
        for part in engine.map(spread, shards(np.ones(self.n_vectors, np.int64), SHARD_COUNTS)):
            S += part[0]
            cross += part[1]
        return S, cross

    def gathered_statistics(
        self, documents: DocumentTopics, share_ptr: Int, share: Float, n_topics: int
    ) -> tuple[Float, Float]:
        """Return S (rows, K) and H (K,) of groups whose responsibilities are stored."""
        R, H = np.zeros((self.n_vectors, n_topics)), np.zeros(n_topics)
        statistics_kernels.share_statistics(
            self.indptr, self.word, self.count, documents.indptr, documents.topic, share_ptr, share, R, H
        )
        return self.likelihood.statistics(self.values, R), H


@dataclass(frozen=True, slots=True)
class Vectors:
    """What is fitted: vectors in groups, or each in a group of its own (`offsets` None)."""

    values: NDArray  # (N, dim)
    offsets: NDArray[np.int64] | None  # (G + 1,)

    @property
    def n_tokens(self) -> int:
        """Vectors."""
        return len(self.values)

    @property
    def n_documents(self) -> int:
        """Groups, or vectors."""
        return len(self.values) if self.offsets is None else self.offsets.size - 1

    def load(self) -> Vectors:
        """Return the vectors themselves."""
        return self

    def batch(self, rows: NDArray[np.int64], likelihood: VectorLikelihood, dtype: type[np.floating]) -> VectorBatch:
        """Return some groups (or vectors) as a batch that counts from the likelihood's origin."""
        if self.offsets is None:
            indptr, place = np.arange(rows.size + 1), rows
        else:
            indptr, place = runs(self.offsets, rows)
        values, origin = self.values[place], likelihood.origin
        if origin.any():  # in float64: a cast before it would lose the digits of vectors far from zero
            values = values - origin
        return VectorBatch(likelihood.from_origin(), np.ascontiguousarray(values, dtype=dtype), indptr)


@dataclass(frozen=True, slots=True)
class StoredVectors:
    """Vectors in a folder."""

    folder: str

    def load(self) -> Vectors:
        """Open them.

        Raises ReadError if the folder is gone.
        """
        return _opened(self.folder)


def reachable(vectors: Vectors, workers: Workers | None) -> Vectors | StoredVectors:
    """Return vectors as jobs name them; workers find them in a folder."""
    if workers is None:
        return vectors
    with told_as_write_error(workers.scratch):
        folder = Path(tempfile.mkdtemp(prefix="vectors-", dir=workers.scratch))
        np.save(folder / VALUES, vectors.values)
        if vectors.offsets is not None:
            np.save(folder / OFFSETS, vectors.offsets)
    return StoredVectors(str(folder))


@lru_cache(maxsize=2)
def _opened(folder: str) -> Vectors:
    try:
        values = np.load(Path(folder) / VALUES, mmap_mode="r")
        grouped = (Path(folder) / OFFSETS).exists()
        return Vectors(values, np.load(Path(folder) / OFFSETS) if grouped else None)
    except OSError as error:
        raise ReadError(f"{folder} cannot be read ({error.strerror}); leave it alone while a fit runs.") from None


@dataclass(frozen=True, slots=True)
class BatchOfVectors:
    """Vectors of a batch, which are read when they are visited."""

    vectors: Vectors | StoredVectors
    likelihood: VectorLikelihood
    dtype: type[np.floating]
    cut: Cut

    def __call__(self) -> VectorBatch:
        """Read them."""
        return self.vectors.load().batch(self.cut.rows(), self.likelihood, self.dtype)


@dataclass(frozen=True, slots=True)
class DPMixture(Model[DocumentCounts]):
    """v_k ~ Beta(1, gamma), weights v_k prod_{l<k} (1 - v_l); every vector is a document of its own.

    q(v_k) = Beta(rho_k omega_k, (1 - rho_k) omega_k).
    """

    starts_matter: ClassVar[bool] = False
    documents: ClassVar[type[Documents]] = DocumentCounts

    likelihood: VectorLikelihood
    gamma: float

    @property
    def hyperparameters(self) -> dict[str, Any]:
        """Gamma and those of the likelihood."""
        return {"gamma": self.gamma, **self.likelihood.hyperparameters}

    def with_hyperparameters(self, values: Mapping[str, Any]) -> DPMixture:
        """Return the model with what `hyperparameters` returned of another."""
        return replace(self, likelihood=self.likelihood.with_hyperparameters(values), gamma=values["gamma"])

    def local_step(
        self,
        batch: Observations,
        parameters: GlobalParameters,
        start: DocumentCounts | None,
        settings: LocalSettings,
        engine: Engine,
        among: LocalResult | None = None,
    ) -> LocalResult:
        """Return the responsibilities; they follow from the globals, wherever the vectors stood.    docs/math (N3)"""
        assert isinstance(batch, VectorBatch)
        batch = batch.under(self.likelihood)
        n, log_weights = batch.n_vectors, expected_log_weights(parameters.rho, parameters.omega)
        weights, ratio, size = np.empty((n, log_weights.size)), np.empty(n), np.empty(n, np.int64)

        def use(part: slice, expected: Float) -> None:
            statistics_kernels.mixture_step(
                expected, log_weights, LEAST_RESPONSIBILITY, weights[part], ratio[part], size[part]
            )

        batch.expected_log(parameters, engine, use)
        indptr = np.concatenate(([0], np.cumsum(size))).astype(np.int64)
        topic, (r, weight, entropy) = np.empty(indptr[-1], np.int32), np.empty((3, int(indptr[-1])))
        share = np.exp(log_weights)

        def write(rows: tuple[int, int]) -> None:
            part, ends = slice(*rows), slice(rows[0], rows[1] + 1)
            statistics_kernels.list_components(
                weights[part], share, ratio[part], indptr[ends], topic, r, weight, entropy
            )

        engine.map(write, shards(np.ones(n, np.int64), SHARD_COUNTS))
        documents = DocumentTopics(indptr, topic, r)
        once, nothing = np.ones(1, np.int64), np.zeros(2, np.int64)
        return LocalResult(batch, NoPrior(), weights, ratio, documents, weight, entropy, once, np.zeros(0), nothing)

    def document_state(self, result: LocalResult) -> DocumentCounts:
        """Return how many vectors have each component."""
        return DocumentCounts(result.documents.n_documents, result.documents.holders(result.weights.shape[1]))

    def best_sticks(self, totals: Summary, rho: Float, omega: Float) -> tuple[Float, Float]:
        """Return q(v_k) = Beta(1 + N_k, gamma + N_{>k}).                                 docs/math (N4)"""
        a, b = 1.0 + totals.N, self.gamma + later(totals.N)
        return np.clip(a / (a + b), SMALLEST_RHO, 1 - SMALLEST_RHO), a + b

    def step_sticks(self, totals: Summary, rho: Float, omega: Float, step: float, rule: str) -> tuple[Float, Float]:
        """Return (rho, omega) after a stochastic step: the sticks are conjugate, so both rules are one.  docs/math (S1)

        The difference to the optimum is the natural gradient.
        """
        return interpolate(rho, omega, *self.best_sticks(totals, rho, omega), step)

    def objective(self, totals: Summary, rho: Float, omega: Float, data: Float) -> float:
        """Return L = L_data + H_z + L_sticks in nats; `data` is L_data of each component.  docs/math (N4)"""
        a, b = rho * omega, (1 - rho) * omega
        log_v, log_rest = expected_log_sticks(rho, omega)
        sticks = np.log(self.gamma) + betaln(a, b)
        sticks += (totals.N + 1.0 - a) * log_v + (later(totals.N) + self.gamma - b) * log_rest
        return float(data.sum() + totals.H.sum() + sticks.sum())

    def idle(self, N: Float) -> NDArray[np.bool_]:
        """Return which components are of no use to any vector: without one they cost nothing."""
        return N < IDLE

    def learn(self, state: Inference[DocumentCounts], names: Collection[str], engine: Engine) -> None:
        """Learn nothing: a mixture has no hyperparameters to be learned."""


def later(N: Float) -> Float:
    """Return N_{>k} = sum_{l>k} N_l, (K,)."""
    return np.append(np.cumsum(N[::-1])[::-1][1:], 0.0)


def expected_log_weights(rho: Float, omega: Float) -> Float:
    """Return E log v_k + sum_{l<k} E log(1 - v_l), (K,)."""
    log_v, log_rest = expected_log_sticks(rho, omega)
    return log_v + np.concatenate(([0.0], np.cumsum(log_rest)[:-1]))


@dataclass(frozen=True, slots=True)
class Sampled:
    """Takes some vectors of a batch, evenly spread over it."""

    every: int

    def measure(self, result: LocalResult, engine: Engine) -> NDArray:
        """Return the vectors."""
        assert isinstance(result.batch, VectorBatch)
        return np.asarray(result.batch.values[:: self.every], dtype=np.float64)

    def wanted(self, result: LocalResult) -> Int:
        """Return no groups."""
        return np.zeros(0, np.int64)


class VectorBirths(Proposals):
    """The present components and up to ten found in the vectors that lose most under them.

    A vector's loss is what it would gain, in nats, if it had a component of its own.
    """

    tries = POOL // TARGET

    def begin(self, state: Inference) -> None:
        """Forget the vectors of the last lap."""
        self._pool: list[NDArray] = []
        self._every = max(1, math.ceil(float(state.totals.N.sum()) / POOL))

    def probe(self) -> Sampled:
        """Return what takes vectors out of the batches."""
        return Sampled(self._every)

    def note(self, observed: NDArray) -> None:
        """Keep some vectors of a batch."""
        self._pool.append(observed)

    def propose(self, state: Inference, schedule: Schedule, tries: int, seed: int) -> Proposal | None:
        """Return the present components and those of the target."""
        model, parameters, pool = state.model, state.parameters, np.concatenate(self._pool)
        likelihood, n = cast(VectorLikelihood, model.likelihood), float(state.totals.N.sum())
        posterior = likelihood.posterior(parameters.tau, parameters.tau_sum)
        losses = gains_alone(likelihood, pool) - likelihood.expected_log(posterior, pool).max(axis=1)
        first = TARGET * tries % len(pool)
        target = pool[np.sort(np.argsort(-losses, kind="stable")[first : first + TARGET])]
        S, N = start_of_components(likelihood, target, COMPONENTS, stream(schedule.seed, f"birth {seed}"))
        scale = n / len(pool)
        S, N = S[:, N > 1] * scale, N[N > 1] * scale
        if not N.size:
            return None
        weights = np.concatenate([parameters.expected_beta[:-1], N / n]) / (1.0 + float(N.sum()) / n)
        names = np.concatenate([state.topic_ids, state.next_id + np.arange(N.size)])
        sticks = sticks_of(weights, 1.0 + model.gamma + state.totals.n_documents)
        tau, tau_sum = np.concatenate([parameters.tau, S], axis=1), np.concatenate([parameters.tau_sum, N])
        return Proposal(model, GlobalParameters(np.ascontiguousarray(tau), tau_sum, *sticks), names)


VECTOR_PROPOSALS: Mapping[str, type[Proposals]] = {Birth.name: VectorBirths}
