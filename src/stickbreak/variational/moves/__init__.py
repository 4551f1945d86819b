"""Moves: changes of the set of topics that no coordinate step makes. One file each."""

from stickbreak.variational.moves.base import Move, run_move
from stickbreak.variational.moves.birth import Birth
from stickbreak.variational.moves.delete import Delete
from stickbreak.variational.moves.merge import Merge
from stickbreak.variational.moves.refine import Refine
from stickbreak.variational.moves.reorder import Reorder

MOVES: dict[str, type[Move]] = {"merge": Merge, "delete": Delete, "birth": Birth, "refine": Refine, "reorder": Reorder}

__all__ = ["MOVES", "Birth", "Delete", "Merge", "Move", "Refine", "Reorder", "run_move"]
