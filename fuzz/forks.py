"""Work in a forked process, which may be killed without harm to this one."""

from __future__ import annotations

import os
import pickle
import random
import signal
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from stickbreak.exceptions import StickbreakError

_CUT = 130  # exit code
HUNG = 300.0  # seconds after which a child is taken to hang


class Ended(NamedTuple):
    """How a child ended: "done", "refused" (a StickbreakError), "interrupted", "killed", "error" or "hung"."""

    how: str
    value: Any  # what the work returned, or the words of the error


@dataclass(frozen=True)
class Signals:
    """Signals to send to a child: the first after some seconds, the next ones soon after one another."""

    after: float
    numbers: Sequence[int]
    gap: float = 0.02

    @classmethod
    def drawn(cls, rng: random.Random, longest: float, name: str) -> Signals:
        """Draw the moment; `name` is "KILL", "INT" or "INT INT"."""
        numbers = [getattr(signal, f"SIG{part}") for part in name.split()]
        return cls(rng.uniform(0.0, 1.05 * longest), numbers, rng.choice([0.0, 0.005, 0.05]))


def child(work: Callable[[], Any], signals: Signals | None = None) -> Ended:
    """Run a function in a forked process, send it signals, and return how it ended.

    Fork only while no thread is at work: this process fits nothing itself, it leaves that to its children.
    """
    process, reading = _forked(work)
    try:
        if signals is not None:
            time.sleep(signals.after)
            for number in signals.numbers:
                os.kill(process, number)  # nobody has waited for it: it is there, if only as a zombie
                time.sleep(signals.gap)
        return _ended(process, reading)
    finally:
        os.close(reading)


def together(*works: Callable[[], Any]) -> list[Ended]:
    """Run functions in processes of their own at the same time, and return how each ended."""
    begun = [_forked(work) for work in works]
    try:
        return [_ended(*each) for each in begun]
    finally:
        for _, reading in begun:
            os.close(reading)


def _forked(work: Callable[[], Any]) -> tuple[int, int]:
    """Begin to run a function in a process of its own; return its number, and where it tells how it ended."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads of BLAS are asleep, and know about forks
        process = os.fork()
    if process == 0:
        try:
            os.close(reading)
            _run(work, writing)
        finally:
            os._exit(_CUT)  # a Ctrl-C where the work had not begun, or was being told of
    os.close(writing)
    return process, reading


def _run(work: Callable[[], Any], writing: int) -> None:
    """Do the work of a child, tell how it ended, and end the process."""
    ended = Ended("error", "ended before its work")
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        ended = Ended("done", work())
    except StickbreakError as error:
        ended = Ended("refused", f"{type(error).__name__}: {error}")
    except KeyboardInterrupt:
        ended = Ended("interrupted", None)
    except BaseException as error:
        ended = Ended("error", f"{type(error).__name__}: {error}")
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.write(writing, pickle.dumps(tuple(ended)))
        os._exit(0)


def _ended(process: int, reading: int) -> Ended:
    """Wait for a child."""
    import select

    told, deadline = b"", time.monotonic() + HUNG
    while True:
        ready, _, _ = select.select([reading], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            return Ended("hung", f"no end after {HUNG:.0f} s")
        part = os.read(reading, 1 << 16)
        if not part:
            break
        told += part
    _, status = os.waitpid(process, 0)
    if told:
        return Ended(*pickle.loads(told))
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return Ended("killed" if number == signal.SIGKILL else "error", f"signal {number}")
    code = os.WEXITSTATUS(status)
    return Ended("interrupted" if code == _CUT else "error", f"exit code {code}")
