"""Where and with what a run was made: the machine, versions, the commit; and the peak memory of a part of a process."""

from __future__ import annotations

import os
import platform
import re
import resource
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.harness.records import Record

PACKAGES = ("stickbreak", "numpy", "scipy", "numba", "scikit-learn", "gensim", "tomotopy")
_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def machine() -> Record:
    """Return the processor, the cores that may be used and the memory; no name of a host."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    system = f"{platform.system()} {platform.machine()}"
    return {"processor": _processor(), "cores": cores, "memory_gib": round(memory), "system": system}


def _processor() -> str:
    cpus = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*:\s*(.+)", cpus.read_text()) if cpus.exists() else None
    return found[1].strip() if found else platform.processor() or "unknown"


def versions() -> Record:
    """Return the versions of Python and of what computes."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    return found


def commit() -> str:
    """Return the commit of the sources, with a plus sign if they were changed since."""
    git = ["git", "-C", str(Path(__file__).parent)]
    try:
        head = subprocess.run([*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=True)
        changed = subprocess.run([*git, "status", "--porcelain", "-uno"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head.stdout.strip() + ("+" if changed.stdout.strip() else "")


def setting(records: list[Record]) -> str:
    """Return as a Markdown list with what runs were made."""
    lines = []
    for name, form in (("machine", _one_line), ("versions", _numbers), ("commit", str)):
        found = list(dict.fromkeys(form(record[name]) for record in records))
        lines.append(f"- {name}: {'; '.join(found)}")
    return "\n".join(lines)


def here() -> Record:
    """Return with what a run is made in this process."""
    return {"machine": machine(), "versions": versions(), "commit": commit()}


def _one_line(about: Record) -> str:
    return f"{about['processor']}, {about['cores']} cores, {about['memory_gib']} GiB, {about['system']}"


def _numbers(about: Record) -> str:
    return ", ".join(f"{name} {number}" for name, number in about.items() if number)


def peak_mebibytes() -> float:
    """Return the peak resident memory of this process (Linux counts in KiB, macOS in bytes)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


class PeakMemory:
    """The most resident memory between `begin` and `end`, over any number of such stretches.

    Linux forgets an earlier peak when asked to. Elsewhere it is the peak of the process, from its beginning.

    Attributes
    ----------
    mebibytes : float
        The peak.
    start : float
        What was resident when the first stretch began: the interpreter, libraries, documents.
    """

    def __init__(self) -> None:
        self.mebibytes = 0.0
        self._forgets = False
        self.begin()
        self.start = self._peak()

    def begin(self) -> None:
        """Forget the peak so far."""
        try:
            _CLEAR.write_text("5")
            self._forgets = True
        except OSError:
            self._forgets = False

    def end(self) -> None:
        """Take notice of the peak since `begin`."""
        self.mebibytes = max(self.mebibytes, self._peak())

    def _peak(self) -> float:
        found = re.search(r"VmHWM:\s+(\d+) kB", _STATUS.read_text()) if self._forgets else None
        return int(found[1]) / 2**10 if found else peak_mebibytes()
