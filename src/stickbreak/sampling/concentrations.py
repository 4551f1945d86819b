"""Concentrations resampled with the rest of a chain, each given the counts and a Gamma prior (docs/math (H1)-(H3))."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from stickbreak.fitting.hyperparameters import GammaPrior
from stickbreak.numerics.arrays import Int
from stickbreak.numerics.ranges import LARGEST, SMALLEST, within
from stickbreak.sampling.known import KnownTopics, LabelTables, WordLikelihood
from stickbreak.sampling.state import Concentrations, TopicCounts

_WIDTH = 1.0  # of the first interval of a slice, in log eta


def resample(
    now: Concentrations,
    learn: Sequence[str],
    priors: Mapping[str, GammaPrior],
    counts: TopicCounts,
    lengths: Int,
    rng: np.random.Generator,
    known: KnownTopics | None = None,
    labels: LabelTables | None = None,
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
    known : KnownTopics, optional
        Topics that are in `counts` whatever the documents say: each of them with pseudo-tokens and a table, or the
        topic of a label.
    labels : LabelTables, optional
        Of documents with labels: gamma is that of the other topics.                                 docs/math (G16)
    """
    n_labels = 0 if labels is None else labels.n_labels
    of_labels, of_others = (0, 0) if known is None else known.n_tables(n_labels)
    n_known = (0 if known is None else known.n.size) - n_labels
    m = counts.m[: counts.n_topics]
    K, M = m.size - n_labels - n_known, int(m.sum()) - of_labels - of_others
    if not M:
        return now  # no tokens: nothing to learn from
    if "gamma" in learn:
        of_gamma = int(m[n_labels:].sum()) - of_others
        step = partial(resample_gamma_beside, n_known) if n_known else resample_gamma
        now = now._replace(gamma=step(now.gamma, priors["gamma"], K, of_gamma, rng))
    if "alpha" in learn:
        now = now._replace(alpha=resample_alpha(now.alpha, priors["alpha"], M, lengths, rng))
    if "eta" in learn and not isinstance(now.eta, np.ndarray):
        now = now._replace(eta=resample_eta(now.eta, priors["eta"], WordLikelihood.of(counts), rng, known))
    return now


def resample_gamma(gamma: float, prior: GammaPrior, K: int, M: int, rng: np.random.Generator) -> float:
    """Take one step of p(gamma | K topics, M tables) (Escobar and West 1995).                        docs/math (H1)"""
    if not M:
        return within(float(rng.gamma(prior.shape) / prior.rate))
    rate = prior.rate - np.log(rng.beta(gamma + 1.0, M))
    odds = (prior.shape + K - 1.0) / (M * rate)
    more = rng.random() * (1.0 + odds) < odds
    return within(float(rng.gamma(prior.shape + K - (not more)) / rate))


def resample_gamma_beside(
    n_known: int, gamma: float, prior: GammaPrior, K: int, M: int, rng: np.random.Generator
) -> float:
    """Take one step of p(gamma | K topics, M tables) beside L known topics with a table each.       docs/math (H4)"""
    if not M:
        return within(float(rng.gamma(prior.shape) / prior.rate))
    rate = prior.rate - np.log(rng.beta(gamma + n_known, M))
    return within(float(rng.gamma(prior.shape + K) / rate))


def resample_alpha(alpha: float, prior: GammaPrior, M: int, lengths: Int, rng: np.random.Generator) -> float:
    """Take one step of p(alpha | M tables, documents of n_j tokens) (Teh et al. 2006, appendix).     docs/math (H2)"""
    n = lengths[lengths > 0]
    rate = prior.rate - np.log(rng.beta(alpha + 1.0, n)).sum()
    closed = np.count_nonzero(rng.random(n.size) * (n + alpha) < n)
    return within(float(rng.gamma(prior.shape + M - closed) / rate))


def resample_eta(
    eta: float,
    prior: GammaPrior,
    words: WordLikelihood,
    rng: np.random.Generator,
    known: KnownTopics | None = None,
) -> float:
    """Take one step of slice sampling on x = log eta, stepping out and shrinking (Neal 2003).        docs/math (H3)

    What pseudo-tokens that are `known` say of themselves is taken off.                               docs/math (H4)
    """
    of_known = None if known is None else known.likelihood()

    def log_density(x: float) -> float:
        value = prior.shape * x - prior.rate * np.exp(x) + words.log(float(np.exp(x)))
        return value if of_known is None else value - of_known.log(float(np.exp(x)))

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
