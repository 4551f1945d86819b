"""Topics whose expected counts are scaled down by steps: what documents see of them, and what they add to the bound."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import gammaln, psi

from stickbreak.numerics.arrays import Float
from stickbreak.numerics.pseudo_counts import Eta, total_of
from stickbreak_baselines.kernels.words import add_gains, expected_logs


class Topics(Protocol):
    """q(phi_k) = Dirichlet(eta + S_k), S = scale * counts, with pseudo-counts in S."""

    counts: Float  # (W, K)  S / scale
    scale: float
    tokens: Float  # (K,)   S.sum(0)


def words_of_topics(topics: Topics, words: NDArray[np.integer], eta: Eta) -> Float:
    """Return E log phi_kw of some words, (n, K)."""
    out = np.empty((words.size, topics.tokens.size))
    expected_logs(topics.counts, topics.scale, topics.tokens, words.astype(np.int64), eta, out)
    return out


def objective_of_topics(topics: Topics, eta: Eta, pseudo: sparse.csr_array | None = None) -> Float:
    """Return E log p(phi_k) - E log q(phi_k) of each topic, (K,), q(phi_k) = Dirichlet(eta + S_k).      docs/math (V3)

    (V3) without the tokens: c_D(eta) - c_D(tau_k) + sum_w (eta - tau_kw) E log phi_kw. The first topics have `pseudo`,
    counts (W, n_kept), in S and in their prior.
    """
    total, gains, N = total_of(eta, topics.counts.shape[0]), np.zeros(topics.tokens.size), topics.tokens
    add_gains(topics.counts, topics.scale, eta, gains)
    found: Float = gammaln(total) - gammaln(total + N) + N * psi(total + N) + gains
    if pseudo is not None:
        found[: pseudo.shape[1]] += of_pseudo(topics, eta, pseudo)
    return found


def of_pseudo(topics: Topics, eta: Eta, pseudo: sparse.csr_array) -> Float:
    """Return what pseudo-counts b in S and in the prior add to the bound of their topics, (n_kept,).   docs/math (L17)

    c_D(eta + b_k) - c_D(eta) + sum_w b_kw E log phi_kw.
    """
    entries, n_kept = pseudo.tocoo(), pseudo.shape[1]
    b, word, topic = entries.data, entries.row, entries.col
    total, N = total_of(eta, pseudo.shape[0]), topics.tokens[:n_kept]
    eta_w = eta[word] if isinstance(eta, np.ndarray) else eta
    S = topics.scale * topics.counts[word, topic]
    of_words = gammaln(eta_w) - gammaln(eta_w + b) + b * psi(eta_w + S)
    sums = pseudo.sum(axis=0)
    found: Float = gammaln(total + sums) - gammaln(total) - sums * psi(total + N)
    return found + np.bincount(topic, of_words, n_kept)


def give_back(topics: Topics, pseudo: sparse.csr_array, step: float) -> None:
    """Give pseudo-counts back what a step has taken of them: S has them as they are.                 docs/math (L17)"""
    entries = pseudo.tocoo()
    topics.counts[entries.row, entries.col] += (step / topics.scale) * entries.data
    topics.tokens[: pseudo.shape[1]] += step * pseudo.sum(axis=0)
