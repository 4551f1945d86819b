"""The maximum of a function of one positive number, found where its slope changes sign."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

from scipy.optimize import brentq

PRECISION = 1e-6  # relative
FIRST_STEP = 0.02  # of log x: what a quantity that is learned anew every lap moves by


def maximiser(slope: Callable[[float], float], start: float, limits: tuple[float, float]) -> float:
    """Return the local maximum that lies uphill of the start.

    Parameters
    ----------
    slope : callable
        Derivative of the function.
    start : float
        Positive. A start outside the limits widens them.
    limits : (float, float)
        Positive; the maximum is sought between them.

    Returns
    -------
    float
        Where the slope falls through zero, to a relative precision of 1e-6, or the limit that it leads to.

    Examples
    --------
    >>> round(maximiser(lambda x: 3 / x - 1.5, 40.0, (1e-3, 1e3)), 4)
    2.0
    """
    # emptied at the end: what brentq makes of a function refers to itself, and would keep the caller's data alive
    held = [slope]
    try:
        return _uphill(held, start, min(limits[0], start), max(limits[1], start))
    finally:
        held.clear()


def _uphill(slope: list[Callable[[float], float]], start: float, low: float, high: float) -> float:
    """Walk uphill from the start, and find where the slope changes sign."""

    @cache
    def at(log_x: float) -> float:
        return slope[0](math.exp(log_x))

    x = math.log(start)
    uphill, step = at(x), FIRST_STEP
    if uphill == 0.0:
        return start
    end = math.log(high) if uphill > 0 else math.log(low)
    while x != end:
        further = min(x + step, end) if uphill > 0 else max(x - step, end)
        if at(further) * uphill <= 0:
            return math.exp(brentq(at, x, further, xtol=PRECISION))
        x, step = further, 3 * step
    return high if uphill > 0 else low
