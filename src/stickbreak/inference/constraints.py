"""What scikit-learn checks of parameters that families share, before any work is done."""

from __future__ import annotations

import sys
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, Options

from stickbreak.ranges import LARGEST, LARGEST_OFFSET, MOST_WHOLE, SMALLEST

CONCENTRATION = [Interval(Real, SMALLEST, LARGEST, closed="both")]
OFFSET = Interval(Real, 0, LARGEST_OFFSET, closed="both")
TOLERANCES = [  # infinity ends a fit as soon as it may end
    Interval(Real, 0, sys.float_info.max, closed="both"),
    Options(Real, {np.inf}),
]


def whole(least: int) -> Any:
    """Return the constraint of a whole number that is at least `least`."""
    return Interval(Integral, least, MOST_WHOLE, closed="both")
