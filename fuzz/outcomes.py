"""How a trial ended: a sound result, one of the library's own errors, or a failure."""

from __future__ import annotations

import resource
import sys
import time
import traceback
import unicodedata
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stickbreak.exceptions import StickbreakError

if TYPE_CHECKING:
    from fuzz.children import Trials

RESULT = "result"
DIED = "signal"
FAILURES = ("raw error", DIED, "hang", "memory", "unsound", "message", "warning")
LONGEST_MESSAGE = 1000  # characters
_SHOWN = 300  # characters of a message in a report


class Unsound(Exception):
    """What the library gave back is not what it promises."""


@dataclass(frozen=True)
class Outcome:
    """How input `number` ended: kind "result", the name of a StickbreakError, or one of FAILURES."""

    number: int
    group: str
    kind: str
    text: str = ""
    place: str = ""
    seconds: float = 0.0
    grown: int = 0  # bytes of memory beyond the largest amount before

    @property
    def failed(self) -> bool:
        """Whether this must not happen."""
        return self.kind in FAILURES

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What is the same for failures that have the same cause, as far as one can see."""
        return self.group, self.kind, self.text.split(":")[0], self.place


def judged(trials: Trials, number: int, folder: Path, memory: int) -> Outcome:
    """Try an input in this process and say how it ended."""
    given = trials.make(number)
    peak, started = _peak(), time.process_time()
    strange: list[warnings.WarningMessage] = []
    warnings.showwarning = lambda *a, **_: strange.append(warnings.WarningMessage(*a[:4]))
    place = ""
    try:
        trials.attempt(given, folder)
        kind, text = RESULT, ""
    except StickbreakError as error:
        kind, text = _refused(error)
        if kind in FAILURES:
            place = _place(error)
    except Unsound as error:
        kind, text = "unsound", str(error)
    except MemoryError as error:
        kind, text, place = "memory", _first_line(error), _place(error)
    except BaseException as error:  # pyo3's panics are no Exceptions
        kind, text, place = "raw error", _first_line(error), _place(error)
    seconds, now = time.process_time() - started, _peak()
    grown = now - peak if now > peak else 0
    if kind not in FAILURES and grown > memory:
        kind, text = "memory", f"{grown >> 20} MiB of memory"
    if kind not in FAILURES:
        for warning in strange:
            if not _is_ours(warning):
                kind, text = "warning", f"{warning.category.__name__}: {str(warning.message)[:_SHOWN]}"
                place = f"{'/'.join(Path(warning.filename).parts[-2:])}:{warning.lineno}"
    return Outcome(number, given.group, kind, text, place, seconds, grown)


def _refused(error: StickbreakError) -> tuple[str, str]:
    """Judge the words of a refusal."""
    text = str(error)
    if not text:
        return "message", "an error without a text"
    if len(text) >= LONGEST_MESSAGE:
        return "message", f"too long: {len(text)} characters, {_printable(text[:_SHOWN])}"
    control = next((c for c in text if unicodedata.category(c) in ("Cc", "Cs")), None)
    if control is not None:
        return "message", f"control character: U+{ord(control):04X} in {_printable(text[:_SHOWN])}"
    cause = error.__cause__ or error.__context__
    while cause is not None:
        if isinstance(cause, MemoryError):
            return "memory", f"MemoryError behind: {text[:_SHOWN]}"
        cause = cause.__cause__ or cause.__context__
    return type(error).__name__, text[: 2 * _SHOWN]


def _is_ours(warning: warnings.WarningMessage) -> bool:
    """Whether stickbreak says it on purpose: of a class of its own, or a UserWarning with its place or its caller's."""
    if warning.category.__module__.startswith("stickbreak"):
        return True
    return warning.category is UserWarning and "site-packages" not in warning.filename


def _peak() -> int:
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else used * 1024


def _place(error: BaseException) -> str:
    """Return the innermost line of stickbreak, and the innermost of all."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/stickbreak/" in frame.filename]
    named = [*ours[-1:], *(frames[-1:] if not ours or frames[-1] is not ours[-1] else [])]
    return ", ".join(f"{'/'.join(Path(f.filename).parts[-2:])}:{f.lineno} {f.name}" for f in named)


def _first_line(error: BaseException) -> str:
    text = str(error).split("\n")[0][:_SHOWN]
    return f"{type(error).__name__}: {_printable(text)}"


def _printable(text: str) -> str:
    """Return a text that shows on any screen, control characters as escapes."""
    return text if text.isprintable() else text.encode("unicode_escape").decode("ascii")
