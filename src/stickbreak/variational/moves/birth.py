"""Birth: further topics, or all of them found from the start (a trial)."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from stickbreak.variational.model import Inference, Schedule
from stickbreak.variational.moves.base import MoveSettings, Proposal, Proposals
from stickbreak.variational.moves.trial import SETTLED, STILL, Trial
from stickbreak.variational.visits import Observer


class Birth(Trial):
    """Try more topics than there are, as many as the data want, and keep them where the whole objective is higher.

    Where they come from is the affair of the proposals. Topics of words are found from the start, or each is cut in
    two, by Gibbs sampling. For vectors up to ten components are found in those that lose most under the present
    ones (Hughes and Sudderth 2013); after a rejected birth the next one looks at others. Once all were looked at,
    births rest until the topics change.

    Parameters
    ----------
    proposals : Proposals
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
    def made(cls, settings: MoveSettings) -> Self:
        """Return the move with the settings of a fit."""
        return cls(settings.proposals[cls.name])

    def begin(self, state: Inference) -> None:
        """Forget what was kept in the last lap."""
        super().begin(state)
        self._proposals.begin(state)

    def observer(self) -> Observer | None:
        """Return the observer of the proposals."""
        return self._proposals.observer()

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
