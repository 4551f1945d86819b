"""Each start on each split: objective, number of topics, held-out completion, seconds."""

from __future__ import annotations

import argparse
import sys

import numpy as np

from benchmarks.harness.corpora import SPLITS, load_split
from benchmarks.harness.fits import fit_row
from benchmarks.harness.tables import table
from stickbreak import VariationalHDP


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--splits", nargs="+", default=list(SPLITS))
    parser.add_argument("--starts", nargs="+", default=["lda", "near-uniform", "documents", "anchors"])
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--laps", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--no-moves", action="store_true")


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    moves = ("reorder",) if options.no_moves else ("merge", "delete", "refine", "reorder")  # births forget the start
    rows = []
    for name in options.splits:
        split = load_split(name)
        for start in options.starts:
            for seed in range(options.seeds):
                model = VariationalHDP(
                    n_topics=options.topics,
                    learn=(),
                    init=start,
                    n_laps=options.laps,
                    moves=moves,
                    random_state=seed,
                    n_jobs=options.jobs,
                )
                row = {"corpus": name, "start": start, "seed": seed, **fit_row(model, split)}
                rows.append({**row, "merges": int(np.sum(model.trace_.get("merge_accepted", 0)))})
                sys.stderr.write(f"{rows[-1]}\n")
    return table(rows)
