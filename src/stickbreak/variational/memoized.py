"""The memoized schedule: one group of batches at a time, exact additive bookkeeping (docs/math (V8)).

First its laps, then the schedule as the run of a fit sees it, then its snapshots: after a lap, everything that the next
laps depend on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from stickbreak.fitting.batch_store import BatchStore
from stickbreak.fitting.checkpoint import is_table, require, whole_number
from stickbreak.fitting.loop import Callback, Lap, Laps, Packed, Stop
from stickbreak.numerics.arrays import Int
from stickbreak.numerics.ranges import are_sticks, are_sums, is_concentration
from stickbreak.variational.batch_update import COLUMNS, LapInfo, columns_of, first_updates, groups, update_batches
from stickbreak.variational.documents import SUMS_TOLERANCE, check_rows, check_sums
from stickbreak.variational.hdp import due
from stickbreak.variational.model import AcceptedMove, Gathering, Inference, Model, Schedule
from stickbreak.variational.moves import MOVES, Move, run_move
from stickbreak.variational.state import PER_TOPIC, GlobalParameters, StoredSummary, Summary, topic_type

RESTART_SHARE = 2e-3  # restarts run in every lap while more than this share of those tried are accepted ...
RESTART_LAPS = 5  # ... else in every fifth
FRESH_SHARE = 0.05  # documents are tried from a fresh start again while more than this share of them gained by it
RESUM_LAPS = 10  # laps between two recomputations of the totals

MakeStart = Callable[[Callback, Stop], GlobalParameters]


def first_lap(schedule: Schedule, parameters: GlobalParameters) -> tuple[Inference, LapInfo]:
    """Update every batch for the first time, from a start."""
    state, counted = first_updates(schedule, schedule.model, parameters, np.arange(parameters.n_topics))
    state.model.learn(state, due(schedule.learned, settled=False), schedule.engine)
    return state, LapInfo.of(state.objective, state.topic_ids.size, counted, {})


def laps(schedule: Schedule, state: Inference, moves: Sequence[Move], lap: int) -> Iterator[tuple[Inference, LapInfo]]:
    """Yield after every further lap; the objective never falls.

    `state` is that after lap `lap`, and is changed in place; `moves` are tried at the end of each lap, in this order.
    """
    while True:
        lap += 1
        state.lap, state.gathering = lap, Gathering()
        early = lap < schedule.first_moves
        active = [move for move in moves if not (early and move.changes_topics)]
        for move in active:
            move.begin(state)
        afresh = state.model.starts_matter and state.fresh_share > FRESH_SHARE
        restarts = state.restart_share > RESTART_SHARE or lap % RESTART_LAPS == 0
        counted, gained = list[tuple[Int, Int]](), 0
        for group in groups(schedule, schedule.at_once):
            for update in update_batches(schedule, state, group, active, afresh=afresh, restarts=restarts, gather=True):
                counted.append((update.sweeps, update.restarts))
                gained += update.gained
        if restarts:
            tried, accepted = np.sum([of_batch for _, of_batch in counted], axis=0)
            state.restart_share = float(accepted / max(tried, 1))
        if afresh:
            state.fresh_share = gained / max(state.totals.n_documents, 1)
        if lap % RESUM_LAPS == 0:
            state.resum()
        state.refresh(state.model)
        counts = {move.name: run_move(move, state, schedule) for move in active}
        changed = any(counts[move.name][1] for move in active if move.changes_topics)
        moved = changed or len(active) < len(moves) or any(move.waiting(state) for move in active)
        # after the moves, because it changes what they have tracked
        state.model.learn(state, due(schedule.learned, settled=not changed), schedule.engine)
        yield state, LapInfo.of(state.objective, state.topic_ids.size, counted, counts, moved=moved)


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
        return [*COLUMNS, *self._schedule.learned, *columns_of([move.name for move in self._moves])]

    def begin(self, report: Callback, stop: Stop) -> None:
        """Make the start."""
        self._start = self._make_start(report, stop)

    def laps(self, done: int) -> Iterator[Lap]:
        """Yield after every lap."""
        self.n_steps = done * len(self._schedule.batches)
        if self._start is not None:
            self._state, info = first_lap(self._schedule, self._start)
            done += 1
            yield self._lap(info)
        for _, info in laps(self._schedule, self._state, self._moves, lap=done):
            yield self._lap(info)

    def _lap(self, info: LapInfo) -> Lap:
        self.n_steps += len(self._schedule.batches)
        learned = {name: self._state.model.hyperparameters[name] for name in self._schedule.learned}
        return info.row(self._n_tokens, [move.name for move in self._moves], learned)

    def snapshot(self) -> Packed:
        """Return all that the next laps depend on."""
        return snapshot(self._state, self._moves)

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any], done: int) -> None:
        """Take up what `snapshot` returned."""
        self._state = restored(arrays, values, self._schedule, self._moves, self._shape)
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


def snapshot(state: Inference, moves: Sequence[Move]) -> Packed:
    """Return where memoized inference stands between two laps, as arrays and plain values."""
    arrays: dict[str, NDArray] = {
        "rho": state.parameters.rho,
        "omega": state.parameters.omega,
        "topic_ids": state.topic_ids,
    }
    arrays |= {**_named("totals", state.totals.vector_arrays()), "totals.S": state.totals.S}
    for b in range(len(state.batches)):
        arrays |= _named(f"batch{b}", {**state.batches.arrays(b), **state.documents.arrays(b)})
    values = {
        "n_batches": len(state.batches),
        "next_id": state.next_id,
        "fresh_share": state.fresh_share,
        "restart_share": state.restart_share,
        "accepted": [list(change) for change in state.accepted],
        "hyperparameters": state.model.hyperparameters,
        "moves": {move.name: move.snapshot() for move in moves},
    }
    return arrays, values


def restored(
    arrays: Mapping[str, NDArray],
    values: Mapping[str, Any],
    schedule: Schedule,
    moves: Sequence[Move],
    shape: tuple[int, int],
) -> Inference:
    """Put the state of a snapshot together again, with copies of its arrays; moves take up what they remembered.

    `shape`: documents D, and rows of a table of statistics (words W). A KeyError, TypeError or ValueError if its parts
    do not fit together.
    """
    n_batches, model = whole_number("n_batches", values["n_batches"]), schedule.model
    require(1 <= n_batches <= shape[0], "its number of batches cannot be")
    totals = replace(Summary.from_vector_arrays(_Copies(arrays, "totals.")), words=None, S=arrays["totals.S"].copy())
    batches = [_Copies(arrays, f"batch{b}.") for b in range(n_batches)]
    kind = model.documents
    state = Inference(
        model.with_hyperparameters(_hyperparameters(values["hyperparameters"], model)),
        GlobalParameters(totals.S, totals.N, arrays["rho"].copy(), arrays["omega"].copy()),
        totals,
        BatchStore(
            StoredSummary.arrays, StoredSummary.from_arrays, schedule.folder, map(StoredSummary.from_arrays, batches)
        ),
        BatchStore(kind.arrays, kind.from_arrays, schedule.folder, map(kind.from_arrays, batches)),
        arrays["topic_ids"].copy(),
        totals.N,
        0.0,
        next_id=whole_number("next_id", values["next_id"]),
        fresh_share=float(values["fresh_share"]),
        restart_share=float(values["restart_share"]),
        accepted=[_accepted(change, shape[1]) for change in values["accepted"]],
    )
    _check_state(state, *shape)
    for move in moves:
        move.restore(values["moves"][move.name])
    state.refresh(state.model)  # tau, L_data and the objective follow from the totals
    return state


def _accepted(given: Any, n_words: int) -> AcceptedMove:
    """Return an accepted move; refuse one whose words are not there."""
    change = AcceptedMove(*given)
    require(change.move in MOVES and float(change.gain) == change.gain, "an accepted move of it cannot be")
    for number in (change.lap, change.n_topics, *(w for topic in change.words for w in topic)):
        whole_number("a number of an accepted move", number)
    known = all(w < n_words for topic in change.words for w in topic)
    require(known, "an accepted move of it has words that are not there")
    return change


def _check_state(state: Inference, D: int, W: int) -> None:
    """Refuse arrays that do not fit together, before anything is indexed by them."""
    rho, omega, ids = state.parameters.rho, state.parameters.omega, state.topic_ids
    K, n_batches = rho.size, len(state.batches)
    require(K >= 1 and is_table(rho, K) and is_table(omega, K), "its sticks are not finite numbers")
    require(are_sticks(rho, omega), "its sticks are out of range")
    require(K >= state.model.n_kept, "topics that are kept are not there")
    require(ids.shape == (K,) and ids.dtype == np.int64 and np.unique(ids).size == K, "its topic_ids do not fit")
    for share in (state.fresh_share, state.restart_share):
        require(0.0 <= share <= 1.0, "its shares of fresh starts and restarts are out of range")
    of_sequences = state.model.pseudo_summary(W, K).transitions is not None
    _check_vectors(state.totals, "totals", D, K, of_sequences)
    require(is_table(state.totals.S, W, K), f"totals.S is not a finite table of {W} words and {K} topics")
    for b, (summary, documents) in enumerate(zip(state.batches, state.documents, strict=True)):
        size = D // n_batches + (b < D % n_batches)  # as make_batches cuts them
        _check_vectors(summary.vectors, f"batch{b}", size, K, of_sequences)
        _check_words(summary, f"batch{b}", W, K)
        documents.check(f"batch{b}", size, summary.vectors.N)
    _check_totals(state)


def _check_totals(state: Inference) -> None:
    """Refuse totals that are not the sums of the batches."""
    totals, known = state.totals, state.model.pseudo_summary(*state.totals.S.shape)
    S, N = known.S, known.N
    for summary in state.batches:
        summary.S.add_to(S, summary.words)
        N += summary.vectors.N
    for name, found, sums in (("S", totals.S, S), ("N", totals.N, N)):
        check_sums(found, sums, f"totals.{name} is not that of its batches")


def _check_vectors(summary: Summary, name: str, n_documents: int, K: int, of_sequences: bool) -> None:
    require(summary.n_documents == n_documents, f"{name} is not of {n_documents} documents")
    for x in PER_TOPIC:
        array = getattr(summary, x)
        require(is_table(array, K + (x in "TGQ")), f"{name}.{x} does not fit {K} topics")
        # what is left of a topic that has lost its tokens may be below zero by rounding
        fine = are_sums(array, signed=True) and (x != "N" or not array.size or array.min() >= -SUMS_TOLERANCE)
        require(fine, f"{name}.{x} holds a number out of its range")
    require((summary.transitions is not None) == of_sequences, f"{name}.transitions do not suit the model")
    if summary.transitions is not None:
        fine = is_table(summary.transitions, K + 1, K) and summary.transitions.min(initial=0.0) >= -SUMS_TOLERANCE
        require(fine, f"{name}.transitions cannot be those of {K} topics")
    require(are_sums(summary.Q0, signed=True), f"{name}.scalars are out of their range")


def _check_words(summary: StoredSummary, name: str, W: int, K: int) -> None:
    words, S = summary.words, summary.S
    ascending = words.ndim == 1 and words.dtype.kind == "i" and bool((words[1:] > words[:-1]).all())
    require(ascending and (not words.size or (words[0] >= 0 and words[-1] < W)), f"{name}.words cannot be")
    require(S.topic.ndim == 1 and S.topic.dtype == topic_type(K), f"{name}.S_topic does not fit {K} topics")
    require(is_table(S.value, S.topic.size), f"{name}.S_value is not a finite number for each of its topics")
    check_rows(S.indptr, S.topic, f"{name}.S_", words.size, K)


def _hyperparameters(values: Mapping[str, Any], model: Model) -> dict[str, Any]:
    """Return the hyperparameters of a checkpoint; of one that is a table the likelihood is the judge."""
    found = {
        name: values[name] if np.ndim(given) else float(values[name]) for name, given in model.hyperparameters.items()
    }
    inside = all(is_concentration(value) for value in found.values() if np.ndim(value) == 0)
    require(inside, "its hyperparameters are not all positive and in their range")
    return found


def _named(name: str, arrays: Mapping[str, NDArray]) -> dict[str, NDArray]:
    """Return arrays with the name of what they are of before theirs."""
    return {f"{name}.{x}": array for x, array in arrays.items()}


class _Copies(Mapping[str, NDArray]):
    """Copies of the arrays whose names begin as said; what is not there is told by its whole name."""

    def __init__(self, arrays: Mapping[str, NDArray], begin: str = "") -> None:
        self._arrays, self._begin = arrays, begin

    def __getitem__(self, name: str) -> NDArray:
        return self._arrays[f"{self._begin}{name}"].copy()

    def __iter__(self) -> Iterator[str]:
        return (name.removeprefix(self._begin) for name in self._arrays if name.startswith(self._begin))

    def __len__(self) -> int:
        return sum(1 for _ in self)
