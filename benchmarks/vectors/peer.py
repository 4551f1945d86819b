"""`GaussianDPMixture` beside scikit-learn's BayesianGaussianMixture: seconds of a lap, and held-out scores."""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.harness.records import Record
from benchmarks.harness.tables import table
from benchmarks.harness.units import processor_seconds
from benchmarks.vectors.patches import MOVES, images, warmed
from stickbreak import GaussianDPMixture


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
        "passes": laps,
        "seconds of a pass, start included": f"{seconds / laps:.1f}",
        "held-out score": f"{model.score(test):.4f}",
    }


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--patches", type=int, default=200_000)
    parser.add_argument("--components", type=int, default=100)
    parser.add_argument("--laps", type=int, default=12)


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    return table(peer(options.patches, options.components, options.laps))
