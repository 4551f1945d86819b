"""Our families and their peers side by side, each run in a process of its own; results as JSON lines.

A run that was made before by the same sources is not made again, so what was cut goes on where it stopped. Systems take
turns: all of them once, then the next seed or repeat. A system is a name with settings of its class, if any:
`topics:eta=0.1:learn=('alpha','eta')`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.harness import corpora, fold_in, machine, ours, peers, scores, systems, units
from benchmarks.harness.pages import Incomplete
from benchmarks.harness.records import Record, Records
from benchmarks.side_by_side import measure, points, report

HELPERS = (corpora, fold_in, machine, measure, ours, peers, points, scores, systems, units)


def which_systems(parser: argparse.ArgumentParser) -> None:
    """Add the option that chooses systems."""
    help_of_systems = f"NAME or NAME:SETTING=VALUE:...; names: {', '.join(systems.SYSTEMS)}"
    parser.add_argument("--systems", nargs="+", default=list(systems.SYSTEMS), help=help_of_systems)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.epilog = corpora.__doc__
    which_systems(parser)
    parser.add_argument(
        "--corpora", nargs="+", default=["planted", "present"], help="names; present: all splits there are"
    )
    parser.add_argument("--topics", nargs="+", type=int, default=[100, 200], help="K at the start")
    parser.add_argument("--seconds", type=float, default=40.0, help="processor seconds of a run, at most")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--repeats", type=int, default=1, help="runs of each seed, for the spread of times")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/runs.jsonl"), help="runs done, kept")


def run_keys(options: argparse.Namespace) -> list[Record]:
    """Return the keys of runs in the order in which they are made: systems in turn."""
    chosen = systems.installed([systems.parse(text) for text in options.systems])
    return [
        {"kind": "run", "corpus": corpus, "fingerprint": fingerprint, **system, "K": n_topics, "seed": seed}
        | {"repeat": repeat, "limit": options.seconds}
        for corpus, fingerprint in [(name, corpora.fingerprint(name)) for name in corpora.names(options.corpora)]
        for n_topics in options.topics
        for repeat in range(options.repeats)
        for seed in options.seeds
        for system in chosen
    ]


def make(measurement: Callable[[Record], Record], keys: list[Record], path: Path) -> list[Record]:
    """Return the records of keys; one that fails is named, and the others are made all the same."""
    store, found = Records(path), []
    for key in keys:
        try:
            found += store.run(measurement, [key], helpers=HELPERS)
        # An error of a peer may be of its own kind, and comes from another process.
        except Exception as error:
            sys.stderr.write(f"{key} failed: {type(error).__name__}: {error}\n")
    return found


def complete(text: str, found: list[Record], keys: list[Record]) -> str:
    """Return the tables if all runs were made; raise Incomplete with those of the others if some failed."""
    if len(found) < len(keys):
        raise Incomplete(text)
    return text


def run(options: argparse.Namespace) -> str:
    """Run systems on corpora; return a table for each corpus."""
    keys = run_keys(options)
    found = make(measure.measure, keys, options.out)
    return complete(report.quality(found), found, keys)
