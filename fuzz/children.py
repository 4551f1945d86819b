"""Trials in child processes under limits: a child that dies, hangs or grows too much costs one input, not the run.

The parent has imported and compiled everything. A worker is a fork of it, which takes a batch of inputs one after
another and notes in shared memory which one it is at. When it dies, the parent knows the input, tries it alone in a
child of its own, and goes on with the rest in a new worker.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import gc
import mmap
import os
import resource
import shutil
import signal
import struct
import sys
import tempfile
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any, Protocol

from fuzz.outcomes import DIED, Outcome, judged

_CELL = struct.Struct("qdd")  # which input of the batch, processor time and clock when it began
_WATCH = 0.25  # seconds between two looks at the workers
_PATIENCE = 60  # a worker that waits, or whose machine is busy, may take so many times the limit of processor time
_TICKS = os.sysconf("SC_CLK_TCK")
_SEARCHED = 200  # inputs that are tried alone after a death that none of them repeats by itself


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
    batch: int = 500  # inputs of a worker


@dataclass
class _Worker:
    pid: int
    pipe: Connection
    numbers: list[int]
    cell: mmap.mmap
    folder: Path
    finished: bool = False

    @property
    def position(self) -> tuple[int, float, float]:
        return _CELL.unpack_from(self.cell)  # type: ignore[return-value]


@dataclass
class Children:
    """Tries inputs in `workers` processes at a time; `run` gives an Outcome for each."""

    trials: Trials
    limits: Limits = field(default_factory=Limits)
    workers: int = 2

    def run(self, numbers: Iterable[int]) -> Iterator[Outcome]:
        """Try the inputs of these numbers; outcomes come as they are ready, in no certain order."""
        with _scratch() as scratch:
            self._scratch = scratch
            source, again, running = iter(numbers), deque[list[int]](), []
            try:
                while True:
                    while len(running) < self.workers:
                        batch = again.popleft() if again else _taken(source, self.limits.batch)
                        if not batch:
                            break
                        running.append(self._start(batch))
                    if not running:
                        return
                    for worker in self._ready(running):
                        yield from self._received(worker)
                        if worker.finished:
                            running.remove(worker)
                            yield from self._ended(worker, again)
            finally:
                for worker in running:
                    _stop(worker)

    def alone(self, number: int) -> Outcome:
        """Try one input in a child of its own."""
        limits = Limits(self.limits.memory, self.limits.seconds, 1)
        *_, last = Children(self.trials, limits, 1).run([number])  # it may give a result and die afterwards
        return last

    def _start(self, numbers: list[int]) -> _Worker:
        receiving, sending = Pipe(duplex=False)
        cell = mmap.mmap(-1, _CELL.size)
        folder = Path(tempfile.mkdtemp(dir=self._scratch))
        _CELL.pack_into(cell, 0, 0, 0.0, time.monotonic())
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            try:
                receiving.close()
                _work(self.trials, self.limits, numbers, sending, cell, folder)
            finally:
                os._exit(3)
        sending.close()
        return _Worker(pid, receiving, numbers, cell, folder)

    def _ready(self, running: list[_Worker]) -> list[_Worker]:
        """Return the workers that have something to say, after stopping those that hang."""
        ready = wait([worker.pipe for worker in running], timeout=_WATCH)
        if not ready:
            for worker in running:
                _, processor, clock = worker.position
                waited = time.monotonic() - clock
                if _processor_time(worker.pid) - processor > self.limits.seconds or (
                    waited > _PATIENCE * self.limits.seconds
                ):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(worker.pid, signal.SIGXCPU)
        return [worker for worker in running if worker.pipe in ready]

    def _received(self, worker: _Worker) -> Iterator[Outcome]:
        try:
            while worker.pipe.poll():
                outcome = worker.pipe.recv()
                if outcome is None:
                    worker.finished = True
                    return
                yield outcome
        except (EOFError, OSError):
            worker.finished = True

    def _ended(self, worker: _Worker, again: deque[list[int]]) -> Iterator[Outcome]:
        """Bury a worker; if it did not end by itself, say which input was guilty and give the rest to another."""
        status = os.waitstatus_to_exitcode(os.waitpid(worker.pid, 0)[1])
        at = worker.position[0]
        place = _place_of_death(worker.folder)
        said = _last_words(worker.folder, status)
        worker.pipe.close()
        shutil.rmtree(worker.folder, ignore_errors=True)
        if status == 0:
            return
        if len(worker.numbers) == 1:
            yield self._dead(worker.numbers[0], status, said, place)
            return
        if worker.numbers[at + 1 :]:
            again.append(worker.numbers[at + 1 :])
        if at < len(worker.numbers) and status == -signal.SIGXCPU:
            yield self._dead(worker.numbers[at], status, said, place)
            return
        if at < len(worker.numbers):
            outcome = self.alone(worker.numbers[at])
            yield outcome
            if outcome.kind == DIED:
                return
        for number in reversed(worker.numbers[max(at - _SEARCHED, 0) : at]):  # it broke the memory that others use
            outcome = self.alone(number)
            if outcome.kind == DIED:
                yield outcome
                return
        last = worker.numbers[min(at, len(worker.numbers) - 1)]
        text = f"{said}, but no input repeats it alone; repeat all of {worker.numbers[0]} to {last}"
        yield Outcome(last, self.trials.make(last).group, DIED, text, place)

    def _dead(self, number: int, status: int, said: str, place: str) -> Outcome:
        group = self.trials.make(number).group
        if status == -signal.SIGXCPU:
            return Outcome(number, group, "hang", f"more than {self.limits.seconds:g} s", place)
        return Outcome(number, group, DIED, said, place)


def _work(trials: Trials, limits: Limits, numbers: list[int], pipe: Connection, cell: mmap.mmap, folder: Path) -> None:
    """Be a worker: try the inputs one after another, telling each outcome. Never returns."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    died = open(folder / "died", "w")  # stays open for the moment of death
    os.dup2(died.fileno(), 2)  # what C libraries say last
    faulthandler.enable(died)
    faulthandler.register(signal.SIGXCPU, died, all_threads=False, chain=True)
    most = _data_bytes() + limits.memory
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("always")
    for position, number in enumerate(numbers):
        _CELL.pack_into(cell, 0, position, time.process_time(), time.monotonic())
        place = folder / "input"
        place.mkdir(exist_ok=True)
        pipe.send(judged(trials, number, place, limits.memory))
        _emptied(place)
    _CELL.pack_into(cell, 0, len(numbers), time.process_time(), time.monotonic())
    gc.collect()
    _settle_memory()
    pipe.send(None)
    os._exit(0)


def _emptied(folder: Path) -> None:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                os.unlink(entry.path)


def _settle_memory() -> None:
    """Have the allocator look at all its blocks: damage that an input left shows now."""
    trim: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _taken(source: Iterator[int], most: int) -> list[int]:
    return [number for _, number in zip(range(most), source, strict=False)]


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


def _stop(worker: _Worker) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(worker.pid, signal.SIGKILL)
    os.waitpid(worker.pid, 0)
    worker.pipe.close()


def _processor_time(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS


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
