"""Does the start matter: objective, topics and seconds from each of five starts, with births and without.

All fits have the settings of the default fit but for their start, and go on until they have converged.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from benchmarks.harness.corpora import load_split
from benchmarks.harness.fits import largest_fall, move_counts
from benchmarks.harness.records import Record, Records
from benchmarks.harness.tables import table
from stickbreak import VariationalHDP

STARTS: dict[str, dict[str, Any]] = {
    "lda": {},
    "lda, one topic": {"n_topics": 1},
    "random documents": {"init": "documents"},
    "near-uniform": {"init": "near-uniform"},
    "anchors": {"init": "anchors"},
}
WITHOUT = ("merge", "delete", "refine", "reorder")


def measure(key: Record) -> Record:
    """Fit one corpus from one start; return what came of it."""
    train = load_split(key["corpus"]).train
    moves = {} if key["births"] else {"moves": WITHOUT}
    model = VariationalHDP(**STARTS[key["start"]], **moves, n_laps=key["laps at most"], random_state=key["seed"])
    begin = time.process_time()
    model.fit(train)
    seconds = time.process_time() - begin
    accepted, tried = move_counts(model.trace_).get("birth", [0, 0])
    return {
        "objective": model.objective_,
        "K": model.n_topics_,
        "s": seconds,
        "laps": model.n_laps_,
        "births accepted": f"{accepted}/{tried}",
        "fell": largest_fall(model.trace_),
    }


def row(record: Record, without: Record) -> Record:
    """Return a row of the table: a start with births, and without."""
    return {
        "corpus": record["corpus"],
        "start": record["start"],
        "objective": f"{record['objective']:.4f}",
        "K": record["K"],
        "processor s": f"{record['s']:.0f}",
        "passes": record["laps"],
        "births": record["births accepted"],
        "fell": record["fell"],
        "objective without births": f"{without['objective']:.4f}",
        "K without": without["K"],
        "s without": f"{without['s']:.0f}",
    }


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--splits", nargs="+", default=["kos"])
    parser.add_argument("--laps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1, help="fits at a time; seconds are right with 1 only")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/any-start.jsonl"), help="runs done, kept")


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    keys = [
        {"corpus": corpus, "start": start, "births": births, "seed": options.seed, "laps at most": options.laps}
        for corpus in options.splits
        for start in STARTS
        for births in (True, False)
    ]
    records = Records(options.out).run(measure, keys, options.processes)
    return table([row(*pair) for pair in zip(records[::2], records[1::2], strict=True)])
