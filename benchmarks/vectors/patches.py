"""Patches of the images in STICKBREAK_DATA/bsds/train, for the benchmarks of the Gaussian families.

Patches are 8 x 8, their mean projected out (63 coordinates); 50 of the 200 images are held out, drawn at random. The
score of the HDP is that of one half of an image's patches, whose weights the other half gives; the DP mixture is scored
on the same halves.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from stickbreak import GaussianDPMixture, GaussianHDP
from stickbreak.corpus import GroupedVectors, read_patches

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
