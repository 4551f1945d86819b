"""Topics of Gibbs sampling that are one: the most alike first, as far as documents set apart say (math.md (C28)).

A fit that begins with more topics than there are has several of each. They differ by chance alone, and sampling seldom
puts them together. Documents that took no part in them are predicted better by one topic with all their tokens.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from stickbreak.collapsed.kernels import alike as kernels
from stickbreak.numerics.arrays import Float, Int

STEP = 0.9  # of the topics are left, at each number that is looked at
LEAST = 0.5  # of the topics: a round stops once half or fewer are left, and the next one follows after some passes
FEW, SLACK = 20, 2.0  # as few topics or fewer may predict worse than more, by these standard errors
WORSE = 3.0  # standard errors by which fewer topics predict worse, so that no fewer are looked at


def pairs_by_likeness(counts: NDArray[np.int32], eta: float) -> Iterator[tuple[int, int]]:
    """Yield pairs (k, l) until one topic is left: l becomes part of k, the pair that is most alike each time.

    math.md (C28)

    Parameters
    ----------
    counts : ndarray of int32, of shape (W, K)
        Tokens of the words in the topics, each of which has some; changed in place.
    eta : float
    """
    K, total = counts.shape[1], counts.sum(axis=0)
    log_rising = _log_rising(int(counts.sum(axis=1).max(initial=0)), eta)
    eta_total = eta * counts.shape[0]

    def of_totals(a: Int, b: Int) -> Float:
        both: Float = gammaln(a + b + eta_total) - gammaln(a + eta_total) - gammaln(b + eta_total)
        return both + math.lgamma(eta_total)

    words = np.zeros((K, K))
    kernels.of_pairs(counts, log_rising, words)
    likeness = (words - of_totals(total[:, None], total[None])) / np.minimum(total[:, None], total[None])
    np.fill_diagonal(likeness, -np.inf)
    alive, row = np.ones(K, np.bool_), np.zeros(K)
    for _ in range(K - 1):
        k, l = sorted(map(int, np.unravel_index(np.argmax(likeness), likeness.shape)))  # noqa: E741
        counts[:, k] += counts[:, l]
        counts[:, l], alive[l] = 0, False
        total[k] += total[l]
        likeness[l], likeness[:, l] = -np.inf, -np.inf
        others = alive.copy()
        others[k] = False
        kernels.of_topic(counts, k, log_rising, row)
        new = (row[others] - of_totals(total[k], total[others])) / np.minimum(total[k], total[others])
        likeness[k, others] = likeness[others, k] = new
        yield k, l


def _log_rising(most: int, eta: float) -> Float:
    """Return log Γ(n + η) - log Γ(η) for all n up to `most`."""
    rising: Float = gammaln(np.arange(most + 1) + eta) - math.lgamma(eta)
    return rising


def fewer(counts: NDArray[np.int32], eta: float, gains: Callable[[Int], Float]) -> Int | None:
    """Return which of the fewer topics each becomes part of, (K,); None where fewer predict worse.     math.md (C28)

    Parameters
    ----------
    counts : ndarray of int32, of shape (W, K)
        Tokens of the words in the topics; changed in place.
    eta : float
    gains : callable
        Takes which topic each becomes part of, (K,); returns how much better each document set apart is predicted.
    """
    K = left = counts.shape[1]
    part_of, due, found = np.arange(K), _next(K), None
    best: Float | float = 0.0
    for k, l in pairs_by_likeness(counts, eta):  # noqa: E741
        part_of[part_of == l] = k
        left -= 1
        if left > due:
            continue
        now = np.unique(part_of, return_inverse=True)[1].astype(np.int64)
        gain = gains(now)
        more = gain - best
        error = math.sqrt(float((more**2).sum()))
        if float(more.sum()) > (-SLACK * error if left <= FEW else 0.0):
            found, best = now, gain
        if float(more.sum()) < -WORSE * error or left <= LEAST * K:
            break
        due = _next(left)
    return found


def _next(left: int) -> int:
    """Return the number of topics that is looked at next."""
    return min(left - 1, int(STEP * left))
