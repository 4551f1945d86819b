"""Our families and their peers side by side, each run in a process of its own; results as JSON lines.

    python -m benchmarks run --corpora kos planted:2000:3000:30:100 reviews.jsonl --topics 100 200 --seconds 40
    python -m benchmarks run --corpora kos --systems collapsed "collapsed:eta=0.1:learn=('alpha','eta')" tomotopy-lda
    python -m benchmarks cost --systems collapsed tomotopy-lda
    python -m benchmarks report benchmarks/results/runs.jsonl benchmarks/results/cost.jsonl --docs docs

A run that was made before by the same sources is not made again, so what was cut goes on where it stopped. Systems take
turns: all of them once, then the next seed or repeat.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import contenders
from harness import cost, machine, measure, ours, peers, report, scores, sources, systems
from records import Record, Records

RESULTS = Path("benchmarks/results")
MODULES = (contenders, cost, machine, measure, ours, peers, scores, sources, systems)
QUICK_TOPICS, QUICK_SECONDS = 50, 3.0


def run_keys(options: argparse.Namespace) -> list[Record]:
    """Return the keys of runs in the order in which they are made: systems in turn."""
    chosen = systems.installed([systems.parse(text) for text in options.systems])
    return [
        {"kind": "run", "corpus": corpus, "fingerprint": fingerprint, **system, "K": n_topics, "seed": seed}
        | {"repeat": repeat, "limit": options.seconds}
        for corpus, fingerprint in [(name, sources.fingerprint(name)) for name in sources.names(options.corpora)]
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
            found += store.run(measurement, [key], helpers=MODULES)
        except Exception as error:  # of a peer's own kind, from another process
            sys.stderr.write(f"{key} failed: {type(error).__name__}: {error}\n")
    return found


def run(options: argparse.Namespace) -> int:
    """Run systems on corpora; print tables."""
    keys = run_keys(options)
    found = make(measure.measure, keys, options.out)
    if found:
        print(report.quality(found))
    return int(len(found) < len(keys))


def quick(options: argparse.Namespace) -> int:
    """Run all systems for some seconds on planted topics and on the smallest split that is there."""
    options.corpora = ["planted", *list(sources.splits())[:1]]
    options.topics, options.seconds, options.seeds, options.repeats = [QUICK_TOPICS], QUICK_SECONDS, [0], 1
    return run(options)


def measure_cost(options: argparse.Namespace) -> int:
    """Measure what a pass costs; print tables."""
    chosen = systems.installed([systems.parse(text) for text in options.systems])
    varied = {axis: tuple(getattr(options, axis)) for axis in cost.VARIED}
    keys = cost.keys(chosen, varied, options.repeats, options.seconds)
    found = make(cost.measure, keys, options.out)
    print(report.costs(found))
    return int(len(found) < len(keys))


def write_report(options: argparse.Namespace) -> int:
    """Write tables and plots into the documentation."""
    report.write(options.results, options.docs)
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    whole = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = whole.add_subparsers(required=True, metavar="COMMAND")
    common = argparse.ArgumentParser(add_help=False)
    help_of_systems = f"NAME or NAME:SETTING=VALUE:...; names: {', '.join(systems.SYSTEMS)}"
    common.add_argument("--systems", nargs="+", default=list(systems.SYSTEMS), help=help_of_systems)

    one = commands.add_parser(
        "run", parents=[common], help="learn, and score held-out documents", epilog=sources.__doc__
    )
    one.add_argument(
        "--corpora", nargs="+", default=["planted", "present"], help="names; present: all splits there are"
    )
    one.add_argument("--topics", nargs="+", type=int, default=[100, 200], help="K at the start")
    one.add_argument("--seconds", type=float, default=40.0, help="processor seconds of a run, at most")
    one.add_argument("--seeds", nargs="+", type=int, default=[0])
    one.add_argument("--repeats", type=int, default=1, help="runs of each seed, for the spread of times")
    one.add_argument("--out", type=Path, default=RESULTS / "runs.jsonl")
    one.set_defaults(command=run)

    two = commands.add_parser("quick", parents=[common], help="a couple of minutes: planted topics, the smallest split")
    two.add_argument("--out", type=Path, default=RESULTS / "quick.jsonl")
    two.set_defaults(command=quick)

    three = commands.add_parser("cost", parents=[common], help="seconds of a pass", epilog=cost.__doc__)
    for axis, values in cost.VARIED.items():
        flag = "--topics" if axis == "K" else f"--{axis}"
        three.add_argument(
            flag, dest=axis, nargs="*", type=int, default=list(values), help="none: this axis is left out"
        )
    three.add_argument("--repeats", type=int, default=1)
    three.add_argument("--seconds", type=float, default=30.0, help="of a point, at most (two units of work at least)")
    three.add_argument("--out", type=Path, default=RESULTS / "cost.jsonl")
    three.set_defaults(command=measure_cost)

    four = commands.add_parser("report", help="write tables and plots into the documentation")
    four.add_argument("results", nargs="+", type=Path, help="files of runs and costs")
    four.add_argument("--docs", type=Path, default=Path("docs"))
    four.set_defaults(command=write_report)
    return whole


if __name__ == "__main__":
    options = parser().parse_args()
    sys.exit(options.command(options))
