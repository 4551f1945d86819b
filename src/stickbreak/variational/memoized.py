"""The memoized schedule: one group of batches at a time, exact additive bookkeeping (math.md (V8))."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from stickbreak.variational.gathering import Gathering
from stickbreak.variational.hyperparameters import due
from stickbreak.variational.model import Inference, Schedule
from stickbreak.variational.moves import Move, run_move
from stickbreak.variational.state import GlobalParameters
from stickbreak.variational.visits import Visited, first_visits, groups, revisit

RESTART_SHARE = 2e-3  # restarts run in every lap while more than this share of those tried are accepted ...
RESTART_LAPS = 5  # ... else in every fifth
FRESH_SHARE = 0.05  # documents are tried from a fresh start again while more than this share of them gained by it
RESUM_LAPS = 10  # laps between two recomputations of the totals


@dataclass(frozen=True, slots=True)
class LapInfo:
    """What one lap did, for people."""

    objective: float  # nats
    n_topics: int
    sweeps: float  # mean sweeps of a document
    restarts: tuple[int, int]  # sparse restarts tried and accepted
    moves: dict[str, tuple[int, int]] = field(default_factory=dict)  # name -> (tried, accepted)
    moved: bool = False  # the set of topics changed, or a move still has something to try: not yet a place to stop

    @classmethod
    def of(
        cls,
        objective: float,
        n_topics: int,
        done: Sequence[Visited],
        moves: dict[str, tuple[int, int]],
        *,
        moved: bool = False,
    ) -> Self:
        """Put together what the visits of a lap did."""
        tried, accepted = np.sum([visited.restarts for visited in done], axis=0)
        sweeps = float(np.mean(np.concatenate([visited.sweeps for visited in done])))
        return cls(objective, n_topics, sweeps, (int(tried), int(accepted)), moves, moved)


def first_lap(schedule: Schedule, parameters: GlobalParameters) -> tuple[Inference, LapInfo]:
    """Visit every batch for the first time, from a start."""
    state, visited = first_visits(schedule, schedule.model, parameters, np.arange(parameters.n_topics))
    state.model.learn(state, due(schedule.learned, settled=False), schedule.executor)
    return state, LapInfo.of(state.objective, state.topic_ids.size, [visited], {})


def laps(schedule: Schedule, state: Inference, moves: Sequence[Move], lap: int) -> Iterator[tuple[Inference, LapInfo]]:
    """Yield after every further lap; the objective never falls.

    Parameters
    ----------
    schedule : Schedule
    state : Inference
        After lap `lap`; changed in place.
    moves : sequence of Move
        Tried at the end of each lap, in this order.
    lap : int
        Laps done so far.
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
        done = [
            visited
            for group in groups(schedule, schedule.at_once)
            for visited in revisit(schedule, state, group, afresh=afresh, restarts=restarts, moves=active, gather=True)
        ]
        if restarts:
            tried, accepted = np.sum([visited.restarts for visited in done], axis=0)
            state.restart_share = float(accepted / max(tried, 1))
        if afresh:
            state.fresh_share = sum(visited.gained for visited in done) / max(state.totals.n_documents, 1)
        if lap % RESUM_LAPS == 0:
            state.resum()
        state.refresh(state.model)
        counts = {move.name: run_move(move, state, schedule) for move in active}
        changed = any(counts[move.name][1] for move in active if move.changes_topics)
        moved = changed or len(active) < len(moves) or any(move.waiting(state) for move in active)
        # after the moves, because it changes what they have tracked
        state.model.learn(state, due(schedule.learned, settled=not changed), schedule.executor)
        yield state, LapInfo.of(state.objective, state.topic_ids.size, done, counts, moved=moved)
