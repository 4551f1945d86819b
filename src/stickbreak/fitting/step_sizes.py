"""Sizes of the steps of stochastic inference."""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.ranges import LARGEST_OFFSET


def step_size(step: int, decay: float, offset: float) -> float:
    """Return xi_t = (t + offset)^-decay; the first step is t = 1.                    docs/math (S1)

    Examples
    --------
    >>> step_size(1, decay=0.5, offset=3.0)
    0.5
    """
    return float((step + offset) ** -decay)


def offset_for(share: float, decay: float) -> float:
    """Return the offset, at least 1, with which the first step is as large as its share of documents.  docs/math (B5)

    Examples
    --------
    >>> round(offset_for(0.01, decay=0.5))
    9999
    """
    if -np.log(share) >= decay * np.log(LARGEST_OFFSET):
        return LARGEST_OFFSET
    return max(1.0, float(np.exp(-np.log(share) / decay)) - 1.0)
