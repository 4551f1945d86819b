"""Refine: the same topics, found again by Gibbs sampling (a trial)."""

from __future__ import annotations

from typing import ClassVar, Self

from stickbreak.variational.model import Inference, Schedule
from stickbreak.variational.moves.base import MoveSettings, Proposal, Proposals
from stickbreak.variational.moves.trial import Trial


class Refine(Trial):
    """Run 20 passes of Gibbs sampling from the present topics, then mean field from what they find.

    Mean field leaves a document only the topics that it has chosen, and so keeps topics as they once formed. Sampling
    does not: it mends topics that share or lack words. It takes a sample of the documents above four million tokens.

    Parameters
    ----------
    proposals : Proposals
    """

    name: ClassVar[str] = "refine"
    proposed: ClassVar[bool] = True

    def __init__(self, proposals: Proposals) -> None:
        super().__init__()
        self._proposals = proposals

    @classmethod
    def made(cls, settings: MoveSettings) -> Self:
        """Return the move with the settings of a fit."""
        return cls(settings.proposals[cls.name])

    def propose(self, state: Inference, schedule: Schedule) -> Proposal | None:
        """Return the topics after the sweeps."""
        return self._proposals.propose(state, schedule, 0, 0)
