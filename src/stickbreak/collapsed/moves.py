"""Rounds of moves: topics are merged and split where the tokens held out say so, until neither pays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from stickbreak.collapsed.cvb0 import add_up
from stickbreak.collapsed.merging import compact, merge
from stickbreak.collapsed.splitting import split
from stickbreak.collapsed.state import CollapsedState, Priors
from stickbreak.fitting.checkpoint import whole_number
from stickbreak.fitting.engine import Engine

EVERY = 5  # laps: topics settle after each round ...
EVERY_EARLY, EARLY_LAPS = 3, 30  # ... and sooner in the first laps of a fit with births, in which they are few
FIRST_MERGE = 20  # lap: topics have to form first
QUIET_ROUNDS = 2  # without a split or a merge, after which there are no more rounds


@dataclass(slots=True)
class Made:
    """What a round tried and made."""

    merge_tried: int = 0
    merge_accepted: int = 0
    birth_tried: int = 0
    birth_accepted: int = 0

    def columns(self) -> dict[str, int]:
        """Return the columns of the trace."""
        return asdict(self)


@dataclass(slots=True)
class Rounds:
    """When there are rounds of moves."""

    end: int  # lap of the last one at the latest; it only merges, so that every new topic has been judged again
    births: bool
    quiet: int = 0  # rounds in which nothing was made

    def due(self, lap: int) -> bool:
        """Return whether a round follows a lap."""
        return lap <= self.end and lap % self._every(lap) == 0 and (self.births or lap >= FIRST_MERGE)

    def _every(self, lap: int) -> int:
        return EVERY_EARLY if self.births and lap <= EARLY_LAPS else EVERY

    def play(
        self,
        state: CollapsedState,
        priors: Priors,
        max_topics: int,
        held_out: float,
        seed: int,
        engine: Engine,
    ) -> Made:
        """Merge and split topics, then hold out other tokens.

        Parameters
        ----------
        state : CollapsedState
            After a sweep; changed in place.
        priors : Priors
        max_topics : int
            Splits make no more topics than these.
        held_out : float
            Share of the tokens.
        seed : int
        engine : Engine
        """
        made, lap = Made(), state.n_sweeps
        add_up(state, engine)
        if lap >= FIRST_MERGE:
            made.merge_tried, made.merge_accepted = merge(state, priors, engine)
            compact(state, engine)
        if self.births and lap + EVERY <= self.end:
            made.birth_tried, made.birth_accepted = split(state, priors, max_topics, seed, engine)
        self._note(made, lap)
        if lap < self.end:
            others = replace(state.documents.aside, held=held_out, held_seed=seed, turn=self.turn(lap))
            state.set_aside(others, engine)
        return made

    def turn(self, lap: int) -> int:
        """Return the lap of the last round up to a lap, after which other tokens were held out; 0 if there was none."""
        rounds = (past for past in range(min(lap, self.end - 1), 0, -1) if self.due(past))
        return next(rounds, 0)

    def _note(self, made: Made, lap: int) -> None:
        """End the rounds where neither splits nor merges pay."""
        if lap < FIRST_MERGE:
            return
        self.quiet = 0 if made.merge_accepted or made.birth_accepted else self.quiet + 1
        if self.quiet == QUIET_ROUNDS:
            self.end = lap

    def packed(self) -> dict[str, Any]:
        """Return what changes, as plain values."""
        return {"moves_end": self.end, "quiet_rounds": self.quiet}

    def restore(self, values: Mapping[str, Any]) -> None:
        """Take up what `packed` returned; a KeyError or ValueError for what cannot be."""
        self.end = whole_number("moves_end", values["moves_end"])
        self.quiet = whole_number("quiet_rounds", values["quiet_rounds"])
