"""Learning alpha, gamma and the prior of the topics: each is set to the maximum of the objective (math.md (V14)-(V16)).

A coordinate step like the others, so the objective never falls by it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stickbreak.fitting.executor import Executor
from stickbreak.fitting.hyperparameters import CONCENTRATION_LIMITS
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.maximum import maximiser
from stickbreak.variational.bound import QUADRATIC, expected_squares, quadratic_slopes
from stickbreak.variational.local_step import weight_statistics
from stickbreak.variational.model import HDP, Inference
from stickbreak.variational.objective import expected_log_normaliser, expected_log_sticks
from stickbreak.variational.state import DocumentTopics, expected_beta

GAMMA_LIMITS = (1e-2, 1e3)  # with more topics than the documents can tell apart, gamma would run to infinity


def due(names: Collection[str], *, settled: bool) -> tuple[str, ...]:
    """Return those of the names whose turn it is at the end of a lap.

    The prior of the topics (eta, or the scale of a Gaussian prior) waits for a lap that left the set of topics as it
    was (`settled`). An eta that was learned while the topics still form fits them as they are, and then no merge pays:
    on documents of ten words of KOS it keeps 40 topics where 2 are better, by 0.4 nats per token.
    """
    return tuple(name for name in names if settled or name in ("alpha", "gamma"))


def learn(state: Inference, names: Collection[str], executor: Executor) -> None:
    """Set the named hyperparameters to the maximum of the objective, the rest following them.

    With alpha, theta of every document is set again for its stored N_dk, under the new alpha and the current E[beta];
    the statistics of all batches change with it. So no candidate of a move may wait for a statistic of before. In the
    order alpha, gamma, sticks, prior of the topics; each step starts from what the one before left.

    Parameters
    ----------
    state : Inference
        Changed in place.
    names : collection of {"alpha", "gamma"} and the hyperparameters of the likelihood
    executor : Executor
    """
    if not names:
        return
    model = _model(state)
    if "alpha" in names:
        found = _best_alpha(state, executor)
        state.batches = [
            replace(batch, vectors=replace(batch.vectors, **new))
            for batch, new in zip(state.batches, found.statistics, strict=True)
        ]
        of_weights = {name: sum(new[name] for new in found.statistics) for name in ("T", "G", "Q", "Q0")}
        state.totals = replace(state.totals, **of_weights)
        model = replace(model, alpha=found.alpha)
    if "gamma" in names:
        model = replace(model, gamma=best_gamma(state.parameters.rho, state.parameters.omega, model.gamma))
    if "alpha" in names or "gamma" in names:
        state.parameters.rho, state.parameters.omega = model.best_sticks(
            state.totals, state.parameters.rho, state.parameters.omega
        )
    if set(names) & set(model.likelihood.hyperparameters):
        model = replace(model, likelihood=model.likelihood.learned(state.totals.S, state.totals.N))
    state.refresh(model)


def _model(state: Inference) -> HDP:
    assert isinstance(state.model, HDP)  # of a mixture nothing is learned
    return state.model


def _weights(state: Inference) -> list[DocumentTopics]:
    return [documents for documents in state.documents if isinstance(documents, DocumentTopics)]


def best_gamma(rho: Float, omega: Float, start: float) -> float:
    """Return the gamma that maximises L_u = K log gamma + gamma sum_k E log(1 - u_k) + ...          math.md (V15)

    gamma = - K / sum_k E log(1 - u_k), within `GAMMA_LIMITS`; a start outside the limits widens them.
    """
    low, high = min(GAMMA_LIMITS[0], start), max(GAMMA_LIMITS[1], start)
    falling = -float(expected_log_sticks(rho, omega)[1].sum())
    return high if falling * high <= rho.size else max(low, rho.size / falling)


@dataclass(frozen=True, slots=True)
class _AtAlpha:
    """The corpus at one alpha, theta optimal for it: theta_dk = alpha E[beta_k] + N_dk."""

    alpha: float
    statistics: list[dict[str, Any]]  # T, G, Q, Q0 of each batch
    value: float  # L_HDP, nats
    slope: float  # its derivative by alpha


def _best_alpha(state: Inference, executor: Executor) -> _AtAlpha:
    """Return alpha and theta that together maximise L_HDP given the responsibilities.                math.md (V14)

    With theta left as it is, alpha would hardly move: for a topic that a document does not use, theta_dk is alpha
    E[beta_k] of the alpha of before, and holds it there.
    """
    lengths = [_tokens(documents) for documents in _weights(state)]
    before = _at_alpha(state, lengths, _model(state).alpha, executor)

    def slope(alpha: float) -> float:
        return _at_alpha(state, lengths, alpha, executor).slope

    after = _at_alpha(state, lengths, maximiser(slope, before.alpha, CONCENTRATION_LIMITS), executor)
    return after if after.value >= before.value else before


def _at_alpha(state: Inference, lengths: list[Float], alpha: float, executor: Executor) -> _AtAlpha:
    """Evaluate L_HDP and its slope with theta at its best for this alpha.                            math.md (V14)

    L_HDP = D E[c_D] + sum_d { sum_k log Gamma(theta_dk) - log Gamma(sum_k theta_dk) };  theta is stationary, so
    dL_HDP/dalpha = D dE[c_D]/dalpha + sum_k E[beta_k] T_k.
    """
    rho, omega = state.parameters.rho, state.parameters.omega
    beta, bound, D = expected_beta(rho), _model(state).bound, state.totals.n_documents
    value = D * expected_log_normaliser(rho, omega, alpha, bound)
    slope = D * _normaliser_slope(rho, omega, alpha, bound)
    statistics = []
    for documents, of_documents in zip(_weights(state), lengths, strict=True):
        T, Q, Q0 = weight_statistics(documents, of_documents, alpha * beta, executor)
        statistics.append({"T": T, "G": -alpha * beta * T, "Q": Q, "Q0": Q0})
        value += float(Q.sum()) - Q0
        slope += float(beta @ T)
    return _AtAlpha(alpha, statistics, value, slope)


def _normaliser_slope(rho: Float, omega: Float, alpha: float, bound: str) -> float:
    """Return the derivative by alpha of the bound of E[c_D(alpha beta)].                             math.md (V14)"""
    gain = quadratic_slopes(alpha, expected_squares(rho, omega)[0])[0] if bound == QUADRATIC else 0.0
    return rho.size / alpha + gain


def _tokens(documents: DocumentTopics) -> Float:
    """Return N_d, (D_b,)."""
    rows = np.repeat(np.arange(documents.n_documents), np.diff(documents.indptr))
    return np.bincount(rows, weights=documents.n_dk, minlength=documents.n_documents).astype(np.float64)
