"""Where split-merge moves help on real documents: log-likelihood against time (Wang and Blei 2012, Figs. 5 to 7).

Sequential start, alpha and gamma sampled under Gamma(1, 1), three values of eta; split-merge trials in the first 50
sweeps. Training: joint log-likelihood of words, topics and tables per token, with all constants. Held out: completion
of new documents (a tenth of the collection) from their first halves by the topics of the current state, per token.
Times are processor seconds of one thread without scoring. The same seed starts both kinds of chain in the same state.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from benchmarks.harness.corpora import load
from benchmarks.harness.records import Record, Records
from benchmarks.harness.tables import table
from stickbreak import GibbsHDP
from stickbreak.evaluation import document_completion

LOOKS = (1, 2, 5, 10, 20, 50, 100, 200, 500)


def measure(key: Record) -> Record:
    """Run one chain; return what it reached at each look, and in which time."""
    split = load(key["corpus"])
    model = GibbsHDP(
        eta=key["eta"],
        representation=key["representation"],
        subtopic_trials=0,
        split_merge_trials=key["trials"],
        init="sequential",
        estimate="last",
        n_laps=1,
        burn_in=0,
        random_state=key["seed"],
        n_jobs=1,
    )
    looks = [look for look in LOOKS if look < key["sweeps"]] + [key["sweeps"]]
    seconds, held_out, taken = [], [], 0.0
    for look in looks:
        begin = time.process_time()
        if look == 1:
            model.fit(split.train)
        else:
            model.continue_fit(split.train, n_laps=look - model.n_laps_)
        taken += time.process_time() - begin
        seconds.append(taken)
        held_out.append(document_completion(model, split.observed, split.held_out, seen=split.seen).active)
    trace = model.trace_
    tried, accepted = (
        int(sum(trace[f"{move}_{what}"].sum() for move in ("split", "merge"))) for what in ("tried", "accepted")
    )
    at = np.array(looks) - 1
    return {
        "looks": looks,
        "seconds": seconds,
        "held-out": held_out,
        "joint": trace["objective"][at].tolist(),
        "K": trace["n_topics"][at].astype(int).tolist(),
        "tried": tried,
        "accepted": accepted,
    }


def at_time(record: Record, column: str, seconds: float) -> float:
    """Return what a chain had reached by a time, on straight lines between looks over the logarithm of time."""
    return float(np.interp(np.log(seconds), np.log(record["seconds"]), record[column]))


def pair_row(corpus: str, eta: float, plain: list[Record], moved: list[Record]) -> Record:
    """Return the row that compares chains with and without split-merge moves, seed by seed, at equal times."""
    row: Record = {"corpus": corpus, "eta": eta, "runs": len(plain)}
    ends = [min(a["seconds"][-1], b["seconds"][-1]) for a, b in zip(plain, moved, strict=True)]
    row["K, Gibbs alone"] = f"{np.mean([r['K'][-1] for r in plain]):.0f}"
    row["K, with split-merge"] = f"{np.mean([r['K'][-1] for r in moved]):.0f}"
    for column in ("joint", "held-out"):
        row[f"{column}, Gibbs alone"] = f"{np.mean([r[column][-1] for r in plain]):.4f}"
        row[f"{column}, with split-merge"] = f"{np.mean([r[column][-1] for r in moved]):.4f}"
        for share, name in ((0.2, "a fifth of the time"), (1.0, "the end")):
            gains = np.array(
                [
                    at_time(b, column, share * end) - at_time(a, column, share * end)
                    for a, b, end in zip(plain, moved, ends, strict=True)
                ]
            )
            error = gains.std(ddof=1) / np.sqrt(gains.size) if gains.size > 1 else np.nan
            row[f"gain in {column}, {name}"] = f"{gains.mean():+.4f} ± {error:.4f}"
    row["accepted"] = f"{100 * sum(r['accepted'] for r in moved) / sum(r['tried'] for r in moved):.1f} %"
    row["CPU s, alone"] = f"{np.mean([r['seconds'][-1] for r in plain]):.1f}"
    row["with"] = f"{np.mean([r['seconds'][-1] for r in moved]):.1f}"
    return row


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--splits", nargs="+", default=["ap", "kos", "reuters21578"])
    parser.add_argument("--eta", nargs="+", type=float, default=[0.1, 0.2, 0.5])
    parser.add_argument("--trials", type=int, default=10, help="split-merge trials of a sweep")
    parser.add_argument("--representation", default="indicator")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sweeps", type=int, default=100)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/samplers.jsonl"), help="runs done, kept")


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    rest = {"sweeps": options.sweeps, "representation": options.representation}
    runs = [(name, eta, trials) for name in options.splits for eta in options.eta for trials in (0, options.trials)]
    keys = [
        {"corpus": name, "eta": eta, "trials": trials, **rest, "seed": seed}
        for name, eta, trials in runs
        for seed in range(options.seeds)
    ]
    records = Records(options.out).run(measure, keys, options.processes)
    groups = {run: records[i * options.seeds : (i + 1) * options.seeds] for i, run in enumerate(runs)}
    pairs = [(name, eta) for name in options.splits for eta in options.eta]
    return table([pair_row(*pair, groups[*pair, 0], groups[*pair, options.trials]) for pair in pairs])
