"""Trials: a whole new set of topics, tried on the whole corpus and kept if the objective is higher.

Other moves edit statistics. A trial proposes topics (refine: the same ones, found again; birth: others, or more),
updates every batch from them as the first lap does, and goes on for a few laps on its own, in which it learns the
hyperparameters that the fit learns. The state that it started from stays as it is until the trial has won.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from stickbreak.numerics.arrays import Int
from stickbreak.variational.batch_update import Probe, first_updates, groups, update_batches
from stickbreak.variational.hdp import due
from stickbreak.variational.model import Gathering, Inference, ObjectiveTerms, Schedule
from stickbreak.variational.moves.base import Move, MoveSettings, Proposal, Proposals, run_move
from stickbreak.variational.moves.merge import Merge
from stickbreak.variational.objective import rises

LAPS = 20  # that a trial has to overtake the state that it started from ...
AHEAD = 3  # ... but it is dropped where even this many laps with its last gain would not suffice: gains shrink
SETTLED = 3e-3  # of |L|: a lap that gains less, without a change of topics, is the time for a trial
STILL = 3e-4  # of |L|: a lap that gains less is the time for one that must beat where further laps would lead
WORTH = 3e-4  # of |L|: gain of an accepted trial for which the next one is worth its cost


class Trial(Move):
    """The frame of both kinds of trial: when they are due, how they are judged, how they are carried out."""

    beside: ClassVar[int] = 1
    merge: ClassVar[type[Merge]] = Merge  # of the laps of a trial

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

    def evaluate(
        self, state: Inference, standing: ObjectiveTerms, schedule: Schedule, candidate: int
    ) -> ObjectiveTerms:
        """Return where the proposed topics lead within `LAPS` laps."""
        proposal = self.propose(state, schedule)
        if proposal is None:
            return standing
        found, _ = first_updates(schedule, *proposal)
        merges = [self.merge()] if self.merges else []
        for left in range(LAPS - 1, -1, -1):
            before = found.objective
            if rises(before, state.objective):
                break
            take_lap(found, schedule, merges)
            if found.objective + min(left, AHEAD) * (found.objective - before) < state.objective:
                break
        self._found = found
        return found.objective_terms()

    @abstractmethod
    def propose(self, state: Inference, schedule: Schedule) -> Proposal | None:
        """Return the topics to try."""

    def reject(self, state: Inference, candidate: int) -> None:
        """Rest until the topics have changed."""
        self._found = None
        self._tired_of = np.sort(state.topic_ids)

    def apply(self, state: Inference, accepted: list[int], standing: ObjectiveTerms) -> None:
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
    """LocalResult every batch of a trial again, merge topics, and learn what the fit learns."""
    found.gathering = Gathering()
    for merge in merges:
        merge.begin(found)
    for group in groups(schedule, schedule.at_once):
        update_batches(schedule, found, group, merges, afresh=False, restarts=True, gather=False)
    found.refresh(found.model)
    merged = sum(run_move(merge, found, schedule)[1] for merge in merges)
    found.model.learn(found, due(schedule.learned, settled=merged == 0), schedule.engine)


class Birth(Trial):
    """Try more topics than there are, as many as the data want, and keep them where the whole objective is higher.

    Where they come from is the affair of the proposals. Topics of words are found from the start, or each is cut in
    two, by Gibbs sampling. For vectors up to ten components are found in those that lose most under the present
    ones (Hughes and Sudderth 2013); after a rejected birth the next one looks at others. Once all were looked at,
    births rest until the topics change.
    """

    name: ClassVar[str] = "birth"
    proposed: ClassVar[bool] = True
    beside: ClassVar[int] = 2

    def __init__(self, proposals: Proposals) -> None:
        super().__init__()
        self._proposals = proposals
        self._tries = 0
        self._seed = 0

    @classmethod
    def from_settings(cls, settings: MoveSettings) -> Self:
        """Return the move with the settings of a fit."""
        return cls(settings.proposals[cls.name])

    def begin(self, state: Inference) -> None:
        """Forget what was kept in the last lap."""
        super().begin(state)
        self._proposals.begin(state)

    def probe(self) -> Probe | None:
        """Return the probe of the proposals."""
        return self._proposals.probe()

    def note(self, index: int, observed: Any) -> None:
        """Keep what the proposals need of the batch."""
        self._proposals.note(observed)

    @property
    def settled(self) -> float:
        """The gain of a lap, as a part of |L|, below which a birth is due."""
        return STILL if self._proposals.waits(self._seed) else SETTLED

    @property
    def merges(self) -> bool:
        """Whether the laps of the trial merge topics."""
        return self._proposals.merges

    def propose(self, state: Inference, schedule: Schedule) -> Proposal | None:
        """Return the topics to try."""
        self._seed += 1
        return self._proposals.propose(state, schedule, self._tries, self._seed - 1)

    def reject(self, state: Inference, candidate: int) -> None:
        """Look at others next; rest once all were looked at."""
        self._found = None
        self._tries += 1
        if self._tries >= self._proposals.tries:
            self._tries = 0
            super().reject(state, candidate)

    def waiting(self, state: Inference) -> bool:
        """Whether births of these topics were rejected, but not yet all that there are."""
        return self._tries > 0 and not self._tired(state)

    def snapshot(self) -> dict[str, Any]:
        """Return what the move remembers."""
        return {**super().snapshot(), "tries": self._tries, "seed": self._seed}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Take up what `snapshot` returned."""
        super().restore(snapshot)
        self._tries, self._seed = int(snapshot["tries"]), int(snapshot["seed"])


class Refine(Trial):
    """Run 20 passes of Gibbs sampling from the present topics, then mean field from what they find.

    Mean field leaves a document only the topics that it has chosen, and so keeps topics as they once formed. Sampling
    does not: it mends topics that share or lack words. It takes a sample of the documents above four million tokens.
    """

    name: ClassVar[str] = "refine"
    proposed: ClassVar[bool] = True

    def __init__(self, proposals: Proposals) -> None:
        super().__init__()
        self._proposals = proposals

    @classmethod
    def from_settings(cls, settings: MoveSettings) -> Self:
        """Return the move with the settings of a fit."""
        return cls(settings.proposals[cls.name])

    def propose(self, state: Inference, schedule: Schedule) -> Proposal | None:
        """Return the topics after the sweeps."""
        return self._proposals.propose(state, schedule, 0, 0)
