"""Random numbers inside kernels: a counter and a mixing function (SplitMix64; Steele, Lea and Flood 2014).

A stream is one word of state in an array, made from what it is for: the same seed, sweep and document give the same
numbers whatever ran before, on any thread.
"""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.compiling import njit

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_UNIT = 2.0**-53


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
