"""Birth: further topics, from what the present ones explain worst (a trial).

Hughes and Sudderth (2013) for mixtures: a fresh model is fitted to a target set, and its components join the others.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

from stickbreak.fitting.executor import Executor
from stickbreak.numerics.arrays import Int
from stickbreak.variational.model import Inference, Schedule
from stickbreak.variational.moves.base import MoveSettings, Proposals
from stickbreak.variational.moves.trial import Trial
from stickbreak.variational.observations import Visit
from stickbreak.variational.state import GlobalParameters


class Birth(Trial):
    """Add up to ten topics found in the documents, or vectors, that lose most under the present topics.

    After a rejected birth the next one looks at those that lose less, until the topics change. How they are chosen, and
    how topics are found in them, is the affair of the proposals.

    Parameters
    ----------
    proposals : Proposals
    """

    name: ClassVar[str] = "birth"
    proposed: ClassVar[bool] = True

    def __init__(self, proposals: Proposals) -> None:
        super().__init__()
        self._proposals = proposals
        self._tries = 0
        self._seed = 0

    @classmethod
    def made(cls, settings: MoveSettings) -> Self:
        """Return the move with the settings of a fit."""
        return cls(settings.proposals[cls.name])

    def begin(self, state: Inference) -> None:
        """Forget the documents of the last lap."""
        super().begin(state)
        self._proposals.begin(state)

    def observe(self, index: int, visit: Visit, executor: Executor) -> None:
        """Keep what loses most of the batch."""
        self._proposals.observe(visit, self._tries)

    def propose(self, state: Inference, schedule: Schedule) -> tuple[GlobalParameters, Int] | None:
        """Return the present topics and those of the target."""
        self._seed += 1
        return self._proposals.propose(state, schedule, self._tries, self._seed - 1)

    def reject(self, state: Inference, candidate: int) -> None:
        """Look at other documents next; rest once all were looked at."""
        self._found = None
        self._tries += 1
        if self._tries * self._proposals.share >= 1:
            self._tries = 0
            super().reject(state, candidate)

    def waiting(self, state: Inference) -> bool:
        """Whether births of these topics were rejected, but not yet for all documents."""
        return self._tries > 0 and not self._tired(state)

    def snapshot(self) -> dict[str, Any]:
        """Return what the move remembers."""
        return {**super().snapshot(), "tries": self._tries, "seed": self._seed}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Take up what `snapshot` returned."""
        super().restore(snapshot)
        self._tries, self._seed = int(snapshot["tries"]), int(snapshot["seed"])
