"""The backoff distribution of the words: P*(z), and what a word keeps of a token at a leaf."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from stickbreak.backoff_tree.shape import Shape
from stickbreak.backoff_tree.state import Discounts
from stickbreak.numerics.arrays import Float, Int

_SLACK = 1.001  # C is at least so many times the largest smoothing of a leaf
LEAST_SHARE, MOST_SHARE = 1e-6, 0.999  # of the words of a leaf, that may be smoothing


class Backoff(NamedTuple):
    """The marginal of all leaves, held fixed during a pass.                                         math.md (T6)"""

    peak: float  # C
    smoothing: Float  # (L,)  B_z = sum_w B_w(z)
    prob: Float  # (L,)  P*(z); of a leaf without tokens, as if it had one
    scale: Float  # (L,)  1 / P*(z)


def is_smoothing_share(value: object) -> bool:
    """Whether a value can be the `share` of a backoff."""
    return isinstance(value, float) and LEAST_SHARE <= value <= MOST_SHARE


def word_smoothing(n_words: Int, discounts: Discounts, shape: Shape) -> Float:
    """Return B_z, the smoothing that all words together give to each leaf, (L,).                    math.md (T6)

    Parameters
    ----------
    n_words : ndarray of shape (L,)
        Words that have tokens at each leaf.
    discounts : Discounts
        Of the words.
    shape : TreeShape
    """
    out = np.zeros(1)
    for level in range(shape.depth):
        if level > 0:
            out = np.repeat(out, shape.n_children(level - 1))
        out += discounts.delta[level] / shape.sizes(level) * shape.sums_below(n_words.astype(np.float64), level)
    return np.repeat(out, shape.n_children(shape.depth - 1))


def solve_backoff(
    n_tokens: Int, n_words: Int, discounts: Discounts, shape: Shape, share: float | None = None
) -> Backoff:
    """Return P* and C from what all words together have at each leaf.                               math.md (T6)

    A_z = n_z - Delta(z) D_z: all counts are 1 or more, and Delta is less.

    Parameters
    ----------
    n_tokens : ndarray of shape (L,)
        Tokens of each leaf; at least one in all.
    n_words : ndarray of shape (L,)
        Words D_z that have tokens at each leaf.
    discounts : Discounts
        Of the words; their sum is below 1.
    shape : TreeShape
    share : float, optional
        max_z B_z / C, which gives C. The default solves C so that P* adds up to the tokens.
    """
    discount = float(discounts.given[-1])
    smoothing = word_smoothing(n_words, discounts, shape)
    kept = n_tokens - discount * n_words
    largest, used = float(smoothing.max()), n_tokens > 0
    if share is None:
        given = float(discount * n_words.sum())
        peak = max(_conserving(kept[used], smoothing[used], given), _SLACK * largest)
    else:
        peak = largest / share
    prob = np.maximum(kept, 1.0 - discount) / (peak - smoothing)
    return Backoff(peak, smoothing, prob, 1.0 / prob)


def _conserving(A: Float, B: Float, given: float) -> float:
    """Return the C with C sum_z A_z / (C - B_z) = N, that is sum_z A_z B_z / (C - B_z) = N - sum A, which is `given`.

    The sum falls from infinity at max B to zero.
    """
    least = float(B.max())

    def excess(log_gap: float) -> float:
        gap = np.exp(log_gap)
        return float((A * B / (least - B + gap)).sum() / given) - 1.0

    low = high = np.log(least)
    while excess(low) < 0:
        low -= 4.0
    while excess(high) > 0:
        high += 4.0
    return least + float(np.exp(brentq(excess, low, high, xtol=1e-13, rtol=1e-15)))
