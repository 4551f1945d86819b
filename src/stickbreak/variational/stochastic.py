"""The stochastic schedule: after every group of batches a step towards what they, scaled up, ask for (math.md (S1))."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from stickbreak.fitting.engine import run_each, workers_of
from stickbreak.fitting.executor import Executor
from stickbreak.fitting.steps import step_size
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.scaled import decayed
from stickbreak.numerics.streams import stream
from stickbreak.variational.global_step import sticks_of
from stickbreak.variational.local_step import LocalSettings, summarise
from stickbreak.variational.memoized import LapInfo
from stickbreak.variational.model import Loader, Model, Schedule, largest_first
from stickbreak.variational.natural_gradient import INTERPOLATE
from stickbreak.variational.objective import rises
from stickbreak.variational.observations import Observations
from stickbreak.variational.state import PER_TOPIC, GlobalParameters, StoredSummary, Summary, expected_beta
from stickbreak.variational.visits import Visited


@dataclass(frozen=True, slots=True)
class StepRule:
    """How far a step goes, and by which of the two rules the sticks follow (math.md (S1))."""

    decay: float = 0.5  # kappa
    offset: float = 1.0  # delay
    sticks: str = INTERPOLATE

    def size(self, step: int) -> float:
        """Return the size of step t, the first of which is 1."""
        return step_size(step, self.decay, self.offset)


@dataclass(slots=True)
class StreamState:
    """Where stochastic inference stands.

    The topics are kept as the expected counts S of the whole stream, tau = posterior(S), and S as `scale * counts`: a
    step scales all counts down, which is one multiplication, and adds only to the rows of the words in its batch.
    """

    counts: Float  # (W, K) S / scale
    scale: float
    tokens: Float  # (K,)   S.sum(0)
    rho: Float  # (K,)
    omega: Float  # (K,)
    n_steps: int

    @classmethod
    def from_parameters(cls, parameters: GlobalParameters, model: Model, n_steps: int = 0) -> StreamState:
        """Start from given topics; the arrays are copied."""
        counts, tokens = model.likelihood.counts(parameters.tau, parameters.tau_sum)
        return cls(counts, 1.0, tokens, parameters.rho.copy(), parameters.omega.copy(), n_steps)

    def parameters(self, model: Model) -> GlobalParameters:
        """Return the global parameters, the whole table tau among them."""
        return GlobalParameters.of(model.likelihood, self.scale * self.counts, self.tokens, self.rho, self.omega)

    def rows(self, words: np.ndarray, model: Model) -> GlobalParameters:
        """Return the global parameters with only the rows of `words` in tau; tau_sum is of all words."""
        table = model.likelihood.table
        unseen = table(np.zeros((self.counts.shape[0], 1))).sum()  # what tau of a topic without counts sums to
        table_of_words = model.likelihood.of_rows(words).table(self.scale * self.counts[words])
        return GlobalParameters(table_of_words, self.tokens + unseen, self.rho, self.omega)

    def blend(self, words: np.ndarray | None, S: Float, tokens: Float, step: float) -> None:
        """Replace S by (1 - step) S + step S', S' given by its rows of `words` (all, if None).     math.md (S1)"""
        self.scale = decayed(self.counts, self.scale, 1.0 - step)
        self.counts[slice(None) if words is None else words] += (step / self.scale) * S
        self.tokens = (1.0 - step) * self.tokens + step * tokens

    def keep_known(self, pseudo: sparse.csr_array, step: float) -> None:
        """Give pseudo-counts back what a step has taken of them: S has them as they are.              math.md (L17)"""
        entries = pseudo.tocoo()
        self.counts[entries.row, entries.col] += (step / self.scale) * entries.data
        self.tokens[: pseudo.shape[1]] += step * pseudo.sum(axis=0)


def visit(
    batch: Observations, state: StreamState, model: Model, settings: LocalSettings, executor: Executor
) -> tuple[Summary, Visited]:
    """Run the local step of a batch under the current topics, from E[beta]."""
    parameters = state.rows(batch.words, model)
    found = model.local_step(batch.over_own_rows(), parameters, None, settings, executor)
    return summarise(replace(found, batch=batch), executor), Visited(found.sweeps, found.restarts)


@dataclass(frozen=True, slots=True)
class Asked:
    """What visits at the same topics have in common."""

    batches: Sequence[Loader]
    state: StreamState
    model: Model[Any]
    settings: LocalSettings
    travels: bool  # whether what a visit returns leaves the process


class Seen(NamedTuple):
    """What a visit returns."""

    summary: Summary | StoredSummary
    visited: Visited
    any_words: bool


def visit_batch(asked: Asked, index: int, executor: Executor) -> Seen:
    """Visit a batch."""
    batch = asked.batches[index]()
    summary, visited = visit(batch, asked.state, asked.model, asked.settings, executor)
    return Seen(summary.compressed() if asked.travels else summary, visited, batch.word.size > 0)


def _visits(schedule: Schedule, state: StreamState, group: Sequence[int]) -> list[Seen]:
    travels = workers_of(schedule.executor) is not None
    asked = Asked(schedule.batches, state, schedule.model, schedule.settings, travels)
    return run_each(schedule.executor, visit_batch, group, asked)


def scaled(summary: Summary, n_documents: int) -> Summary:
    """Return the statistics of `n_documents` documents of which the given ones are a sample: s = D / |M| times all."""
    s = n_documents / summary.n_documents
    several: dict[str, Any] = {name: s * getattr(summary, name) for name in ("S", *PER_TOPIC, "Q0")}
    return replace(summary, n_documents=n_documents, **several)


def take_step(state: StreamState, whole: Summary, model: Model, rule: StepRule) -> None:
    """Move the globals a step towards what the statistics ask for.                 math.md (S1)

        S <- (1 - xi) S + xi s S^M,   so tau <- (1 - xi) tau + xi (tau_bar + s S^M)

    The sticks: by "interpolate" a <- (1 - xi) a + xi a*, b likewise, (a*, b*) the optimum for the scaled statistics; by
    "natural" a step xi along the natural gradient there.

    Parameters
    ----------
    state : StreamState
        Changed in place.
    whole : Summary
        The statistics of the batch, scaled to all documents (`scaled`).
    model : Model
    rule : StepRule
    """
    step = rule.size(state.n_steps + 1)
    state.rho, state.omega = model.step_sticks(whole, state.rho, state.omega, step, rule.sticks)
    state.blend(whole.words, whole.S, whole.N, step)
    if model.pseudo is not None:
        state.keep_known(model.pseudo, step)
    state.n_steps += 1


def objective_of(whole: Summary, state: StreamState, model: Model) -> float:
    """Return the objective in nats of the documents' factors behind `whole` together with the current globals.

    Exact for these factors, which need not be the best for these globals.          math.md (V1)
    """
    S = whole.S
    if whole.words is not None:
        S = np.zeros_like(state.counts)
        S[whole.words] = whole.S
    N = whole.N
    if model.pseudo is not None:
        known = model.known(*S.shape)
        S, N = S + known.S, N + known.N
    posterior = model.likelihood.posterior(state.scale * state.counts, state.tokens)
    data = model.likelihood.objective(S, N, posterior)
    return model.objective(whole, state.rho, state.omega, data)


def laps(
    schedule: Schedule, state: StreamState, rule: StepRule, *, n_documents: int, seed: int, lap: int, reorder: bool
) -> Iterator[tuple[StreamState, LapInfo]]:
    """Yield after every lap: each batch once, in a new order; a step after each group of them.

    The batches of a group are visited at the same topics, and the step goes towards what all of them ask for.

    The objective of a lap is that of all documents' factors as the lap found them, under the globals at its end: a
    lower bound as exact as that of the memoized schedule, but not a monotone one.

    Parameters
    ----------
    schedule : Schedule
    state : StreamState
        Changed in place.
    rule : StepRule
    n_documents : int
        In all batches.
    seed : int
        With the number of the lap it gives the order of the batches.
    lap : int
        Laps done so far.
    reorder : bool
        Sort the topics after each lap if the objective rises by it.
    """
    model = schedule.model
    while True:
        lap += 1
        order = stream(seed, f"order of the batches in lap {lap}").permutation(len(schedule.batches))
        totals, done = Summary.zeros(*state.counts.shape), []
        for first in range(0, order.size, schedule.at_once):
            visits = _visits(schedule, state, order[first : first + schedule.at_once].tolist())
            parts = [seen.summary.expanded() for seen in visits]
            if any(seen.any_words for seen in visits):  # empty documents alone say nothing of the topics
                take_step(state, scaled(Summary.union(parts), n_documents), model, rule)
            for part in parts:
                totals.add(part)
            done += [seen.visited for seen in visits]
        objective = objective_of(totals, state, model)
        moves: dict[str, tuple[int, int]] = {}
        if reorder:
            objective, moves["reorder"] = _sort(state, totals, model, objective)
        yield state, LapInfo.of(objective, state.rho.size, done, moves)


def _sort(state: StreamState, totals: Summary, model: Model, before: float) -> tuple[float, tuple[int, int]]:
    """Put the topics in decreasing order of N if the objective rises by it (math.md, order of the topics).

    Returns
    -------
    objective : float
        After it, in nats.
    counts : tuple of int
        How often it was tried and accepted.
    """
    order = largest_first(totals.N, model.n_kept)
    if np.array_equal(order, np.arange(order.size)):
        return before, (0, 0)
    parts = totals.without_words().permuted(order)
    weights = expected_beta(state.rho)[:-1]
    rho, omega = model.best_sticks(parts, *sticks_of(weights[order], state.omega[order]))
    data = np.zeros(order.size)  # L_data does not depend on the order
    here = model.objective(totals, state.rho, state.omega, data)
    there = model.objective(parts, rho, omega, data)
    value = before + (there - here)
    if not rises(value, before):
        return before, (1, 0)
    state.counts = np.ascontiguousarray(state.counts[:, order])
    state.tokens, state.rho, state.omega = state.tokens[order], rho, omega
    return value, (1, 1)


def learn_from(
    batch: Observations,
    state: StreamState,
    model: Model,
    rule: StepRule,
    settings: LocalSettings,
    executor: Executor,
    *,
    n_documents: int,
) -> LapInfo:
    """Take one step on a batch of a stream of `n_documents`.

    The objective is an estimate from this batch alone, scaled to the stream, of where the topics stood before the step:
    documents that the topics had not seen yet.

    Parameters
    ----------
    batch : Observations
        With at least one token.
    state : StreamState
        Changed in place.
    model : Model
    rule : StepRule
    settings : LocalSettings
    executor : Executor
    n_documents : int

    Returns
    -------
    LapInfo
    """
    summary, visited = visit(batch, state, model, settings, executor)
    whole = scaled(summary, n_documents)
    objective = objective_of(whole, state, model)
    take_step(state, whole, model, rule)
    return LapInfo.of(objective, state.rho.size, [visited], {})
