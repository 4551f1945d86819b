"""Held-out completion against processor seconds: collapsed inference beside its peers, one thread, each by its rules.

Each system has its own concentrations, learned where it can learn them; the weights of the held-out documents come from
one fixed point for all (zero-order collapsed inference) with these concentrations. Words that never occur in training
are left out everywhere. Scoring is not counted, nor reading the documents into the form that a system takes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks.collapsed.fits import LAPS, THEN, splits_and_topics
from benchmarks.harness import fold_in, ours, peers, scores, systems, units
from benchmarks.harness.corpora import load_split
from benchmarks.harness.records import Record, Records
from benchmarks.harness.scores import completion, topics_in_use
from benchmarks.harness.tables import table

SYSTEMS = {
    "collapsed": {"system": "collapsed", "settings": THEN},
    "collapsed, no merges": {"system": "collapsed", "settings": {**THEN, "merge_laps": 0}},
    "tomotopy LDA": systems.parse("tomotopy-lda"),
    "tomotopy HDP": systems.parse("tomotopy-hdp"),
    "scikit-learn LDA": systems.parse("sklearn-online"),
    "variational": systems.parse(f"variational:n_laps={LAPS}:learn=()"),
}


def measure(key: Record) -> Record:
    """Run one system to its end or until its time is spent; return its scores, and when it had them."""
    chosen = {**key, **SYSTEMS[key["system"]]}
    systems.warm_up(chosen)
    split = load_split(key["corpus"])
    found: Record = {"seconds": [], "completion": []}
    with threadpool_limits(1, user_api="blas"):
        system, spent = systems.make(split.train, chosen), 0.0
        for seconds in system.work():
            spent += seconds
            answer = system.answer()
            found["seconds"].append(spent)
            found["completion"].append(completion(split, *answer))
            if spent >= key["limit"]:
                break
    return {**found, "K at the end": len(answer[1]), "topics": int(topics_in_use(split, *answer).size)}


def reached(record: Record, score: float) -> str:
    """Return the processor seconds after which a system was at least that good."""
    return next((f"{s:.1f}" for s, c in zip(record["seconds"], record["completion"], strict=True) if c >= score), "")


def rows_of(records: list[Record]) -> list[dict[str, object]]:
    """Return the rows of the table; peers are compared with the last score of tomotopy's LDA of the same K."""
    goals = {(r["corpus"], r["K"]): r["completion"][-1] for r in records if r["system"] == "tomotopy LDA"}
    rows = []
    for record in records:
        goal = goals.get((record["corpus"], record["K"]))
        rows.append(
            {
                "corpus": record["corpus"],
                "K at the start": record["K"],
                "system": record["system"],
                "completion": f"{record['completion'][-1]:.4f}",
                "best": f"{max(record['completion']):.4f}",
                "K": record["K at the end"],
                "topics (99 % of tokens)": record["topics"],
                "processor seconds": f"{record['seconds'][-1]:.1f}",
                "as good as LDA at its end after": "" if goal is None else reached(record, goal),
            }
        )
    return rows


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    splits_and_topics(parser, splits=["kos", "nips", "20news", "ap", "reuters21578"], topics=[100, 200, 400])
    parser.add_argument("--systems", nargs="+", choices=tuple(SYSTEMS), default=list(SYSTEMS))
    parser.add_argument("--seconds", type=float, default=60.0, help="processor seconds of a sampler, at most")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/collapsed.jsonl"), help="runs done, kept")


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    keys = [
        {"corpus": name, "K": n_topics, "system": system, "seed": seed, "limit": options.seconds}
        for name in options.splits
        for n_topics in options.topics
        for system in options.systems
        for seed in range(options.seeds)
    ]
    helpers = fold_in, units, ours, peers, scores, systems
    return table(rows_of(Records(options.out).run(measure, keys, helpers=helpers)))
