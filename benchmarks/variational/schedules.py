"""The stochastic schedule beside the memoized one without merges: objective, held-out completion, seconds."""

from __future__ import annotations

import argparse
from typing import Any

from benchmarks.harness.corpora import load_split
from benchmarks.harness.tables import table
from stickbreak import VariationalHDP

RUNS: list[dict[str, Any]] = [
    {"schedule": "memoized", "n_laps": 5, "tolerance": 0.0},
    {"schedule": "memoized", "n_laps": 20, "tolerance": 0.0},
    *(
        {"schedule": "stochastic", "stick_rule": rule, "n_laps": n_laps, "learning_offset": offset}
        for offset in (1.0, 20.0, 100.0)
        for rule, n_laps in (("interpolate", 5), ("natural", 5), ("natural", 20))
    ),
    {"schedule": "stochastic", "n_laps": 5, "learning_offset": 100.0, "learning_decay": 0.7},
]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--split", default="kos")
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--batches", type=int, default=20)
    parser.add_argument("--starts", nargs="+", default=["lda", "near-uniform"])


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    split, rows = load_split(options.split), []
    for start in options.starts:
        fixed = {"n_topics": options.topics, "n_batches": options.batches, "init": start, "moves": ("reorder",)}
        for run in RUNS:
            model = VariationalHDP(learn=(), **fixed, **run, random_state=0).fit(split.train)
            stochastic = run["schedule"] == "stochastic"
            rows.append(
                {
                    "start": start,
                    "schedule": run["schedule"],
                    "sticks": run.get("stick_rule", "interpolate") if stochastic else "",
                    "offset": f"{run['learning_offset']:g}" if stochastic else "",
                    "decay": run.get("learning_decay", 0.5) if stochastic else "",
                    "passes": model.n_laps_,
                    "objective": f"{model.objective_:.4f}",
                    "held-out, mean field": f"{split.completion(model, 'mean_field').active:.4f}",
                    "held-out, collapsed weights": f"{split.completion(model, 'collapsed').active:.4f}",
                    "s/pass": f"{model.trace_['seconds'].mean():.2f}",
                }
            )
    return table(rows)
