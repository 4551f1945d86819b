"""One call in a child process, under limits of memory and time, and what came of it."""

from __future__ import annotations

import gc
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass

from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import InvalidParameterError

from stickbreak.exceptions import StickbreakError

MEMORY = 4 << 30  # bytes of a child
REFUSALS = (StickbreakError, InvalidParameterError, NotFittedError)
SKLEARN = "sklearn/utils/"
_SEPARATOR = "\x1f"


class Unsound(Exception):
    """A result that is not finite, or contradicts itself."""


@dataclass(frozen=True)
class Outcome:
    """What came of a call: "sound", "refused", or the kind of a failure."""

    kind: str
    text: str
    seconds: float
    peak: int  # bytes

    @property
    def failed(self) -> bool:
        """Whether this must not be."""
        return self.kind not in ("sound", "refused")


def tried(call: Callable[[], object], seconds: float) -> Outcome:
    """Make a call in a child process.

    Parameters
    ----------
    call : callable
        Returns where all is sound, raises `Unsound` or what the library raises.
    seconds : float
        Processor time of the child, and a tenth of the clock's.
    """
    reading, writing = os.pipe()
    sys.stdout.flush()
    with tempfile.TemporaryDirectory() as folder:
        began, pid = time.monotonic(), os.fork()
        if pid == 0:
            os.close(reading)
            os.chdir(folder)
            _be_child(call, writing, seconds)
        os.close(writing)
        said = b""
        while part := os.read(reading, 1 << 16):
            said += part
        os.close(reading)
        _, status, usage = os.wait4(pid, 0)
    took, peak = time.monotonic() - began, usage.ru_maxrss * 1024
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        name = signal.Signals(-code).name
        kind = "hang" if -code in (signal.SIGXCPU, signal.SIGALRM) else "died"
        return Outcome(kind, f"{name}; {said.decode(errors='replace')[:200]}", took, peak)
    kind, _, text = said.decode(errors="replace").partition(_SEPARATOR)
    if kind == "sound" and peak > MEMORY:
        return Outcome("memory", f"{peak / 2**30:.1f} GiB", took, peak)
    return Outcome(kind or "died", text, took, peak)


def _be_child(call: Callable[[], object], writing: int, seconds: float) -> None:
    """Make the call, say what came of it, and end."""
    code = 3
    try:
        gc.freeze()
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(10 * (int(seconds) + 1))
        resource.setrlimit(resource.RLIMIT_DATA, (_data_bytes() + MEMORY,) * 2)
        os.write(writing, _SEPARATOR.join(_outcome(call)).encode(errors="replace"))
        code = 0
    finally:
        os._exit(code)


def _outcome(call: Callable[[], object]) -> tuple[str, str]:
    warnings.simplefilter("error", RuntimeWarning)  # NumPy's: a division by zero, an overflow, an invalid value
    try:
        call()
    except REFUSALS as error:
        return "refused", str(error)
    except Unsound as error:
        return "unsound", str(error)
    except BaseException as error:
        place = traceback.extract_tb(error.__traceback__)
        if isinstance(error, ValueError | TypeError) and SKLEARN in place[-1].filename:
            return "refused", str(error)  # its words for what cannot be a table of numbers; its checks ask for them
        ours = [frame for frame in place if "stickbreak" in frame.filename] or list(place)
        where = f"{ours[-1].filename.rpartition('src/')[2]}:{ours[-1].lineno}"
        return "raw error", f"{type(error).__name__}: {str(error)[:160]} ({where})"
    return "sound", ""


def _data_bytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[5]) * resource.getpagesize()
