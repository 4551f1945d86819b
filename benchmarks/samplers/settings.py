"""Which settings of `GibbsHDP` predict best: one thing is changed at a time.

The base: 100 random topics at the start, eta 0.1, alpha and gamma sampled, no split-merge moves, the topics of the last
of 200 sweeps, table indicators. Held out is the completion of new documents from their first halves. Times are
processor seconds of one thread, the start included.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from benchmarks.harness.corpora import load_split
from benchmarks.harness.records import Record, Records
from benchmarks.harness.tables import table
from stickbreak import GibbsHDP
from stickbreak.evaluation import document_completion

BASE: Record = {
    "init": "random",
    "n_topics": 100,
    "eta": 0.1,
    "estimate": "last",
    "subtopic_trials": 0,
    "split_merge_trials": 0,
}
SETTINGS: dict[str, Record] = {
    "base": {},
    "average": {"estimate": "average"},
    "best": {"estimate": "best"},
    "sequential": {"init": "sequential"},
    "sequential, 10 trials": {"init": "sequential", "split_merge_trials": 10},
    "lda": {"init": "lda"},
    "lda, average": {"init": "lda", "estimate": "average"},
    "10 trials": {"split_merge_trials": 10},
    "200 topics": {"n_topics": 200},
    "200 topics, average": {"n_topics": 200, "estimate": "average"},
    "eta 0.05": {"eta": 0.05},
    "eta 0.2": {"eta": 0.2},
    "eta learned": {"learn": ["alpha", "gamma", "eta"]},
    "alpha = gamma = 1": {"learn": []},
    "alpha = gamma = 5": {"learn": [], "alpha": 5.0, "gamma": 5.0},
    "franchise": {"representation": "franchise"},
    "direct": {"representation": "direct"},
    "partially collapsed": {"representation": "partially-collapsed"},
}


def measure(key: Record) -> Record:
    """Fit once; return what came of it."""
    split = load_split(key["corpus"])
    model = GibbsHDP(**{**BASE, **SETTINGS[key["setting"]]}, n_laps=key["sweeps"], random_state=key["seed"], n_jobs=1)
    begin = time.process_time()
    model.fit(split.train)
    taken = time.process_time() - begin
    sizes = np.sort(model.components_.sum(axis=1) - model.eta_ * split.train.n_words)[::-1]
    return {
        "held-out": document_completion(model, split.observed, split.held_out, seen=split.seen).active,
        "joint": model.objective_,
        "K": model.n_topics_,
        "K, 99 %": int((np.cumsum(sizes) < 0.99 * sizes.sum()).sum()) + 1,
        "alpha": model.alpha_,
        "gamma": model.gamma_,
        "eta": model.eta_,
        "seconds": taken,
    }


def summary(corpus: str, setting: str, records: list[Record]) -> Record:
    """Return the row of a setting: means over seeds."""
    texts = ("corpus", "setting", "code")
    mean = {name: float(np.mean([r[name] for r in records])) for name in records[0] if name not in texts}
    held_out = [r["held-out"] for r in records]
    return {
        "corpus": corpus,
        "setting": setting,
        "seeds": len(records),
        "held-out": f"{mean['held-out']:.4f}",
        "from, to": f"{min(held_out):.4f}, {max(held_out):.4f}",
        "joint": f"{mean['joint']:.4f}",
        "K": f"{mean['K']:.0f}",
        "K (99 % of tokens)": f"{mean['K, 99 %']:.0f}",
        "alpha": f"{mean['alpha']:.2f}",
        "gamma": f"{mean['gamma']:.2f}",
        "eta": f"{mean['eta']:.3f}",
        "CPU s": f"{mean['seconds']:.1f}",
    }


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--splits", nargs="+", default=["kos"])
    parser.add_argument("--settings", nargs="+", default=list(SETTINGS), choices=list(SETTINGS))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--sweeps", type=int, default=200)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument(
        "--out", type=Path, default=Path("benchmarks/results/sampler_settings.jsonl"), help="runs done are kept here"
    )


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    runs = [(corpus, setting) for corpus in options.splits for setting in options.settings]
    keys = [
        {"corpus": corpus, "setting": setting, "sweeps": options.sweeps, "seed": seed}
        for corpus, setting in runs
        for seed in range(options.seeds)
    ]
    records = Records(options.out).run(measure, keys, options.processes)
    rows = [summary(*run, records[i * options.seeds : (i + 1) * options.seeds]) for i, run in enumerate(runs)]
    return table(rows)
