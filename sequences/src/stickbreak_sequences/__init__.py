"""States of sequences, and how many there are: the sticky HDP-HMM by memoized variational inference.

>>> from stickbreak_sequences import StickyHDPHMM, planted_states
>>> sequences, states = planted_states("symbols", n_states=3, n_sequences=5, seed=1)
>>> StickyHDPHMM(n_states=8, random_state=0).fit(sequences).n_states_
3
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stickbreak_sequences.data import Sequences
    from stickbreak_sequences.estimator import StickyHDPHMM
    from stickbreak_sequences.planted import planted_states

__all__ = ["Sequences", "StickyHDPHMM", "planted_states"]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Import what is first asked for."""
        import importlib

        places = {"Sequences": "data", "StickyHDPHMM": "estimator", "planted_states": "planted"}
        if name in places:
            return getattr(importlib.import_module(f"stickbreak_sequences.{places[name]}"), name)
        raise AttributeError(f"module 'stickbreak_sequences' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
