"""What a move is, and the one function that decides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple

from stickbreak.inference.executor import Executor
from stickbreak.variational.local_step import Visit
from stickbreak.variational.model import HDP, Inference
from stickbreak.variational.objective import rises
from stickbreak.variational.state import Float, Summary


class Proposal(NamedTuple):
    """What a candidate would lead to."""

    candidate: Any
    objective: float  # nats
    totals: Summary  # without words: the statistics that the objective is computed from
    rho: Float
    omega: Float
    data: Float  # (K',) L_data of each topic


class Move(ABC):
    """A change of the set of topics, proposed and judged from summaries.

    In a lap the schedule calls `begin` once, `observe` for every visited batch, and at the end `run_move`, which asks
    for `candidates`, evaluates each against the whole objective and applies those that raise it.
    """

    name: ClassVar[str]

    def begin(self, state: Inference) -> None:
        """Choose what to track in the coming lap."""

    def observe(self, index: int, visit: Visit, executor: Executor) -> None:
        """Track, in the visit of batch `index`, what the candidates need."""

    def snapshot(self) -> dict[str, Any]:
        """Return what the move remembers from lap to lap, as plain values (for checkpoints)."""
        return {}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Take up what `snapshot` returned."""

    @abstractmethod
    def candidates(self, state: Inference) -> Iterable[Any]:
        """Yield candidates; asked for one at a time, after the one before was applied or rejected."""

    @abstractmethod
    def evaluate(self, state: Inference, model: HDP, candidate: Any) -> Proposal:
        """Return what the candidate would lead to; the state is left alone."""

    @abstractmethod
    def apply(self, state: Inference, proposal: Proposal) -> None:
        """Edit every per-topic store."""


def run_move(move: Move, state: Inference, model: HDP) -> tuple[int, int]:
    """Try every candidate of a move; return how many were tried and accepted.

    A candidate is accepted if the whole objective rises by more than the rounding of its evaluation.
    """
    tried = accepted = 0
    for candidate in move.candidates(state):
        proposal = move.evaluate(state, model, candidate)
        tried += 1
        if rises(proposal.objective, state.objective):
            move.apply(state, proposal)
            state.refresh(model)
            accepted += 1
    return tried, accepted
