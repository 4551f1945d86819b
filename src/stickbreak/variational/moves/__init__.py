"""Moves: changes of the set of topics that no coordinate step makes. One file each."""

from collections.abc import Sequence

from stickbreak.variational.moves.base import Move, run_move
from stickbreak.variational.moves.birth import Birth
from stickbreak.variational.moves.delete import MAX_DOCUMENTS, Delete
from stickbreak.variational.moves.merge import Merge
from stickbreak.variational.moves.refine import Refine
from stickbreak.variational.moves.reorder import Reorder
from stickbreak.variational.moves.trial import Trial

MOVES: dict[str, type[Move]] = {"merge": Merge, "delete": Delete, "birth": Birth, "refine": Refine, "reorder": Reorder}


def make_moves(names: Sequence[str], *, delete_documents: int | None = MAX_DOCUMENTS) -> list[Move]:
    """Return the named moves in the order of `MOVES`.

    `delete_documents` is the most that deletes infer again in a lap; None: no limit.
    """
    return [Delete(delete_documents) if name == Delete.name else MOVES[name]() for name in MOVES if name in names]


__all__ = [
    "MAX_DOCUMENTS",
    "MOVES",
    "Birth",
    "Delete",
    "Merge",
    "Move",
    "Refine",
    "Reorder",
    "Trial",
    "make_moves",
    "run_move",
]
