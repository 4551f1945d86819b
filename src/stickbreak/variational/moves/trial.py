"""Trials: a whole new set of topics, tried on the whole corpus and kept if the objective is higher.

Other moves edit statistics. A trial proposes topics (refine: the same ones, found again; birth: further ones), visits
every batch from them as the first lap does, and goes on for a few laps on its own. The state that it started from stays
as it is until the trial has won.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from stickbreak.numerics.arrays import Int
from stickbreak.variational.model import Inference, Schedule, Standing
from stickbreak.variational.moves.base import Move
from stickbreak.variational.objective import rises
from stickbreak.variational.observations import Visit
from stickbreak.variational.state import GlobalParameters
from stickbreak.variational.visits import first_visits, revisit

LAPS = 10  # that a trial has to overtake the state that it started from
SETTLED = 3e-3  # of |L|: a lap that gains less, without a change of topics, is the time for a trial
WORTH = 3e-4  # of |L|: gain of an accepted trial for which the next one is worth its cost


class Trial(Move):
    """The frame of both kinds of trial: when they are due, how they are judged, how they are carried out."""

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
        settled = state.objective - self._before < SETTLED * abs(state.objective)
        return [0] if same and settled and not self._tired(state) else []

    def _tired(self, state: Inference) -> bool:
        """Whether no further trial pays before the topics change."""
        return self._tired_of is not None and np.array_equal(np.sort(state.topic_ids), self._tired_of)

    def evaluate(self, state: Inference, standing: Standing, schedule: Schedule, candidate: int) -> Standing:
        """Return where the proposed topics lead within `LAPS` laps."""
        proposal = self.propose(state, schedule)
        if proposal is None:
            return standing
        parameters, names = proposal
        found, _ = first_visits(schedule, state.model, parameters, names)
        for left in range(LAPS - 1, -1, -1):
            before = found.objective
            if rises(before, state.objective):
                break
            for b in range(len(schedule.batches)):
                revisit(schedule, found, b, afresh=False, restarts=True, observe=_nothing)
            found.refresh(state.model)
            if found.objective + left * (found.objective - before) < state.objective:
                break  # laps gain less and less
        self._found = found
        return found.standing()

    @abstractmethod
    def propose(self, state: Inference, schedule: Schedule) -> tuple[GlobalParameters, Int] | None:
        """Return the topics to try and their names."""

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


def _nothing(index: int, visit: Visit) -> None:
    """Observe nothing."""
