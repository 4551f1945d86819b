"""The start of vector models: seeds, by turns even and as in k-means++, then a few hard assignments."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.initialization.base import Float
from stickbreak.likelihoods import VectorLikelihood

SAMPLE = 10_000  # vectors that the start looks at, and at least ...
SAMPLE_PER_COMPONENT = 100  # ... so many for each component
POOL = 2_000  # vectors of the sample that seeds are drawn from, and at least ...
POOL_PER_COMPONENT = 20  # ... so many for each component
ROUNDS = 20  # of hard assignments, at most
AT_ONCE = 64  # vectors whose own components are computed together


def seeded(
    likelihood: VectorLikelihood,
    sample: NDArray,
    n_components: int,
    rng: np.random.Generator,
    *,
    seeds: NDArray | None = None,
) -> tuple[Float, Float]:
    """Return statistics of components that together explain a sample of vectors.             math.md (N6)

    Every other seed, the first among them, is drawn evenly: of vectors with heavy tails the others alone would stand
    for the tails. These are drawn in proportion to what a vector would gain by a component of its own: log p(x | the
    posterior given x alone) less that of the best seed so far. Then every vector goes to the component under which it
    is most likely, until none changes, at most twenty times over.

    Parameters
    ----------
    likelihood : VectorLikelihood
    sample : ndarray of shape (n, dim)
        At least one vector.
    n_components : int
        There are never more than vectors.
    rng : Generator
    seeds : ndarray of shape (K, dim), optional
        The vectors that components begin with, in place of drawn ones.

    Returns
    -------
    S : ndarray of shape (rows, K)
    N : ndarray of shape (K,)
        Vectors of the sample that each component has; the largest first.
    """
    if seeds is None:
        size = min(len(sample), max(POOL, POOL_PER_COMPONENT * n_components))
        pool = sample[rng.choice(len(sample), size, replace=False)]
        seeds = pool[_seeds(likelihood, pool, min(n_components, size), rng)]
    S, N = likelihood.statistics(seeds, np.eye(len(seeds))), np.ones(len(seeds))
    last = np.full(len(sample), -1)
    for _ in range(ROUNDS):
        best = likelihood.expected_log(likelihood.posterior(S, N), sample).argmax(axis=1)
        if np.array_equal(best, last):
            break
        last = best
        R = np.zeros((len(sample), len(seeds)), sample.dtype)
        R[np.arange(len(sample)), best] = 1.0
        S, N = likelihood.statistics(sample, R), R.sum(axis=0, dtype=np.float64)
    order = np.argsort(-N, kind="stable")
    return np.ascontiguousarray(S[:, order]), N[order]


def _seeds(likelihood: VectorLikelihood, sample: NDArray, n: int, rng: np.random.Generator) -> list[int]:
    """Draw the vectors that components begin with."""
    alone = _alone(likelihood, sample)
    best = np.full(len(sample), -np.inf)
    found = [int(rng.integers(len(sample)))]
    for _ in range(n - 1):
        best = np.maximum(best, likelihood.expected_log(_of_one(likelihood, sample[found[-1:]]), sample)[:, 0])
        even, gain = np.ones(len(sample)), np.maximum(alone - best, 0.0)
        even[found], gain[found] = 0.0, 0.0
        weights = gain if len(found) % 2 and gain.any() else even  # the gains of copies of the seeds are all zero
        found.append(int(rng.choice(len(sample), p=weights / weights.sum())))
    return found


def _alone(likelihood: VectorLikelihood, sample: NDArray) -> Float:
    """Return E log p(x | the posterior given x alone) of each vector, (n,)."""
    out = np.empty(len(sample))
    for begin in range(0, len(sample), AT_ONCE):
        part = sample[begin : begin + AT_ONCE]
        out[begin : begin + AT_ONCE] = np.diag(likelihood.expected_log(_of_one(likelihood, part), part))
    return out


def _of_one(likelihood: VectorLikelihood, vectors: NDArray) -> Any:
    """Return the posterior of a component for each vector."""
    S = likelihood.statistics(vectors, np.eye(len(vectors), dtype=vectors.dtype))
    return likelihood.posterior(S, np.ones(len(vectors)))
