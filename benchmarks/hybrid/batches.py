"""The hybrid beside gensim's HdpModel: size of a minibatch, and truncation (Burkhardt and Kramer 2017, Figs. 1 and 2).

Both have alpha = gamma = 1, the same eta, the same minibatches and the same step sizes (t + 1) ** -0.6; the hybrid
samples 5 + 5 sweeps a document. It starts from tokens in topics at random, as the paper does, or from topics that are
found in the first minibatch ("found start", its default). Each run is scored after some updates, and ends at the last
of them or when its processor seconds are spent; scoring is not counted. Both scores use one fixed point for the weights
of documents (`fold_in.py`): the paper's per-word log-likelihood (Eq. 26), whose weights are estimated on the words that
are scored, and document completion.

Batch sizes are compared at 100 topics, truncations at 100 documents. A list without values skips its half:
`--topics` alone measures batch sizes only.
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
from benchmarks.harness.matched import Hybrid
from benchmarks.harness.peers import ALPHA, GensimHDP, gensim_hdp
from benchmarks.harness.records import Record, Records
from benchmarks.harness.tables import table
from benchmarks.harness.units import System
from stickbreak.corpus import Corpus, planted_lda

SYSTEMS: dict[str, Callable[[Corpus, Record], System]] = {
    "stickbreak": Hybrid,
    "stickbreak, found start": partial(Hybrid, init="lda"),
    "gensim": GensimHDP,
}
LINES = dict(zip(SYSTEMS, ("-", "--", ":"), strict=True))
# Of the comparison that changes the other.
TOPICS, BATCH_SIZE = 100, 100
HELPERS = (fold_in, matched, peers, units)


def compile_kernels(system: str) -> None:
    """Take two steps on a tiny collection: compilation is not on the clock."""
    tiny, _ = planted_lda(20, 30, n_topics=3, seed=0)
    steps = SYSTEMS[system](tiny, {"K": 3, "batch": 10, "eta": 0.1, "seed": 0}).work()
    next(steps), next(steps)


def measure(key: Record) -> Record:
    """Run one system; return its scores at each look, and in which time it got there."""
    split = load_split(key["corpus"])
    judge = FoldIn(split, ALPHA)
    compile_kernels(key["system"])
    found: Record = {name: [] for name in ("updates", "seconds", "log-likelihood", "completion", "topics")}
    spent = 0.0
    with threadpool_limits(1, user_api="blas"):
        system = SYSTEMS[key["system"]](split.train, key)
        for update, seconds in enumerate(system.work(), start=1):
            spent += seconds
            ended = update == key["looks"][-1] or spent >= key["limit"]
            if ended or update in key["looks"]:
                topics = system.answer()
                found["updates"].append(update)
                found["seconds"].append(spent)
                per_word, n_topics = judge.per_word(*topics)
                found["log-likelihood"].append(per_word)
                found["completion"].append(judge.completion(*topics))
                found["topics"].append(n_topics)
            if ended:
                break
    return {**found, "passes": system.passes}


def row(record: Record) -> Record:
    """Return a row of the table: the last scores, and completion at the looks before."""
    out: Record = {
        "corpus": record["corpus"],
        "documents of a minibatch": record["batch"],
        "topics at most": record["K"],
        "system": record["system"],
        "seed": record["seed"],
        "updates": record["updates"][-1],
        "passes": f"{record['passes']:.1f}",
        "processor seconds": f"{record['seconds'][-1]:.1f}",
        "topics (99 % of tokens)": record["topics"][-1],
        "per-word log-likelihood": f"{record['log-likelihood'][-1]:.4f}",
        "completion": f"{record['completion'][-1]:.4f}",
    }
    for look in record["looks"][:-1]:
        there = dict(zip(record["updates"], record["completion"], strict=True)).get(look)
        out[f"after {look}"] = "" if there is None else f"{there:.4f}"
    return out


def finish(figure, plt, marks: list, n_columns: int, path: Path) -> None:
    """Add the legend, and write the file."""
    lines = [plt.Line2D([], [], color="black", linestyle=line, label=name) for name, line in LINES.items()]
    figure.legend(handles=[*marks, *lines], loc="outside lower center", ncols=n_columns, frameon=False, fontsize=8)
    figure.savefig(path, dpi=80)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--splits", nargs="+", default=["kos", "nips", "20news", "reuters21578"])
    parser.add_argument("--systems", nargs="+", choices=tuple(SYSTEMS), default=list(SYSTEMS))
    parser.add_argument("--batch-sizes", nargs="*", type=int, default=[10, 100, 1000])
    parser.add_argument("--topics", nargs="*", type=int, default=[50, 100, 200, 500, 1000])
    parser.add_argument("--eta", type=float, default=0.01)
    parser.add_argument("--looks", nargs="+", type=int, default=[10, 30, 100, 300, 1000], help="updates, the last: all")
    parser.add_argument("--seconds", type=float, default=120.0, help="most processor seconds of a run")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1, help="runs at a time; seconds are right with 1 only")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/hybrid_batches.jsonl"), help="runs done")


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    if "gensim" in options.systems:
        # That it is missing is better said at once.
        gensim_hdp()
    batches = [(TOPICS, size) for size in options.batch_sizes]
    truncations = [(n_topics, BATCH_SIZE) for n_topics in options.topics]
    rest = {"eta": options.eta, "looks": sorted(set(options.looks)), "limit": options.seconds}
    keys = [
        {"corpus": name, "K": n_topics, "batch": size, "system": system, "seed": seed, **rest}
        for name in options.splits
        for n_topics, size in dict.fromkeys(batches + truncations)
        for system in options.systems
        for seed in range(options.seeds)
    ]
    records = Records(options.out).run(measure, keys, options.processes, helpers=HELPERS)
    shown = {
        f"Size of a minibatch, {TOPICS} topics at most": [r for r in records if (r["K"], r["batch"]) in batches],
        f"Truncation, {BATCH_SIZE} documents of a minibatch": [
            r for r in records if (r["K"], r["batch"]) in truncations
        ],
    }
    return "\n\n".join(f"{title}:\n\n{table([row(r) for r in chosen])}" for title, chosen in shown.items() if chosen)
