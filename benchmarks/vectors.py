"""Image patches: `GaussianHDP` and `GaussianDPMixture`, held-out score, speed and memory.

Patches are 8 x 8, their mean projected out (63 coordinates), of the images in STICKBREAK_DATA/bsds/train; 50 of the 200
images are held out, drawn at random. The score of the HDP is that of one half of an image's patches, whose weights the
other half gives; the DP mixture is scored on the same halves. One thread, processor seconds.

    python benchmarks/vectors.py [--stride 3] [--laps 1 2 4 8 12] [--components 100] [--runs ...]      scores by lap
    python benchmarks/vectors.py --peer [--patches 200000]       GaussianDPMixture beside scikit-learn, seconds of a lap
    python benchmarks/vectors.py --peak [--patches 200000]       share of the peak of matrix products that a lap reaches
    python benchmarks/vectors.py --memory [--patches 5000000]    peak memory of two laps over a memory-mapped collection
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import warnings
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from contenders import processor_seconds
from corpora import table
from memory import peak_mebibytes
from records import Record, Records
from stickbreak import GaussianDPMixture, GaussianHDP
from stickbreak.corpus import GroupedVectors, open_vectors, read_patches

HELD_OUT = 50
MODELS: dict[str, Any] = {"HDP": GaussianHDP, "DP mixture": GaussianDPMixture}
MOVES = {"moves": ("merge", "delete", "reorder"), "no moves": ("reorder",)}


def files() -> tuple[list[Path], list[Path]]:
    """Return the training and the held-out images."""
    paths = sorted((Path(os.environ["STICKBREAK_DATA"]) / "bsds" / "train").glob("*.jpg"))
    order = np.random.default_rng(0).permutation(len(paths))
    return [paths[i] for i in sorted(order[HELD_OUT:])], [paths[i] for i in sorted(order[:HELD_OUT])]


def images(**settings: Any) -> tuple[GroupedVectors, GroupedVectors]:
    """Return patches of the training images, and 2,000 of each that is held out."""
    train, held_out = files()
    return (
        read_patches(train, mean="project", **settings),
        read_patches(held_out, mean="project", n_patches=2000, dtype=settings.get("dtype", np.float32)),
    )


def warmed(model: Any) -> None:
    """Compile what a fit needs."""
    rng = np.random.default_rng(0)
    groups = GroupedVectors.from_arrays([rng.normal(size=(60, 3)).astype(np.float32) for _ in range(4)])
    model(n_components=4, n_laps=4, likelihood="zero_mean").fit(groups if model is GaussianHDP else groups.values)


def score(model: Any, held_out: GroupedVectors) -> float:
    """Return nats per vector of the second halves of the groups."""
    return float(
        model.score(held_out) if isinstance(model, GaussianHDP) else model.score(held_out.halves(seed=0)[1].values)
    )


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
            "laps": row["laps"],
            "components": row["components"],
            "objective": f"{row['objective']:.4f}",
            "held-out score": f"{row['score']:.4f}",
            "processor seconds": f"{row['seconds']:.0f}",
        }
        for record in records
        for row in record["rows"]
    ]


def peer(n_patches: int, components: int, laps: int) -> list[Record]:
    """Return seconds of a lap and held-out scores beside scikit-learn's BayesianGaussianMixture, in one run."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import BayesianGaussianMixture

    train, held_out = images(n_patches=-(-n_patches // 150), dtype=np.float64)
    X, test = train.values[:n_patches], held_out.values
    warmed(GaussianDPMixture)
    settings = [(dtype, moves, likelihood) for dtype in ("float64", "float32") for moves in MOVES
                for likelihood in ("full", "zero_mean")]  # fmt: skip
    rows = []
    with threadpool_limits(1, user_api="blas"), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for dtype, moves, likelihood in settings:
            ours = GaussianDPMixture(
                n_components=components, likelihood=likelihood, moves=MOVES[moves], n_laps=laps, tolerance=0.0,
                dtype=dtype, random_state=0, n_jobs=1,
            )  # fmt: skip
            seconds = processor_seconds(lambda ours=ours: ours.fit(X))
            name = f"GaussianDPMixture, {likelihood}, {dtype}, {moves}"
            rows.append(_peer_row(name, ours, ours.n_components_, laps, seconds, test))
        theirs = BayesianGaussianMixture(
            n_components=components, weight_concentration_prior_type="dirichlet_process", max_iter=laps, tol=0.0,
            init_params="k-means++", random_state=0,
        )  # fmt: skip
        seconds = processor_seconds(lambda: theirs.fit(X))
        used = int((theirs.predict_proba(X[:20_000]).sum(axis=0) > 0.5).sum())
        rows.append(_peer_row("BayesianGaussianMixture, full", theirs, used, laps, seconds, test))
    return rows


def _peer_row(name: str, model: Any, components: int, laps: int, seconds: float, test: np.ndarray) -> Record:
    return {
        "model": name,
        "components": components,
        "laps": laps,
        "seconds of a lap, start included": f"{seconds / laps:.1f}",
        "held-out score": f"{model.score(test):.4f}",
    }


def peak(n_patches: int, components: int) -> list[Record]:
    """Return what a lap without moves reaches of the speed of large matrix products, one thread.

    A lap needs, for each vector and component, the d (d + 1) / 2 products of E log p and as many of the statistics.
    """
    rows = []
    train, _ = images(n_patches=-(-n_patches // 150), dtype=np.float64)
    warmed(GaussianDPMixture)
    with threadpool_limits(1, user_api="blas"):
        for dtype in (np.float64, np.float32):
            a = np.random.default_rng(0).normal(size=(2000, 2000)).astype(dtype)
            a @ a
            speeds = []
            for _ in range(5):
                begin = time.process_time()
                a @ a
                speeds.append(2 * 2000**3 / (time.process_time() - begin))
            model = GaussianDPMixture(
                n_components=components, likelihood="zero_mean", moves=(), n_laps=6, tolerance=0.0,
                dtype=np.dtype(dtype).name, random_state=0, n_jobs=1,
            ).fit(train.values)  # fmt: skip
            seconds = float(np.median(model.trace_["seconds"][1:]))
            needed = 2.0 * train.n_vectors * components * train.dim * (train.dim + 1)
            rows.append(
                {
                    "precision": np.dtype(dtype).name,
                    "patches": f"{train.n_vectors:,}",
                    "components": components,
                    "seconds of a lap": f"{seconds:.2f}",
                    "matrix products, GFLOP/s": f"{np.median(speeds) / 1e9:.1f}",
                    "lap, GFLOP/s": f"{needed / seconds / 1e9:.1f}",
                    "share of the peak": f"{needed / seconds / float(np.median(speeds)):.2f}",
                }
            )
    return rows


def write_patches(folder: str, n_patches: int) -> None:
    """Write patches of the training images, so many of each."""
    read_patches(files()[0], mean="project", n_patches=n_patches, out=folder)


def memory(key: Record) -> Record:
    """Return the peak memory of two laps over patches that are memory-mapped, beside that before them."""
    for model_class in MODELS.values():
        warmed(model_class)
    groups = open_vectors(key["folder"])
    before, begin = peak_mebibytes(), time.process_time()
    model = MODELS[key["model"]](n_components=key["components"], likelihood="zero_mean", n_laps=2, dtype="float32")
    model.fit(groups if key["model"] == "HDP" else groups.values)
    return {
        "model": key["model"],
        "patches": f"{groups.n_vectors:,}",
        "values, MiB": f"{groups.values.nbytes / 2**20:.0f}",
        "peak before, MiB": f"{before:.0f}",
        "peak (mapped pages counted), MiB": f"{peak_mebibytes():.0f}",
        "processor seconds": f"{time.process_time() - begin:.0f}",
    }


def main() -> None:
    """Run and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stride", type=int, default=3)
    parser.add_argument("--laps", type=int, nargs="+", default=[1, 2, 4, 8, 12])
    parser.add_argument("--components", type=int, default=100)
    parser.add_argument("--patches", type=int, default=200_000)
    parser.add_argument("--runs", nargs="+", default=[f"{model}, {moves}" for model in MODELS for moves in MOVES])
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--peak", action="store_true")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/vectors.jsonl"), help="runs done")
    options = parser.parse_args()
    if options.peer:
        print(table(peer(options.patches, options.components, options.laps[-1])))
    elif options.peak:
        print(table(peak(options.patches, options.components)))
    elif options.memory:
        with tempfile.TemporaryDirectory() as place:
            with get_context("spawn").Pool(1) as pool:  # so that what it needs is no peak of ours
                pool.apply(write_patches, (str(Path(place) / "patches"), -(-options.patches // 150)))
            rows = []
            for model in MODELS:
                with get_context("spawn").Pool(1) as pool:
                    key = {"model": model, "components": options.components, "folder": str(Path(place) / "patches")}
                    rows.append(pool.apply(memory, (key,)))
        print(table(rows))
    else:
        common = {
            "stride": options.stride,
            "laps": options.laps,
            "components": options.components,
            "dtype": options.dtype,
        }
        keys = [
            {**common, "model": run.split(", ")[0], "moves": run.split(", ")[1], "seed": seed}
            for run in options.runs
            for seed in options.seeds
        ]
        print(table(rows_of(Records(options.out).run(scores, keys, helpers=[images, files, score]))))


if __name__ == "__main__":
    main()
