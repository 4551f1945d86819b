"""What a pass over the documents costs each system, against topics, words, documents and threads; on planted topics.

One of the four is varied at a time. The first unit of work, with the start in it, is not counted, and each point is
measured in a process of its own.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.harness import systems
from benchmarks.side_by_side import points, report
from benchmarks.side_by_side.run import complete, make, which_systems


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    which_systems(parser)
    for axis, values in points.VARIED.items():
        flag = "--topics" if axis == "K" else f"--{axis}"
        parser.add_argument(
            flag, dest=axis, nargs="*", type=int, default=list(values), help="no value: this axis is left out"
        )
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=30.0, help="of a point, at most (two units of work at least)")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/cost.jsonl"), help="runs done, kept")


def run(options: argparse.Namespace) -> str:
    """Measure what a pass costs; return a table for each axis."""
    chosen = systems.installed([systems.parse(text) for text in options.systems])
    varied = {axis: tuple(getattr(options, axis)) for axis in points.VARIED}
    keys = points.keys(chosen, varied, options.repeats, options.seconds)
    found = make(points.measure, keys, options.out)
    return complete(report.costs(found), found, keys)
