"""What an algorithm is to a fit, which only yields laps, and the loop around it: trace, stopping, interruption."""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from types import FrameType, TracebackType
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from stickbreak.exceptions import ModelFormatError

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


logger = logging.getLogger("stickbreak")

COLUMNS = ("lap", "objective", "n_topics", "seconds", "moved")  # of every trace


@dataclass(slots=True)
class Trace:
    """Equally long columns, one entry per lap."""

    columns: dict[str, list[float]] = field(default_factory=dict)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Self:
        """Take back what `arrays` returned."""
        return cls({name: column.tolist() for name, column in arrays.items()})

    def add(self, lap: Lap, seconds: float) -> dict[str, float]:
        """Add a lap, and return its row.

        Raises
        ------
        ModelFormatError
            If it does not have the columns of the laps before: these were loaded, and are not of this fit.
        """
        row: dict[str, float] = {
            "lap": len(self) + 1,
            "objective": lap.objective,
            "n_topics": lap.n_topics,
            "seconds": seconds,
            "moved": int(lap.moved),
            **lap.columns,
        }
        if self.columns and row.keys() != self.columns.keys():
            name = min(row.keys() ^ self.columns.keys())
            raise ModelFormatError(
                f"the trace of the fit to continue is damaged: not every pass has {name!r}; fit again."
            )
        for name, value in row.items():
            self.columns.setdefault(name, []).append(value)
        return row

    def rest_of_row(self, lap: Lap) -> dict[str, float]:
        """Return the columns that a lap of another kind lacks: what was counted as 0, all others as they were."""
        counted = ("_tried", "_accepted")
        rest = [name for name in self.columns if name not in (*COLUMNS, *lap.columns)]
        return {name: 0 if name.endswith(counted) else self.columns[name][-1] for name in rest}

    def cut_back(self, n: int) -> None:
        """Drop all laps after the first `n`, also one of which only some columns are there."""
        for column in self.columns.values():
            del column[n:]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the columns as arrays; whole numbers as integers."""
        out = {name: np.asarray(values) for name, values in self.columns.items()}
        for name, values in out.items():
            if name in ("lap", "n_topics", "moved") or name.endswith(("_tried", "_accepted")):
                with np.errstate(invalid="ignore"):  # a damaged checkpoint may hold numbers that are no integers
                    out[name] = values.astype(np.int64)
        return out


class Outcome(NamedTuple):
    """Why the loop ended."""

    converged: bool
    reason: str


class Interruption:
    """Turns the first Ctrl-C into a wish to stop after the lap; the second one interrupts at once.

    Only the main thread can ask for signals: elsewhere Ctrl-C is left to whoever owns it.
    """

    def __init__(self) -> None:
        self.requested = False
        self.cut_start = False  # a start ended early: what follows it is not what follows the whole start
        self._previous: Any = None

    def stop_start(self) -> bool:
        """Return whether a start ends here; asked only where some of its work is left."""
        self.cut_start |= self.requested
        return self.requested

    def give_up_start(self) -> bool:
        """Interrupt a start at once: a stream does not go on from one that was cut short."""
        if self.requested:
            raise KeyboardInterrupt
        return False

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._note)
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        logger.warning("stopping after this pass with a usable model; press Ctrl-C again to interrupt at once")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)


def drive(
    laps: Iterator[Lap],
    trace: Trace,
    *,
    n_laps: int,
    tolerance: float | None,
    interruption: Interruption,
    callback: Callback | None = None,
    after_lap: Callable[[], None] | None = None,
    unit: str = "token",
    window: int = 1,
) -> Outcome:
    """Run laps until one of the reasons to stop, which is returned.

    The loop stops after `n_laps` passes (including those already in the trace), when the objective rose by less than
    `tolerance` nats per token in a pass in which no move changed the topics, or when it is interrupted. A noisy
    objective is judged by its rise per pass from the mean of `window` passes to the mean of the next ones. The trace
    gets a row for each lap, which `callback` is called with, beside "n_laps". `after_lap` writes checkpoints.
    """
    while (ended := _ended(trace, n_laps, tolerance, unit, window)) is None:
        if interruption.requested and len(trace):
            return Outcome(False, f"interrupted: stopped after pass {len(trace)} of {n_laps}; the model is usable.")
        begin = time.perf_counter()
        lap = next(laps)
        row = trace.add(lap, time.perf_counter() - begin)
        logger.info(
            "pass %(lap)d: objective %(objective).5f nats per " + unit + ", %(n_topics)d topics",
            row,
            extra={"lap": row},
        )
        if callback is not None:
            callback({**row, "n_laps": n_laps})
        if after_lap is not None:
            after_lap()
    return ended


def _ended(trace: Trace, n_laps: int, tolerance: float | None, unit: str, window: int) -> Outcome | None:
    """Return why a fit with this trace is at its end, or None; a resumed fit is judged like an uncut one."""
    done = len(trace)
    if tolerance is not None and done >= 2 * window and not any(trace.columns["moved"][1 - 2 * window :]):
        last = trace.columns["objective"][-2 * window :]
        rise = (sum(last[window:]) - sum(last[:window])) / window**2
        if rise < tolerance:
            reason = f"the objective rose by less than {tolerance:g} nats per {unit}"
            reason += " and no move was accepted." if window == 1 else f" per pass over the last {2 * window} passes."
            return Outcome(True, f"converged after {done} passes: {reason}")
    if done > n_laps:
        return Outcome(False, f"{done} passes were already done, more than the limit of {n_laps}.")
    if done == n_laps and tolerance is None:
        return Outcome(False, f"did all {n_laps} passes, without a test of convergence.")
    if done == n_laps:
        return Outcome(False, f"reached the limit of {n_laps} passes before the objective stopped rising.")
    return None
