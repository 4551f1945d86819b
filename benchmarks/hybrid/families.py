"""Held-out completion against processor seconds: the hybrid and the other families (Burkhardt and Kramer 2017, Fig. 3).

All but "hybrid, defaults" have alpha = gamma = 1 and the same eta, and all start with the same number of topics; the
weights of the held-out documents come from one fixed point for all (`fold_in.py`), so only topics and their weights
differ. Scoring is not counted. A curve ends with the first unit of work (a minibatch, a sweep, a lap) that passes the
limit, and has a score there even if that is its first.

"Gibbs, sparse" are table indicators with the library's sparse draw; it has no dense form of them, so the plain sampler
is tomotopy's HDPModel, which is dense over all topics. tomotopy learns alpha and gamma, as it does by default; the
curve "tomotopy, fixed" (not drawn unless asked for) does not. The start of the variational family is on its clock.
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
from benchmarks.harness.matched import FoundHybrid, Gibbs, Hybrid, Variational
from benchmarks.harness.peers import ALPHA, TomotopyHDP
from benchmarks.harness.records import Record, Records
from benchmarks.harness.tables import table
from benchmarks.harness.units import System
from stickbreak.corpus import Corpus, planted_lda

BATCH_SIZE = 100
# Seconds.
LOOKS = tuple(step * scale for scale in (0.1, 1.0, 10.0, 100.0, 1000.0) for step in (1.0, 1.7, 3.0, 5.5))
# Seconds, of the table.
TIMES = (1, 3, 10, 30, 100, 300)


CURVES: dict[str, Callable[[Corpus, Record], System]] = {
    "hybrid, sparse": partial(Hybrid, sampler="sparse"),
    "hybrid, dense": partial(Hybrid, sampler="dense"),
    "hybrid, defaults": partial(FoundHybrid, eta=0.02, alpha=5.0, init="lda"),
    "Gibbs, sparse": Gibbs,
    "tomotopy": partial(TomotopyHDP, unit=1),
    "tomotopy, fixed": partial(TomotopyHDP, unit=1, fixed=True),
    "variational": Variational,
}
HELPERS = (fold_in, matched, peers, units)
OPTIONAL = ("tomotopy, fixed",)


def build(corpus: Corpus, key: Record) -> System:
    """Return the system of a curve."""
    return CURVES[key["curve"]](corpus, {"batch": BATCH_SIZE, **key})


def compile_kernels(key: Record) -> None:
    """Work on a tiny collection, by all laps and moves: compilation is not on the clock."""
    tiny, _ = planted_lda(20, 30, n_topics=3, seed=0)
    work = build(tiny, {**key, "K": 3, "eta": 0.1, "limit": 5.0}).work()
    for _ in range(3):
        next(work, None)


def measure(key: Record) -> Record:
    """Run one family until its time is spent; return its scores, and when it had them."""
    split = load_split(key["corpus"])
    judge = FoldIn(split, ALPHA)
    compile_kernels(key)
    found: Record = {name: [] for name in ("seconds", "passes", "completion")}
    spent = scored = 0.0

    def look() -> None:
        topics = system.answer()
        found["seconds"].append(spent)
        found["passes"].append(system.passes)
        found["completion"].append(judge.completion(*topics))

    with threadpool_limits(1, user_api="blas"):
        system = build(split.train, key)
        for seconds in system.work():
            spent += seconds
            if spent >= key["limit"] or any(scored < time <= spent for time in LOOKS):
                look()
                scored = spent
            if spent >= key["limit"]:
                break
        # It came to its end before the limit.
        if scored < spent:
            look()
        found["topics"] = judge.per_word(*system.answer())[1]
    return found


def at_time(record: Record, seconds: float) -> float | None:
    """Return what a curve had reached by a time, on straight lines between looks over the logarithm of time."""
    times = record["seconds"]
    if not times[0] <= seconds <= times[-1]:
        return None
    return float(np.interp(np.log(seconds), np.log(times), record["completion"]))


def row(record: Record, times: list[int]) -> Record:
    """Return a row of the table."""
    seconds, passes = record["seconds"][-1], record["passes"][-1]
    out: Record = {
        "corpus": record["corpus"],
        "topics at the start": record["K"],
        "family": record["curve"],
        "seed": record["seed"],
        "passes": f"{passes:.1f}",
        "seconds of a pass": f"{seconds / passes:.2f}",
    }
    for time in times:
        there = at_time(record, time)
        out[f"completion at {time} s"] = "" if there is None else f"{there:.4f}"
    out["at the end"] = f"{record['completion'][-1]:.4f}"
    out["processor seconds"] = f"{seconds:.1f}"
    out["topics (99 % of tokens)"] = record["topics"]
    return out


def plot(records: list[Record], path: Path) -> None:
    """Draw completion against processor seconds: a column for each corpus, a row for each number of topics."""
    plt = pyplot()
    corpora, numbers, curves = (list(dict.fromkeys(r[name] for r in records)) for name in ("corpus", "K", "curve"))
    colours = dict(zip(CURVES, plt.cm.tab10.colors, strict=False))
    figure, panels = plt.subplots(
        len(numbers),
        len(corpora),
        figsize=(3.8 * len(corpora), 3.2 * len(numbers)),
        layout="constrained",
        squeeze=False,
    )
    for record in records:
        panel = panels[numbers.index(record["K"]), corpora.index(record["corpus"])]
        colour = colours[record["curve"]]
        panel.plot(record["seconds"], record["completion"], marker=".", markersize=4, color=colour, linewidth=1.3)
    for i, name in enumerate(corpora):
        for j, n_topics in enumerate(numbers):
            panels[j, i].set_title(f"{name}, {n_topics} topics", fontsize=9)
            panels[j, i].set(xscale="log")
            panels[j, i].xaxis.set_major_formatter("{x:g}")
            panels[j, i].xaxis.set_minor_formatter("")
            panels[j, i].spines[["top", "right"]].set_visible(False)
        panels[-1, i].set_xlabel("processor seconds")
    for panel in panels[:, 0]:
        panel.set_ylabel("completion (nats per token)")
    marks = [plt.Line2D([], [], color=colours[curve], marker=".", label=curve) for curve in curves]
    figure.legend(handles=marks, loc="outside lower center", ncols=2 * len(corpora), frameon=False, fontsize=8)
    figure.savefig(path, dpi=80)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--splits", nargs="+", default=["kos", "nips", "20news", "reuters21578"])
    parser.add_argument("--topics", nargs="+", type=int, default=[100, 1000])
    parser.add_argument("--curves", nargs="+", choices=tuple(CURVES), default=[c for c in CURVES if c not in OPTIONAL])
    parser.add_argument("--eta", type=float, default=0.01)
    parser.add_argument("--seconds", type=float, default=60.0, help="processor seconds of a curve")
    parser.add_argument("--init-sweeps", type=int, default=50, help="of the variational family's start")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--plot", type=Path, help="draw completion against processor seconds into this file")
    parser.add_argument("--processes", type=int, default=1, help="runs at a time; seconds are right with 1 only")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/hybrid_families.jsonl"), help="runs done")


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    rest = {"eta": options.eta, "limit": options.seconds}
    keys = [
        {"corpus": name, "K": n_topics, "curve": curve, "seed": seed, **rest}
        | ({"init sweeps": options.init_sweeps} if curve == "variational" else {})
        for name in options.splits
        for n_topics in options.topics
        for curve in options.curves
        for seed in range(options.seeds)
    ]
    records = Records(options.out).run(measure, keys, options.processes, helpers=HELPERS)
    times = [time for time in TIMES if time < options.seconds]
    if options.plot:
        plot(records, options.plot)
    return table([row(record, times) for record in records])
