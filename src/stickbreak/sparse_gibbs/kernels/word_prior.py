"""The prior of a word in each topic, as sweeps read it (math.md (L9))."""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.compiling import njit

_ONE = np.uint64(1)


@njit(cache=True, nogil=True, error_model="numpy")
def prior_of_word(w, eta, start, topic, pseudo, prior):
    """prior[k] = eta_w + b_kw."""
    for k in range(np.uint64(prior.size)):
        prior[k] = eta[w]
    for j in range(np.uint64(start[w]), np.uint64(start[w + _ONE])):
        prior[np.uint64(topic[j])] = np.float32(np.float64(eta[w]) + pseudo[j])
