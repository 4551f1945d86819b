"""Does the start matter: collapsed fits from few topics and from many.

A row is one fit with the defaults but for the number of topics at the start. Completion is that of the harness, with
the prior of the fit; the topics are counted, and those that hold 99 % of the tokens. Fits stop every ten passes to be
looked at, and go on to the same bits: that is not counted.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.harness import corpora
from benchmarks.harness.figures import pyplot
from benchmarks.harness.ours import Collapsed
from benchmarks.harness.scores import completion
from benchmarks.harness.tables import table
from stickbreak import CollapsedHDP
from stickbreak.corpus import toy_bars

SHARE = 0.99
COLOURS = ("#0a6e6e", "#c2571a", "#3b6fb6", "#8a6fb0", "#7aa35a", "#222222")


class Run(NamedTuple):
    """A fit on its way: after some passes, the topics and what documents held out of it say."""

    start: int
    passes: list[int]
    n_topics: list[int]
    scores: list[float]
    row: dict[str, object]


def measured(split: corpora.Split, start: int, seed: int) -> Run:
    """Fit, with a look every ten passes."""
    system, seconds = Collapsed(split.train, {"K": start, "seed": seed}), 0.0
    passes, n_topics, scores = [], [], []
    for of_unit in system.work():
        seconds += of_unit
        topics, prior = system.answer()
        passes.append(int(system.passes))
        n_topics.append(len(topics))
        scores.append(completion(split, topics, prior))
    return Run(start, passes, n_topics, scores, row(split, start, seed, system.model, scores[-1], seconds))


def row(
    split: corpora.Split, start: int, seed: int, model: CollapsedHDP, score: float, seconds: float
) -> dict[str, object]:
    """Return a row of the table."""
    tokens = np.cumsum(np.sort(model.topic_shares_)[::-1])
    return {
        "corpus": split.name,
        "K at the start": start,
        "seed": seed,
        "completion": f"{score:.4f}",
        "K": model.n_topics_,
        "topics (99 % of tokens)": int((tokens < SHARE).sum()) + 1,
        "alpha": f"{model.alpha_:.1f}",
        "last passes": model.final_passes_,
        "passes": model.n_laps_,
        "processor seconds": f"{seconds:.0f}",
    }


def plot(runs: list[Run], name: str, file: Path) -> None:
    """Draw topics and the score of held-out documents against passes, from each start."""
    plt = pyplot()
    figure, (above, below) = plt.subplots(2, 1, figsize=(8, 5), sharex=True, layout="constrained")
    for i, run in enumerate(runs):
        style = {"color": COLOURS[i % len(COLOURS)], "marker": "o", "markersize": 3, "linewidth": 1.3}
        above.plot([0, *run.passes], [run.start, *run.n_topics], label=f"{run.start}", **style)
        below.plot(run.passes, run.scores, **style)
    above.set(yscale="log", ylabel="topics K", title=name)
    above.yaxis.set_major_formatter("{x:g}")
    above.legend(title="K at the start", frameon=False, fontsize=9, ncols=len(runs), loc="lower right")
    below.set(xlabel="passes", ylabel="held-out score, nats per token")
    for place in (above, below):
        place.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, dpi=100)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--splits", nargs="+", default=[corpora.DOCSTRINGS], help="corpora by name, or present")
    parser.add_argument("--topics", nargs="+", type=int, default=[1, 10, 50, 200, 600])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument(
        "--plot", type=Path, help="draw fits of the first corpus and seed against passes into this file"
    )


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    bars, _ = toy_bars(n_documents=250, seed=0)
    CollapsedHDP(n_laps=100, random_state=0).fit(bars)  # kernels are compiled
    splits = [corpora.load(name) for name in corpora.names(options.splits)]
    runs = [measured(split, start, seed) for split in splits for seed in options.seeds for start in options.topics]
    if options.plot:
        plot(runs[: len(options.topics)], splits[0].name, options.plot)
    return table([each.row for each in runs])
