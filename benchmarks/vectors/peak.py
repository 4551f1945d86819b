"""What a lap without moves reaches of the speed of large matrix products, one thread."""

from __future__ import annotations

import argparse
import time

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.harness.records import Record
from benchmarks.harness.tables import table
from benchmarks.vectors.patches import images, warmed
from stickbreak import GaussianDPMixture


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
                    "seconds of a pass": f"{seconds:.2f}",
                    "matrix products, GFLOP/s": f"{np.median(speeds) / 1e9:.1f}",
                    "pass, GFLOP/s": f"{needed / seconds / 1e9:.1f}",
                    "share of the peak": f"{needed / seconds / float(np.median(speeds)):.2f}",
                }
            )
    return rows


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--patches", type=int, default=200_000)
    parser.add_argument("--components", type=int, default=100)


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    return table(peak(options.patches, options.components))
