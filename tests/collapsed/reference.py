"""Slow NumPy twin of CVB0, written from SPEC 1.14."""

from __future__ import annotations

import numpy as np
from scipy.special import psi


def sweep(counts, r, beta, *, alpha, eta):
    """One sweep over a dense (D, W) array of counts; r is (D, W, K) and is changed in place.

    For every (d, w): all counts are summed anew from r, without the one token that is updated. Of a weight below
    one, only that weight is there to be taken out.
    """
    n_documents, n_words = counts.shape
    for d in range(n_documents):
        for w in range(n_words):
            if counts[d, w] == 0:
                continue
            own = r[d, w] * min(counts[d, w], 1.0)
            S_w = np.einsum("d,dk->k", counts[:, w], r[:, w]) - own
            N = np.einsum("dw,dwk->k", counts, r) - own
            n_d = counts[d] @ r[d] - own
            new = (S_w + eta) / (N + n_words * eta) * (n_d + alpha * beta)
            new = np.maximum(new, 0.0)
            r[d, w] = new / new.sum()


def corpus_weights(counts, r, beta, *, alpha, gamma):
    """(beta_k, beta_rest) from the expected tables."""
    n_dk = np.einsum("dw,dwk->dk", counts, r)
    m = alpha * beta * (psi(alpha * beta + n_dk) - psi(alpha * beta))
    tables = m.sum(axis=0)
    return tables / (gamma + tables.sum()), gamma / (gamma + tables.sum())
