"""What scikit-learn checks of parameters that families share, before any work is done."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, Options

from stickbreak.numerics.ranges import LARGEST, LARGEST_OFFSET, LARGEST_SUM, MOST_SWEEPS, MOST_WHOLE, SMALLEST

CONCENTRATION = [Interval(Real, SMALLEST, LARGEST, closed="both")]
CONCENTRATIONS = {"alpha": CONCENTRATION, "gamma": CONCENTRATION, "eta": CONCENTRATION}
OFFSET = Interval(Real, 0, LARGEST_OFFSET, closed="both")
STEPS = {  # of a stream whose counts move towards those of a minibatch
    "learning_decay": [Interval(Real, 0, 1, closed="right")],
    "learning_offset": [None, OFFSET],
}
_INFINITY = Options(Real, {np.inf})  # ends a fit, or the work on a document, as soon as it may end
TOLERANCES = [Interval(Real, 0, LARGEST_SUM, closed="both"), _INFINITY]
POSITIVES = [Interval(Real, 0, LARGEST_SUM, closed="right"), _INFINITY]


def whole(least: int) -> Any:
    """Return the constraint of a whole number that is at least `least`."""
    return Interval(Integral, least, MOST_WHOLE, closed="both")


def sweeps(least: int) -> Any:
    """Return the constraint of the number of sweeps of a document in one step, all of which are done."""
    return Interval(Integral, least, MOST_SWEEPS, closed="both")
