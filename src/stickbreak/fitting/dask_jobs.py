"""The jobs of a step on their way to workers of Dask, and what workers do with them."""

from __future__ import annotations

import os
import pickle
import secrets
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from stickbreak.fitting.engine import use_workers
from stickbreak.fitting.parcels import LARGE, Parcel
from stickbreak.storage.atomic import told_as_write_error

__all__ = ["Step", "added", "done", "done_apart", "itself"]


class Step:
    """The jobs of a step, packed: what is large is in files of a folder of its own, which goes with the step.

    Parameters
    ----------
    place : Path or None
        Where the folder is made. None: all is sent.
    """

    def __init__(self, place: Path | None, work: Callable[..., Any], jobs: Sequence[Any], shared: Any) -> None:
        self.token, self._folder = secrets.token_hex(8), ""
        if place is not None:
            self._folder = f"{place}/step-{self.token}"
            with told_as_write_error(place):
                os.mkdir(self._folder)
        try:
            self.shared = Parcel.of(shared, self.path("shared"), LARGE // len(jobs))
            self.jobs = [Parcel.of((work, job), self.path(f"job-{number}")) for number, job in enumerate(jobs)]
        except BaseException:
            self.end()
            raise
        self.paths = [self.path(f"result-{number}") for number in range(len(jobs))]
        self.size = self.shared.size + sum(job.size for job in self.jobs)

    def path(self, name: str) -> str:
        """Return the name of a file, if there are any."""
        return f"{self._folder}/{name}" if self._folder else ""

    def end(self) -> None:
        """Remove the files: a job that is still at work fails, and nobody waits for it."""
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)


_OPENED: dict[str, tuple[Any]] = {}  # what jobs share, of the step that a worker is at


def _opened(token: str, shared: Parcel) -> Any:
    """Return what is shared; a worker opens it once, for all its jobs of the step."""
    found = _OPENED.get(token)
    if found is None:
        found = (shared.opened(),)
        _OPENED.clear()
        _OPENED[token] = found
    return found[0]


def itself(parcel: Parcel) -> Parcel:
    """Return what is shared: workers have it from the one that did this."""
    return parcel


def _found(token: str, shared: Parcel, task: Parcel) -> Any:
    """Do a job, in a worker, from where nothing travels on."""
    work, job = task.opened()
    with use_workers(None):
        return work(_opened(token, shared), job)


def done(token: str, shared: Parcel, task: Parcel, path: str) -> Parcel:
    """Do a job; return what it has found."""
    return Parcel.of(_found(token, shared, task), _seen(path))


def done_apart(token: str, shared: Parcel, task: Parcel, path: str) -> tuple[Parcel, Parcel]:
    """Do a job; return its result, and its part of a sum."""
    result, part = _found(token, shared, task)
    path = _seen(path)
    return Parcel.of(result, path), Parcel.of(part, path and f"{path}-part")


def added(told: bytes, group: list[Parcel], path: str) -> Parcel:
    """Add parts."""
    return Parcel.of(pickle.loads(told)([part.opened() for part in group]), _seen(path))


def _seen(path: str) -> str:
    """Return the name of a file, if its folder is seen here."""
    return path if os.path.isdir(os.path.dirname(path)) else ""
