"""Slow twins of the kernels of inference."""

import numpy as np
from scipy.special import gammaln


def fresh(count, x):
    """Expected tokens without repeats, sum_j x / (x + j); docs/math (L25)."""
    return np.array([sum(v / (v + j) for j in range(n)) for n, v in zip(count, x, strict=True)])


def document_weights(count, phi, prior, rounds=20_000, strength=np.inf):
    """Plain fixed-point rounds of one document: `count` (W,), `phi` (K, W), `prior` (K,); docs/math (D1), (L25)."""
    theta = np.array(prior, dtype=float)
    for _ in range(rounds):
        responsibility = theta[:, None] * phi
        responsibility = responsibility / responsibility.sum(axis=0)
        own = count if np.isinf(strength) else fresh(count, strength * theta @ phi / theta.sum())
        theta = prior + responsibility @ own
    return theta / theta.sum()


def value(count, phi, prior, weights, strength=np.inf):
    """What the weights are the maximum of; docs/math (D2), (L25)."""
    used = count > 0
    if np.isfinite(strength):
        x = strength * weights @ phi
        return (gammaln(x + count) - gammaln(x))[used].sum() + prior @ np.log(weights)
    return count[used] @ np.log(weights @ phi[:, used]) + prior @ np.log(weights)
