"""Counts of words are Poisson; topics are rates of words, with a gamma prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import gammaln, psi

from stickbreak.exceptions import InputError
from stickbreak.likelihoods.base import sums
from stickbreak.likelihoods.word_means import WordMeans
from stickbreak.numerics.arrays import Float, Int32


class GammaPosterior(NamedTuple):
    """q(lambda_kw) = Gamma(shape_wk, rate_wk)."""

    shape: Float  # (W, K)
    rate: Float  # (W, K)


@dataclass(frozen=True, slots=True)
class GammaPoisson(WordMeans):
    """lambda_kw ~ Gamma(eta, eta / m_w); a document holds word w Poisson(lambda_kw) times.           math.md (V22)

    The prior mean of lambda_kw is m_w.

    Parameters
    ----------
    eta : float
        Shape of the prior: a pseudo-count of each word in each topic.
    means : array-like of shape (W,)
        m_w, positive: usually the mean count of the word in a document.
    """

    def _check_means(self, means: Float) -> None:
        if not (means > 0).all():
            raise InputError(
                "means holds a number that is not positive; give the mean count of each word in a document"
            )

    @classmethod
    def from_counts(cls, counts: Any, eta: float) -> Self:
        """Set the means to the mean counts of the words, with half a token added to each."""
        tokens = np.asarray(counts.sum(axis=0), dtype=np.float64).ravel()
        return cls(eta, (tokens + 0.5) / (counts.shape[0] + 1.0))

    @property
    def n_rows(self) -> int:
        """Rows of S: tokens of each word, observations of each word, and a row for sum log x!."""
        return 2 * self.n_words + 1

    @property
    def _rate(self) -> Float:
        """Rate of the prior, eta / m_w, (W, 1)."""
        return (self.eta / self.means)[:, None]

    def posterior(self, S: Float, N: Float) -> GammaPosterior:
        """Return q(lambda_k) of each topic.                                        math.md (V22)"""
        W = self.n_words
        return GammaPosterior(self.eta + S[:W], self._rate + S[W : 2 * W])

    def evidence(self, S: Float, N: Float) -> Float:
        """Return the log marginal likelihood of each topic's counts, (K,).         math.md (V22)"""
        return self._normalisers(self.posterior(S, N)).sum(axis=0) - S[-1]

    def objective(self, S: Float, N: Float, posterior: GammaPosterior) -> Float:
        """Return each topic's term of L_data at any parameters, (K,)."""
        best, q = self.posterior(S, N), posterior
        data = (best.shape - q.shape) * (psi(q.shape) - np.log(q.rate)) - (best.rate - q.rate) * q.shape / q.rate
        return (self._normalisers(q) + data).sum(axis=0) - S[-1]

    def _normalisers(self, q: GammaPosterior) -> Float:
        """Return by how much the log normaliser of q exceeds that of the prior, (W, K)."""
        prior = gammaln(self.eta) - self.eta * np.log(self._rate)
        return gammaln(q.shape) - q.shape * np.log(q.rate) - prior

    def mean(self, posterior: GammaPosterior) -> Float:
        """Return E lambda, (W, K): the expected count of the word in a document of the topic."""
        return posterior.shape / posterior.rate

    def expected_log(self, posterior: GammaPosterior, words: Int32, counts: Float) -> Float:
        """Return x E log lambda - E lambda - log x!, (n, K)."""
        log_rate, rate, x = psi(posterior.shape) - np.log(posterior.rate), self.mean(posterior), counts[:, None]
        return x * log_rate[words] - rate[words] - gammaln(x + 1.0)

    def statistics(self, words: Int32, counts: Float, R: Float) -> Float:
        """Return the tokens of each word in each topic, the observations of each word, and sum log x!, (2 W + 1, K)."""
        of_words = [sums(words, x, R, self.n_words) for x in (counts, np.ones_like(counts))]
        return np.concatenate([*of_words, gammaln(counts + 1.0)[None] @ R])

    def table_totals(self, tau: Float) -> Float:
        """Return how many observations are behind the statistics, (K,)."""
        return tau[self.n_words : 2 * self.n_words].sum(axis=0)

    def evidence_slope(self, S: Float) -> float:
        """Return the derivative of sum_k evidence_k by eta.                                    math.md (V22)"""
        q, prior_rate = self.posterior(S, np.zeros(S.shape[1])), self._rate
        change = psi(q.shape) - np.log(q.rate) - q.shape / q.rate * (prior_rate / self.eta)
        return float((change - psi(self.eta) + np.log(prior_rate) + 1.0).sum())
