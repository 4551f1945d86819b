"""A run over many inputs: its options, the count of its outcomes, what it prints and what it keeps."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.children import Children, Limits, Trials
from fuzz.outcomes import FAILURES, RESULT, Outcome

_PROGRESS = 60.0  # seconds between two lines about where the run is


@dataclass
class Tally:
    """The outcomes of a run."""

    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)  # (group, kind)
    failures: dict[tuple, list[Outcome]] = field(default_factory=dict)
    slowest: Outcome | None = None  # of the inputs that gave a result
    largest: Outcome | None = None

    def add(self, outcome: Outcome) -> bool:
        """Count an outcome; whether it is a failure of a new kind."""
        self.kinds[outcome.group, outcome.kind] += 1
        if outcome.kind == RESULT:
            if self.slowest is None or outcome.seconds > self.slowest.seconds:
                self.slowest = outcome
            if self.largest is None or outcome.grown > self.largest.grown:
                self.largest = outcome
        if not outcome.failed:
            return False
        self.failures.setdefault(outcome.key, []).append(outcome)
        return len(self.failures[outcome.key]) == 1

    def count(self, *, failed: bool) -> int:
        """Return how many inputs failed, or did not."""
        return sum(n for (_, kind), n in self.kinds.items() if (kind in FAILURES) == failed)

    def table(self, what: str) -> str:
        """Return the outcomes by group, then by kind."""
        rows = [(what, "inputs", "read", "refused", "failed")]
        for group in (*sorted({group for group, _ in self.kinds}), None):
            of = {kind: n for kind, n in self._of(group).items()}
            failed = sum(n for kind, n in of.items() if kind in FAILURES)
            read, total = of.get(RESULT, 0), sum(of.values())
            rows.append((group or "all", f"{total:,}", f"{read:,}", f"{total - read - failed:,}", f"{failed:,}"))
        width = max(len(row[0]) for row in rows)
        lines = [f"{row[0]:{width}}" + "".join(f"{cell:>12}" for cell in row[1:]) for row in rows]
        kinds = ", ".join(f"{kind} {n:,}" for kind, n in self._of(None).most_common())
        return "\n".join([*lines, f"outcomes: {kinds}"])

    def _of(self, group: str | None) -> Counter[str]:
        found: Counter[str] = Counter()
        for (name, kind), n in self.kinds.items():
            if group is None or name == group:
                found[kind] += n
        return found


def add_campaign_arguments(parser: argparse.ArgumentParser, inputs: int, what: str) -> None:
    """Add the options that readers and loaders share."""
    parser.add_argument("--inputs", type=int, default=inputs, help=f"how many inputs to try (default {inputs:,})")
    parser.add_argument("--seed", type=int, default=0, help="the same seed and number give the same input")
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--workers", type=int, default=2, help="inputs that are tried at a time")
    parser.add_argument("--keep", type=Path, help="folder for one input of every kind of failure")
    parser.add_argument("--only", default="", help=f"only where the name of the {what} holds this")
    parser.set_defaults(what=what)


def run_campaign(mode: str, trials: Trials, arguments: argparse.Namespace) -> int:
    """Try the inputs in child processes and print what came of them; return the number of failures."""
    numbers = range(arguments.first, arguments.first + arguments.inputs)
    refused = unchanged(trials)
    tally, started, told = Tally(), time.monotonic(), time.monotonic()
    children = Children(trials, Limits(), arguments.workers)
    for n, outcome in enumerate(children.run(numbers), start=1):
        if tally.add(outcome):
            _tell(mode, outcome, trials, arguments)
        if time.monotonic() - told > _PROGRESS:
            told = time.monotonic()
            speed = n / (told - started)
            print(f"{n:,} inputs, {speed:.0f} a second, {tally.count(failed=True)} failed", file=sys.stderr, flush=True)
    seconds = time.monotonic() - started
    print(tally.table(arguments.what))
    for name, outcome in (("slowest", tally.slowest), ("largest", tally.largest)):
        if outcome is not None:
            took = f"{outcome.seconds:.2f} s of processor time, {outcome.grown / 2**20:.0f} MiB of memory"
            print(f"{name} accepted: input {outcome.number} ({outcome.group}): {took}")
    for outcomes in tally.failures.values():
        print(f"{len(outcomes):>7,} x {_described(outcomes[0])}")
    failed = tally.count(failed=True)
    print(f"{mode}, seed {arguments.seed}: {len(numbers):,} inputs in {seconds:.0f} s, {failed:,} failed")
    return failed + refused


def unchanged(trials: Trials) -> int:
    """Try the good inputs in this process; tell those that fail and return their number."""
    refused = 0
    for given in trials.good():
        with tempfile.TemporaryDirectory() as folder:
            try:
                trials.attempt(given, Path(folder))
            except Exception as error:
                refused += 1
                print(f"FAILED as it is: {given.group}: {type(error).__name__}: {error}")
    return refused


def _described(outcome: Outcome) -> str:
    place = f" at {outcome.place}" if outcome.place else ""
    return f"{outcome.group}: {outcome.kind}: {outcome.text}{place} (input {outcome.number})"


def _tell(mode: str, outcome: Outcome, trials: Trials, arguments: argparse.Namespace) -> None:
    """Print a failure when it is first seen, with what repeats it, and keep its input."""
    print(f"FAILED {_described(outcome)}")
    only = f" --only '{arguments.only}'" if arguments.only else ""
    print(f"  repeat: python -m fuzz {mode} --seed {arguments.seed}{only} --first {outcome.number} --inputs 1")
    if arguments.keep is not None:
        place = arguments.keep / f"{mode}-{arguments.seed}-{outcome.number}"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        trials.make(outcome.number).keep(place)
        print(f"  kept:   {place}")
    sys.stdout.flush()
