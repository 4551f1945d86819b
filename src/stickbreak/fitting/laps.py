"""What a fit does lap by lap: the one interface between the run of a fit and an algorithm."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from numpy.typing import NDArray

Packed = tuple[dict[str, NDArray], dict[str, Any]]
"""A state that can be written: arrays and plain values."""

Event = dict[str, Any]
Callback = Callable[[Event], None]
Stop = Callable[[], bool]
"""Whether a start ends early; asked only while some of its work is left."""


class Lap(NamedTuple):
    """What an algorithm reports after a lap, or after a step on a minibatch."""

    objective: float  # nats per token
    n_topics: int
    moved: bool  # the set of topics changed, or a move still has something to try: not yet a place to stop
    columns: dict[str, float]  # further columns of the trace


class Laps(Protocol):
    """An algorithm at work on a collection. Each family has one, in its `laps.py`."""

    window: int  # laps whose mean objective tells when to stop; 0: the objective does not

    @property
    def columns(self) -> Collection[str]:
        """Columns of a trace of these laps, beyond those of every trace."""

    def begin(self, report: Callback, stop: Stop) -> None:
        """Make the start."""

    def laps(self, done: int) -> Iterator[Lap]:
        """Yield after every lap; `done` laps were done before."""

    def snapshot(self) -> Packed:
        """Return all that the next laps depend on."""

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any], done: int) -> None:
        """Take up what `snapshot` returned after `done` laps.

        Raises
        ------
        KeyError, TypeError, ValueError
            If it cannot be of this collection and these settings.
        """
