"""Moves: changes of the set of topics that no coordinate step makes."""

from collections.abc import Collection, Sequence

from stickbreak.variational.moves.base import MAX_DOCUMENTS, Move, MoveSettings, Proposal, Proposals, run_move
from stickbreak.variational.moves.births import Birth, Refine, Trial
from stickbreak.variational.moves.delete import Delete
from stickbreak.variational.moves.merge import Merge
from stickbreak.variational.moves.reorder import Reorder

MOVES: dict[str, type[Move]] = {"merge": Merge, "delete": Delete, "birth": Birth, "refine": Refine, "reorder": Reorder}


def names_of(proposals: Collection[str]) -> list[str]:
    """Return the moves that can run with proposals of these names, in the order of `MOVES`."""
    return [name for name, move in MOVES.items() if not move.proposed or name in proposals]


def make_moves(names: Sequence[str], settings: MoveSettings) -> list[Move]:
    """Return the named moves, as far as they can run, in the order of `MOVES`."""
    return [MOVES[name].from_settings(settings) for name in names_of(settings.proposals) if name in names]


__all__ = [
    "MAX_DOCUMENTS",
    "MOVES",
    "Birth",
    "Delete",
    "Merge",
    "Move",
    "MoveSettings",
    "Proposal",
    "Proposals",
    "Refine",
    "Reorder",
    "Trial",
    "make_moves",
    "names_of",
    "run_move",
]
