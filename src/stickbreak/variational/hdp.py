"""The HDP admixture: every document has weights of its own over the topics (math.md, the model)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.fitting.executor import Executor
from stickbreak.likelihoods import Likelihood
from stickbreak.numerics.arrays import Float
from stickbreak.variational.bound import SURROGATE
from stickbreak.variational.documents import Documents, DocumentTopics
from stickbreak.variational.global_step import optimise_sticks
from stickbreak.variational.hyperparameters import best_alpha, best_gamma
from stickbreak.variational.local_step import LocalSettings, local_step
from stickbreak.variational.model import Inference, Model
from stickbreak.variational.natural_gradient import NATURAL, ascend, interpolate, natural_gradient
from stickbreak.variational.objective import objective
from stickbreak.variational.observations import Observations, Visit
from stickbreak.variational.state import GlobalParameters, Summary


@dataclass(frozen=True, slots=True)
class HDP(Model[DocumentTopics]):
    """The model and its bound: likelihood, alpha (documents) and gamma (corpus); which bound of E[c_D(alpha beta)]."""

    starts_matter: ClassVar[bool] = True
    documents: ClassVar[type[Documents]] = DocumentTopics

    likelihood: Likelihood
    alpha: float
    gamma: float
    bound: str = SURROGATE
    pseudo: sparse.csr_array | None = None  # (W, n_kept)
    of_pseudo: float = 0.0  # what `data` has too much, in nats: the evidence of the pseudo-counts themselves

    @classmethod
    def of(
        cls, likelihood: Likelihood, alpha: float, gamma: float, bound: str, pseudo: sparse.csr_array | None = None
    ) -> HDP:
        """Return the model; `pseudo` (W, n_kept) are pseudo-counts of the first topics."""
        if pseudo is None:
            return cls(likelihood, alpha, gamma, bound)
        return cls(likelihood, alpha, gamma, bound, pseudo).under(likelihood)

    def under(self, likelihood: Likelihood) -> HDP:
        """Return the model with another likelihood."""
        if self.pseudo is None:
            return replace(self, likelihood=likelihood)
        known = self.pseudo.toarray()
        too_much = float(likelihood.evidence(known, known.sum(axis=0)).sum())
        return replace(self, likelihood=likelihood, of_pseudo=too_much)

    @property
    def hyperparameters(self) -> dict[str, Any]:
        """All that can be learned, by name, as plain values."""
        return {"alpha": self.alpha, "gamma": self.gamma, **self.likelihood.hyperparameters}

    def with_hyperparameters(self, values: Mapping[str, Any]) -> HDP:
        """Return the model with what `hyperparameters` returned of another."""
        likelihood = self.likelihood.with_hyperparameters(values)
        return replace(self.under(likelihood), alpha=values["alpha"], gamma=values["gamma"])

    def local_step(
        self,
        batch: Observations,
        parameters: GlobalParameters,
        start: DocumentTopics | None,
        settings: LocalSettings,
        executor: Executor,
        among: Visit | None = None,
    ) -> Visit:
        """Run the local step of every document of a batch.                             math.md (V5)"""
        return local_step(batch.under(self.likelihood), parameters, self.alpha, start, settings, executor, among)

    def kept(self, visit: Visit) -> DocumentTopics:
        """Return N_dk, where the next visit starts."""
        return visit.documents

    def best_sticks(self, totals: Summary, rho: Float, omega: Float) -> tuple[Float, Float]:
        """Return the optimal (rho, omega) given the statistics.                        math.md (V10)"""
        return optimise_sticks(totals.T, totals.n_documents, self.alpha, self.gamma, rho, omega, bound=self.bound)

    def step_sticks(self, totals: Summary, rho: Float, omega: Float, step: float, rule: str) -> tuple[Float, Float]:
        """Return (rho, omega) after a stochastic step by one of `STICK_RULES`.          math.md (S1)"""
        if rule == NATURAL:
            slopes = natural_gradient(rho, omega, totals.T, totals.n_documents, self.alpha, self.gamma, self.bound)
            return ascend(rho, omega, *slopes, step)
        return interpolate(rho, omega, *self.best_sticks(totals, rho, omega), step)

    def objective(self, totals: Summary, rho: Float, omega: Float, data: Float) -> float:
        """Return the objective in nats; `data` is L_data of each topic.                 math.md (V1)"""
        value = objective(totals, rho, omega, alpha=self.alpha, gamma=self.gamma, data=data, bound=self.bound)
        return value - self.of_pseudo

    def idle(self, N: Float) -> NDArray[np.bool_]:
        """Return that no topic is: without observations it still has its part of the weights of every document."""
        return np.zeros(N.size, dtype=bool)

    def learn(self, state: Inference[DocumentTopics], names: Collection[str], executor: Executor) -> None:
        """Set the named hyperparameters to the maximum of the objective, the rest following them.

        With alpha, theta of every document is set again for its stored N_dk, under the new alpha and the present
        E[beta]; the statistics of all batches change with it. So no candidate of a move may wait for a statistic of
        before. In the order alpha, gamma, sticks, prior of the topics; each step starts from what the one before left.

        Parameters
        ----------
        state : Inference
            Changed in place.
        names : collection of {"alpha", "gamma"} and the hyperparameters of the likelihood
        executor : Executor
        """
        if not names:
            return
        model, sticks = self, state.parameters
        if "alpha" in names:
            found = best_alpha(state, self.alpha, self.bound, executor)
            found.store(state)
            model = replace(model, alpha=found.alpha)
        if "gamma" in names:
            model = replace(model, gamma=best_gamma(sticks.rho, sticks.omega, model.gamma, self.bound))
        if "alpha" in names or "gamma" in names:
            sticks.rho, sticks.omega = model.best_sticks(state.totals, sticks.rho, sticks.omega)
        if set(names) & set(model.likelihood.hyperparameters):
            S, N = state.totals.S, state.totals.N
            if self.pseudo is None:
                model = replace(model, likelihood=model.likelihood.learned(S, N))
            else:
                model = model.under(model.likelihood.learned_beside(S, N, self.pseudo.toarray()))
        state.refresh(model)
