"""Learning alpha, gamma and eta from the expected tables and counts (math.md (C5)-(C7))."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from scipy.special import digamma

from stickbreak.collapsed.kernels import shares as share_kernels
from stickbreak.collapsed.state import ALIVE, CollapsedState, Priors
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.maximum import maximiser
from stickbreak.numerics.ranges import within

LEARNABLE = ("alpha", "gamma", "eta")
SHAPE, RATE = 1.0, 1.0  # of the Gamma prior of each, as the samplers have it
GAMMA_LIMITS = (1e-3, 1e3)
ETA_LIMITS = (1e-4, 1e2)
FIRST_LAP = 20  # alike topics ask for a large alpha and eta, which keep them alike: they have to form first
ETA_EVERY = 5  # laps: it costs a pass over all pairs of words and topics
LARGE = 40  # tokens of a pair whose digamma is taken at their expectation


def learn(state: CollapsedState, priors: Priors, names: Collection[str], lengths: Float) -> Priors:
    """Return the hyperparameters after a sweep, those that are not named as they were.

    Parameters
    ----------
    state : CollapsedState
        After the sweep.
    priors : Priors
        Of the sweep.
    names : collection of {"alpha", "gamma", "eta"}
    lengths : ndarray of shape (D,)
        Tokens of the documents.
    """
    if state.n_sweeps < FIRST_LAP:
        return priors
    alpha, gamma, eta = priors.alpha, priors.gamma, priors.eta
    if "alpha" in names:
        alpha = best_alpha(float(state.tables.sum()), alpha, lengths)
    if "gamma" in names:
        gamma = best_gamma(float(state.tables.sum()), int((state.N >= ALIVE).sum()), gamma)
    if "eta" in names and state.n_sweeps % ETA_EVERY == 0:
        eta = best_eta(state.S, state.N, eta)
    return Priors(alpha, gamma, eta)


def best_alpha(tables: float, alpha: float, lengths: Float) -> float:
    """Return alpha <- (a + M) / (b + sum_d psi(alpha + N_d) - psi(alpha)).                            math.md (C5)"""
    opened = float((digamma(alpha + lengths) - digamma(alpha)).sum())
    return within((SHAPE + tables) / (RATE + opened))


def best_gamma(tables: float, n_topics: int, start: float) -> float:
    """Return the gamma that maximises its posterior given M tables in K topics, in log gamma.         math.md (C6)"""

    def slope(gamma: float) -> float:
        return float(SHAPE / gamma - RATE + n_topics / gamma + digamma(gamma) - digamma(gamma + tables))

    return maximiser(slope, start, GAMMA_LIMITS)


def best_eta(S: Float, N: Float, start: float) -> float:
    """Return the eta that maximises its expected posterior, in log eta.                               math.md (C7)

    psi(eta + S_kw) in place of its expectation would take many fractions of a token for many tokens.
    """
    tails, many = share_kernels.whole_tails(S, LARGE), S[S >= LARGE]
    W, order = S.shape[0], np.arange(tails.size)

    def slope(eta: float) -> float:
        total = W * eta
        topics = W * float((digamma(total + N) - digamma(total)).sum())
        words = float((tails / (eta + order)).sum() + (digamma(eta + many) - digamma(eta)).sum())
        return SHAPE / eta - RATE + words - topics

    return maximiser(slope, start, ETA_LIMITS)
