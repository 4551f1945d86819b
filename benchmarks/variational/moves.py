"""What each move, restart, schedule and start contributes on each corpus (Hughes, Kim and Sudderth 2015, Fig. 6).

The first configurations add one thing after the other to a fit from the start by LDA; the last ones make all moves
from the other starts. The results of single runs are kept as JSON lines, so that a benchmark that was cut goes on where
it stopped; results of other sources of stickbreak are not taken for those of these.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.harness.corpora import SPLITS, load_split
from benchmarks.harness.fits import after_each_lap, largest_fall, move_counts, topics_holding
from benchmarks.harness.records import Record, Records
from benchmarks.harness.tables import table
from stickbreak import VariationalHDP

ALL = ["merge", "delete", "refine", "reorder"]
STREAM: Record = {"schedule": "stochastic", "moves": ["reorder"], "n_batches": 20}
# Name: label, parameters.
RUNS: dict[str, tuple[str, Record]] = {
    "fixed": ("fixed K", {"moves": ["reorder"], "restarts": 0}),
    "merges": ("merges", {"moves": ["merge", "reorder"], "restarts": 0}),
    "deletes": ("merges, deletes", {"moves": ["merge", "delete", "reorder"], "restarts": 0}),
    "restarts": ("merges, deletes, restarts", {"moves": ["merge", "delete", "reorder"]}),
    "refine": ("merges, deletes, restarts, refinement", {"moves": ALL}),
    "larger": ("the same, larger deletes", {"moves": ALL, "delete_documents": None}),
    "births": ("the same and births, from K = 10", {"moves": ["birth", *ALL], "n_topics": 10}),
    "documents": ("random documents, all moves", {"moves": ALL, "init": "documents"}),
    "anchors": ("anchor words, all moves", {"moves": ALL, "init": "anchors"}),
    "near-uniform": ("near-uniform, all moves", {"moves": ALL, "init": "near-uniform"}),
    "stochastic": ("stochastic, steps of the paper", STREAM),
    "stochastic-small": (
        "stochastic, smaller steps",
        {**STREAM, "learning_offset": 100.0, "learning_decay": 0.7},
    ),
}
COUNTED = ("merge", "delete", "refine", "birth")


def measure(key: Record) -> Record:
    """Fit one corpus; return what came of it."""
    split = load_split(key["corpus"])
    model = VariationalHDP(learn=(), **key["parameters"], n_jobs=key["threads"])
    trajectory: list[list[float]] = []
    if key["trajectory"]:
        for fitted in after_each_lap(model, split.train):
            trajectory.append([fitted.n_topics_, split.completion(fitted, "mean_field").active])
    else:
        model.fit(split.train)
    return {
        "objective": model.objective_,
        "K": model.n_topics_,
        "K, 99 %": topics_holding(model, split.train, 0.99),
        "held-out, mean field": split.completion(model, "mean_field").active,
        "held-out, collapsed": split.completion(model, "collapsed").active,
        "start s": model.start_seconds_,
        "s": model.start_seconds_ + float(model.trace_["seconds"].sum()),
        "laps": model.n_laps_,
        "converged": model.converged_,
        "accepted, tried": move_counts(model.trace_),
        "fell": "" if model.schedule == "stochastic" else largest_fall(model.trace_),
        "K by lap": model.trace_["n_topics"].tolist(),
        "objective by lap": model.trace_["objective"].tolist(),
        "seconds by lap": model.trace_["seconds"].tolist(),
        "K and held-out by lap": trajectory,
    }


def row(record: Record) -> Record:
    """Return a row of the table."""
    counts = record["accepted, tried"]
    accepted, tried = counts["restarts"]
    return {
        "corpus": record["corpus"],
        "K at the start": record["parameters"]["n_topics"],
        "run": RUNS[record["run"]][0],
        "objective": f"{record['objective']:.4f}",
        "K": record["K"],
        "K, 99 % of tokens": record["K, 99 %"],
        "held-out, mean field": f"{record['held-out, mean field']:.4f}",
        "held-out, collapsed weights": f"{record['held-out, collapsed']:.4f}",
        "start, s": f"{record['start s']:.1f}",
        "s in all": f"{record['s']:.1f}",
        "passes": record["laps"],
        **{f"{name}s": "/".join(map(str, counts[name])) if name in counts else "" for name in COUNTED},
        "restarts": f"{accepted / tried:.1%} of {tried}" if tried else "",
        "fell": record["fell"],
    }


def keys(options: argparse.Namespace) -> list[Record]:
    """Return the runs that were asked for; one whose number of topics is its own is there once."""
    found: list[Record] = []
    for corpus in options.splits:
        for n_topics in options.topics:
            for name in options.runs:
                for seed in range(options.seeds):
                    shared = {"n_topics": n_topics, "n_laps": options.laps, "n_batches": options.batches}
                    parameters = {**shared, "random_state": seed, **RUNS[name][1]}
                    key = {
                        "corpus": corpus,
                        "run": name,
                        "parameters": parameters,
                        "threads": options.jobs,
                        "trajectory": options.trajectories,
                    }
                    if key not in found:
                        found.append(key)
    return found


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--splits", nargs="+", default=list(SPLITS))
    parser.add_argument("--topics", nargs="+", type=int, default=[100, 200])
    parser.add_argument(
        "--runs", nargs="+", choices=list(RUNS), default=list(RUNS), metavar="RUN", help=", ".join(RUNS)
    )
    parser.add_argument("--laps", type=int, default=50)
    parser.add_argument("--batches", type=int, help="batches of a lap, as n_batches; stochastic runs have 20")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="threads of a fit")
    parser.add_argument("--processes", type=int, default=1, help="fits at a time; seconds are right with 1 only")
    parser.add_argument("--trajectories", action="store_true", help="score after each lap, for the plot")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/moves.jsonl"), help="runs done, kept here")


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    records = Records(options.out).run(measure, keys(options), options.processes)
    return table([row(record) for record in records])
