"""What documents see of the words of topics, and what the topics add to the bound."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, psi

from stickbreak.baselines.kernels.words import add_gains, expected_logs
from stickbreak.baselines.online.state import OnlineState
from stickbreak.numerics.arrays import Float


def words_of_topics(state: OnlineState, words: NDArray[np.integer], eta: float) -> Float:
    """Return E log phi_kw of some words, (n, K)."""
    out = np.empty((words.size, state.n_topics))
    expected_logs(state.counts, state.scale, state.tokens, words.astype(np.int64), eta, out)
    return out


def objective_of_topics(state: OnlineState, eta: float) -> Float:
    """Return E log p(phi_k) - E log q(phi_k) of each topic, (K,), q(phi_k) = Dirichlet(eta + S_k).        math.md (V3)

    (V3) without the tokens: c_D(eta) - c_D(tau_k) + sum_w (eta - tau_kw) E log phi_kw.
    """
    total, gains = state.counts.shape[0] * eta, np.zeros(state.n_topics)
    add_gains(state.counts, state.scale, eta, gains)
    N = state.tokens
    found: Float = gammaln(total) - gammaln(total + N) + N * psi(total + N) + gains
    return found


def evidence(S: Float, eta: float, n_words: int) -> Float:
    """Return c_D(eta) - c_D(eta + S_k) of topics, (K,), from their words, (K, W).                         math.md (V3)

    Words that are left out have no tokens.
    """
    N, total = S.sum(axis=1), n_words * eta
    found: Float = gammaln(total) - gammaln(total + N) + (gammaln(eta + S) - gammaln(eta)).sum(axis=1)
    return found
