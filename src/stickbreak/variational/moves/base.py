"""What a move is, and the one function that decides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

from stickbreak.numerics.arrays import Int
from stickbreak.variational.batch_update import Probe
from stickbreak.variational.model import AcceptedMove, Inference, Model, ObjectiveTerms, Schedule
from stickbreak.variational.objective import rises
from stickbreak.variational.state import GlobalParameters

MAX_DOCUMENTS = 500  # that deletes infer again in a lap


@dataclass(frozen=True, slots=True)
class MoveSettings:
    """What the moves of a fit are made from; each takes what it needs (`Move.made`)."""

    delete_documents: int | None = MAX_DOCUMENTS  # most that deletes infer again in a lap; None: no limit
    delete_tokens: float | None = None  # most tokens of these; None: no limit
    merges_first: bool = False  # deletes wait for a lap that leaves the topics as they are
    every_pair: bool = False  # every pair gets new sticks, and no fit converges while pairs had no place
    proposals: Mapping[str, Proposals] = field(default_factory=dict)  # of trials, by the name of the move


class Proposal(NamedTuple):
    """A whole set of topics to try."""

    model: Model[Any]  # with the hyperparameters that the trial begins with
    parameters: GlobalParameters
    names: Int  # (K,) of the topics


class Proposals(ABC):
    """Where the trials of one move get whole sets of topics from: of words by Gibbs sampling, of vectors by seeds.

    A trial calls `begin` at the start of a lap, `note` for every visited batch, and `propose` when it is due.
    """

    tries: int = 1  # proposals for the same topics, of which each looks at others of the documents or vectors
    merges: bool = False  # whether there are more topics in a proposal than are needed: its laps merge some

    def begin(self, state: Inference) -> None:
        """Forget what was observed in the last lap."""

    def probe(self) -> Probe | None:
        """Return the probe that collects from each batch what a proposal needs; None if it needs nothing."""
        return None

    def note(self, observed: Any) -> None:
        """Take what the probe returned of a visited batch."""

    def waits(self, seed: int) -> bool:
        """Whether proposal `seed` is due only where laps gain next to nothing."""
        return False

    @abstractmethod
    def propose(self, state: Inference, schedule: Schedule, tries: int, seed: int) -> Proposal | None:
        """Return the topics to try; None if there are none.

        `seed` counts the proposals of the fit: each draws its own random numbers.
        """


class Move(ABC):
    """A change of the set of topics, proposed and judged from summaries.

    In a lap the schedule calls `begin` once. The move's `probe` goes to where batches are visited; what it returns
    of each comes back to `note`. At the end `run_move` asks for `candidates`, evaluates each against the whole
    objective and applies those that raise it. The documents that a probe has `wanted` are at hand in
    `state.gathering`, with their responsibilities.
    """

    name: ClassVar[str]
    proposed: ClassVar[bool] = False  # whether it needs `MoveSettings.proposals` of its name
    at_once: ClassVar[bool] = True  # accepted candidates are applied together, after the last; else each in turn
    beside: ClassVar[int] = 0  # topics of the second state that a candidate puts beside the first, in units of K
    changes_topics: ClassVar[bool] = True  # whether an accepted candidate changes which topics there are

    @classmethod
    def from_settings(cls, settings: MoveSettings) -> Self:
        """Return the move with the settings of a fit."""
        return cls()

    def begin(self, state: Inference) -> None:
        """Choose what to track in the coming lap."""

    def probe(self) -> Probe | None:
        """Return what looks at every visited batch in this lap; None: nothing does."""
        return None

    def note(self, index: int, observed: Any) -> None:
        """Take what the probe returned of the visit of batch `index`."""

    def snapshot(self) -> dict[str, Any]:
        """Return what the move remembers from lap to lap, as plain values (for checkpoints)."""
        return {}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Take up what `snapshot` returned."""

    @abstractmethod
    def candidates(self, state: Inference) -> Iterable[Any]:
        """Return the candidates, the most promising first."""

    def compatible(self, candidate: Any, accepted: list[Any]) -> bool:
        """Whether a candidate can still be judged after others were accepted."""
        return not accepted

    @abstractmethod
    def evaluate(
        self, state: Inference, standing: ObjectiveTerms, schedule: Schedule, candidate: Any
    ) -> ObjectiveTerms:
        """Return what a candidate would lead to from `standing`; nothing is changed."""

    def accepts(self, state: Inference, standing: ObjectiveTerms, found: ObjectiveTerms, candidate: Any) -> bool:
        """Whether what a candidate leads to is better than what there is."""
        return bool(rises(found.objective, standing.objective))

    def drops_idle(
        self, state: Inference, standing: ObjectiveTerms, found: ObjectiveTerms, topics: Sequence[int]
    ) -> bool:
        """Whether one of these topics is idle and removing it lowers the objective by no more than rounding."""
        idle = state.model.idle(standing.totals.N)[list(topics)].any()
        return bool(idle and not rises(standing.objective, found.objective))

    def reject(self, state: Inference, candidate: Any) -> None:
        """Note that a candidate was rejected."""

    def waiting(self, state: Inference) -> bool:
        """Whether there is something to try in the next lap that was not tried yet: the fit has not converged."""
        return False

    def ended(self, candidate: Any) -> Sequence[int]:
        """Return the names of the topics that an accepted candidate merges or deletes."""
        return ()

    @abstractmethod
    def apply(self, state: Inference, accepted: list[Any], standing: ObjectiveTerms) -> None:
        """Edit every per-topic store: all accepted candidates at once, which lead to `standing`."""


def run_move(move: Move, state: Inference, schedule: Schedule) -> tuple[int, int]:
    """Try every candidate of a move; return how many were tried and accepted.

    A candidate is accepted if the whole objective rises by more than the rounding of its evaluation. The stores are
    edited once, after the last candidate, or after each accepted one (`at_once`).
    """
    standing, tried, n_accepted = state.objective_terms(), 0, 0
    accepted: list[Any] = []
    for candidate in move.candidates(state):
        if not move.compatible(candidate, accepted):
            continue
        found = move.evaluate(state, standing, schedule, candidate)
        tried += 1
        if not move.accepts(state, standing, found, candidate):
            move.reject(state, candidate)
            continue
        n_accepted += 1
        if move.changes_topics:
            gain, words = found.objective - standing.objective, state.top_words(move.ended(candidate))
            state.accepted.append(AcceptedMove(state.lap, move.name, gain, found.topic_ids.size, words))
        standing = found
        accepted.append(candidate)
        if not move.at_once:
            _apply(move, state, accepted, standing)
            standing, accepted = state.objective_terms(), []
    if accepted:
        _apply(move, state, accepted, standing)
    return tried, n_accepted


def _apply(move: Move, state: Inference, accepted: list[Any], standing: ObjectiveTerms) -> None:
    names = set(state.topic_ids.tolist())
    move.apply(state, accepted, standing)
    state.refresh(state.model)
    born = set(state.topic_ids.tolist()) - names
    if born:
        state.accepted[-1] = state.accepted[-1]._replace(words=state.top_words(born))
