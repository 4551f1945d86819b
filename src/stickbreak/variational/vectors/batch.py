"""Batches of real vectors, in groups or each for itself: the observations of Gaussian and other vector likelihoods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stickbreak.fitting.executor import Executor, shards
from stickbreak.likelihoods import VectorLikelihood
from stickbreak.likelihoods.quadratic import whole
from stickbreak.numerics.arrays import Float, Int
from stickbreak.variational.documents import DocumentTopics, runs
from stickbreak.variational.feasible import EXPLAINS, with_explanations
from stickbreak.variational.kernels import statistics as statistics_kernels
from stickbreak.variational.kernels import vectors as vector_kernels
from stickbreak.variational.observations import SHARD_COUNTS, Visit
from stickbreak.variational.state import GlobalParameters

SHARD_VECTORS = 2048  # of which E log p is computed at once: the table of a shard stays in the cache
LEAST_SHARE = 1e-16  # of a vector: a smaller responsibility is below the rounding of every sum that it enters


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

    def expected_log(
        self, parameters: GlobalParameters, executor: Executor, use: Callable[[slice, Float], None]
    ) -> None:
        """Compute E log p(x_n | phi_k) shard by shard; `use` is given the vectors of each and the table (n, K)."""
        posterior = self.likelihood.posterior(parameters.tau, parameters.tau_sum)

        def run(rows: tuple[int, int]) -> None:
            part = slice(*rows)
            values = self.values[part]
            expected = self.likelihood.expected_log(posterior, whole(values) if self.whole else values)
            use(part, expected[: len(values)])

        executor.map(run, shards(np.ones(self.n_vectors, np.int64), SHARD_VECTORS))

    def weigh(self, parameters: GlobalParameters, executor: Executor) -> Float:
        """Return exp(E log p(x_n | phi_k) - s_n), the largest of each vector being 1, (n, K).     math.md (N1)"""
        weights = np.empty((self.n_vectors, parameters.n_topics))

        def use(part: slice, expected: Float) -> None:
            out = weights[part]
            np.subtract(expected, expected.max(axis=1, keepdims=True), out=out)
            np.exp(out, out=out)

        self.expected_log(parameters, executor, use)
        return weights

    def feasible(self, start: DocumentTopics, weights: Float) -> DocumentTopics:
        """Return the start with the best component of each vector that none of its group's components explains.

        Densities differ by hundreds of nats, so such a vector gains more by it than all else of its group can lose.
        """
        return with_explanations(self, start, weights, EXPLAINS)

    def reopened(self, start: DocumentTopics, parameters: GlobalParameters) -> DocumentTopics:
        """Return the start: every local step makes it feasible."""
        return start

    def statistics(self, visit: Visit, executor: Executor) -> tuple[Float, Float]:
        """Return S (rows, K) and sum_n r_nk log weights_nk (K,), a shard of vectors at a time.   math.md (N2)"""
        docs, n_components = visit.documents, visit.weights.shape[1]
        document = np.repeat(np.arange(self.n_documents), np.diff(self.indptr))

        def spread(rows: tuple[int, int]) -> tuple[Float, Float]:
            R, cross = np.zeros((rows[1] - rows[0], n_components)), np.zeros(n_components)
            vector_kernels.spread_responsibilities(
                *rows, document, visit.ratio, docs.indptr, docs.topic, visit.weight, visit.weights, LEAST_SHARE,
                R, cross,
            )  # fmt: skip
            return self.likelihood.statistics(self.values[slice(*rows)], R), cross

        S, cross = np.zeros((self.likelihood.n_rows, n_components)), np.zeros(n_components)
        for part in executor.map(spread, shards(np.ones(self.n_vectors, np.int64), SHARD_COUNTS)):
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
