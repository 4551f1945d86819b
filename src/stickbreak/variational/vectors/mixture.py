"""The DP mixture: vectors without groups, which share one distribution over components (math.md (N3))."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from stickbreak.fitting.executor import Executor, shards
from stickbreak.likelihoods import VectorLikelihood
from stickbreak.numerics.arrays import Float
from stickbreak.variational.document_prior import NoPrior
from stickbreak.variational.documents import DocumentCounts, Documents, DocumentTopics
from stickbreak.variational.global_step import SMALLEST_RHO
from stickbreak.variational.kernels import vectors as vector_kernels
from stickbreak.variational.local_step import LocalSettings
from stickbreak.variational.model import Inference, Model
from stickbreak.variational.natural_gradient import interpolate
from stickbreak.variational.objective import expected_log_sticks
from stickbreak.variational.observations import SHARD_COUNTS, Observations, Visit
from stickbreak.variational.state import GlobalParameters, Summary
from stickbreak.variational.vectors.batch import VectorBatch

IDLE = 1e-3  # vectors: a component with fewer is of no use
LEAST_SHARE = 1e-12  # of the largest responsibility of a vector; smaller ones are zero, and the others sum to one


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
        executor: Executor,
        among: Visit | None = None,
    ) -> Visit:
        """Return the responsibilities; they follow from the globals, wherever the vectors stood.    math.md (N3)"""
        assert isinstance(batch, VectorBatch)
        batch = batch.under(self.likelihood)
        n, log_weights = batch.n_vectors, expected_log_weights(parameters.rho, parameters.omega)
        weights, ratio, size = np.empty((n, log_weights.size)), np.empty(n), np.empty(n, np.int64)

        def use(part: slice, expected: Float) -> None:
            vector_kernels.mixture_step(expected, log_weights, LEAST_SHARE, weights[part], ratio[part], size[part])

        batch.expected_log(parameters, executor, use)
        indptr = np.concatenate(([0], np.cumsum(size))).astype(np.int64)
        topic, (r, weight, entropy) = np.empty(indptr[-1], np.int32), np.empty((3, int(indptr[-1])))
        share = np.exp(log_weights)

        def write(rows: tuple[int, int]) -> None:
            part, ends = slice(*rows), slice(rows[0], rows[1] + 1)
            vector_kernels.list_components(weights[part], share, ratio[part], indptr[ends], topic, r, weight, entropy)

        executor.map(write, shards(np.ones(n, np.int64), SHARD_COUNTS))
        documents = DocumentTopics(indptr, topic, r)
        once, nothing = np.ones(1, np.int64), np.zeros(2, np.int64)
        return Visit(batch, NoPrior(), weights, ratio, documents, weight, entropy, once, np.zeros(0), nothing)

    def kept(self, visit: Visit) -> DocumentCounts:
        """Return how many vectors have each component."""
        return DocumentCounts(visit.documents.n_documents, visit.documents.holders(visit.weights.shape[1]))

    def best_sticks(self, totals: Summary, rho: Float, omega: Float) -> tuple[Float, Float]:
        """Return q(v_k) = Beta(1 + N_k, gamma + N_{>k}).                                 math.md (N4)"""
        a, b = 1.0 + totals.N, self.gamma + later(totals.N)
        return np.clip(a / (a + b), SMALLEST_RHO, 1 - SMALLEST_RHO), a + b

    def step_sticks(self, totals: Summary, rho: Float, omega: Float, step: float, rule: str) -> tuple[Float, Float]:
        """Return (rho, omega) after a stochastic step: the sticks are conjugate, so both rules are one.  math.md (S1)

        The difference to the optimum is the natural gradient.
        """
        return interpolate(rho, omega, *self.best_sticks(totals, rho, omega), step)

    def objective(self, totals: Summary, rho: Float, omega: Float, data: Float) -> float:
        """Return L = L_data + H_z + L_sticks in nats; `data` is L_data of each component.  math.md (N4)"""
        a, b = rho * omega, (1 - rho) * omega
        log_v, log_rest = expected_log_sticks(rho, omega)
        sticks = np.log(self.gamma) + betaln(a, b)
        sticks += (totals.N + 1.0 - a) * log_v + (later(totals.N) + self.gamma - b) * log_rest
        return float(data.sum() + totals.H.sum() + sticks.sum())

    def idle(self, N: Float) -> NDArray[np.bool_]:
        """Return which components are of no use to any vector: without one they cost nothing."""
        return N < IDLE

    def learn(self, state: Inference[DocumentCounts], names: Collection[str], executor: Executor) -> None:
        """Learn nothing: a mixture has no hyperparameters to be learned."""


def later(N: Float) -> Float:
    """Return N_{>k} = sum_{l>k} N_l, (K,)."""
    return np.append(np.cumsum(N[::-1])[::-1][1:], 0.0)


def expected_log_weights(rho: Float, omega: Float) -> Float:
    """Return E log v_k + sum_{l<k} E log(1 - v_l), (K,)."""
    log_v, log_rest = expected_log_sticks(rho, omega)
    return log_v + np.concatenate(([0.0], np.cumsum(log_rest)[:-1]))
