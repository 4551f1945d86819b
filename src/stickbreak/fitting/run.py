"""The run of a fit: start or checkpoint, laps, trace, how it ended."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from stickbreak.fitting.checkpoint import read_checkpoint, write_checkpoint
from stickbreak.fitting.engine import Engine, one_blas_thread, threads_and_workers
from stickbreak.fitting.loop import Callback, Interruption, Laps, Outcome, Trace, drive, logger
from stickbreak.fitting.progress import progress_bar
from stickbreak.storage.places import PathLike

Identity = dict[str, Any]


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
def at_work(model: Fitting, callback: Callback | None) -> Iterator[tuple[Callback, Engine]]:
    """Give what to report to, and the threads, for the time of a fit."""
    with (
        progress_bar(model.verbose, callback) as report,
        threads_and_workers(model.n_jobs) as engine,
        one_blas_thread(),
    ):
        yield _telling_of_idle_workers(report, engine), engine


def _telling_of_idle_workers(report: Callback, engine: Engine) -> Callback:
    """Return the same report, which after the first pass logs that the workers of a cluster have no part in a fit."""
    if engine.workers is None:
        return report
    asked = False

    def telling(event: dict[str, Any]) -> None:
        nonlocal asked
        if "lap" in event and not asked:
            asked = True
            if not engine.uses_workers:
                logger.warning(
                    "the workers of the cluster have no part in this fit: it runs in the threads of this process "
                    "(n_jobs, --jobs)"
                )
        report(event)

    return telling


def run_fit(
    laps: Laps,
    *,
    n_laps: int,
    report: Callback,
    identity: Identity,
    tolerance: float | None = 0.0,
    checkpoint: PathLike | None = None,
    resume: bool = False,
    trace: Trace | None = None,
    unit: str = "token",
) -> Run:
    """Run laps, and write and read their checkpoint, which must agree with `identity`.

    Only methods with a window use `tolerance`, in nats per token and pass. The checkpoint is written after every pass,
    unless the start was cut short, so a resumed fit equals an uninterrupted one. `trace`: of the laps that are done
    already; None: there is no start yet.
    """
    if checkpoint is not None and resume:
        trace = read_checkpoint(checkpoint, laps, identity)
    begins, trace = trace is None, Trace() if trace is None else trace
    place = None if checkpoint is None else os.path.abspath(checkpoint)  # a callback may change the working folder

    with Interruption() as interruption:

        def after_lap() -> None:
            if place is not None and not interruption.cut_start:
                write_checkpoint(place, laps, trace, identity)

        started = time.perf_counter()
        if begins:
            laps.begin(report, interruption.stop_start)
        start_seconds = time.perf_counter() - started
        outcome = drive(
            laps.laps(len(trace)),
            trace,
            n_laps=n_laps,
            tolerance=tolerance if laps.window else None,
            interruption=interruption,
            callback=report,
            after_lap=after_lap,
            unit=unit,
            window=laps.window,
        )
    if interruption.cut_start:
        outcome = Outcome(False, _cut_start(len(trace), n_laps, written=place is not None))
    return Run(trace, outcome, start_seconds)


def _cut_start(done: int, n_laps: int, *, written: bool) -> str:
    """Say what a Ctrl-C during the start has left."""
    reason = f"interrupted: the start was cut short; stopped after pass {done} of {n_laps}; the model is usable."
    return reason + " No checkpoint was written: a resumed fit begins again." if written else reason
