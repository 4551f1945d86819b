"""Topics are word distributions with a Dirichlet prior: symmetric, or with a pseudo-count for each word."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, psi

from stickbreak.likelihoods.base import EMPTY, Likelihood
from stickbreak.likelihoods.kernels.dirichlet import (
    expected_word_weights,
    sum_digamma_gain,
    sum_log_gamma_gain,
    sum_log_gamma_gain_by_word,
)
from stickbreak.numerics.arrays import Float, Int32
from stickbreak.numerics.maximum import maximiser
from stickbreak.numerics.pseudo_counts import Eta, by_word, total_of
from stickbreak.numerics.ranges import ETA_LIMITS


@dataclass(frozen=True, slots=True)
class DirichletMultinomial(Likelihood):
    """phi_k ~ Dirichlet(eta) over W words; a token of topic k is word w with probability phi_kw.

    Arrays are word-major: statistics S and parameters tau are (W, K), and tau is the table of the globals. Eta is a
    number, or an array (W,), which is not learned. Tables of some rows alone are those of `of_rows`.
    """

    signed: ClassVar[bool] = False
    least_merge_score: ClassVar[float] = 0.5  # of at most 1

    eta: Eta
    n_words: int
    total_eta: float | None = None  # of all words, where eta is that of some

    @property
    def n_rows(self) -> int:
        """Rows of S: one for each word."""
        return self.n_words

    def posterior(self, S: Float, N: Float) -> Float:
        """Return tau = eta + S, (W, K).                                           docs/math (V3)"""
        return self.table(S)

    def evidence(self, S: Float, N: Float) -> Float:
        """Return c_D(eta) - c_D(eta + S_k) of each topic, (K,); N = S.sum(0).     docs/math (V3)"""
        gains = np.zeros(S.shape[1])
        kernel = sum_log_gamma_gain_by_word if isinstance(self.eta, np.ndarray) else sum_log_gamma_gain
        kernel(S, self.eta, gains)
        total = self._total
        return gammaln(total) - gammaln(total + N) + gains

    def objective(self, S: Float, N: Float, posterior: Float) -> Float:
        """Return c_D(eta) - c_D(tau_k) + sum_w (S_kw + eta - tau_kw) E log phi_kw, (K,).     docs/math (V3)"""
        tau = posterior
        expected_log = psi(tau) - psi(tau.sum(axis=0))
        prior = gammaln(self._total) - total_of(gammaln(self.eta), self.n_words)
        normaliser = gammaln(tau.sum(axis=0)) - gammaln(tau).sum(axis=0)
        return prior - normaliser + ((S + by_word(self.eta) - tau) * expected_log).sum(axis=0)

    def of_rows(self, rows: NDArray[np.integer]) -> Self:
        """Return the family for the rows of some words; counts N are still those of all."""
        if not isinstance(self.eta, np.ndarray):
            return self
        return replace(self, eta=self.eta[rows], total_eta=self._total)

    @property
    def _total(self) -> float:
        return total_of(self.eta, self.n_words) if self.total_eta is None else self.total_eta

    def mean(self, posterior: Float) -> Float:
        """Return E[phi], (W, K); columns sum to one."""
        return posterior / posterior.sum(axis=0)

    def table(self, S: Float) -> Float:
        """Return tau = eta + S of some rows.                                      docs/math (V3)"""
        return S + by_word(self.eta)

    def table_sum(self, before: Float | float, change: Float, N: Float) -> Float:
        """Return sum_w tau_kw, (K,), of rows that changed."""
        return before + change.sum(axis=0)

    def weigh(self, tau: Float, tau_sum: Float, words: Int32, out: Float) -> None:
        """Write exp(E log phi_kw) of some words, (n, K), up to a factor for each.      docs/math (V4)"""
        expected_word_weights(tau, tau_sum, words, out)

    def counts(self, tau: Float, tau_sum: Float) -> tuple[Float, Float]:
        """Return S = tau - eta and its sums."""
        S = np.maximum(tau - by_word(self.eta), 0.0)
        return S, S.sum(axis=0)

    def merge_scores(self, S: Float, N: Float, evidence: Float) -> Float:
        """Return sum_w sqrt(phi_lw phi_mw) of the word shares (Bhattacharyya), (K, K); NaN for empty topics."""
        root = np.sqrt(np.maximum(S, 0.0) / np.where(N > EMPTY, N, np.nan))
        return root.T @ root

    @property
    def hyperparameters(self) -> dict[str, float]:
        """The pseudo-count eta, if it is one number."""
        return {} if isinstance(self.eta, np.ndarray) else {"eta": self.eta}

    def with_hyperparameters(self, values: Mapping[str, float]) -> Self:
        """Return the family with another eta."""
        return replace(self, eta=values.get("eta", self.eta))

    def evidence_slope(self, S: Float, N: Float) -> float:
        """Return the derivative of sum_k evidence_k by eta; N = S.sum(0).                      docs/math (V16)

        sum_k { W psi(W eta) - W psi(W eta + N_k) + sum_w [ psi(eta + S_kw) - psi(eta) ] }
        """
        total = self._total
        return float(self.n_words * (psi(total) - psi(total + N)).sum()) + sum_digamma_gain(S, self.eta)

    def learned(self, S: Float, N: Float) -> Self:
        """Return the family with the eta under which the evidence is largest, within `ETA_LIMITS`.  docs/math (V16)"""
        return self._learned(lambda family: family.evidence_slope(S, N))

    def learned_beside(self, S: Float, N: Float, known: Float) -> Self:
        """Do as `learned`, where S holds pseudo-counts, (W, K), which say nothing of eta.            docs/math (L17)"""
        of_known = known.sum(axis=0)
        return self._learned(lambda family: family.evidence_slope(S, N) - family.evidence_slope(known, of_known))

    def _learned(self, slope: Callable[[Self], float]) -> Self:
        """Return the family with the eta at which a slope by it is zero."""
        if isinstance(self.eta, np.ndarray):
            return self
        return replace(self, eta=maximiser(lambda eta: slope(replace(self, eta=eta)), self.eta, ETA_LIMITS))
