"""Toy bars from 50 random topics: what Gibbs sampling finds, alone, with split-merge, and with variational moves after.

The documents and what counts as right are those of bars.py: exactly ten topics, each bar matched by a topic of its own.
The chain starts with every token in one of 50 topics at random and samples alpha and gamma (eta 0.1). The topics of its
last sweep then start a variational fit with all its moves (the "fromGibbs" of Hughes, Kim and Sudderth 2015). The joint
log-likelihood is compared with that of a chain that starts from the true bars and does as many sweeps.
"""

from __future__ import annotations

import argparse
import time
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness.figures import pyplot
from benchmarks.harness.records import Record, Records
from benchmarks.harness.tables import table
from benchmarks.variational.bars import N_BARS, held_out, n_matched, spread
from stickbreak import GibbsHDP, VariationalHDP
from stickbreak.corpus import toy_bars


class Run(NamedTuple):
    """Which moves a chain makes; split-merge trials are in all sweeps."""

    representation: str
    trials: int


RUNS = [Run(name, trials) for name in ("indicator", "franchise", "direct") for trials in (0, 10)]


@cache
def from_the_bars(seed: int, n_laps: int) -> float:
    """Return the joint log-likelihood of a chain that starts from the true bars, in nats per token."""
    corpus, truth = toy_bars(seed=seed)
    model = GibbsHDP(eta=0.1, init=truth.topic_word, subtopic_trials=0, n_laps=n_laps, random_state=seed).fit(corpus)
    return float(model.trace_["objective"][n_laps // 2 :].mean())


def found(model: GibbsHDP | VariationalHDP, truth: np.ndarray, seed: int) -> Record:
    """Return which bars a model has."""
    matched = n_matched(model.topic_word_, truth)
    return {
        "right": model.n_topics_ == N_BARS and matched == N_BARS,
        "matched": matched,
        "K": model.n_topics_,
        "held-out": held_out(model, seed),
    }


def measure(key: Record) -> Record:
    """Run one chain, and a variational fit from where it ends."""
    seed, n_laps = key["seed"], key["sweeps"]
    corpus, truth = toy_bars(seed=seed)
    begin = time.process_time()
    gibbs = GibbsHDP(
        eta=0.1,
        n_topics=key["n_topics"],
        init="random",
        representation=key["representation"],
        subtopic_trials=0,
        split_merge_trials=key["trials"],
        split_merge_sweeps=None,
        estimate="last",
        n_laps=n_laps,
        random_state=seed,
    ).fit(corpus)
    middle = time.process_time()
    after = VariationalHDP(learn=(), init=gibbs.components_, random_state=seed, n_jobs=1).fit(corpus)
    end = time.process_time()
    trace = gibbs.trace_
    tried, accepted = (
        int(sum(trace[f"{move}_{what}"].sum() for move in ("split", "merge"))) for what in ("tried", "accepted")
    )
    return {
        "gibbs": found(gibbs, truth.topic_word, seed),
        "after": found(after, truth.topic_word, seed),
        "joint": float(trace["objective"][n_laps // 2 :].mean()),
        "joint from the bars": from_the_bars(seed, n_laps),
        "tried": tried,
        "accepted": accepted,
        "seconds": middle - begin,
        "seconds after": end - middle,
        "laps": after.n_laps_,
        "K by sweep": trace["n_topics"].astype(int).tolist(),
        "joint by sweep": trace["objective"].tolist(),
    }


def summary(run: Run, records: list[Record]) -> Record:
    """Return the row of a run."""
    n = len(records)
    tried = sum(r["tried"] for r in records)
    less = [r["joint"] - r["joint from the bars"] for r in records]
    row: Record = {"representation": run.representation, "trials a sweep": run.trials}
    for who, name in (("gibbs", "chain"), ("after", "variational fit from it")):
        ends = [r[who] for r in records]
        row |= {
            f"{name}: right": f"{sum(end['right'] for end in ends)} of {n}",
            f"{name}: K": spread([end["K"] for end in ends], "d"),
            f"{name}: bars matched": spread([end["matched"] for end in ends], "d"),
            f"{name}: held-out": f"{np.mean([end['held-out'] for end in ends]):.4f}",
        }
    return row | {
        "joint log-likelihood of the chain": f"{np.mean([r['joint'] for r in records]):.4f}",
        "less that from the bars": f"{min(less):+.5f} to {max(less):+.5f}",
        "accepted": f"{sum(r['accepted'] for r in records)} of {tried}" if tried else "",
        "CPU s": f"{np.median([r['seconds'] for r in records]):.1f}",
        "CPU s of the fit": f"{np.median([r['seconds after'] for r in records]):.1f}",
        "its passes": spread([r["laps"] for r in records], "d"),
    }


COLOURS = {"franchise": "#b5203f", "direct": "#2f7f79", "indicator": "#5560b5"}


def plot(results: list[tuple[Run, list[Record]]], path: Path) -> None:
    """Draw the number of topics and the joint log-likelihood against sweeps, a thin line for each seed."""
    plt = pyplot()
    figure, panels = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained")
    for run, records in results:
        style: dict[str, Any] = {"color": COLOURS[run.representation], "linewidth": 0.9, "alpha": 0.8}
        style["linestyle"] = "-" if run.trials else ":"
        for record in records:
            K, joint = np.array(record["K by sweep"]), np.array(record["joint by sweep"])
            # As many points in each decade.
            at = np.unique(np.geomspace(1, K.size, 40).astype(int))
            panels[0].plot(at, K[at - 1], **style)
            panels[1].plot(at, joint[at - 1] - record["joint from the bars"], **style)
    panels[0].axhline(N_BARS, color="black", linewidth=0.8)
    panels[1].axhline(0.0, color="black", linewidth=0.8)
    ticks = [5, 10, 20, 50]
    panels[0].set(yscale="log", yticks=ticks, yticklabels=map(str, ticks), ylabel="topics K", xscale="log")
    panels[0].set_yticks([], minor=True)
    panels[1].set(ylabel="joint, less that from the bars (nats per token)", ylim=(-0.9, 0.02), xscale="log")
    for panel in panels:
        panel.set(xlabel="sweeps", xlim=(1, None))
        panel.spines[["top", "right"]].set_visible(False)
    marks = [plt.Line2D([], [], color=colour, label=name) for name, colour in COLOURS.items()]
    marks += [
        plt.Line2D([], [], color="black", linewidth=0.9, label="10 split-merge trials a sweep"),
        plt.Line2D([], [], color="black", linewidth=0.9, linestyle=":", label="Gibbs alone"),
    ]
    figure.legend(handles=marks, loc="outside lower center", ncols=5, frameon=False, fontsize=8)
    figure.savefig(path, dpi=80)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sweeps", type=int, default=200)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--only", nargs="+", default=list(COLOURS), choices=list(COLOURS), help="representations")
    parser.add_argument("--plot", type=Path, help="draw K and joint log-likelihood against sweeps into this file")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/bars_gibbs.jsonl"), help="runs done, kept")


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    runs = [run for run in RUNS if run.representation in options.only]
    data = {"n_topics": options.topics, "sweeps": options.sweeps}
    keys = [{**run._asdict(), **data, "seed": seed} for run in runs for seed in range(options.seeds)]
    records = Records(options.out).run(measure, keys, options.processes)
    results = [(run, records[i * options.seeds : (i + 1) * options.seeds]) for i, run in enumerate(runs)]
    if options.plot:
        plot(results, options.plot)
    return table([summary(run, done) for run, done in results])
