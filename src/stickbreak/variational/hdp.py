"""The HDP admixture: every document has weights of its own over the topics (docs/math, the model).

alpha, gamma and the prior of the topics are each set to the maximum of the objective (docs/math (V14)-(V16)): a
coordinate step like the others, so the objective never falls by it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.fitting.batch_store import BatchRef
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.hyperparameters import CONCENTRATION_LIMITS
from stickbreak.likelihoods import Likelihood
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.maximum import maximiser
from stickbreak.variational.documents import Documents, DocumentTopics
from stickbreak.variational.global_step import NATURAL, ascend, interpolate, natural_gradient, optimise_sticks
from stickbreak.variational.local_step import (
    LocalResult,
    LocalSettings,
    Observations,
    ascend_documents,
    weight_statistics,
)
from stickbreak.variational.model import Inference, Model
from stickbreak.variational.objective import (
    POINT,
    QUADRATIC,
    SURROGATE,
    expected_log_normaliser,
    expected_log_sticks,
    expected_squares,
    objective,
    point_slopes,
    quadratic_slopes,
)
from stickbreak.variational.state import GlobalParameters, Summary, expected_beta

GAMMA_LIMITS = (1e-2, 1e3)  # with more topics than the documents can tell apart, gamma would run to infinity


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
        engine: Engine,
        among: LocalResult | None = None,
    ) -> LocalResult:
        """Run the local step of every document of a batch.                             docs/math (V5)"""
        return ascend_documents(batch.under(self.likelihood), parameters, self.alpha, start, settings, engine, among)

    def document_state(self, result: LocalResult) -> DocumentTopics:
        """Return N_dk, where the next visit starts."""
        return result.documents

    def best_sticks(self, totals: Summary, rho: Float, omega: Float) -> tuple[Float, Float]:
        """Return the optimal (rho, omega) given the statistics.                        docs/math (V10)"""
        return optimise_sticks(totals.T, totals.n_documents, self.alpha, self.gamma, rho, omega, bound=self.bound)

    def step_sticks(self, totals: Summary, rho: Float, omega: Float, step: float, rule: str) -> tuple[Float, Float]:
        """Return (rho, omega) after a stochastic step by one of `STICK_RULES`.          docs/math (S1)"""
        if rule == NATURAL:
            slopes = natural_gradient(rho, omega, totals.T, totals.n_documents, self.alpha, self.gamma, self.bound)
            return ascend(rho, omega, *slopes, step)
        return interpolate(rho, omega, *self.best_sticks(totals, rho, omega), step)

    def objective(self, totals: Summary, rho: Float, omega: Float, data: Float) -> float:
        """Return the objective in nats; `data` is L_data of each topic.                 docs/math (V1)"""
        value = objective(totals, rho, omega, alpha=self.alpha, gamma=self.gamma, data=data, bound=self.bound)
        return value - self.of_pseudo

    def idle(self, N: Float) -> NDArray[np.bool_]:
        """Return that no topic is: without observations it still has its part of the weights of every document."""
        return np.zeros(N.size, dtype=bool)

    def learn(self, state: Inference[DocumentTopics], names: Collection[str], engine: Engine) -> None:
        """Set the named hyperparameters to the maximum of the objective, the rest following them.

        With alpha, theta of every document is set again for its stored N_dk, under the new alpha and the present
        E[beta]; the statistics of all batches change with it. So no candidate of a move may wait for a statistic of
        before. In the order alpha, gamma, sticks, prior of the topics; each step starts from what the one before left.

        `state`: changed in place.
        """
        if not names:
            return
        model, sticks = self, state.parameters
        if "alpha" in names:
            found = best_alpha(state, self.alpha, self.bound, engine)
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


def due(names: Collection[str], *, settled: bool) -> tuple[str, ...]:
    """Return those of the names whose turn it is at the end of a lap.

    The prior of the topics (eta, or the scale of a Gaussian prior) waits for a lap that left the set of topics as it
    was (`settled`). An eta that was learned while the topics still form fits them as they are, and then no merge pays:
    on documents of ten words of KOS it keeps 40 topics where 2 are better, by 0.4 nats per token.
    """
    return tuple(name for name in names if settled or name in ("alpha", "gamma"))


def best_gamma(rho: Float, omega: Float, start: float, bound: str) -> float:
    """Return the gamma that maximises L_u = K log gamma + gamma sum_k E log(1 - u_k) + ...          docs/math (V15)

    gamma = - K / sum_k E log(1 - u_k), within `GAMMA_LIMITS`; a start outside the limits widens them. Of a
    point, E log(1 - u_k) is log(1 - rho_k).
    """
    low, high = min(GAMMA_LIMITS[0], start), max(GAMMA_LIMITS[1], start)
    falling = -float(expected_log_sticks(rho, omega, bound)[1].sum())
    return high if falling * high <= rho.size else max(low, rho.size / falling)


@dataclass(frozen=True, slots=True)
class AtAlpha:
    """The corpus at one alpha, theta optimal for it: theta_dk = alpha E[beta_k] + N_dk."""

    alpha: float
    statistics: list[dict[str, Any]]  # T, G, Q, Q0 of each batch
    value: float  # L_HDP, nats
    slope: float  # its derivative by alpha

    def store(self, state: Inference[DocumentTopics]) -> None:
        """Write the statistics into the summaries of the batches and the totals."""
        state.batches = state.batches.remade(
            replace(batch, vectors=replace(batch.vectors, **new))
            for batch, new in zip(state.batches, self.statistics, strict=True)
        )
        of_weights = {name: sum(new[name] for new in self.statistics) for name in ("T", "G", "Q", "Q0")}
        state.totals = replace(state.totals, **of_weights)


def best_alpha(state: Inference[DocumentTopics], start: float, bound: str, engine: Engine) -> AtAlpha:
    """Return alpha and theta that together maximise L_HDP given the responsibilities.                docs/math (V14)

    With theta left as it is, alpha would hardly move: for a topic that a document does not use, theta_dk is alpha
    E[beta_k] of the alpha of before, and holds it there.

    `state`: of an admixture. `start`: alpha to start from.
    """
    before = _at_alpha(state, start, bound, engine)

    def slope(alpha: float) -> float:
        return _at_alpha(state, alpha, bound, engine).slope

    after = _at_alpha(state, maximiser(slope, start, CONCENTRATION_LIMITS), bound, engine)
    return after if after.value >= before.value else before


def statistics_at(prior: Float, documents: BatchRef[DocumentTopics], engine: Engine) -> tuple[Float, Float, float]:
    """Return T, Q and Q0 of the documents of a batch at theta = prior + N: a job.                  docs/math (V8)"""
    found = documents.load()
    return weight_statistics(found, _tokens(found), prior, engine)


def _at_alpha(state: Inference[DocumentTopics], alpha: float, bound: str, engine: Engine) -> AtAlpha:
    """Evaluate L_HDP and its slope with theta at its best for this alpha.                            docs/math (V14)

    L_HDP = D E[c_D] + sum_d { sum_k log Gamma(theta_dk) - log Gamma(sum_k theta_dk) };  theta is stationary, so
    dL_HDP/dalpha = D dE[c_D]/dalpha + sum_k E[beta_k] T_k.
    """
    rho, omega = state.parameters.rho, state.parameters.omega
    beta, D = expected_beta(rho), state.totals.n_documents
    value = D * expected_log_normaliser(rho, omega, alpha, bound)
    slope = D * _normaliser_slope(rho, omega, alpha, bound)
    statistics, jobs = [], [state.documents.ref(b) for b in range(len(state.documents))]
    for T, Q, Q0 in engine.run_each(statistics_at, jobs, alpha * beta):
        statistics.append({"T": T, "G": -alpha * beta * T, "Q": Q, "Q0": Q0})
        value += float(Q.sum()) - Q0
        slope += float(beta @ T)
    return AtAlpha(alpha, statistics, value, slope)


def _normaliser_slope(rho: Float, omega: Float, alpha: float, bound: str) -> float:
    """Return the derivative by alpha of the bound of E[c_D(alpha beta)].                             docs/math (V14)"""
    slope = rho.size / alpha
    if bound == QUADRATIC:
        slope += quadratic_slopes(alpha, expected_squares(rho, omega)[0])[0]
    elif bound == POINT:
        slope += point_slopes(alpha, expected_beta(rho))[0]
    return slope


def _tokens(documents: DocumentTopics) -> Float:
    """Return N_d, (D_b,)."""
    rows = np.repeat(np.arange(documents.n_documents), np.diff(documents.indptr))
    return np.bincount(rows, weights=documents.n_dk, minlength=documents.n_documents).astype(np.float64)
