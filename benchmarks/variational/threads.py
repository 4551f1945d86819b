"""Two threads beside one: the same fit with each, in turn, the order changing from pair to pair.

The ratios are medians of those of the pairs.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.harness.corpora import load_split
from benchmarks.harness.tables import table
from benchmarks.variational.speed import compile_kernels, of_a_lap, our_laps


def two_threads(split, n_topics: int, options: argparse.Namespace) -> dict[str, object]:
    """Return the row of a corpus and a number of topics: two threads beside one."""
    starts: dict[int, list[float]] = {1: [], 2: []}
    firsts: dict[int, list[float]] = {1: [], 2: []}
    laters: dict[int, list[float]] = {1: [], 2: []}
    for pair in range(options.repeats):
        for jobs in (1, 2) if pair % 2 == 0 else (2, 1):
            seconds, start = our_laps(split, n_topics, options, jobs=jobs)
            starts[jobs].append(start)
            firsts[jobs].append(seconds[0])
            laters[jobs].append(float(np.median(seconds[1:])))
    row: dict[str, object] = {"corpus": split.name, "K": n_topics}
    for name, taken in (("start", starts), ("first pass", firsts), ("later passes", laters)):
        one, two = (np.array(taken[jobs]) for jobs in (1, 2))
        row |= {
            f"{name}, one thread, s": f"{np.median(one):.3f}",
            f"{name}, two, s": f"{np.median(two):.3f}",
            f"{name}, ratio": f"{np.median(one / two):.2f}",
        }
    return row


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    of_a_lap(parser)


@threadpool_limits.wrap(limits=1, user_api="blas")
def run(options: argparse.Namespace) -> str:
    """Return the table."""
    rows = []
    for name in options.splits:
        split = load_split(name)
        compile_kernels(split, options, jobs=2)
        for n_topics in options.topics:
            rows.append(two_threads(split, n_topics, options))
            sys.stderr.write(f"{rows[-1]}\n")
    return table(rows)
