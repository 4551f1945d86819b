"""Special functions for kernels: branch-free (no divisor is tested, either), so that a loop can be vectorised.

Each shifts its argument up by eight and uses the asymptotic series there; the recurrence terms 1/x + ... + 1/(x+7) are
paired by x(x+7) = t, (x+1)(x+6) = t+6, (x+2)(x+5) = t+10, (x+3)(x+4) = t+12. Absolute errors are below 1e-13
times max(1, |value|) for x in [1e-300, 1e12] (trigamma: from 1e-150; tests/numerics/test_special.py).
"""

from __future__ import annotations

import math

from stickbreak.numerics.compiling import njit

FAST = {"contract", "reassoc"}  # they end inside loops that are compiled so
_HALF_LOG_TWO_PI = 0.9189385332046727


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _recurrence(x: float) -> float:
    """sum_{i=0}^{7} 1/(x+i)."""
    t = x * (x + 7.0)
    low, high = t * (t + 6.0), (t + 10.0) * (t + 12.0)
    # d/dx log[t (t+6) (t+10) (t+12)]; the first factor is kept apart so that a tiny x does not underflow
    return (2.0 * x + 7.0) * ((2.0 * t + 6.0) / low + (2.0 * t + 22.0) / high)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _digamma_series(y: float) -> float:
    """psi(y) - log(y) for y >= 8."""
    z = 1.0 / (y * y)
    return -0.5 / y - z * (
        1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * (1 / 132 - z * (691 / 32760 - z * (1 / 12))))))
    )


@njit(cache=True, error_model="numpy", fastmath=FAST)
def digamma(x: float) -> float:
    """psi(x) for x > 0."""
    y = x + 8.0
    return math.log(y) + _digamma_series(y) - _recurrence(x)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def exp_digamma(x: float) -> float:
    """exp(psi(x)) for x > 0: no logarithm is taken, and tiny x gives 0."""
    y = x + 8.0
    return y * math.exp(_digamma_series(y) - _recurrence(x))


@njit(cache=True, error_model="numpy", fastmath=FAST)
def trigamma(x: float) -> float:
    """psi'(x) for x > 0."""
    total = 0.0
    for i in range(8):
        total += 1.0 / ((x + i) * (x + i))
    y = x + 8.0
    z = 1.0 / (y * y)
    series = 1 / 6 - z * (1 / 30 - z * (1 / 42 - z * (1 / 30 - z * (5 / 66 - z * (691 / 2730 - z * (7 / 6))))))
    return total + 1.0 / y + 0.5 * z + z / y * series


@njit(cache=True, error_model="numpy", fastmath=FAST)
def log_gamma(x: float) -> float:
    """Log Gamma(x) for x > 0."""
    y = x + 8.0
    z = 1.0 / (y * y)
    series = (
        1 / 12 - z * (1 / 360 - z * (1 / 1260 - z * (1 / 1680 - z * (1 / 1188 - z * (691 / 360360 - z / 156)))))
    ) / y
    t = x * (x + 7.0)
    product = math.log(t) + math.log((t + 6.0) * (t + 10.0) * (t + 12.0))
    return (y - 0.5) * math.log(y) - y + _HALF_LOG_TWO_PI + series - product
