"""The stochastic schedule: after every group of batches a step towards what they, scaled up, ask for (docs/math (S1)).

First its steps and laps, then the schedule as the run of a fit sees it, then what `partial_fit` of the estimators does.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.exceptions import InputError
from stickbreak.fitting.checkpoint import is_table, require, whole_number
from stickbreak.fitting.constraints import CONCENTRATION, OFFSET, TOLERANCES, one_of, share, whole
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.loop import Callback, Interruption, Lap, Packed, Stop
from stickbreak.fitting.step_sizes import step_size
from stickbreak.model.estimator import Estimator
from stickbreak.model.streaming import partial_fit
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.decaying_counts import decayed
from stickbreak.numerics.ranges import LARGEST_STATISTIC, are_sticks, are_sums
from stickbreak.numerics.streams import seed_from, stream
from stickbreak.variational.batch_update import COLUMNS, LapInfo, columns_of
from stickbreak.variational.global_step import INTERPOLATE, sticks_of
from stickbreak.variational.local_step import LocalResult, LocalSettings, Observations, summarise
from stickbreak.variational.memoized import MakeStart
from stickbreak.variational.model import AcceptedMove, Loader, Model, Schedule, largest_first
from stickbreak.variational.objective import rises
from stickbreak.variational.state import PER_TOPIC, GlobalParameters, StoredSummary, Summary, expected_beta


@dataclass(frozen=True, slots=True)
class StepRule:
    """How far a step goes, and by which of the two rules the sticks follow (docs/math (S1))."""

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
        """Replace S by (1 - step) S + step S', S' given by its rows of `words` (all, if None).     docs/math (S1)"""
        self.scale = decayed(self.counts, self.scale, 1.0 - step)
        self.counts[slice(None) if words is None else words] += (step / self.scale) * S
        self.tokens = (1.0 - step) * self.tokens + step * tokens

    def restore_pseudo_counts(self, pseudo: sparse.csr_array, step: float) -> None:
        """Give pseudo-counts back what a step has taken of them: S has them as they are.            docs/math (L17)"""
        entries = pseudo.tocoo()
        self.counts[entries.row, entries.col] += (step / self.scale) * entries.data
        self.tokens[: pseudo.shape[1]] += step * pseudo.sum(axis=0)


def infer(
    batch: Observations, state: StreamState, model: Model, settings: LocalSettings, engine: Engine
) -> tuple[Summary, LocalResult]:
    """Run the local step of a batch under the current topics, from E[beta], and sum up."""
    parameters = state.rows(batch.words, model)
    result = model.local_step(batch.over_own_rows(), parameters, None, settings, engine)
    return summarise(replace(result, batch=batch), engine), result


@dataclass(frozen=True, slots=True)
class StreamWork:
    """What the updates at the same topics have in common."""

    batches: Sequence[Loader]
    state: StreamState
    model: Model[Any]
    settings: LocalSettings
    travels: bool  # whether what a job returns leaves the process


class StreamUpdate(NamedTuple):
    """What the local step of a batch returns."""

    summary: Summary | StoredSummary
    sweeps: Int  # (D_b,)
    restarts: Int  # (2,) tried, accepted
    any_words: bool


def sum_up_batch(work: StreamWork, index: int, engine: Engine) -> StreamUpdate:
    """Run the local step of a batch: a job."""
    batch = work.batches[index]()
    summary, result = infer(batch, work.state, work.model, work.settings, engine)
    sums = summary.compressed() if work.travels else summary
    return StreamUpdate(sums, result.sweeps, result.restarts, batch.word.size > 0)


def scaled(summary: Summary, n_documents: int) -> Summary:
    """Return the statistics of `n_documents` documents of which the given ones are a sample: s = D / |M| times all."""
    s = n_documents / summary.n_documents
    several: dict[str, Any] = {name: s * getattr(summary, name) for name in ("S", *PER_TOPIC, "Q0")}
    return replace(summary, n_documents=n_documents, **several)


def take_step(state: StreamState, whole: Summary, model: Model, rule: StepRule) -> None:
    """Move the globals a step towards what the statistics ask for.                 docs/math (S1)

        S <- (1 - xi) S + xi s S^M,   so tau <- (1 - xi) tau + xi (tau_bar + s S^M)

    The sticks: by "interpolate" a <- (1 - xi) a + xi a*, b likewise, (a*, b*) the optimum for the scaled statistics; by
    "natural" a step xi along the natural gradient there.

    `state` is changed in place; `whole` are the statistics of the batch, scaled to all documents (`scaled`).
    """
    step = rule.size(state.n_steps + 1)
    state.rho, state.omega = model.step_sticks(whole, state.rho, state.omega, step, rule.sticks)
    state.blend(whole.words, whole.S, whole.N, step)
    if model.pseudo is not None:
        state.restore_pseudo_counts(model.pseudo, step)
    state.n_steps += 1


def objective_of(whole: Summary, state: StreamState, model: Model) -> float:
    """Return the objective in nats of the documents' factors behind `whole` together with the current globals.

    Exact for these factors, which need not be the best for these globals.          docs/math (V1)
    """
    S = whole.S
    if whole.words is not None:
        S = np.zeros_like(state.counts)
        S[whole.words] = whole.S
    N = whole.N
    if model.pseudo is not None:
        known = model.pseudo_summary(*S.shape)
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

    `state` is changed in place, `n_documents` are those in all batches, `lap` counts the laps done so far. `seed`
    gives, with the number of the lap, the order of the batches. `reorder`: the topics are sorted after each lap if the
    objective rises by it.
    """
    model = schedule.model
    while True:
        lap += 1
        order = stream(seed, f"order of the batches in lap {lap}").permutation(len(schedule.batches))
        totals, counted = Summary.zeros(*state.counts.shape), list[tuple[Int, Int]]()
        for first in range(0, order.size, schedule.at_once):
            travels = schedule.engine.workers is not None
            work = StreamWork(schedule.batches, state, model, schedule.settings, travels)
            group = order[first : first + schedule.at_once].tolist()
            updates = schedule.engine.run_each(sum_up_batch, group, work)
            parts = [update.summary.expanded() for update in updates]
            if any(update.any_words for update in updates):  # empty documents alone say nothing of the topics
                take_step(state, scaled(Summary.union(parts), n_documents), model, rule)
            for part in parts:
                totals.add(part)
            counted += [(update.sweeps, update.restarts) for update in updates]
        objective = objective_of(totals, state, model)
        moves: dict[str, tuple[int, int]] = {}
        if reorder:
            objective, moves["reorder"] = _sort(state, totals, model, objective)
        yield state, LapInfo.of(objective, state.rho.size, counted, moves)


def _sort(state: StreamState, totals: Summary, model: Model, before: float) -> tuple[float, tuple[int, int]]:
    """Put the topics in decreasing order of N if the objective rises by it (docs/math, order of the topics).

    Returns the objective after it, in nats, and how often that was tried and accepted.
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
    engine: Engine,
    *,
    n_documents: int,
) -> LapInfo:
    """Take one step on a batch of a stream of `n_documents`.

    The objective is an estimate from this batch alone, scaled to the stream, of where the topics stood before the step:
    documents that the topics had not seen yet.
    The batch has at least one token, and `state` is changed in place.
    """
    summary, result = infer(batch, state, model, settings, engine)
    whole = scaled(summary, n_documents)
    objective = objective_of(whole, state, model)
    take_step(state, whole, model, rule)
    return LapInfo.of(objective, state.rho.size, [(result.sweeps, result.restarts)], {})


class StochasticLaps:
    """The stochastic schedule. Of the moves it knows only the order of the topics; the others need exact statistics."""

    window = 0  # its objective is not monotone: a lap without a gain is not a sign of an end
    accepted: Sequence[AcceptedMove] = ()

    def __init__(
        self,
        schedule: Schedule,
        shape: tuple[int, int],
        n_tokens: float,
        rule: StepRule,
        make_start: MakeStart,
        *,
        reorder: bool,
    ) -> None:
        self._schedule, self._model, self._rule, self._reorder = schedule, schedule.model, rule, reorder
        self._shape, self._n_tokens, self._make_start = shape, n_tokens, make_start
        self._state: StreamState
        self.objective = -float("inf")

    @property
    def columns(self) -> Collection[str]:
        """Columns of a trace of these laps, beyond those of every trace."""
        return [*COLUMNS, *columns_of(self._names)]

    @property
    def _names(self) -> list[str]:
        return ["reorder"] if self._reorder else []

    def begin(self, report: Callback, stop: Stop) -> None:
        """Make the start."""
        self._state = StreamState.from_parameters(self._make_start(report, stop), self._model)

    def laps(self, done: int) -> Iterator[Lap]:
        """Yield after every lap."""
        further = laps(
            self._schedule, self._state, self._rule,
            n_documents=self._shape[0], seed=self._schedule.seed, lap=done, reorder=self._reorder,
        )  # fmt: skip
        for _, info in further:
            self.objective = info.objective
            yield info.row(self._n_tokens, self._names, {})

    def snapshot(self) -> Packed:
        """Return all that the next laps depend on."""
        state = self._state
        arrays = {name: getattr(state, name) for name in ("counts", "tokens", "rho", "omega")}
        return arrays, {"scale": state.scale, "n_steps": state.n_steps, "objective": self.objective}

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any], done: int) -> None:
        """Take up what `snapshot` returned."""
        signed = self._model.likelihood.signed
        self._state, self.objective = restored_stream(arrays, values, self._shape[1], signed=signed)

    @property
    def parameters(self) -> GlobalParameters:
        """The current globals."""
        return self._state.parameters(self._model)

    @property
    def model(self) -> Model:
        """The model."""
        return self._model

    @property
    def n_steps(self) -> int:
        """Steps taken so far."""
        return self._state.n_steps


def restored_stream(
    arrays: Mapping[str, NDArray], values: Mapping[str, Any], n_rows: int, *, signed: bool
) -> tuple[StreamState, float]:
    """Return the state and the objective of a snapshot, with copies of its arrays.

    `n_rows`: rows of a table of statistics (words W). `signed`: whether statistics may be negative. A KeyError,
    TypeError or ValueError if its parts do not fit together.
    """
    arrays = {name: array.copy() for name, array in arrays.items()}
    W, K = n_rows, arrays["rho"].size
    shapes = {"counts": (W, K), "tokens": (K,), "rho": (K,), "omega": (K,)}
    for name, shape in shapes.items():
        require(K >= 1 and is_table(arrays[name], *shape), f"{name} is not a finite table of {W} words and {K} topics")
    rho, omega = arrays["rho"], arrays["omega"]
    require(are_sticks(rho, omega), "its sticks are out of range")
    require(are_sums(arrays["counts"], signed=signed) and are_sums(arrays["tokens"]), "its counts are out of range")
    scale, objective = float(values["scale"]), float(values["objective"])
    n_steps = whole_number("n_steps", values["n_steps"])
    require(0 < scale <= 1 and n_steps >= 0 and np.isfinite(objective), "its scale, n_steps or objective cannot be")
    state = StreamState(arrays["counts"], scale, arrays["tokens"], rho, omega, n_steps)
    return state, objective


class StreamingVariational(Estimator):
    """Base of the variational estimators: `partial_fit` takes a stochastic step."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Estimator._parameter_constraints,
        "moves": [list, tuple],
        "gamma": CONCENTRATION,
        "schedule": [one_of(("memoized", "stochastic"))],
        "learning_decay": [share()],
        "learning_offset": [OFFSET],
        "tolerance": [*TOLERANCES],
        "n_batches": [None, whole(1)],
        "batches_at_once": [whole(1)],
        "scratch": [None, str, PathLike],
    }

    total_documents: int | None
    n_documents_seen_: int
    n_steps_: int

    partial_fit = partial_fit

    def _take_moves(self, accepted: Iterable[AcceptedMove], words: Sequence[str]) -> None:
        """Keep the accepted moves of a fit, with the words of their topics; none where rows are not words."""
        self.moves_ = [
            {
                "pass": change.lap,
                "move": change.move,
                "gain": change.gain,
                "n_topics": change.n_topics,
                "topics": [[words[w] for w in rows] for rows in change.words] if words else [],
            }
            for change in accepted
        ]

    @abstractmethod
    def _model(self, *, fitted: bool = False) -> Model:
        """Return the model with the hyperparameters to begin with, or with those that were learned."""

    @abstractmethod
    def _parameters(self) -> GlobalParameters:
        """Return the globals of the fitted model."""

    @abstractmethod
    def _take_parameters(self, parameters: GlobalParameters, model: Model) -> None:
        """Copy globals and hyperparameters into the fitted attributes."""

    @abstractmethod
    def _observations(self, minibatch: Any) -> Observations:
        """Return a minibatch as a batch that a local step takes."""

    @abstractmethod
    def _settings(self) -> LocalSettings:
        """Return when and how local steps stop."""

    @abstractmethod
    def _rule(self) -> StepRule:
        """Return the sizes and the rule of stochastic steps."""

    @abstractmethod
    def _begin(self, documents: Any, seed: int, engine: Engine, report: Any, stop: Any) -> GlobalParameters:
        """Return the globals at the start."""

    def _names_learned(self) -> list[str]:
        """Return those with a column in the trace: the memoized schedule alone learns, and its default depends."""
        return [name for name in self._learnable if name in self._trace.columns]

    def _open_stream(self, minibatch: Any, total: int, engine: Engine, interruption: Interruption) -> GlobalParameters:
        seed, stop = seed_from(self.random_state), interruption.give_up_start
        return self._begin(minibatch, seed, engine, lambda event: None, stop)

    def _step(self, minibatch: Any, total: int, engine: Engine, start: GlobalParameters | None) -> Lap:
        model = self._model(fitted=start is None)
        parameters, n_steps = (self._parameters(), self.n_steps_) if start is None else (start, 0)
        state = StreamState.from_parameters(parameters, model, n_steps)
        batch = self._observations(minibatch)
        info = learn_from(batch, state, model, self._rule(), self._settings(), engine, n_documents=total)
        columns: dict[str, float] = {"sweeps": info.sweeps}
        columns["restarts_tried"], columns["restarts_accepted"] = info.restarts
        objective = info.objective * minibatch.n_documents / (total * minibatch.n_tokens)
        lap = Lap(objective, info.n_topics, False, columns)
        if start is None:
            columns |= self._trace.rest_of_row(lap)
        else:
            self.moves_ = []
        if not (are_sums(objective, signed=True) and np.abs(state.counts).max(initial=0.0) <= LARGEST_STATISTIC):
            raise InputError("the numbers of the minibatch are too large to be summed; scale them down.")
        self._take_parameters(state.parameters(model), model)
        self.n_steps_ = state.n_steps
        return lap
