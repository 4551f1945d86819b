"""Learning alpha, gamma and the prior of the topics: each is set to the maximum of the objective (math.md (V14)-(V16)).

A coordinate step like the others, so the objective never falls by it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stickbreak.fitting.engine import run_each
from stickbreak.fitting.executor import Executor
from stickbreak.fitting.hyperparameters import CONCENTRATION_LIMITS
from stickbreak.fitting.shelves import Entry
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.maximum import maximiser
from stickbreak.variational.bound import POINT, QUADRATIC, expected_squares, point_slopes, quadratic_slopes
from stickbreak.variational.document_prior import weight_statistics
from stickbreak.variational.documents import DocumentTopics
from stickbreak.variational.model import Inference
from stickbreak.variational.objective import expected_log_normaliser, expected_log_sticks
from stickbreak.variational.state import expected_beta

GAMMA_LIMITS = (1e-2, 1e3)  # with more topics than the documents can tell apart, gamma would run to infinity


def due(names: Collection[str], *, settled: bool) -> tuple[str, ...]:
    """Return those of the names whose turn it is at the end of a lap.

    The prior of the topics (eta, or the scale of a Gaussian prior) waits for a lap that left the set of topics as it
    was (`settled`). An eta that was learned while the topics still form fits them as they are, and then no merge pays:
    on documents of ten words of KOS it keeps 40 topics where 2 are better, by 0.4 nats per token.
    """
    return tuple(name for name in names if settled or name in ("alpha", "gamma"))


def best_gamma(rho: Float, omega: Float, start: float, bound: str) -> float:
    """Return the gamma that maximises L_u = K log gamma + gamma sum_k E log(1 - u_k) + ...          math.md (V15)

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


def best_alpha(state: Inference[DocumentTopics], start: float, bound: str, executor: Executor) -> AtAlpha:
    """Return alpha and theta that together maximise L_HDP given the responsibilities.                math.md (V14)

    With theta left as it is, alpha would hardly move: for a topic that a document does not use, theta_dk is alpha
    E[beta_k] of the alpha of before, and holds it there.

    Parameters
    ----------
    state : Inference
        Of an admixture.
    start : float
        alpha to start from.
    bound : {"surrogate", "quadratic", "point"}
    executor : Executor
    """
    before = _at_alpha(state, start, bound, executor)

    def slope(alpha: float) -> float:
        return _at_alpha(state, alpha, bound, executor).slope

    after = _at_alpha(state, maximiser(slope, start, CONCENTRATION_LIMITS), bound, executor)
    return after if after.value >= before.value else before


def statistics_at(prior: Float, documents: Entry[DocumentTopics], executor: Executor) -> tuple[Float, Float, float]:
    """Return T, Q and Q0 of the documents of a batch at theta = prior + N: a job.                  math.md (V8)"""
    found = documents.load()
    return weight_statistics(found, _tokens(found), prior, executor)


def _at_alpha(state: Inference[DocumentTopics], alpha: float, bound: str, executor: Executor) -> AtAlpha:
    """Evaluate L_HDP and its slope with theta at its best for this alpha.                            math.md (V14)

    L_HDP = D E[c_D] + sum_d { sum_k log Gamma(theta_dk) - log Gamma(sum_k theta_dk) };  theta is stationary, so
    dL_HDP/dalpha = D dE[c_D]/dalpha + sum_k E[beta_k] T_k.
    """
    rho, omega = state.parameters.rho, state.parameters.omega
    beta, D = expected_beta(rho), state.totals.n_documents
    value = D * expected_log_normaliser(rho, omega, alpha, bound)
    slope = D * _normaliser_slope(rho, omega, alpha, bound)
    statistics, jobs = [], [state.documents.entry(b) for b in range(len(state.documents))]
    for T, Q, Q0 in run_each(executor, statistics_at, jobs, alpha * beta):
        statistics.append({"T": T, "G": -alpha * beta * T, "Q": Q, "Q0": Q0})
        value += float(Q.sum()) - Q0
        slope += float(beta @ T)
    return AtAlpha(alpha, statistics, value, slope)


def _normaliser_slope(rho: Float, omega: Float, alpha: float, bound: str) -> float:
    """Return the derivative by alpha of the bound of E[c_D(alpha beta)].                             math.md (V14)"""
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
