"""Gamma and Beta numbers inside kernels, drawn from the streams of `kernel_random`.

Twin in tests/sampling/partially_collapsed_twin.py; tests/numerics/test_kernel_gamma.py has their laws.
"""

from __future__ import annotations

import math

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_random import uniform

_UNSEEN = 2.0**-53  # u > exp(-x) cannot happen for smaller x: u is a multiple of it


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _draw_normal(rng):
    """Draw a standard normal number (Marsaglia's polar method)."""
    while True:
        x, y = 2.0 * uniform(rng) - 1.0, 2.0 * uniform(rng) - 1.0
        square = x * x + y * y
        if 0.0 < square < 1.0:
            return x * math.sqrt(-2.0 * math.log(square) / square)


@njit(cache=True, nogil=True, error_model="numpy")
def _draw_above(rng, shape):
    """Draw a Gamma(shape, 1) number, shape >= 1 (Marsaglia and Tsang 2000)."""
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = _draw_normal(rng)
        v = (1.0 + c * x) ** 3
        if v > 0.0:
            u = 1.0 - uniform(rng)
            if u < 1.0 - 0.0331 * x**4 or math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
                return d * v


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def draw_gamma(rng, shape):
    """Draw a Gamma(shape, 1) number; below a shape of 1 by GS of Ahrens and Dieter (1974).

    One that is smaller than any positive double is 0.
    """
    if shape >= 1.0:
        return _draw_above(rng, shape)
    top = 1.0 + shape / math.e
    while True:
        p = top * (1.0 - uniform(rng))
        if p <= 1.0:
            x = math.exp(math.log(p) / shape)
            if x < _UNSEEN:
                return x
            u = uniform(rng)
            if u <= 1.0 - x or u <= math.exp(-x):  # 1 - x is less, and quicker
                return x
        else:
            x = -math.log((top - p) / shape)
            if uniform(rng) <= x ** (shape - 1.0):
                return x


@njit(cache=True, nogil=True, error_model="numpy")
def draw_log_gamma(rng, shape):
    """Draw the logarithm of a Gamma(shape, 1) number, however small that is."""
    if shape >= 1.0:
        return math.log(_draw_above(rng, shape))
    return math.log(_draw_above(rng, shape + 1.0)) + math.log(1.0 - uniform(rng)) / shape


@njit(cache=True, nogil=True, error_model="numpy")
def draw_log_odds(rng, first, second):
    """Draw log(x / (1 - x)) of a Beta(first, second) number x."""
    return draw_log_gamma(rng, first) - draw_log_gamma(rng, second)
