"""Toy bars (Hughes, Kim and Sudderth 2015, section 6.1 and Fig. 5): are the ten topics found, and in which lap?

1000 documents of 200 tokens over 900 words, from ten bars, for each seed; 100 more documents, cut in halves, are held
out. A run is right if it ends with exactly ten topics and each bar is matched: topics and bars are paired one to one
with the least sum of distances, and all ten pairs are less than 0.3 apart (L1 distance of word distributions, 0 to 2).
The objective is compared with those of two fits that start from the true bars: one without moves and restarts, which
runs until a lap raises it by less than 1e-7 nats per token, and one with the moves of the run.
"""

from __future__ import annotations

import argparse
import sys
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from benchmarks.harness.fits import after_each_lap, largest_fall, move_counts
from benchmarks.harness.records import Record, Records
from benchmarks.harness.tables import table
from stickbreak import VariationalHDP
from stickbreak.corpus import toy_bars
from stickbreak.evaluation import document_completion

N_BARS = 10
# L1 distance of a topic from its bar.
MATCHED = 0.3
# The held-out documents of seed s are those of seed s + this.
HELD_OUT_SEEDS = 10_000
# Nats per token: fits stop when a lap raises the objective by less.
EQUAL = 1e-5
FIXED: tuple[str, ...] = ("reorder",)
REMOVING = ("merge", "delete", "reorder")
MENDING = ("merge", "delete", "refine", "reorder")
GROWING = ("merge", "delete", "birth", "refine", "reorder")


class Run(NamedTuple):
    """How a fit starts, and its moves."""

    start: str
    n_topics: int
    moves: tuple[str, ...]

    @property
    def name(self) -> str:
        """Name on the command line."""
        return f"{self.start}/{self.n_topics}/{'+'.join(self.moves[:-1]) or 'fixed'}"


RUNS = [
    *(Run(start, K, moves) for start in ("documents", "lda") for moves in (REMOVING, MENDING) for K in (50, 100)),
    *(Run("near-uniform", K, MENDING) for K in (50, 100)),
    *(Run(start, 3, GROWING) for start in ("documents", "lda")),
    *(Run(start, K, FIXED) for start in ("documents", "lda", "near-uniform") for K in (50, 100)),
]


def n_matched(topic_word: np.ndarray, bars: np.ndarray) -> int:
    """Return how many bars have a topic of their own less than MATCHED away."""
    distance = np.abs(bars[:, None] - topic_word[None]).sum(axis=2)
    return int((distance[linear_sum_assignment(distance)] < MATCHED).sum())


def lap_of_ten(n_topics: list[int]) -> int | None:
    """Return the lap from which on there are ten topics; None if there are not at the end."""
    other = np.flatnonzero(np.array(n_topics) != N_BARS)
    first = int(other[-1]) + 2 if other.size else 1
    return first if first <= len(n_topics) else None


def held_out(model: VariationalHDP, seed: int) -> float:
    """Return the completion of 100 new documents, in nats per token."""
    observed, rest = toy_bars(100, seed=HELD_OUT_SEEDS + seed)[0].halves(seed=seed)
    return document_completion(model, observed, rest).active


@cache
def from_the_bars(seed: int, batches: int, **others: Any) -> tuple[float, float]:
    """Return the objective and the held-out completion of a fit that starts from the true bars."""
    corpus, truth = toy_bars(seed=seed)
    model = VariationalHDP(learn=(), init=truth.topic_word, n_batches=batches, random_state=seed, **others).fit(corpus)
    return model.objective_, held_out(model, seed)


def measure(key: Record) -> Record:
    """Fit one collection; return what came of it, lap by lap."""
    seed, batches = key["seed"], key["batches"]
    corpus, truth = toy_bars(seed=seed)
    model = VariationalHDP(
        n_topics=key["n_topics"],
        learn=(),
        init=key["start"],
        moves=key["moves"],
        n_batches=batches,
        n_laps=key["laps at most"],
        random_state=seed,
    )
    scores = [held_out(fitted, seed) for fitted in after_each_lap(model, corpus)]
    plain, score = from_the_bars(seed, batches, moves=FIXED, restarts=0, n_laps=300, tolerance=1e-7)
    alike, _ = from_the_bars(seed, batches, moves=tuple(key["moves"]), n_laps=key["laps at most"])
    K = model.trace_["n_topics"].tolist()
    matched = n_matched(model.topic_word_, truth.topic_word)
    return {
        "right": K[-1] == N_BARS and matched == N_BARS,
        "matched": matched,
        "K": K[-1],
        "ten from lap": lap_of_ten(K),
        "laps": model.n_laps_,
        "objective": model.objective_,
        "objective from the bars": plain,
        "objective from the bars, same moves": alike,
        "held-out": scores[-1],
        "held-out from the bars": score,
        "fell": largest_fall(model.trace_),
        "seconds": model.start_seconds_ + float(model.trace_["seconds"].sum()),
        "accepted, tried": move_counts(model.trace_),
        "K by lap": K,
        "held-out by lap": scores,
    }


def summary(run: Run, records: list[Record]) -> Record:
    """Return the row of a run in the table."""
    gains = gains_over(records, "objective from the bars")
    alike = gains_over(records, "objective from the bars, same moves")
    laps = [r["ten from lap"] for r in records if r["ten from lap"]]
    falls = sorted(float(r["fell"]) for r in records if r["fell"] != "never")
    accepted = {name: sum(r["accepted, tried"].get(name, [0, 0])[0] for r in records) for name in run.moves}
    n_topics = [r["K"] for r in records]
    return {
        "start": run.start,
        "K at the start": run.n_topics,
        "moves": ", ".join(run.moves[:-1]) or "none (fixed K)",
        "right": f"{sum(r['right'] for r in records)} of {len(records)}",
        "K": spread(n_topics, "d"),
        "bars matched": spread([r["matched"] for r in records], "d"),
        "ten topics from pass": f"{np.median(laps):g} ({spread(laps, 'd')})" if laps else "",
        "passes": spread([r["laps"] for r in records], "d"),
        "objective": f"{np.mean([r['objective'] for r in records]):.4f}",
        "minus that from the bars": f"{gains.min():+.5f} to {gains.max():+.5f}",
        "not below": f"{int((gains >= -EQUAL).sum())} of {len(records)}",
        "minus that from the bars, same moves": f"{alike.min():+.5f} to {alike.max():+.5f}",
        "not below it": f"{int((alike >= -EQUAL).sum())} of {len(records)}",
        "held-out": f"{np.mean([r['held-out'] for r in records]):.4f}",
        "from the bars": f"{np.mean([r['held-out from the bars'] for r in records]):.4f}",
        "accepted": ", ".join(f"{n} {name}s" for name, n in accepted.items() if name != "reorder"),
        "fell": f"{falls[0]:.1e}" if falls else "never",
        "s": f"{np.median([r['seconds'] for r in records]):.1f}",
    }


def gains_over(records: list[Record], column: str) -> np.ndarray:
    """Return by how much each objective exceeds another one."""
    return np.array([record["objective"] - record[column] for record in records])


def spread(values: list[int], form: str) -> str:
    """Return the least and the largest value, or the one value."""
    low, high = min(values), max(values)
    return f"{low:{form}}" if low == high else f"{low:{form}} to {high:{form}}"


# (start, moves): label, colour.
LINES: dict[tuple[str, tuple[str, ...]], tuple[str, str]] = {
    ("documents", FIXED): ("documents, fixed K", "#9a9a9a"),
    ("lda", FIXED): ("LDA start, fixed K", "#d9a441"),
    ("documents", REMOVING): ("documents, merges and deletes", "#e08aa0"),
    ("documents", MENDING): ("documents, merges, deletes, refinement", "#b5203f"),
    ("lda", MENDING): ("LDA start, the same", "#2f7f79"),
    ("documents", GROWING): ("documents, K = 3 and births", "#5560b5"),
}


def brief(record: Record) -> Record:
    """Return a row of one seed: the numbers, not the lists."""
    left_out = ("start", "n_topics", "code", "laps at most", "batches")
    plain = {name: value for name, value in record.items() if not isinstance(value, list | dict)}
    return {
        name: f"{value:.5f}" if isinstance(value, float) else value
        for name, value in plain.items()
        if name not in left_out
    }


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--laps", type=int, default=30)
    parser.add_argument("--batches", type=int, default=20)
    parser.add_argument(
        "--runs", nargs="+", default=[""], help="beginnings of names: " + ", ".join(r.name for r in RUNS)
    )
    parser.add_argument("--each", action="store_true", help="a row for each seed, too")
    parser.add_argument("--processes", type=int, default=1, help="seconds are right with 1 only")
    parser.add_argument(
        "--out", type=Path, default=Path("benchmarks/results/bars.jsonl"), help="runs done are kept here"
    )


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    chosen = [run for run in RUNS if any(run.name.startswith(name) for name in options.runs)]
    if not chosen:
        sys.exit(f"No run has a name that begins with {' or '.join(options.runs)}; --help lists the names.")
    keys = [
        {
            **run._asdict(),
            "moves": list(run.moves),
            "seed": seed,
            "laps at most": options.laps,
            "batches": options.batches,
        }
        for run in chosen
        for seed in range(options.seeds)
    ]
    records = Records(options.out).run(measure, keys, options.processes)
    results = [(run, records[i * options.seeds : (i + 1) * options.seeds]) for i, run in enumerate(chosen)]
    tables = [table([summary(run, done) for run, done in results])]
    if options.each:
        tables.append(table([{"run": run.name, **brief(record)} for run, done in results for record in done]))
    return "\n\n".join(tables)
