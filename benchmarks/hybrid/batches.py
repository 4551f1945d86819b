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

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.harness import fold_in, matched, peers, units
from benchmarks.harness.corpora import load_split
from benchmarks.harness.figures import pyplot
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
SCORES = {"log-likelihood": "per-word log-likelihood", "completion": "completion"}


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


def plot(records: list[Record], path: Path) -> None:
    """Draw both scores against updates and against seconds: a column for each corpus, a colour for each batch size."""
    plt = pyplot()
    corpora = list(dict.fromkeys(record["corpus"] for record in records))
    sizes = list(dict.fromkeys(record["batch"] for record in records))
    colours = dict(zip(sizes, plt.cm.viridis(np.linspace(0.05, 0.8, len(sizes))), strict=True))
    rows = [(score, against) for score in SCORES for against in ("updates", "seconds")]
    figure, panels = plt.subplots(
        len(rows), len(corpora), figsize=(3.6 * len(corpora), 2.6 * len(rows)), layout="constrained", squeeze=False
    )
    for record in records:
        column = corpora.index(record["corpus"])
        line = LINES[record["system"]]
        for panel, (score, against) in zip(panels[:, column], rows, strict=True):
            colour = colours[record["batch"]]
            panel.plot(record[against], record[score], line, marker=".", markersize=4, color=colour, linewidth=1.3)
            panel.set(xscale="log", xlabel="updates" if against == "updates" else "processor seconds")
            panel.xaxis.set_major_formatter("{x:g}")
            panel.xaxis.set_minor_formatter("")
            panel.spines[["top", "right"]].set_visible(False)
            if against == "updates":
                panel.set_xticks(record["looks"])
                panel.set_xticks([], minor=True)
    for i, name in enumerate(corpora):
        panels[0, i].set_title(name, fontsize=9)
    for panel, (score, _) in zip(panels[:, 0], rows, strict=True):
        panel.set_ylabel(f"{SCORES[score]}\n(nats per token)", fontsize=8)
    marks = [plt.Line2D([], [], color=colours[size], label=f"{size} documents") for size in sizes]
    finish(figure, plt, marks, 2 * len(corpora), path)


def plot_topics(records: list[Record], path: Path) -> None:
    """Draw both scores at the end against the truncation: a column for each corpus."""
    plt = pyplot()
    corpora = list(dict.fromkeys(record["corpus"] for record in records))
    figure, panels = plt.subplots(
        len(SCORES), len(corpora), figsize=(3.6 * len(corpora), 5.2), layout="constrained", squeeze=False
    )
    for i, name in enumerate(corpora):
        for panel, (score, label) in zip(panels[:, i], SCORES.items(), strict=True):
            for system, line in LINES.items():
                ends = [r for r in records if (r["corpus"], r["system"]) == (name, system)]
                for seed in dict.fromkeys(r["seed"] for r in ends):
                    chosen = sorted((r for r in ends if r["seed"] == seed), key=lambda r: r["K"])
                    values = [r[score][-1] for r in chosen]
                    panel.plot([r["K"] for r in chosen], values, line, marker=".", markersize=4, color="black")
            ticks = sorted({r["K"] for r in records})
            panel.set(xscale="log", xlabel="topics at most")
            panel.set_xticks(ticks, [str(tick) for tick in ticks])
            panel.set_xticks([], minor=True)
            panel.spines[["top", "right"]].set_visible(False)
            if i == 0:
                panel.set_ylabel(f"{label}\n(nats per token)", fontsize=8)
        panels[0, i].set_title(name, fontsize=9)
    finish(figure, plt, [], 2, path)


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
    parser.add_argument("--plot", type=Path, help="draw scores against updates and seconds into this file")
    parser.add_argument("--plot-topics", type=Path, help="draw the last scores against the truncation into this file")
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
    shown = [
        (title, [r for r in records if (r["K"], r["batch"]) in runs], draw, path)
        for title, runs, draw, path in (
            (f"Size of a minibatch, {TOPICS} topics at most", batches, plot, options.plot),
            (f"Truncation, {BATCH_SIZE} documents of a minibatch", truncations, plot_topics, options.plot_topics),
        )
    ]
    for _, chosen, draw, path in shown:
        if chosen and path:
            draw(chosen, path)
    return "\n\n".join(f"{title}:\n\n{table([row(r) for r in chosen])}" for title, chosen, _, _ in shown if chosen)
