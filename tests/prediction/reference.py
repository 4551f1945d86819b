"""Slow twins of the kernels of inference."""

import numpy as np


def document_weights(count, phi, prior, rounds=20_000):
    """Plain fixed-point rounds of one document: `count` (W,), `phi` (K, W), `prior` (K,); docs/math (D1)."""
    theta = np.array(prior, dtype=float)
    for _ in range(rounds):
        responsibility = theta[:, None] * phi
        responsibility = responsibility / responsibility.sum(axis=0)
        theta = prior + responsibility @ count
    return theta / theta.sum()


def value(count, phi, prior, weights):
    """What the weights are the maximum of; docs/math (D2)."""
    used = count > 0
    return count[used] @ np.log(weights @ phi[:, used]) + prior @ np.log(weights)
