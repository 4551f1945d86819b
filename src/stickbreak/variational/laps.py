"""The schedules as the run of a fit sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from stickbreak.corpus import Corpus, make_batches
from stickbreak.fitting.loop import Lap, Trace
from stickbreak.fitting.run import Identity, Place, Resumable
from stickbreak.variational import memoized, stochastic
from stickbreak.variational.checkpoint import read_checkpoint, write_checkpoint
from stickbreak.variational.local_step import Batch
from stickbreak.variational.memoized import LapInfo
from stickbreak.variational.model import Inference, Model, Schedule
from stickbreak.variational.moves import Move
from stickbreak.variational.state import GlobalParameters, Int
from stickbreak.variational.stochastic import StepRule, StreamState
from stickbreak.variational.stochastic_checkpoint import read_stream_checkpoint, write_stream_checkpoint


class Course(Resumable, Protocol):
    """One of the schedules at work on a collection."""

    def begin(self, start: GlobalParameters) -> None:
        """Take the start."""

    @property
    def parameters(self) -> GlobalParameters:
        """The globals of now."""

    @property
    def model(self) -> Model:
        """The model, with the hyperparameters of now."""

    @property
    def n_steps(self) -> int:
        """Batches visited so far."""


class MemoizedCourse:
    """The memoized schedule and its moves."""

    noun, window = "lap", 1

    def __init__(self, schedule: Schedule, n_tokens: float, moves: Sequence[Move]) -> None:
        self._schedule, self._n_tokens = schedule, n_tokens
        self._moves = moves
        self._start: GlobalParameters | None = None
        self._state: Inference
        self.n_steps = 0

    def begin(self, start: GlobalParameters) -> None:
        """Take the start."""
        self._start = start

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

    def write(self, place: Place, trace: Trace, identity: Identity) -> None:
        """Replace the checkpoint."""
        write_checkpoint(place, self._state, self._moves, trace, identity)

    def read(self, place: Place, identity: Identity) -> Trace | None:
        """Take up a checkpoint."""
        found = read_checkpoint(place, self._schedule.model, self._moves, identity)
        if found is None:
            return None
        self._state, trace = found
        self.n_steps = len(trace) * len(self._schedule.batches)
        return trace

    @property
    def parameters(self) -> GlobalParameters:
        """The globals of now."""
        return self._state.parameters

    @property
    def model(self) -> Model:
        """The model, with the hyperparameters of now."""
        return self._state.model


class StochasticCourse:
    """The stochastic schedule. Of the moves it knows only the order of the topics; the others need exact statistics."""

    noun = "lap"
    window = 0  # its objective is not monotone: a lap without a gain is no sign of an end

    def __init__(
        self, schedule: Schedule, n_documents: int, n_tokens: float, rule: StepRule, *, seed: int, reorder: bool
    ) -> None:
        self._schedule, self._model, self._rule = schedule, schedule.model, rule
        self._seed, self._reorder = seed, reorder
        self._n_tokens, self._n_documents = n_tokens, n_documents
        self._state: StreamState
        self.objective = -float("inf")

    def begin(self, start: GlobalParameters) -> None:
        """Take the start."""
        self._state = StreamState.from_parameters(start, self._model)

    def laps(self, done: int) -> Iterator[Lap]:
        """Yield after every lap."""
        further = stochastic.laps(
            self._schedule, self._state, self._rule,
            n_documents=self._n_documents, seed=self._seed, lap=done, reorder=self._reorder,
        )  # fmt: skip
        for _, info in further:
            self.objective = info.objective
            yield _row(info, self._n_tokens, ["reorder"] if self._reorder else [], {})

    def write(self, place: Place, trace: Trace, identity: Identity) -> None:
        """Replace the checkpoint."""
        write_stream_checkpoint(place, self._state, self.objective, trace, identity)

    def read(self, place: Place, identity: Identity) -> Trace | None:
        """Take up a checkpoint."""
        found = read_stream_checkpoint(place, self._model, identity)
        if found is None:
            return None
        self._state, self.objective, trace = found
        return trace

    @property
    def parameters(self) -> GlobalParameters:
        """The globals of now."""
        return self._state.parameters(self._model)

    @property
    def model(self) -> Model:
        """The model."""
        return self._model

    @property
    def n_steps(self) -> int:
        """Steps taken so far."""
        return self._state.n_steps


def batch_loaders(corpus: Corpus, n_batches: int, seed: int) -> list[Callable[[], Batch]]:
    """Cut a corpus into batches that are read when they are visited."""

    def loader(selection: Int) -> Callable[[], Batch]:
        return lambda: Batch.from_corpus(corpus[selection])

    return [loader(selection) for selection in make_batches(corpus, n_batches, seed=seed)]


def _row(info: LapInfo, n_tokens: float, moves: Sequence[str], learned: dict[str, float]) -> Lap:
    """Translate what the schedule did into a row of the trace."""
    columns: dict[str, float] = {"sweeps": info.sweeps, **learned}
    columns["restarts_tried"], columns["restarts_accepted"] = info.restarts
    for name in moves:
        columns[f"{name}_tried"], columns[f"{name}_accepted"] = info.moves.get(name, (0, 0))
    return Lap(info.objective / n_tokens, info.n_topics, info.moved, columns)
