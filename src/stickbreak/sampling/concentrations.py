"""Concentrations that are resampled with the state (SPEC 2.6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from stickbreak.sampling.state import Concentrations, Int, TopicCounts


@dataclass(frozen=True, slots=True)
class GammaPrior:
    """Gamma(shape, rate)."""

    shape: float
    rate: float


def resample(
    now: Concentrations,
    learn: Sequence[str],
    priors: Mapping[str, GammaPrior],
    counts: TopicCounts,
    lengths: Int,
    rng: np.random.Generator,
) -> Concentrations:
    """Return the concentrations as they are."""
    return now
