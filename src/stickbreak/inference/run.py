"""The run of a fit: start or checkpoint, laps, trace, how it ended."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from stickbreak.inference.executor import ThreadExecutor, one_blas_thread
from stickbreak.inference.loop import Callback, Interruption, Lap, Outcome, Trace, drive
from stickbreak.inference.progress import progress_bar

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
        Gives the course its start; it is given a function that says whether to stop early. None: it has one.
    n_laps : int
    report : callable
        Called with every event.
    identity : dict
        What a checkpoint must agree with.
    tolerance : float or None, default=0.0
        Nats per token and lap; only courses with a window stop by it. None: none does.
    checkpoint : path-like, optional
        Written after every lap.
    resume : bool, default=False
        Take up `checkpoint` if it exists.
    trace : Trace, optional
        Of the laps that the course has done already.
    unit : str, default="token"
        What the objective is counted by.
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
            tolerance=tolerance if course.window else None,
            interruption=interruption,
            callback=report,
            after_lap=after_lap,
            noun=course.noun,
            unit=unit,
            window=course.window,
        )
    return Run(trace, outcome, start_seconds)
