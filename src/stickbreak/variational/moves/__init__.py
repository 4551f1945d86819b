"""Moves: changes of the set of topics that no coordinate step makes. One file each."""

from stickbreak.variational.moves.base import Move, run_move
from stickbreak.variational.moves.merge import Merge
from stickbreak.variational.moves.reorder import Reorder

MOVES: dict[str, type[Move]] = {"merge": Merge, "reorder": Reorder}

__all__ = ["MOVES", "Merge", "Move", "Reorder", "run_move"]
