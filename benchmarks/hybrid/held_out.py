"""What the hybrid predicts with its defaults and with other settings, beside two other families."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks.harness.corpora import Split, load_split
from benchmarks.harness.tables import table
from stickbreak import GibbsHDP, HybridHDP, VariationalHDP
from stickbreak.evaluation import document_completion
from stickbreak.fitting.hyperparameters import LEARNABLE

PAPER: dict[str, Any] = {"alpha": 1.0, "gamma": 1.0, "eta": 0.1, "init": "random", "learning_offset": 1.0, "n_laps": 10}
RANDOM = {**PAPER, "alpha": 5.0, "eta": 0.02}
HYBRIDS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "defaults, 10 passes": {"n_laps": 10},
    "defaults, 30 passes": {"n_laps": 30},
    "defaults, 10 passes, φ mean field": {"n_laps": 10, "phi_weight": "mean_field"},
    "defaults, 10 passes, all learned": {"n_laps": 10, "learn": LEARNABLE},
    "defaults, 10 passes, α = 1, η = 0.1": {"n_laps": 10, "alpha": 1.0, "eta": 0.1},
    "random start": RANDOM,
    "random start, 40 passes": {**RANDOM, "n_laps": 40},
    "random start, all learned": {**RANDOM, "learn": LEARNABLE},
    "random start, α = 1, η = 0.1": PAPER,
    "random start, α = 1, η = 0.1, 40 passes": {**PAPER, "n_laps": 40},
    "random start, α = 1, η = 0.1, all learned": {**PAPER, "learn": LEARNABLE},
    "random start, α = 1, η = 0.1, φ mean field": {**PAPER, "phi_weight": "mean_field"},
    "unbounded": {"top_level": "unbounded"},
    **{
        f"random start, α = 1, η = 0.1, unbounded from {n_topics}, γ = {gamma:g}, decay {decay:g}": {
            **PAPER, "n_topics": n_topics, "top_level": "unbounded", "gamma": gamma, "g_weight": "ratio",
            "learning_decay": decay,
        }
        for n_topics in (1, 20, 100)
        for gamma, decay in ((1.0, 0.6), (10.0, 0.6), (10.0, 0.3))
    },
}  # fmt: skip
OTHERS: dict[str, Callable[[], Any]] = {
    "variational": lambda: VariationalHDP(
        learn=(), n_topics=100, n_laps=40, document_weights="collapsed", random_state=0
    ),
    "Gibbs": lambda: GibbsHDP(eta=0.1, random_state=0),
}
FITS: dict[str, Callable[[], Any]] = {
    **{
        f"hybrid, {name}": partial(HybridHDP, **{"n_topics": 100, "random_state": 0, **settings})
        for name, settings in HYBRIDS.items()
    },
    **OTHERS,
}


def predictions(split: Split) -> list[dict[str, object]]:
    """Return the rows of a corpus: how well the families predict, and what they cost."""
    rows: list[dict[str, object]] = []
    for name, make in FITS.items():
        began = time.process_time()
        model = make().fit(split.train)
        seconds = time.process_time() - began
        done = document_completion(model, split.observed, split.held_out, seen=split.seen)
        rows.append(
            {
                "corpus": split.name,
                "fit": name,
                "held-out": f"{done.active:.4f}",
                "topics": model.n_topics_,
                "α, γ, η at the end": f"{model.alpha_:.2g}, {model.gamma_:.2g}, {model.eta_:.2g}",
                "processor seconds": f"{seconds:.0f}",
            }
        )
        sys.stderr.write(f"{rows[-1]}\n")
    return rows


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--splits", nargs="+", default=["kos"])


@threadpool_limits.wrap(limits=1, user_api="blas")
def run(options: argparse.Namespace) -> str:
    """Return the table."""
    return table([row for name in options.splits for row in predictions(load_split(name))])
