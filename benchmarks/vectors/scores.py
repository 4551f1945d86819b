"""`GaussianHDP` and `GaussianDPMixture` on image patches: held-out score after some laps, one thread."""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks.harness.records import Record, Records
from benchmarks.harness.tables import table
from benchmarks.vectors.patches import MODELS, MOVES, files, images, score, warmed
from stickbreak import GaussianHDP


def scores(key: Record) -> Record:
    """Fit one model, stopping after some laps to score it."""
    train, held_out = images(stride=key["stride"])
    model_class, rows, spent = MODELS[key["model"]], [], 0.0
    warmed(model_class)
    with tempfile.TemporaryDirectory() as place, threadpool_limits(1, user_api="blas"):
        for laps in key["laps"]:
            model = model_class(
                n_components=key["components"], likelihood="zero_mean", moves=MOVES[key["moves"]], n_laps=laps,
                tolerance=0.0, dtype=key["dtype"], random_state=key["seed"], n_jobs=1,
            )  # fmt: skip
            begin = time.process_time()
            model.fit(
                train if model_class is GaussianHDP else train.values, checkpoint=Path(place) / "fit", resume=True
            )
            spent += time.process_time() - begin
            rows.append(
                {
                    "laps": model.n_laps_,
                    "components": model.n_components_,
                    "objective": model.objective_,
                    "score": score(model, held_out),
                    "seconds": spent,
                }
            )
    return {"rows": rows, "patches": train.n_vectors}


def rows_of(records: list[Record]) -> list[Record]:
    """Return a row for each model and lap."""
    return [
        {
            "model": record["model"],
            "moves": record["moves"],
            "patches": f"{record['patches']:,}",
            "passes": row["laps"],
            "components": row["components"],
            "objective": f"{row['objective']:.4f}",
            "held-out score": f"{row['score']:.4f}",
            "processor seconds": f"{row['seconds']:.0f}",
        }
        for record in records
        for row in record["rows"]
    ]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--stride", type=int, default=3, help="every such patch in both directions")
    parser.add_argument("--laps", type=int, nargs="+", default=[1, 2, 4, 8, 12])
    parser.add_argument("--components", type=int, default=100)
    runs = [f"{model}, {moves}" for model in MODELS for moves in MOVES]
    parser.add_argument("--runs", nargs="+", choices=runs, default=runs, metavar="RUN", help="; ".join(runs))
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/vectors.jsonl"), help="runs done, kept")


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    common = {name: getattr(options, name) for name in ("stride", "laps", "components", "dtype")}
    keys = [
        {**common, "model": run.split(", ")[0], "moves": run.split(", ")[1], "seed": seed}
        for run in options.runs
        for seed in options.seeds
    ]
    return table(rows_of(Records(options.out).run(scores, keys, helpers=[images, files, score])))
