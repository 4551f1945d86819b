"""Trials in child processes under limits: a child that dies, hangs or grows too much costs one input, not the run.

The parent has imported and compiled everything. Each input is tried in a fork of it.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import gc
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any, Protocol

from fuzz.outcomes import DIED, Outcome, judged

_WATCH = 0.25  # seconds between two looks at the children
_PATIENCE = 60  # a child that waits, or whose machine is busy, may take so many times the limit of processor time


class Trials(Protocol):
    """What a mode does: make input number n (always the same), and try it in a folder of its own."""

    def good(self) -> Iterable[Any]:
        """Give inputs as they should be; the parent tries them first, and so imports and compiles everything."""

    def make(self, number: int) -> Any:
        """Return the input of this number; its `group` says what it is, for the table."""

    def attempt(self, given: Any, folder: Path) -> None:
        """Give the input to the library; a return is a sound result."""


@dataclass(frozen=True)
class Limits:
    """What an input may take."""

    memory: int = 2 << 30  # bytes beyond those of the parent
    seconds: float = 10.0  # of processor time


@dataclass(frozen=True)
class _Child:
    number: int
    pid: int
    begun: float
    folder: Path


@dataclass
class Children:
    """Tries inputs in `workers` processes at a time; `run` gives an Outcome for each."""

    trials: Trials
    limits: Limits = field(default_factory=Limits)
    workers: int = 2

    def run(self, numbers: Iterable[int]) -> Iterator[Outcome]:
        """Try the inputs of these numbers; outcomes come as they are ready, in no certain order."""
        source, running = iter(numbers), dict[Connection, _Child]()
        gc.freeze()  # a garbage collection in a child would copy all that it shares with its parent
        with _scratch() as scratch:
            try:
                while True:
                    for number in islice(source, self.workers - len(running)):
                        pipe, child = self._start(number, scratch)
                        running[pipe] = child
                    if not running:
                        return
                    for pipe in wait(list(running), timeout=_WATCH):
                        assert isinstance(pipe, Connection)
                        yield self._ended(pipe, running.pop(pipe))
                    for child in running.values():
                        if time.monotonic() - child.begun > _PATIENCE * self.limits.seconds:
                            os.kill(child.pid, signal.SIGXCPU)
            finally:
                for pipe, child in running.items():
                    os.kill(child.pid, signal.SIGKILL)
                    os.waitpid(child.pid, 0)
                    pipe.close()

    def _start(self, number: int, scratch: Path) -> tuple[Connection, _Child]:
        receiving, sending = Pipe(duplex=False)
        folder = Path(tempfile.mkdtemp(dir=scratch))
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            try:
                receiving.close()
                _work(self.trials, self.limits, number, sending, folder)
            finally:
                os._exit(3)
        sending.close()
        return receiving, _Child(number, pid, time.monotonic(), folder)

    def _ended(self, pipe: Connection, child: _Child) -> Outcome:
        """Bury a child; a death counts, also one after a result."""
        outcome: Outcome | None = None
        with contextlib.suppress(EOFError, OSError):
            outcome = pipe.recv()
        pipe.close()
        status = os.waitstatus_to_exitcode(os.waitpid(child.pid, 0)[1])
        place, said = _place_of_death(child.folder), _last_words(child.folder, status)
        shutil.rmtree(child.folder, ignore_errors=True)
        if outcome is not None and status == 0:
            return outcome
        group = self.trials.make(child.number).group
        if status == -signal.SIGXCPU:
            return Outcome(child.number, group, "hang", f"more than {self.limits.seconds:g} s", place)
        return Outcome(child.number, group, DIED, said, place)


def _work(trials: Trials, limits: Limits, number: int, pipe: Connection, folder: Path) -> None:
    """Be a child: try an input and tell the outcome. Never returns."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    died = open(folder / "died", "w")  # stays open for the moment of death
    os.dup2(died.fileno(), 2)  # what C libraries say last
    faulthandler.enable(died)
    faulthandler.register(signal.SIGXCPU, died, all_threads=False, chain=True)
    most = _data_bytes() + limits.memory
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (max(1, round(limits.seconds)), resource.RLIM_INFINITY))
    warnings.simplefilter("always")
    place = folder / "input"
    place.mkdir()
    pipe.send(judged(trials, number, place, limits.memory))
    _settle_memory()
    os._exit(0)


def _settle_memory() -> None:
    """Have the allocator look at all its blocks: damage that an input left shows now."""
    trim: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


@contextlib.contextmanager
def _scratch() -> Iterator[Path]:
    """Give a folder in memory where there is one."""
    memory = Path("/dev/shm")
    base = memory if memory.is_dir() and os.access(memory, os.W_OK) else None
    folder = tempfile.mkdtemp(prefix="fuzz-", dir=base)
    try:
        yield Path(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _data_bytes() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmData"):
            return int(line.split()[1]) * 1024
    return 0


def _place_of_death(folder: Path) -> str:
    """Return the innermost line of ours that faulthandler saw, or its innermost line."""
    try:
        lines = [
            line.strip()
            for line in (folder / "died").read_text(errors="replace").splitlines()
            if line.strip().startswith("File")
        ]
    except OSError:
        return ""
    ours = [line for line in lines if "stickbreak" in line]
    return _short_place((ours or lines or [""])[0])


def _short_place(line: str) -> str:
    """Shorten `File "/a/b/c.py", line 7 in f` to `b/c.py:7 f`."""
    parts = line.split('"')
    if len(parts) < 3:
        return line
    return "/".join(Path(parts[1]).parts[-2:]) + ":" + parts[2].removeprefix(", line ").replace(" in ", " ")


def _last_words(folder: Path, status: int) -> str:
    """Return the name of the signal, and what the C library or C++ said before."""
    name = signal.Signals(-status).name if status < 0 else f"exit code {status}"
    try:
        lines = (folder / "died").read_text(errors="replace").splitlines()
    except OSError:
        return name
    strange = ("Fatal", "  File", "Current", "Thread", "Extension")  # what faulthandler writes
    words = [line.strip() for line in lines[:3] if line.strip() and not line.startswith(strange)]
    return f"{name}: {' '.join(words)[:200]}" if words else name
