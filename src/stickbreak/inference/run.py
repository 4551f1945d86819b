"""The run of a fit: start or checkpoint, laps, trace, how it ended."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from stickbreak.inference.loop import Callback, Interruption, Lap, Outcome, Trace, drive

Identity = dict[str, Any]
Place = str | os.PathLike[str]


class Resumable(Protocol):
    """An algorithm at work on a collection: what the run of a fit asks of it."""

    noun: str  # what a lap is called
    converges: bool  # whether its objective tells when to stop

    def laps(self, done: int) -> Iterator[Lap]:
        """Yield after every lap; `done` laps were done before."""

    def write(self, place: Place, trace: Trace, identity: Identity) -> None:
        """Replace the checkpoint at `place`."""

    def read(self, place: Place, identity: Identity) -> Trace | None:
        """Take up the checkpoint at `place` and return its trace; None if there is none."""


@dataclass(frozen=True, slots=True)
class Run:
    """How a fit went."""

    trace: Trace
    outcome: Outcome
    start_seconds: float


def run_fit(
    course: Resumable,
    begin: Callable[[Callable[[], bool]], None] | None,
    *,
    n_laps: int,
    tolerance: float,
    report: Callback,
    checkpoint: Place | None,
    resume: bool,
    identity: Identity,
    trace: Trace | None = None,
) -> Run:
    """Run the laps of a course.

    Parameters
    ----------
    course : Resumable
    begin : callable or None
        Gives the course its start; it is given a function that says whether to stop early. None: it has one.
    n_laps : int
    tolerance : float
        Nats per token; only courses that converge stop by it.
    report : callable
        Called with every event.
    checkpoint : path-like or None
        Written after every lap.
    resume : bool
        Take up `checkpoint` if it exists.
    identity : dict
        What a checkpoint must agree with.
    trace : Trace, optional
        Of the laps that the course has done already.
    """
    found = course.read(checkpoint, identity) if checkpoint is not None and resume else None
    trace = found or trace or Trace()

    def after_lap() -> None:
        if checkpoint is not None:
            course.write(checkpoint, trace, identity)

    with Interruption() as interruption:
        started = time.perf_counter()
        if found is None and begin is not None:
            begin(lambda: interruption.requested)
        start_seconds = time.perf_counter() - started
        outcome = drive(
            course.laps(len(trace)),
            trace,
            n_laps=n_laps,
            tolerance=tolerance if course.converges else None,
            interruption=interruption,
            callback=report,
            after_lap=after_lap,
            noun=course.noun,
        )
    return Run(trace, outcome, start_seconds)
