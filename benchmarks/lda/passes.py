"""What a token costs `TopicModel` of a given number of topics in a pass, beside tomotopy's LDA.

Both have alpha 5 in all, eta 0.1 and one thread, learn nothing, and take turns, pass by pass, in one process. A pass of
tomotopy is one call of `train` for one iteration. Seconds are those of the processor.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec

import numpy as np

from benchmarks.harness.corpora import load
from benchmarks.harness.peers import TomotopyLDA
from benchmarks.harness.tables import table
from benchmarks.harness.units import processor_seconds
from benchmarks.lda.course import Ours
from stickbreak.corpus import Corpus

NANO = 1e9
EARLY = slice(1, 6)  # passes, without the first, which may compile ...
LATE = slice(-10, None)  # ... and the last ones; of both the median counts, and of all the mean


def passes(corpus: Corpus, n_topics: int, n_passes: int) -> dict[str, list[float]]:
    """Return the processor seconds of each pass of both."""
    ours = Ours(corpus, {"K": n_topics, "seed": 0, "settings": {"learn": ()}}).work()
    work: dict[str, Callable[[], object]] = {}
    if find_spec("tomotopy") is not None:
        units = TomotopyLDA(corpus, {"K": n_topics, "seed": 0}, unit=1, fixed=True).work()
        work["tomotopy"] = partial(next, units)
    seconds: dict[str, list[float]] = {name: [] for name in ("LDA", *work)}
    for _ in range(n_passes):
        seconds["LDA"].append(next(ours))
        for name, unit in work.items():
            seconds[name].append(processor_seconds(unit))
    return seconds


def rows(corpora: Sequence[str], topics: Sequence[int], n_passes: int) -> list[dict[str, object]]:
    """Return the rows of the table."""
    found: list[dict[str, object]] = []
    for name in corpora:
        corpus = load(name).train
        for n_topics in topics:
            row: dict[str, object] = {"corpus": name, "K": n_topics}
            every = {who: np.array(s) / corpus.n_tokens * NANO for who, s in passes(corpus, n_topics, n_passes).items()}
            for who, nano in every.items():
                row[f"{who}, early"] = f"{np.median(nano[EARLY]):.0f}"
                row[f"{who}, late"] = f"{np.median(nano[LATE]):.0f}"
                row[f"{who}, mean"] = f"{nano[1:].mean():.0f}"
            if "tomotopy" in every:
                row["times as quick"] = f"{every['tomotopy'][1:].mean() / every['LDA'][1:].mean():.1f}"
            found.append(row)
            sys.stderr.write(f"{row}\n")
    return found


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--corpora", nargs="+", default=["kos", "reuters21578"], help="corpora")
    parser.add_argument("--topics", nargs="+", type=int, default=[50, 100, 200, 400, 1000], help="numbers of topics")
    parser.add_argument("--passes", type=int, default=60, help="passes of each")


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    return table(rows(options.corpora, options.topics, options.passes))
