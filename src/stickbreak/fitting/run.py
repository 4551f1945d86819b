"""The run of a fit: start or checkpoint, laps, trace, how it ended."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from stickbreak.fitting.executor import ThreadExecutor, one_blas_thread
from stickbreak.fitting.loop import Callback, Interruption, Lap, Outcome, Trace, drive
from stickbreak.fitting.progress import progress_bar

Identity = dict[str, Any]
Place = str | os.PathLike[str]


class Resumable(Protocol):
    """An algorithm at work on a collection: what the run of a fit asks of it."""

    noun: str  # what a lap is called
    window: int  # laps whose mean objective tells when to stop; 0: it does not

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


class Fitting(Protocol):
    """What an estimator says about its work."""

    n_jobs: int | None
    verbose: bool


@contextmanager
def at_work(model: Fitting, callback: Callback | None) -> Iterator[tuple[Callback, ThreadExecutor]]:
    """Give what to report to, and the threads, for the time of a fit."""
    with (
        progress_bar(model.verbose, callback) as report,
        ThreadExecutor(model.n_jobs) as executor,
        one_blas_thread(),
    ):
        yield report, executor


def run_fit(
    course: Resumable,
    begin: Callable[[Callable[[], bool]], None] | None,
    *,
    n_laps: int,
    report: Callback,
    identity: Identity,
    tolerance: float | None = 0.0,
    checkpoint: Place | None = None,
    resume: bool = False,
    trace: Trace | None = None,
    unit: str = "token",
) -> Run:
    """Run the laps of a course.

    Parameters
    ----------
    course : Resumable
    begin : callable or None
        Gives the course its start. It is given a function that says whether to stop early, and asks it only while some
        of the work is left. None: the course has a start.
    n_laps : int
    report : callable
        Called with every event.
    identity : dict
        What a checkpoint must agree with.
    tolerance : float or None, default=0.0
        Nats per token and lap; only courses with a window stop by it. None: none does.
    checkpoint : path-like, optional
        Written after every lap, unless the start was cut short: a fit that is resumed equals one that was never cut.
    resume : bool, default=False
        Take up `checkpoint` if it exists.
    trace : Trace, optional
        Of the laps that the course has done already.
    unit : str, default="token"
        What the objective is counted by.
    """
    found = course.read(checkpoint, identity) if checkpoint is not None and resume else None
    trace = found or trace or Trace()
    place = None if checkpoint is None else os.path.abspath(checkpoint)  # a callback may change the working folder

    with Interruption() as interruption:

        def after_lap() -> None:
            if place is not None and not interruption.cut_start:
                course.write(place, trace, identity)

        started = time.perf_counter()
        if found is None and begin is not None:
            begin(interruption.stop_start)
        start_seconds = time.perf_counter() - started
        outcome = drive(
            course.laps(len(trace)),
            trace,
            n_laps=n_laps,
            tolerance=tolerance if course.window else None,
            interruption=interruption,
            callback=report,
            after_lap=after_lap,
            noun=course.noun,
            unit=unit,
            window=course.window,
        )
    if interruption.cut_start:
        outcome = Outcome(False, _cut_start(course.noun, len(trace), n_laps, written=place is not None))
    return Run(trace, outcome, start_seconds)


def _cut_start(noun: str, done: int, n_laps: int, *, written: bool) -> str:
    """Say what a Ctrl-C during the start has left."""
    reason = f"interrupted: the start was cut short; stopped after {noun} {done} of {n_laps}; the model is usable."
    return reason + " No checkpoint was written: a resumed fit begins again." if written else reason
