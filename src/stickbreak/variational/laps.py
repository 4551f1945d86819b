"""The schedules as the run of a fit sees them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Protocol

from numpy.typing import NDArray

from stickbreak.fitting.laps import Callback, Lap, Laps, Packed, Stop
from stickbreak.variational import memoized, stochastic
from stickbreak.variational.memoized import LapInfo
from stickbreak.variational.model import AcceptedMove, Inference, Model, Schedule
from stickbreak.variational.moves import Move
from stickbreak.variational.snapshot import restored, snapshot
from stickbreak.variational.state import GlobalParameters
from stickbreak.variational.stochastic import StepRule, StreamState
from stickbreak.variational.stream_snapshot import restored_stream, stream_snapshot

MakeStart = Callable[[Callback, Stop], GlobalParameters]
_COLUMNS = ("sweeps", "restarts_tried", "restarts_accepted")  # of a trace of either schedule


class VariationalLaps(Laps, Protocol):
    """One of the schedules at work on a collection."""

    @property
    def parameters(self) -> GlobalParameters:
        """The current globals."""

    @property
    def model(self) -> Model:
        """The model, with the current hyperparameters."""

    @property
    def accepted(self) -> Sequence[AcceptedMove]:
        """The moves that were accepted so far."""

    @property
    def n_steps(self) -> int:
        """Batches visited so far."""


class MemoizedLaps:
    """The memoized schedule and its moves."""

    window = 1

    def __init__(
        self, schedule: Schedule, shape: tuple[int, int], n_tokens: float, moves: Sequence[Move], make_start: MakeStart
    ) -> None:
        self._schedule, self._shape, self._n_tokens = schedule, shape, n_tokens
        self._moves, self._make_start = moves, make_start
        self._start: GlobalParameters | None = None
        self._state: Inference
        self.n_steps = 0

    @property
    def columns(self) -> Collection[str]:
        """Columns of a trace of these laps, beyond those of every trace."""
        return [*_COLUMNS, *self._schedule.learned, *_counts_of([move.name for move in self._moves])]

    def begin(self, report: Callback, stop: Stop) -> None:
        """Make the start."""
        self._start = self._make_start(report, stop)

    def laps(self, done: int) -> Iterator[Lap]:
        """Yield after every lap."""
        self.n_steps = done * len(self._schedule.batches)
        if self._start is not None:
            self._state, info = memoized.first_lap(self._schedule, self._start)
            done += 1
            yield self._lap(info)
        for _, info in memoized.laps(self._schedule, self._state, self._moves, lap=done):
            yield self._lap(info)

    def _lap(self, info: LapInfo) -> Lap:
        self.n_steps += len(self._schedule.batches)
        learned = {name: self._state.model.hyperparameters[name] for name in self._schedule.learned}
        return _row(info, self._n_tokens, [move.name for move in self._moves], learned)

    def snapshot(self) -> Packed:
        """Return all that the next laps depend on."""
        return snapshot(self._state, self._moves)

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any], done: int) -> None:
        """Take up what `snapshot` returned."""
        self._state = restored(arrays, values, self._schedule.model, self._moves, self._shape, self._schedule.keeping)
        self.n_steps = done * len(self._schedule.batches)

    @property
    def parameters(self) -> GlobalParameters:
        """The current globals."""
        return self._state.parameters

    @property
    def model(self) -> Model:
        """The model, with the current hyperparameters."""
        return self._state.model

    @property
    def accepted(self) -> Sequence[AcceptedMove]:
        """The moves that were accepted so far."""
        return self._state.accepted


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
        return [*_COLUMNS, *_counts_of(self._names)]

    @property
    def _names(self) -> list[str]:
        return ["reorder"] if self._reorder else []

    def begin(self, report: Callback, stop: Stop) -> None:
        """Make the start."""
        self._state = StreamState.from_parameters(self._make_start(report, stop), self._model)

    def laps(self, done: int) -> Iterator[Lap]:
        """Yield after every lap."""
        further = stochastic.laps(
            self._schedule, self._state, self._rule,
            n_documents=self._shape[0], seed=self._schedule.seed, lap=done, reorder=self._reorder,
        )  # fmt: skip
        for _, info in further:
            self.objective = info.objective
            yield _row(info, self._n_tokens, self._names, {})

    def snapshot(self) -> Packed:
        """Return all that the next laps depend on."""
        return stream_snapshot(self._state, self.objective)

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


def _counts_of(moves: Sequence[str]) -> list[str]:
    """Return the columns that count what moves did."""
    return [f"{name}_{what}" for name in moves for what in ("tried", "accepted")]


def _row(info: LapInfo, n_tokens: float, moves: Sequence[str], learned: dict[str, float]) -> Lap:
    """Translate what the schedule did into a row of the trace."""
    columns: dict[str, float] = {"sweeps": info.sweeps, **learned}
    columns["restarts_tried"], columns["restarts_accepted"] = info.restarts
    for name in moves:
        columns[f"{name}_tried"], columns[f"{name}_accepted"] = info.moves.get(name, (0, 0))
    return Lap(info.objective / n_tokens, info.n_topics, info.moved, columns)
