"""Topics of Gibbs sampling that are one: the most alike first, as far as documents set apart say (math.md (C28)).

A fit that begins with more topics than there are has several of each. They differ by chance alone, and sampling seldom
puts them together. Of long documents some are mixtures, each in the documents of a topic that it is to go back to. New
documents are predicted better by one topic with all their tokens.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from stickbreak.collapsed.kernels import alike as kernels
from stickbreak.numerics.arrays import Float, Int

STEP = 0.9  # of the topics are left, at each number that is looked at; of few, each number is
LEAST = 0.5  # of the topics: a round stops once half or fewer are left, and the next one follows after some passes
FEW = 20  # topics: so few, or fewer, may predict a little worse than more ...
SLACK, SMALL = 2.0, 10.0  # ... by fewer standard errors than this, and fewer nats for each topic less
WIDE = 64.0  # times the pseudo-counts of two topics: with less, large ones in the same documents become one too soon
WORSE, LOSS = 3.0, 0.5  # a round ends where they lose more standard errors than this, and more nats for each topic less


@dataclass(frozen=True, slots=True)
class InTopics:
    """Where tokens are: those of the words, and of the documents, in topics that have some."""

    counts: NDArray[np.int32]  # (W, K)
    eta: float
    start: Int  # (D + 1,)  document d has the places start[d] to start[d + 1] of the next two
    topic: Int
    tokens: Int
    a: Float  # (K,)  pseudo-count of each topic in a document


def pairs_by_likeness(of: InTopics) -> Iterator[tuple[int, int]]:
    """Yield pairs (k, l) until one topic is left: l becomes part of k, the pair that is most alike each time.

    math.md (C28)

    Parameters
    ----------
    of : InTopics
        Its counts are changed in place.
    """
    counts, documents = of.counts, (of.start, of.topic, of.tokens)
    K, total = counts.shape[1], counts.sum(axis=0)
    log_rising = _log_rising(int(counts.sum(axis=1).max(initial=0)), of.eta)
    a = WIDE * of.a
    eta_total = of.eta * counts.shape[0]

    def of_totals(n: Int, m: Int) -> Float:
        both: Float = gammaln(n + m + eta_total) - gammaln(n + eta_total) - gammaln(m + eta_total)
        return both + math.lgamma(eta_total)

    factors = np.zeros((K, K))
    kernels.of_pairs(counts, log_rising, factors)
    kernels.of_pairs_in_documents(*documents, a, factors)
    likeness = (factors - of_totals(total[:, None], total[None])) / np.minimum(total[:, None], total[None])
    np.fill_diagonal(likeness, -np.inf)
    alive, row, part_of = np.ones(K, np.bool_), np.zeros(K), np.arange(K)
    for _ in range(K - 1):
        k, l = sorted(map(int, np.unravel_index(np.argmax(likeness), likeness.shape)))  # noqa: E741
        counts[:, k] += counts[:, l]
        counts[:, l], alive[l] = 0, False
        total[k] += total[l]
        a[k] += a[l]
        part_of[part_of == l] = k
        likeness[l], likeness[:, l] = -np.inf, -np.inf
        others = alive.copy()
        others[k] = False
        kernels.of_topic(counts, k, log_rising, row)
        kernels.of_topic_in_documents(*documents, part_of, k, a, row)
        new = (row[others] - of_totals(total[k], total[others])) / np.minimum(total[k], total[others])
        likeness[k, others] = likeness[others, k] = new
        yield k, l


def _log_rising(most: int, eta: float) -> Float:
    """Return log Γ(n + η) - log Γ(η) for all n up to `most`, of this pseudo-count."""
    rising: Float = gammaln(np.arange(most + 1) + eta) - math.lgamma(eta)
    return rising


def fewer(of: InTopics, gains: Callable[[Int], Float]) -> Int | None:
    """Return which of the fewer topics each becomes part of, (K,); None where fewer predict worse.     math.md (C28)

    Parameters
    ----------
    of : InTopics
        Its counts are changed in place.
    gains : callable
        Takes which topic each becomes part of, (K,); returns how much better each document set apart is predicted.
    """
    K = left = at = of.counts.shape[1]  # at: topics of the best number so far
    part_of, due, found = np.arange(K), _next(K), None
    best: Float | float = 0.0
    for k, l in pairs_by_likeness(of):  # noqa: E741
        part_of[part_of == l] = k
        left -= 1
        if left > due:
            continue
        now = np.unique(part_of, return_inverse=True)[1].astype(np.int64)
        gain = gains(now)
        more = gain - best
        error = math.sqrt(float((more**2).sum()))
        if float(more.sum()) > (-min(SLACK * error, SMALL * (at - left)) if left <= FEW else 0.0):
            found, best, at = now, gain, left
        if float(more.sum()) < -max(WORSE * error, LOSS * (at - left)) or left <= LEAST * K:
            break
        due = _next(left)
    return found


def _next(left: int) -> int:
    """Return the number of topics that is looked at next."""
    return left - 1 if left <= FEW else max(FEW, int(STEP * left))
