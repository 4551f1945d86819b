"""Learning alpha, gamma and eta from the expected tables and counts (math.md (C5)-(C7))."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from scipy.special import digamma

from stickbreak.collapsed.kernels import shares as share_kernels
from stickbreak.collapsed.state import CollapsedState, Priors
from stickbreak.fitting import hyperparameters
from stickbreak.fitting.alive import ALIVE
from stickbreak.fitting.hyperparameters import CONCENTRATION_LIMITS, LARGE, PRIOR, mean_alpha, opened
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.maximum import maximiser

ETA_LIMITS = (1e-4, 1e2)
FIRST_LAP = 20  # alike topics ask for a large alpha and eta, which keep them alike: they have to form first
ETA_EVERY = 5  # laps: it costs a pass over all pairs of words and topics


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
        alpha = mean_alpha(float(state.tables.sum()), opened(alpha, lengths) + state.steering.opened)
    if "gamma" in names:
        gamma = best_gamma(float(state.tables.sum()), int((state.N >= ALIVE).sum()), gamma)
    if "eta" in names and not isinstance(eta, np.ndarray) and state.n_sweeps % ETA_EVERY == 0:
        eta = eta_without_seeds(state.S, state.N, state.steering.n_whole, eta)
    return Priors(alpha, gamma, eta)


def eta_without_seeds(S: Float, N: Float, n_whole: int, start: float) -> float:
    """Return the best eta of the topics that are neither of labels nor of seeds, which have pseudo-counts of theirs."""
    if n_whole == N.size:
        return start
    return best_eta(S[:, n_whole:].copy(), N[n_whole:], start) if n_whole else best_eta(S, N, start)


def best_gamma(tables: float, n_topics: int, start: float) -> float:
    """Return the gamma that maximises its posterior given M tables in K topics, in log gamma.         math.md (C6)"""

    def slope(gamma: float) -> float:
        return float(PRIOR.shape / gamma - PRIOR.rate + n_topics / gamma + digamma(gamma) - digamma(gamma + tables))

    return maximiser(slope, start, CONCENTRATION_LIMITS)


def best_eta(S: Float, N: Float, start: float) -> float:
    """Return the eta that maximises its expected posterior, n_kw the whole number below or above S_kw. math.md (C7)"""
    tails, many = share_kernels.whole_tails(S, LARGE), S[S >= LARGE]
    return hyperparameters.best_eta(tails, many, N, S.shape[0], start, ETA_LIMITS)
