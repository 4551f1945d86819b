"""Short documents: settings of collapsed inference beside other families, on what `stickbreak demo` reads.

A row is the mean over seeds, each of which splits the documents differently; the spread of completion is the
largest less the smallest. Processor seconds are those of the fit, after kernels have been compiled.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness.corpora import docstrings
from benchmarks.harness.tables import table
from benchmarks.harness.units import processor_seconds
from stickbreak import CollapsedHDP, GibbsHDP, VariationalHDP
from stickbreak.corpus import Corpus, toy_bars
from stickbreak.evaluation import document_completion

Row = dict[str, object]
FITS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "defaults": (CollapsedHDP, {}),
    "smallest share 1/40": (CollapsedHDP, {"smallest_share": 1 / 40}),
    "smallest share 1/200": (CollapsedHDP, {"smallest_share": 1 / 200}),
    "eta 0.02": (CollapsedHDP, {"eta": 0.02}),
    "eta 0.1": (CollapsedHDP, {"eta": 0.1}),
    "eta learned, from 0.1": (CollapsedHDP, {"eta": 0.1, "learn": ("alpha", "eta")}),
    "no merges": (CollapsedHDP, {"merge_laps": 0}),
    "variational": (VariationalHDP, {}),
    "Gibbs": (GibbsHDP, {}),
}


def topics_that_hold(model: Any, corpus: Corpus, share: float) -> int:
    """Return how many topics, the largest first, hold a share of the tokens."""
    tokens = np.sort(corpus.document_lengths @ model.transform(corpus))[::-1]
    return int(np.searchsorted(np.cumsum(tokens), share * tokens.sum())) + 1


def measured(name: str, n_topics: int, corpus: Corpus, seed: int) -> list[float]:
    """Return completion, K, the topics that hold 99 % and half of the tokens, and processor seconds."""
    train, held_out = corpus.split(0.1, seed=seed)
    estimator, settings = FITS[name]
    model = estimator(n_topics=n_topics, random_state=seed, n_jobs=1, **settings)
    seconds = processor_seconds(lambda: model.fit(train))
    score = document_completion(model, *held_out.halves(seed=seed)).active
    return [score, model.n_topics_, *(topics_that_hold(model, train, share) for share in (0.99, 0.5)), seconds]


def row(name: str, n_topics: int, corpus: Corpus, seeds: list[int]) -> Row:
    """Return a row of the table."""
    found = np.array([measured(name, n_topics, corpus, seed) for seed in seeds])
    score, K, most, half, seconds = found.mean(axis=0)
    return {
        "K at the start": n_topics,
        "fit": name,
        "completion": f"{score:.4f}",
        "spread": f"{np.ptp(found[:, 0]):.4f}",
        "K": f"{K:.0f}",
        "topics (99 % of tokens)": f"{most:.0f}",
        "topics (half of the tokens)": f"{half:.0f}",
        "processor seconds": f"{seconds:.1f}",
    }


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--topics", nargs="+", type=int, default=[100, 200])
    parser.add_argument("--only", nargs="+", choices=FITS, default=list(FITS))


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    bars, _ = toy_bars(n_documents=50, seed=0)
    for estimator in (CollapsedHDP, VariationalHDP, GibbsHDP):
        estimator(n_topics=5, random_state=0).fit(bars)
    corpus = docstrings()
    return table([row(name, K, corpus, options.seeds) for K in options.topics for name in options.only])
