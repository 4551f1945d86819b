"""A word is in a document or not; topics are probabilities of words, with a beta prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import betaln, psi

from stickbreak.exceptions import InputError
from stickbreak.likelihoods.base import sums
from stickbreak.likelihoods.word_means import WordMeans
from stickbreak.numerics.arrays import Float, Int32


class BetaPosterior(NamedTuple):
    """q(phi_kw) = Beta(present_wk, absent_wk)."""

    present: Float  # (W, K)
    absent: Float  # (W, K)


@dataclass(frozen=True, slots=True)
class BetaBernoulli(WordMeans):
    """phi_kw ~ Beta(eta, eta (1 - m_w) / m_w); word w is in a document with probability phi_kw.       math.md (V21)

    The prior mean of phi_kw is m_w. It does not matter how often a word is in a document.

    Parameters
    ----------
    eta : float
        Pseudo-count of the documents of each topic that hold a word.
    means : array-like of shape (W,)
        m_w, between 0 and 1: usually the share of the documents that hold the word.
    """

    def _check_means(self, means: Float) -> None:
        if not ((means > 0) & (means < 1)).all():
            raise InputError(
                "means holds a number that is not between 0 and 1; give the share of documents with each word"
            )

    @classmethod
    def from_counts(cls, counts: Any, eta: float) -> Self:
        """Set the means to the shares of documents that hold each word, with half a document added to either side."""
        holding = np.asarray((counts > 0).sum(axis=0), dtype=np.float64).ravel()
        return cls(eta, (holding + 0.5) / (counts.shape[0] + 1.0))

    @property
    def n_rows(self) -> int:
        """Rows of S: documents that hold each word, and documents that lack it."""
        return 2 * self.n_words

    @property
    def _odds(self) -> Float:
        """(1 - m_w) / m_w, (W, 1)."""
        return ((1.0 - self.means) / self.means)[:, None]

    def posterior(self, S: Float, N: Float) -> BetaPosterior:
        """Return q(phi_k) of each topic.                                           math.md (V21)"""
        W = self.n_words
        return BetaPosterior(self.eta + S[:W], self.eta * self._odds + S[W:])

    def evidence(self, S: Float, N: Float) -> Float:
        """Return sum_w log B(a + S_kw, b + S'_kw) - log B(a, b) of each topic, (K,).      math.md (V21)"""
        q = self.posterior(S, N)
        return (betaln(*q) - betaln(self.eta, self.eta * self._odds)).sum(axis=0)

    def objective(self, S: Float, N: Float, posterior: BetaPosterior) -> Float:
        """Return each topic's term of L_data at any parameters, (K,)."""
        best, q = self.posterior(S, N), posterior
        total = psi(q.present + q.absent)
        data = (best.present - q.present) * (psi(q.present) - total)
        data += (best.absent - q.absent) * (psi(q.absent) - total)
        return (betaln(*q) - betaln(self.eta, self.eta * self._odds) + data).sum(axis=0)

    def mean(self, posterior: BetaPosterior) -> Float:
        """Return E phi, (W, K): the probability that a document of the topic holds the word."""
        return posterior.present / (posterior.present + posterior.absent)

    def expected_log(self, posterior: BetaPosterior, words: Int32, counts: Float) -> Float:
        """Return E log phi of words that are there, E log (1 - phi) of those that are not, (n, K)."""
        total = psi(posterior.present + posterior.absent)
        there, missing = psi(posterior.present) - total, psi(posterior.absent) - total
        return np.where((counts > 0)[:, None], there[words], missing[words])

    def statistics(self, words: Int32, counts: Float, R: Float) -> Float:
        """Return the expected documents of each topic that hold each word, then those that lack it, (2 W, K)."""
        present = (counts > 0).astype(np.float64)
        return np.concatenate([sums(words, x, R, self.n_words) for x in (present, 1.0 - present)])

    def started(self, counts: Float, documents: Float) -> tuple[Float, Float]:
        """Return S and N of topics in whose share of the documents a word has at most its mean count of documents."""
        present = np.minimum(counts, documents)
        return np.concatenate([present, documents - present]), self.n_words * documents

    def table_totals(self, tau: Float) -> Float:
        """Return how many observations are behind the statistics, (K,)."""
        return tau.sum(axis=0)

    def evidence_slope(self, S: Float) -> float:
        """Return the derivative of sum_k evidence_k by eta.                                    math.md (V21)"""
        odds, W = self._odds, self.n_words
        a, b = self.eta + S[:W], self.eta * odds + S[W:]
        there = psi(a) + odds * psi(b) - (1 + odds) * psi(a + b)
        a, b = np.full_like(odds, self.eta), self.eta * odds
        return float((there - (psi(a) + odds * psi(b) - (1 + odds) * psi(a + b))).sum())
