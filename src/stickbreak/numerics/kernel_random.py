"""Random numbers inside kernels: a counter and a mixing function (SplitMix64; Steele, Lea and Flood 2014).

A stream is one word of state in an array, made from what it is for: the same seed, sweep and document give the same
numbers whatever ran before, on any thread.
"""

from __future__ import annotations

import math

import numpy as np

from stickbreak.numerics.compiling import njit

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_UNIT = 2.0**-53
_UNSEEN = 2.0**-53  # u > exp(-x) cannot happen for smaller x: u is a multiple of it


@njit(cache=True, nogil=True, inline="always")
def mix(x):
    """Return 64 bits in which every bit of x has a say."""
    x = (x ^ (x >> _S30)) * _FIRST
    x = (x ^ (x >> _S27)) * _SECOND
    return x ^ (x >> _S31)


@njit(cache=True, nogil=True)
def open_stream(rng, key, index):
    """Begin the stream `index` of a key in rng (1,)."""
    rng[0] = mix(mix(np.uint64(key) + _STEP) ^ (np.uint64(index) * _STEP + _FIRST))


@njit(cache=True, nogil=True, inline="always")
def uniform(rng):
    """Return the next number of [0, 1)."""
    rng[0] += _STEP
    return np.float64(mix(rng[0]) >> _S11) * _UNIT


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
