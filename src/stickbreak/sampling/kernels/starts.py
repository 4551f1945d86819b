"""Topics of tokens drawn under given topics; twin in tests/sampling/test_counts.py."""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_arrays import copy
from stickbreak.numerics.kernel_random import open_stream, uniform
from stickbreak.sampling.kernels.labels import fill_prior


@njit(cache=True, nogil=True, error_model="numpy")
def assign(first, start, word, phi, prior, labels, rounds, z, rng, key):
    """Draw z_i in proportion to phi_wk (N_dk + prior_k), after `rounds` of N_dk = sum_i of them.       math.md (D1)

    `first`: number of the first document. prior, alpha beta, is that of documents without labels.
    """
    n_topics = prior.size
    own, weight, expected, share = np.empty(n_topics), np.empty(n_topics), np.empty(n_topics), np.empty(n_topics)
    for d in range(start.size - 1):
        open_stream(rng, key, first + d)
        copy(prior, own)
        fill_prior(labels, first + d, n_topics, own)
        copy(own, weight)
        for _ in range(rounds):
            copy(own, expected)
            for i in range(start[d], start[d + 1]):
                row, total = phi[word[i]], 0.0
                for k in range(n_topics):
                    total += row[k] * weight[k]
                for k in range(n_topics):
                    expected[k] += row[k] * weight[k] / total
            copy(expected, weight)
        for i in range(start[d], start[d + 1]):
            row, total = phi[word[i]], 0.0
            for k in range(n_topics):
                share[k] = row[k] * weight[k]
                total += share[k]
            u, k = uniform(rng) * total - share[0], 0
            while u >= 0.0 and k < n_topics - 1:
                k += 1
                u -= share[k]
            z[i] = k
