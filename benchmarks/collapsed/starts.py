"""Does the start matter: collapsed fits from few topics and from many.

A row is one fit with the defaults but for the number of topics at the start. Completion is that of the harness, with
the prior of the fit; the topics are counted, and those that hold 99 % of the tokens.
"""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks.harness import corpora
from benchmarks.harness.ours import own_prior
from benchmarks.harness.scores import completion
from benchmarks.harness.tables import table
from benchmarks.harness.units import processor_seconds
from stickbreak import CollapsedHDP
from stickbreak.corpus import toy_bars

SHARE = 0.99


def row(split: corpora.Split, start: int, seed: int) -> dict[str, object]:
    """Return a row of the table."""
    model = CollapsedHDP(n_topics=start, random_state=seed)
    seconds = processor_seconds(lambda: model.fit(split.train))
    tokens = np.cumsum(np.sort(model.topic_shares_)[::-1])
    return {
        "corpus": split.name,
        "K at the start": start,
        "seed": seed,
        "completion": f"{completion(split, model.topic_word_, own_prior(model)):.4f}",
        "K": model.n_topics_,
        "topics (99 % of tokens)": int((tokens < SHARE).sum()) + 1,
        "alpha": f"{model.alpha_:.1f}",
        "last passes": model.final_passes_,
        "passes": model.n_laps_,
        "processor seconds": f"{seconds:.0f}",
    }


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--splits", nargs="+", default=[corpora.DOCSTRINGS], help="corpora by name, or present")
    parser.add_argument("--topics", nargs="+", type=int, default=[1, 10, 50, 200, 600])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    bars, _ = toy_bars(n_documents=250, seed=0)
    CollapsedHDP(n_laps=100, random_state=0).fit(bars)  # kernels are compiled
    splits = [corpora.load(name) for name in corpora.names(options.splits)]
    return table([row(split, start, seed) for split in splits for start in options.topics for seed in options.seeds])
