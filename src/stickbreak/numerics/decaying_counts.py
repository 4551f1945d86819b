"""Counts that decay: a factor beside them, so that a step need not touch them all."""

from __future__ import annotations

from stickbreak.numerics.arrays import Float

SMALLEST_SCALE = 1e-100  # below it the scale is multiplied into the counts


def decayed(counts: Float, scale: float, factor: float) -> float:
    """Return the scale after S <- factor S, S = scale * counts; a scale that is too small goes into the counts."""
    scale *= factor
    if scale < SMALLEST_SCALE:
        counts *= scale
        scale = 1.0
    return scale
