"""What scikit-learn checks of parameters, before any work is done: the one file that knows how it is told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, Options, StrOptions

from stickbreak.numerics.ranges import LARGEST, LARGEST_OFFSET, LARGEST_SUM, MOST_SWEEPS, MOST_WHOLE, SMALLEST

CONCENTRATION = [Interval(Real, SMALLEST, LARGEST, closed="both")]
CONCENTRATIONS = {"alpha": CONCENTRATION, "gamma": CONCENTRATION}
TOPIC_PRIORS = {  # of the words of topics
    "eta": [*CONCENTRATION, "array-like"],
    "seeds": [None, Mapping],
    "seed_tokens": [Interval(Real, 0.01, 1e6, closed="both")],
}
OFFSET = Interval(Real, 0, LARGEST_OFFSET, closed="both")
STEPS = {  # of a stream whose counts move towards those of a minibatch
    "learning_decay": [Interval(Real, 0, 1, closed="right")],
    "learning_offset": [None, OFFSET],
}
_INFINITY = Options(Real, {np.inf})  # ends a fit, or the work on a document, as soon as it may end
TOLERANCES = [Interval(Real, 0, LARGEST_SUM, closed="both"), _INFINITY]
POSITIVES = [Interval(Real, 0, LARGEST_SUM, closed="right"), _INFINITY]


def whole(least: int, most: int = MOST_WHOLE) -> Any:
    """Return the constraint of a whole number from `least` to `most`."""
    return Interval(Integral, least, most, closed="both")


def between(least: float, most: float) -> Any:
    """Return the constraint of a number from `least` to `most`."""
    return Interval(Real, least, most, closed="both")


def share(most: float = 1.0, *, zero: bool = True) -> Any:
    """Return the constraint of a number from 0 (or, without `zero`, above it) to `most`."""
    return Interval(Real, 0, most, closed="both" if zero else "right")


def one_of(names: Iterable[str]) -> Any:
    """Return the constraint of a name out of some."""
    return StrOptions(set(names))


def sweeps(least: int) -> Any:
    """Return the constraint of the number of sweeps of a document in one step, all of which are done."""
    return Interval(Integral, least, MOST_SWEEPS, closed="both")
