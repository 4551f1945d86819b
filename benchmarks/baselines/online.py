"""Held-out completion against processor seconds: the online methods of 2011 and 2012, gensim, and the later families.

All have alpha = gamma = 1 and the same eta, the same minibatches and steps (t + 1) ** -0.6, and at most the same number
of topics; the weights of the held-out documents come from one fixed point for all (`fold_in.py`), so only topics and
their weights differ. Scoring is not counted. All start from random topics, but for the curves with "found start":
topics that 50 sweeps of LDA by Gibbs sampling find in the first minibatch, on the clock. The split-merge method starts
with one topic.

Curves of "even" start the tables of a document as the published code does, and gensim does.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks.harness import fold_in, matched, peers, units
from benchmarks.harness.corpora import load_split
from benchmarks.harness.fold_in import FoldIn
from benchmarks.harness.matched import Hybrid, Online, SplitMerge, Stochastic
from benchmarks.harness.peers import ALPHA, GensimHDP, gensim_hdp
from benchmarks.harness.records import Record, Records
from benchmarks.harness.tables import table
from benchmarks.harness.units import System
from stickbreak.corpus import Corpus, planted_lda

CURVES: dict[str, Callable[[Corpus, Record], System]] = {
    "gensim": GensimHDP,
    "OnlineHDP, even": partial(Online, table_start="even"),
    "OnlineHDP": Online,
    "OnlineHDP, found start": partial(Online, init="lda"),
    "SplitMergeOnlineHDP": SplitMerge,
    "SplitMergeOnlineHDP, no merges": partial(SplitMerge, merge_trials=0),
    "VariationalHDP, stochastic": Stochastic,
    "HybridHDP": Hybrid,
    "HybridHDP, found start": partial(Hybrid, init="lda"),
}
HELPERS = (fold_in, matched, peers, units)


def compile_kernels(curve: str) -> None:
    """Take some steps on a tiny collection: compilation is not on the clock."""
    tiny, _ = planted_lda(20, 30, n_topics=3, seed=0)
    work = CURVES[curve](tiny, {"K": 3, "batch": 10, "eta": 0.1, "seed": 0}).work()
    for _ in range(3):
        next(work)


def measure(key: Record) -> Record:
    """Run one curve until its time is spent; return its scores at the looks."""
    split = load_split(key["corpus"])
    judge = FoldIn(split, ALPHA)
    compile_kernels(key["curve"])
    found: Record = {name: [] for name in ("seconds", "passes", "completion", "topics")}
    spent, looks = 0.0, list(key["looks"])
    with threadpool_limits(1, user_api="blas"):
        system = CURVES[key["curve"]](split.train, key)
        for seconds in system.work():
            spent += seconds
            if spent >= looks[0]:
                topics = system.answer()
                looks = [look for look in looks if look > spent]
                found["seconds"].append(spent)
                found["passes"].append(system.passes)
                found["completion"].append(judge.completion(*topics))
                found["topics"].append(judge.per_word(*topics)[1])
            if not looks:
                return found
    return found


def row(record: Record) -> Record:
    """Return a row of the table."""
    out: Record = {"corpus": record["corpus"], "system": record["curve"], "seed": record["seed"]}
    out["seconds of a pass"] = f"{record['seconds'][-1] / record['passes'][-1]:.2f}"
    for look in record["looks"]:
        there = next((i for i, second in enumerate(record["seconds"]) if second >= look), None)
        out[f"completion after {look:g} s"] = "" if there is None else f"{record['completion'][there]:.4f}"
    out["passes"] = f"{record['passes'][-1]:.1f}"
    out["topics (99 % of tokens)"] = record["topics"][-1]
    return out


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--splits", nargs="+", default=["kos", "reuters21578"])
    parser.add_argument("--curves", nargs="+", choices=tuple(CURVES), default=list(CURVES))
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--eta", type=float, default=0.01)
    parser.add_argument("--looks", nargs="+", type=float, default=[2, 5, 20], help="processor seconds, the last: all")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/online.jsonl"), help="runs done")


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    if "gensim" in options.curves:
        # That it is missing is better said at once.
        gensim_hdp()
    rest = {"K": options.topics, "batch": options.batch_size, "eta": options.eta, "looks": sorted(set(options.looks))}
    keys = [
        {"corpus": name, "curve": curve, "seed": seed, **rest}
        for name in options.splits
        for curve in options.curves
        for seed in range(options.seeds)
    ]
    return table([row(record) for record in Records(options.out).run(measure, keys, 1, helpers=HELPERS)])
