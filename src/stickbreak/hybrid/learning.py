"""Learning alpha, gamma and eta from the samples, step by step (math.md (B8)-(B10)).

Each hyperparameter moves to the mean or the maximum of the distribution from which the samplers would draw it, with a
Gamma prior. Expected tables and tokens replace those of a sweep.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from scipy.special import digamma

from stickbreak.fitting import hyperparameters
from stickbreak.fitting.hyperparameters import CONCENTRATION_LIMITS, LARGE, PRIOR, mean_alpha, opened
from stickbreak.hybrid.kernels.learning import poisson_tails
from stickbreak.hybrid.state import HybridState, Learned, Priors
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.maximum import maximiser
from stickbreak.numerics.ranges import ETA_LIMITS, MEAN_FIELD_ETA

LIMITS = (MEAN_FIELD_ETA, ETA_LIMITS[1])
ETA_EVERY = 32  # steps; and at the steps 1, 2, 4, 8, 16


def learn_from(
    state: HybridState, names: Collection[str], priors: Priors, lengths: Int, share: float, size: float
) -> None:
    """Move the hyperparameters after a step; what they are then is in `state.learned`.

    `state`: after the step. `learned` is changed. `priors`: under which the documents were sampled. `lengths` (D_b,):
    tokens of the documents of the minibatch. `share`: d / |M|, documents of all to those of the minibatch. `size`: xi
    of the step.
    """
    alpha, gamma, eta = priors.alpha, priors.gamma, priors.eta
    closed, further = (share * part for part in table_statistics(alpha, lengths))
    if state.learned is not None:
        before = state.learned
        closed = before.closed + size * (closed - before.closed)
        further = before.opened + size * (further - before.opened)
    if "alpha" in names:
        alpha = mean_alpha(max(state.tables.sum() - state.n_kept - closed, 0.0), further)  # (B8)
    if "gamma" in names:
        gamma = best_gamma(state, gamma)
    if isinstance(eta, np.ndarray):
        eta = float(eta.mean())  # it is not learned: that of the fit stays
    elif "eta" in names and eta_is_due(state.n_steps):
        eta = best_eta(state, eta)
    state.learned = Learned(alpha, gamma, eta, closed, further)


def table_statistics(alpha: float, lengths: Int | Float) -> tuple[float, float]:
    """Return sum_d N_d / (N_d + alpha) and sum_d psi(alpha + 1 + N_d) - psi(alpha + 1).              math.md (B8)"""
    n = np.asarray(lengths, dtype=np.float64)
    return float((n / (n + alpha)).sum()), opened(alpha + 1.0, n)


def best_gamma(state: HybridState, start: float) -> float:
    """Return the gamma that maximises its posterior given the tables M, in log gamma.               math.md (B9)"""
    M = state.tables[state.tables > 0]
    total, K, n_kept = float(M.sum()), state.n_topics, state.n_kept
    before = (np.arange(M.size) < n_kept).astype(np.float64)  # tables that are known

    def slope(gamma: float) -> float:
        if state.unbounded:
            of_topics = alive / gamma
        else:
            of_topics = float((digamma(gamma / K + M) - digamma(gamma / K + before)).sum()) / K
        return float(PRIOR.shape / gamma - PRIOR.rate + of_topics - (digamma(gamma + total) - digamma(gamma + n_kept)))

    alive = state.alive().size - n_kept
    return maximiser(slope, start, CONCENTRATION_LIMITS)


def best_eta(state: HybridState, start: float) -> float:
    """Return the eta that maximises its expected posterior, for counts n_kw ~ Poisson(S_kw).        math.md (B10)"""
    S, tokens = state.pairs.expected(), state.tokens
    if state.known is not None:  # of the other topics, whose prior it is
        S, tokens = S[state.pairs.topics() >= state.n_kept], tokens[state.n_kept :]
    tails, many = poisson_tails(S, LARGE), S[S > LARGE]
    return hyperparameters.best_eta(tails, many, tokens, state.n_words, start, LIMITS)


def eta_is_due(step: int) -> bool:
    """Tell whether eta is learned after a step: it costs a pass over all pairs of words and topics.

    Examples
    --------
    >>> [step for step in range(1, 100) if eta_is_due(step)]
    [1, 2, 4, 8, 16, 32, 64, 96]
    """
    return step % ETA_EVERY == 0 or (step < ETA_EVERY and step & (step - 1) == 0)
