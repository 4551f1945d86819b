"""Topics are word distributions with a symmetric Dirichlet prior."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import gammaln, psi

from stickbreak.likelihoods.base import EMPTY, TokenLikelihood
from stickbreak.likelihoods.kernels.gains import sum_digamma_gain, sum_log_gamma_gain
from stickbreak.likelihoods.kernels.word_weights import expected_word_weights
from stickbreak.numerics.arrays import Float, Int32
from stickbreak.numerics.maximum import maximiser
from stickbreak.numerics.ranges import SMALLEST

ETA_LIMITS = (1e-4, 1e2)  # of a learned eta: topics of one word each would take it to 0, even topics to infinity


@dataclass(frozen=True, slots=True)
class DirichletMultinomial(TokenLikelihood):
    """phi_k ~ Dirichlet(eta, ..., eta) over W words; a token of topic k is word w with probability phi_kw.

    Arrays are word-major: statistics S and parameters tau are (W, K), and tau is the table of the globals.
    """

    least: ClassVar[float] = SMALLEST
    least_merge_score: ClassVar[float] = 0.5  # of at most 1

    eta: float
    n_words: int

    @classmethod
    def from_counts(cls, counts: Any, eta: float) -> Self:
        """Take the number of words; the prior is the same for each of them."""
        return cls(eta, int(counts.shape[1]))

    def posterior(self, S: Float, N: Float) -> Float:
        """Return tau = eta + S, (W, K).                                           math.md (V3)"""
        return self.table(S)

    def evidence(self, S: Float, N: Float) -> Float:
        """Return c_D(eta) - c_D(eta + S_k) of each topic, (K,); N = S.sum(0).     math.md (V3)"""
        gains = np.zeros(S.shape[1])
        sum_log_gamma_gain(S, self.eta, gains)
        total = self.n_words * self.eta
        return gammaln(total) - gammaln(total + N) + gains

    def objective(self, S: Float, N: Float, posterior: Float) -> Float:
        """Return c_D(eta) - c_D(tau_k) + sum_w (S_kw + eta - tau_kw) E log phi_kw, (K,).     math.md (V3)"""
        tau = posterior
        expected_log = psi(tau) - psi(tau.sum(axis=0))
        prior = gammaln(self.n_words * self.eta) - self.n_words * gammaln(self.eta)
        normaliser = gammaln(tau.sum(axis=0)) - gammaln(tau).sum(axis=0)
        return prior - normaliser + ((S + self.eta - tau) * expected_log).sum(axis=0)

    def mean(self, posterior: Float) -> Float:
        """Return E[phi], (W, K); columns sum to one."""
        return posterior / posterior.sum(axis=0)

    def table(self, S: Float) -> Float:
        """Return tau = eta + S of some rows.                                      math.md (V3)"""
        return S + self.eta

    def table_sum(self, before: Float | float, change: Float, N: Float) -> Float:
        """Return sum_w tau_kw, (K,), of rows that changed."""
        return before + change.sum(axis=0)

    def weigh(self, tau: Float, tau_sum: Float, words: Int32, out: Float) -> None:
        """Write exp(E log phi_kw) of some words, (n, K), up to a factor for each.      math.md (V4)"""
        expected_word_weights(tau, tau_sum, words, out)

    def table_totals(self, tau: Float) -> Float:
        """Return sum_w tau_kw, (K,)."""
        return tau.sum(axis=0)

    def word_distributions(self, tau: Float) -> Float:
        """Return E[phi], (W, K)."""
        return self.mean(tau)

    def counts(self, tau: Float, tau_sum: Float) -> tuple[Float, Float]:
        """Return S = tau - eta and its sums."""
        S = np.maximum(tau - self.eta, 0.0)
        return S, S.sum(axis=0)

    def merge_scores(self, S: Float, N: Float, evidence: Float) -> Float:
        """Return sum_w sqrt(phi_lw phi_mw) of the word shares (Bhattacharyya), (K, K); NaN for empty topics."""
        root = np.sqrt(np.maximum(S, 0.0) / np.where(N > EMPTY, N, np.nan))
        return root.T @ root

    @property
    def hyperparameters(self) -> dict[str, float]:
        """The pseudo-count eta."""
        return {"eta": self.eta}

    def with_hyperparameters(self, values: Mapping[str, float]) -> Self:
        """Return the family with another eta."""
        return replace(self, eta=values["eta"])

    def evidence_slope(self, S: Float, N: Float) -> float:
        """Return the derivative of sum_k evidence_k by eta; N = S.sum(0).                      math.md (V16)

        sum_k { W psi(W eta) - W psi(W eta + N_k) + sum_w [ psi(eta + S_kw) - psi(eta) ] }
        """
        total = self.n_words * self.eta
        return float(self.n_words * (psi(total) - psi(total + N)).sum()) + sum_digamma_gain(S, self.eta)

    def learned(self, S: Float, N: Float) -> Self:
        """Return the family with the eta under which the evidence is largest, within `ETA_LIMITS`.  math.md (V16)"""

        def slope(eta: float) -> float:
            return replace(self, eta=eta).evidence_slope(S, N)

        return replace(self, eta=maximiser(slope, self.eta, ETA_LIMITS))
