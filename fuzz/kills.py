"""Kills: SIGKILL and Ctrl-C at random moments of every fit, the start included; then it is resumed.

The resumed fit must equal one that was never cut, to the last bit, and nothing but temporary files may be left beside
the checkpoint.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import stickbreak
from fuzz.forks import Ended, Signals, child
from fuzz.models import FITS, Fit, digest
from stickbreak.corpus import Corpus

SIGNALS = {"KILL": ("KILL",), "INT": ("INT", "INT", "INT INT")}  # kind -> what is drawn from
ROUNDS = (1, 1, 2, 3)  # how often a fit is cut before it may end
COMMAND_SHARE = 5  # every so many trials one is of the command line, which takes seconds to load
COMMANDS = {
    "command topics": ("topics", "--set max_topics=9 --laps 60"),
    "command variational": ("variational", "--topics 6 --laps 30 --set n_batches=3"),
    "command gibbs": ("gibbs", "--topics 6 --laps 60 --set burn_in=5 --set init=lda"),
    "command hybrid": ("hybrid", "--topics 6 --laps 20 --set batch_size=15"),
    "command tree": ("tree", "--set branching=3,2 --laps 40"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this mode."""
    parser.add_argument("--kills", type=int, default=100, help="fits that are killed")
    parser.add_argument("--interrupts", type=int, default=100, help="fits that are interrupted by Ctrl-C")
    parser.add_argument("--seed", type=int, default=0, help="of the fits and the moments")
    parser.add_argument("--only", help="one fit alone: " + ", ".join([*FITS, *COMMANDS]))


def run(arguments: argparse.Namespace) -> int:
    """Cut fits, resume them, print a table; return the number of failures."""
    names = [*FITS, *COMMANDS] if arguments.only is None else [arguments.only]
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        subjects = {name: _subject(name, Path(folder)) for name in names}
        table = Table()
        for kind, wanted in (("KILL", arguments.kills), ("INT", arguments.interrupts)):
            for i in range(wanted):
                rng = random.Random(f"{arguments.seed} {kind} {i}")
                subject = subjects[_name(names, rng, i)]
                repeat = f"python -m fuzz kills --seed {arguments.seed} (trial {kind} {i}, {subject.name})"
                table.add(subject.name, kind, trial(subject, kind, rng), repeat)
    return table.show()


def _name(names: list[str], rng: random.Random, i: int) -> str:
    """Draw the fit of a trial."""
    commands = [name for name in names if name in COMMANDS]
    of_python = [name for name in names if name not in COMMANDS]
    return rng.choice(commands if commands and (i % COMMAND_SHARE == 0 or not of_python) else of_python)


@dataclass
class Subject:
    """A fit that is cut: `start` runs it in a folder, from its checkpoint if there is one, and sends it signals."""

    name: str
    folder: Path
    start: Callable[[Path, Signals | None], Ended]
    uncut: str
    seconds: float
    least: float = 0.0  # seconds before which nothing of the fit happens
    fresh: list[str] = field(default_factory=list)  # what a fit leaves in its folder


@dataclass
class Trial:
    """What came of a trial."""

    equal: bool
    cut: bool  # at least one signal came before the end of the fit
    left: list[str]
    problem: str  # "" if none


class Table:
    """Trials by fit and signal."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], Counter[str]] = {}
        self.problems: list[str] = []

    def add(self, name: str, kind: str, found: Trial, repeat: str) -> None:
        """Count a trial."""
        counts = self._counts.setdefault((name, kind), Counter())
        counts.update(["tried", "equal" if found.equal else "unequal"])
        counts.update(["cut"] if found.cut else [])
        counts.update(["left"] if found.left else [])
        if found.problem:
            self.problems.append(f"{repeat}: {found.problem}")

    def show(self) -> int:
        """Print the table and the problems; return their number."""
        print(f"{'fit':<24} {'signal':<7} {'tried':>6} {'cut':>6} {'equal':>6} {'unequal':>8} {'left over':>10}")
        total: Counter[str] = Counter()
        for (name, kind), counts in sorted(self._counts.items()):
            total += counts
            print(_row(name, kind, counts))
        print(_row("all", "", total))
        for problem in self.problems:
            print("FAILED", problem)
        return len(self.problems)


def _row(name: str, kind: str, counts: Counter[str]) -> str:
    columns = (("tried", 6), ("cut", 6), ("equal", 6), ("unequal", 8), ("left", 10))
    return f"{name:<24} {kind:<7} " + " ".join(f"{counts[column]:>{width}}" for column, width in columns)


def trial(subject: Subject, kind: str, rng: random.Random) -> Trial:
    """Cut a fit some times, let it end, and compare it with the uncut one."""
    place = subject.folder / "trial"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    log: list[str] = []
    cut = False
    for _ in range(rng.choice(ROUNDS)):
        signals = Signals.drawn(rng, subject.seconds, rng.choice(SIGNALS[kind]))
        signals = Signals(subject.least + signals.after, signals.numbers, signals.gap)
        ended = subject.start(place, signals)
        log.append(f"{len(signals.numbers)} x {kind} after {signals.after:.3f} s: {ended.how}")
        cut |= ended != Ended("done", subject.uncut)
        if ended.how in ("refused", "error", "hung"):
            return Trial(False, True, [], f"{'; '.join(log)} {ended.value}")
    ended = subject.start(place, None)
    left = sorted(name for name in set(os.listdir(place)) - set(subject.fresh) if not name.endswith(".tmp"))
    equal = ended == Ended("done", subject.uncut)
    problem = "" if equal and not left else f"{'; '.join(log)}; resumed: {ended}, uncut: {subject.uncut}, left: {left}"
    return Trial(equal, cut, left, problem)


def _subject(name: str, folder: Path) -> Subject:
    """Fit without a cut, and take the time."""
    place = folder / name
    place.mkdir()
    if name in COMMANDS:
        return _command(name, place)
    fit = FITS[name]
    digest(fit.model().fit(fit.documents()), fit.documents())  # compiles, for all children; leaves no threads behind
    start = partial(_fit_in_child, fit)
    uncut, seconds = _timed(start, place)
    without = child(lambda: digest(fit.model().fit(fit.documents()), fit.documents()))
    if without != uncut or uncut.how != "done":
        raise SystemExit(f"{name}: {uncut} with checkpoints, {without} without; kills have nothing to compare with")
    return Subject(name, place, start, uncut.value, seconds, fresh=["ck"])


def _timed(start: Callable[[Path, Signals | None], Ended], place: Path) -> tuple[Ended, float]:
    began = time.perf_counter()
    return start(place, None), time.perf_counter() - began


def _fit_in_child(fit: Fit, place: Path, signals: Signals | None) -> Ended:
    """Fit from the checkpoint, in a process of its own."""
    data = fit.documents()
    return child(lambda: digest(fit.model().fit(data, checkpoint=place / "ck", resume=True), data), signals)


def _command(name: str, place: Path) -> Subject:
    """Fit by the command line; the documents are written as a file of counts."""
    method, options = COMMANDS[name]
    documents = place / "documents.ldac"
    corpus = FITS["topics"].documents()
    assert isinstance(corpus, Corpus)
    documents.write_text("".join(_ldac(row) for row in corpus.counts))
    start = partial(_run_command, [str(documents), "--method", method, *options.split()], corpus)
    start(place, None)  # compiles
    _emptied(place)
    uncut, seconds = _timed(start, place)
    if uncut.how != "done":
        raise SystemExit(f"{name}: {uncut}; kills have nothing to compare with")
    _emptied(place)
    loading = _timed(lambda where, signals: Ended("done", _popen(["--help"], None)), place)[1]
    return Subject(
        name, place, start, uncut.value, max(seconds - loading, 0.1), least=0.8 * loading, fresh=["ck", "model"]
    )


def _ldac(row: object) -> str:
    entries = [f"{word}:{int(count)}" for word, count in zip(row.indices, row.data, strict=True)]  # type: ignore[attr-defined]
    return f"{len(entries)} {' '.join(entries)}\n"


def _emptied(place: Path) -> None:
    for name in ("ck", "model"):
        shutil.rmtree(place / name)


def _run_command(arguments: list[str], corpus: Corpus, place: Path, signals: Signals | None) -> Ended:
    """Run `stickbreak fit` on the documents, with a checkpoint."""
    given = ["fit", *arguments, "--out", str(place / "model"), "--checkpoint", str(place / "ck")]
    more = ["--resume", "--force", "--quiet", "--no-report", "--random-state", "3", "--jobs", "1"]
    code = _popen([*given, *more], signals)
    if code == -signal.SIGKILL:
        return Ended("killed", None)
    if code in (130, -signal.SIGINT):  # the latter: before the command line was loaded
        return Ended("interrupted", None)
    if code != 0:
        return Ended("error", f"exit code {code}")
    return child(lambda: digest(stickbreak.load(place / "model"), corpus))


def _popen(arguments: list[str], signals: Signals | None) -> int:
    """Run the command line as a process, send it signals and return its exit code."""
    command = [sys.executable, "-m", "stickbreak", *arguments]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        if signals is not None:
            try:
                process.wait(signals.after)
            except subprocess.TimeoutExpired:
                for number in signals.numbers:
                    process.send_signal(number)
                    time.sleep(signals.gap)
        return process.wait()
