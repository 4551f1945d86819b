"""Small topics, documents and tokens held out of them."""

import numpy as np
from scipy import sparse

from stickbreak.numerics.pseudo_counts import of_words, total_of
from stickbreak.path.evidence import Evidence, HeldOutTokens


def problem(seed, K=7, W=30, D=40, sparsity=0.2):
    """Return expected counts, eta, document weights and a table of tokens held out."""
    rng = np.random.default_rng(seed)
    S = rng.gamma(sparsity, 40.0 / sparsity, (K, W)) * rng.gamma(1.0, 1.0, (K, 1))
    theta = rng.dirichlet(np.full(K, 0.3), D) * 0.98 + 0.02 / K
    phi = (S + 0.1) / (S + 0.1).sum(axis=1, keepdims=True)
    held = np.array([rng.multinomial(6, row) for row in theta @ phi]).astype(float)
    return S, 0.1, theta, held


def tokens_of(held):
    """Return a dense table of tokens as the path takes them."""
    return HeldOutTokens.of(sparse.csr_matrix(held))


def evidence_of(S, eta, theta, held):
    """Return topics, document weights and tokens as one part of the evidence."""
    tokens = tokens_of(held)
    return Evidence(
        S[:, tokens.words] + of_words(eta, tokens.words), S.sum(axis=1) + total_of(eta, S.shape[1]), theta, tokens
    )
