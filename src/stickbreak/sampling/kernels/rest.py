"""The topics without tokens, as functions of random streams: an infinite random measure that nobody stores.

The rest of the corpus weights is cut into R parts, each broken into sticks: topic e = r + R s is stick s of part r. Its
words stand in a binary tree: a node gives its left half a Beta share. Whoever asks for the same number, on any
thread or machine, gets the same. math.md (G14)

Twin in tests/sampling/partially_collapsed_twin.py.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_gamma import draw_log_odds
from stickbreak.numerics.kernel_random import open_stream, uniform

_NOTHING = 1e-300  # mass left of a part: no double sees it


class Rest(NamedTuple):
    """All topics without tokens, weights times alpha."""

    mass: NDArray[np.float64]  # (R + 1,)  of the parts before each one; last that of all
    concentration: float  # of the sticks of a part, gamma / R
    eta: float
    n_words: int
    sticks: np.uint64  # keys of the streams
    words: np.uint64


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _stick(rest, e, rng):
    """Return the share of topic e in what is left of its part: Beta(1, gamma / R)."""
    open_stream(rng, rest.sticks, e)
    return 1.0 - (1.0 - uniform(rng)) ** (1.0 / rest.concentration)


@njit(cache=True, nogil=True, error_model="numpy")
def topic_at(rest, u, rng):
    """Return the topic at u, 0 <= u < mass[R], of the weights laid end to end."""
    n_parts = rest.mass.size - 1
    e = np.int64(np.searchsorted(rest.mass[1:], u, side="right"))
    e = min(e, n_parts - 1)
    u, left = u - rest.mass[e], rest.mass[e + 1] - rest.mass[e]
    while left > _NOTHING:
        weight = _stick(rest, e, rng) * left
        if u < weight:
            break
        u, left, e = u - weight, left - weight, e + n_parts
    return e


@njit(cache=True, nogil=True, error_model="numpy")
def weight_of(rest, e, rng):
    """Return alpha times the corpus weight of topic e."""
    n_parts = rest.mass.size - 1
    at = e % n_parts
    left = rest.mass[at + 1] - rest.mass[at]
    while at < e:
        left *= 1.0 - _stick(rest, at, rng)
        at += n_parts
    return left * _stick(rest, e, rng)


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _share(rest, e, node, low, middle, high, left, rng):
    """Return the share of one half of the words low .. high - 1 of topic e."""
    open_stream(rng, rest.words, e)
    open_stream(rng, rng[0], node)
    odds = draw_log_odds(rng, rest.eta * (middle - low), rest.eta * (high - middle))
    return 1.0 / (1.0 + math.exp(-odds if left else odds))


@njit(cache=True, nogil=True, error_model="numpy")
def says(rest, e, w, coins, rng):
    """Return True with the probability of word w in topic e: a coin from `coins` at each node down to the word."""
    low, high, node = 0, rest.n_words, 1
    while high - low > 1:
        middle = (low + high) // 2
        left = w < middle
        if uniform(coins) >= _share(rest, e, node, low, middle, high, left, rng):
            return False
        low, high, node = (low, middle, 2 * node) if left else (middle, high, 2 * node + 1)
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def word_of(rest, e, w, rng):
    """Return the probability of word w in topic e."""
    low, high, node, p = 0, rest.n_words, 1, 1.0
    while high - low > 1:
        middle = (low + high) // 2
        left = w < middle
        p *= _share(rest, e, node, low, middle, high, left, rng)
        low, high, node = (low, middle, 2 * node) if left else (middle, high, 2 * node + 1)
    return p
