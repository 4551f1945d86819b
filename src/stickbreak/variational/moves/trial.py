"""Trials: a whole new set of topics, tried on the whole corpus and kept if the objective is higher.

Other moves edit statistics. A trial proposes topics (refine: the same ones, found again; birth: others, or more),
visits every batch from them as the first lap does, and goes on for a few laps on its own, in which it learns the
hyperparameters that the fit learns. The state that it started from stays as it is until the trial has won.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from stickbreak.numerics.arrays import Int
from stickbreak.variational.gathering import Gathering
from stickbreak.variational.hyperparameters import due
from stickbreak.variational.model import Inference, Schedule, Standing
from stickbreak.variational.moves.base import Move, Proposal, run_move
from stickbreak.variational.moves.merge import Merge
from stickbreak.variational.objective import rises
from stickbreak.variational.visits import first_visits, groups, revisit

LAPS = 20  # that a trial has to overtake the state that it started from ...
AHEAD = 3  # ... but it is dropped where even this many laps with its last gain would not suffice: gains shrink
SETTLED = 3e-3  # of |L|: a lap that gains less, without a change of topics, is the time for a trial
STILL = 3e-4  # of |L|: a lap that gains less is the time for one that must beat where further laps would lead
WORTH = 3e-4  # of |L|: gain of an accepted trial for which the next one is worth its cost


class Trial(Move):
    """The frame of both kinds of trial: when they are due, how they are judged, how they are carried out."""

    beside: ClassVar[int] = 1

    def __init__(self) -> None:
        self._before = -np.inf  # objective at the beginning of the lap
        self._names = np.zeros(0, np.int64)  # of the topics then
        self._tired_of: Int | None = None  # topics for which no further trial pays
        self._found: Inference | None = None  # a second whole state: only between the trial and the decision

    def begin(self, state: Inference) -> None:
        """Note where the lap begins."""
        self._before, self._names = state.objective, state.topic_ids

    def candidates(self, state: Inference) -> list[int]:
        """Return one candidate once the lap gained little and left the topics as they were."""
        same = np.array_equal(np.sort(state.topic_ids), np.sort(self._names))
        settled = state.objective - self._before < self.settled * abs(state.objective)
        return [0] if same and settled and not self._tired(state) else []

    @property
    def settled(self) -> float:
        """The gain of a lap, as a part of |L|, below which a trial is due."""
        return SETTLED

    @property
    def merges(self) -> bool:
        """Whether the laps of the trial merge topics."""
        return False

    def _tired(self, state: Inference) -> bool:
        """Whether no further trial pays before the topics change."""
        return self._tired_of is not None and np.array_equal(np.sort(state.topic_ids), self._tired_of)

    def evaluate(self, state: Inference, standing: Standing, schedule: Schedule, candidate: int) -> Standing:
        """Return where the proposed topics lead within `LAPS` laps."""
        proposal = self.propose(state, schedule)
        if proposal is None:
            return standing
        found, _ = first_visits(schedule, *proposal)
        merges = [Merge()] if self.merges else []
        for left in range(LAPS - 1, -1, -1):
            before = found.objective
            if rises(before, state.objective):
                break
            take_lap(found, schedule, merges)
            if found.objective + min(left, AHEAD) * (found.objective - before) < state.objective:
                break
        self._found = found
        return found.standing()

    @abstractmethod
    def propose(self, state: Inference, schedule: Schedule) -> Proposal | None:
        """Return the topics to try."""

    def reject(self, state: Inference, candidate: int) -> None:
        """Rest until the topics have changed."""
        self._found = None
        self._tired_of = np.sort(state.topic_ids)

    def apply(self, state: Inference, accepted: list[int], standing: Standing) -> None:
        """Take the state of the trial."""
        assert self._found is not None
        gain = standing.objective - state.objective
        self._tired_of = np.sort(standing.topic_ids) if gain < WORTH * abs(standing.objective) else None
        state.become(self._found)
        self._found = None

    def snapshot(self) -> dict[str, Any]:
        """Return the topics for which no trial pays."""
        return {"tired_of": None if self._tired_of is None else self._tired_of.tolist()}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Take up what `snapshot` returned."""
        names = snapshot["tired_of"]
        self._tired_of = None if names is None else np.array(names, np.int64)


def take_lap(found: Inference, schedule: Schedule, merges: list[Merge]) -> None:
    """Visit every batch of a trial again, merge topics, and learn what the fit learns."""
    found.gathering = Gathering()
    for merge in merges:
        merge.begin(found)
    for group in groups(schedule, schedule.at_once):
        revisit(schedule, found, group, afresh=False, restarts=True, moves=merges, gather=False)
    found.refresh(found.model)
    merged = sum(run_move(merge, found, schedule)[1] for merge in merges)
    found.model.learn(found, due(schedule.learned, settled=merged == 0), schedule.executor)
