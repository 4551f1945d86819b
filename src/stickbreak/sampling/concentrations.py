"""Concentrations resampled with the rest of a chain, each given the counts and a Gamma prior (math.md (H1)-(H3))."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln

from stickbreak.fitting.hyperparameters import GammaPrior
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.ranges import LARGEST, SMALLEST, within
from stickbreak.sampling.counts import pair_counts
from stickbreak.sampling.state import Concentrations, TopicCounts

_WIDTH = 1.0  # of the first interval of a slice, in log eta


def resample(
    now: Concentrations,
    learn: Sequence[str],
    priors: Mapping[str, GammaPrior],
    counts: TopicCounts,
    lengths: Int,
    rng: np.random.Generator,
) -> Concentrations:
    """Return the concentrations after one step for each of those to learn: gamma, then alpha, then eta.

    Parameters
    ----------
    now : Concentrations
    learn : sequence of {"alpha", "gamma", "eta"}
    priors : mapping of str to GammaPrior
        A prior for each name in `learn`.
    counts : TopicCounts
        Tables and words of the topics.
    lengths : ndarray of shape (n_documents,)
        Tokens of each document.
    rng : Generator
    """
    K = counts.n_topics
    M = int(counts.m[:K].sum())
    if not M:
        return now  # no tokens: nothing to learn from
    if "gamma" in learn:
        now = replace(now, gamma=resample_gamma(now.gamma, priors["gamma"], K, M, rng))
    if "alpha" in learn:
        now = replace(now, alpha=resample_alpha(now.alpha, priors["alpha"], M, lengths, rng))
    if "eta" in learn:
        now = replace(now, eta=resample_eta(now.eta, priors["eta"], WordLikelihood.of(counts), rng))
    return now


def resample_gamma(gamma: float, prior: GammaPrior, K: int, M: int, rng: np.random.Generator) -> float:
    """Take one step of p(gamma | K topics, M tables) (Escobar and West 1995).                        math.md (H1)"""
    rate = prior.rate - np.log(rng.beta(gamma + 1.0, M))
    odds = (prior.shape + K - 1.0) / (M * rate)
    more = rng.random() * (1.0 + odds) < odds
    return within(float(rng.gamma(prior.shape + K - (not more)) / rate))


def resample_alpha(alpha: float, prior: GammaPrior, M: int, lengths: Int, rng: np.random.Generator) -> float:
    """Take one step of p(alpha | M tables, documents of n_j tokens) (Teh et al. 2006, appendix).     math.md (H2)"""
    n = lengths[lengths > 0]
    rate = prior.rate - np.log(rng.beta(alpha + 1.0, n)).sum()
    closed = np.count_nonzero(rng.random(n.size) * (n + alpha) < n)
    return within(float(rng.gamma(prior.shape + M - closed) / rate))


@dataclass(frozen=True, slots=True)
class WordLikelihood:
    """p(words | topics, eta), from how often each size of a count occurs."""

    n: Float  # (K,)  tokens n_k
    size: Float  # (S,)  the different n_kw > 0
    times: Float  # (S,)  pairs of a topic and a word that have it
    n_words: int  # W

    @classmethod
    def of(cls, counts: TopicCounts) -> WordLikelihood:
        """Collect what the likelihood needs."""
        n = counts.n[: counts.n_topics].astype(np.float64)
        size, times = np.unique(pair_counts(counts), return_counts=True)
        return cls(n, size.astype(np.float64), times.astype(np.float64), counts.words.size.size)

    def log(self, eta: float) -> float:
        """Return sum_k [ lG(W eta) - lG(n_k + W eta) ] + sum_kw [ lG(n_kw + eta) - lG(eta) ].        math.md (H3)"""
        total = self.n_words * eta
        topics = self.n.size * gammaln(total) - gammaln(self.n + total).sum()
        return float(topics + self.times @ (gammaln(self.size + eta) - gammaln(eta)))


def resample_eta(eta: float, prior: GammaPrior, words: WordLikelihood, rng: np.random.Generator) -> float:
    """Take one step of slice sampling on x = log eta, stepping out and shrinking (Neal 2003).        math.md (H3)"""

    def log_density(x: float) -> float:
        return prior.shape * x - prior.rate * np.exp(x) + words.log(float(np.exp(x)))

    x = float(np.log(eta))
    level = log_density(x) + np.log1p(-rng.random())
    low = x - _WIDTH * rng.random()
    high = low + _WIDTH
    while low > np.log(SMALLEST) and log_density(low) > level:
        low -= _WIDTH
    while high < np.log(LARGEST) and log_density(high) > level:
        high += _WIDTH
    low, high = max(low, float(np.log(SMALLEST))), min(high, float(np.log(LARGEST)))
    while True:
        new = float(rng.uniform(low, high))
        if log_density(new) >= level:
            return within(float(np.exp(new)))
        low, high = (new, high) if new < x else (low, new)
