"""The start of vector models: seeds, most drawn evenly and some as in k-means++, then hard assignments."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.likelihoods import VectorLikelihood
from stickbreak.numerics.arrays import Float

# The start looks at SAMPLE vectors, or at SAMPLE_PER_COMPONENT for each component if that is more.
SAMPLE = 10_000
SAMPLE_PER_COMPONENT = 400
# Seeds are drawn from POOL vectors of the sample, or from POOL_PER_COMPONENT for each component if that is more.
POOL = 10_000
POOL_PER_COMPONENT = 20
# At most this number of rounds of hard assignments: with few vectors for each parameter, more overfit the sample.
ROUNDS = 10
# Number or share of the seeds that are drawn by gain; never all of them.
FAR_SEEDS, FAR_SHARE = 10, 0.1
AT_ONCE = 64  # vectors whose own components are computed together
BLOCK = 4096  # vectors that are assigned together


def start_of_components(
    likelihood: VectorLikelihood,
    sample: NDArray,
    n_components: int,
    rng: np.random.Generator,
    *,
    seeds: NDArray | None = None,
) -> tuple[Float, Float]:
    """Return statistics of components that together explain a sample of vectors.             docs/math (N6)

    The first seed and most others are drawn evenly. The last seeds (ten, or a tenth of all) are drawn in proportion to
    what a vector would gain from its own component: log p(x | the posterior given x alone), minus that of the best seed
    so far. They find small clusters far away, but for vectors with heavy tails they represent the tails. Then every
    vector of the sample is assigned to the component under which it is most likely. This is repeated until no
    assignment changes, at most ten times, and at most as many times as there are vectors for each number in the
    statistics.

    `sample` (n, dim): at least one vector. `n_components`: there are never more than vectors. `seeds` (K, dim): vectors
    with which the components begin, in place of drawn ones. Returns `S` (rows, K). `N` (K,): number of vectors of the
    sample in each component, the largest first.
    """
    if seeds is None:
        size = min(len(sample), max(POOL, POOL_PER_COMPONENT * n_components))
        pool = sample[rng.choice(len(sample), size, replace=False)]
        seeds = pool[_seeds(likelihood, pool, min(n_components, size), rng)]
    S, N = likelihood.statistics(seeds, np.eye(len(seeds))), np.ones(len(seeds))
    last = np.full(len(sample), -1)
    for _ in range(max(1, min(ROUNDS, len(sample) // (len(seeds) * likelihood.n_rows)))):
        best, S, N = _assigned(likelihood, likelihood.posterior(S, N), sample, len(seeds))
        if np.array_equal(best, last):
            break
        last = best
    order = np.argsort(-N, kind="stable")
    return np.ascontiguousarray(S[:, order]), N[order]


def _assigned(likelihood: VectorLikelihood, posterior: Any, sample: NDArray, n: int) -> tuple[NDArray, Float, Float]:
    """Return the component under which each vector is most likely; S (rows, K) and N (K,) of vectors assigned so."""
    best, S, N = np.empty(len(sample), np.int64), np.zeros((likelihood.n_rows, n)), np.zeros(n)
    for begin in range(0, len(sample), BLOCK):
        part = sample[begin : begin + BLOCK]
        found = best[begin : begin + BLOCK] = likelihood.expected_log(posterior, part).argmax(axis=1)
        R = np.zeros((len(part), n), sample.dtype)
        R[np.arange(len(part)), found] = 1.0
        S += likelihood.statistics(part, R)
        N += R.sum(axis=0)
    return best, S, N


def _seeds(likelihood: VectorLikelihood, sample: NDArray, n: int, rng: np.random.Generator) -> list[int]:
    """Draw the vectors that components begin with."""
    n_far = min(n - 1, max(FAR_SEEDS, int(FAR_SHARE * n)))
    found = rng.choice(len(sample), n - n_far, replace=False).tolist()
    if not n_far:
        return found
    alone = gains_alone(likelihood, sample)
    best = likelihood.expected_log(_of_each(likelihood, sample[found]), sample).max(axis=1)
    for _ in range(n_far):
        even, gain = np.ones(len(sample)), np.maximum(alone - best, 0.0)
        even[found], gain[found] = 0.0, 0.0
        weights = gain if gain.any() else even  # the gains of copies of the seeds are all zero
        found.append(int(rng.choice(len(sample), p=weights / weights.sum())))
        of_last = likelihood.expected_log(_of_each(likelihood, sample[found[-1:]]), sample)[:, 0]
        best = np.maximum(best, of_last)
    return found


def gains_alone(likelihood: VectorLikelihood, sample: NDArray) -> Float:
    """Return E log p(x | the posterior given x alone) of each vector, (n,), as if it had its own component."""
    out = np.empty(len(sample))
    for begin in range(0, len(sample), AT_ONCE):
        part = sample[begin : begin + AT_ONCE]
        out[begin : begin + AT_ONCE] = np.diag(likelihood.expected_log(_of_each(likelihood, part), part))
    return out


def _of_each(likelihood: VectorLikelihood, vectors: NDArray) -> Any:
    """Return the posterior of a component for each vector."""
    S = likelihood.statistics(vectors, np.eye(len(vectors), dtype=vectors.dtype))
    return likelihood.posterior(S, np.ones(len(vectors)))
