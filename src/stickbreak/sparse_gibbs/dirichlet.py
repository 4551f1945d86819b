"""Learning the parameters of Dirichlet priors from the topics of tokens: Minka's fixed point, (L4)."""

from __future__ import annotations

import numpy as np
from scipy.special import digamma

from stickbreak.fitting import hyperparameters
from stickbreak.fitting.hyperparameters import LARGE, PRIOR
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.ranges import ETA_LIMITS

FIRST_LAP = 10  # that learns: random topics ask for a large alpha, which keeps them alike
LEARN_EVERY = 5  # laps
STEPS = 20  # of the fixed point, where the topics of the tokens stay


def is_due(lap: int) -> bool:
    """Tell whether the hyperparameters are learned after a lap."""
    return lap >= FIRST_LAP and lap % LEARN_EVERY == 0


def tables_of(pairs: tuple[Int, Int, Int], a: Float) -> Float:
    """Return a_k sum_d psi(n_dk + a_k) - psi(a_k), (K,).                                            math.md (L4)

    Parameters
    ----------
    pairs : tuple of ndarray
        Topics, counts n_dk, and how many documents have these.
    a : ndarray of shape (K,)
    """
    topic, n, times = pairs
    of_topic = a[topic]
    parts: Float = times * of_topic * (digamma(n + of_topic) - digamma(of_topic))
    return np.bincount(topic, parts, a.size).astype(np.float64)


def fixed_point(tables: Float, opened: float) -> Float:
    """Return a step of Minka's fixed point for a, (K,).                                               math.md (L4)

    Parameters
    ----------
    tables : ndarray of shape (K,)
        a_k sum_d psi(n_dk + a_k) - psi(a_k), expected.
    opened : float
        sum_d psi(N_d + alpha) - psi(alpha), alpha the sum of a.
    """
    found: Float = (PRIOR.shape / tables.size + tables) / (PRIOR.rate + opened)
    return found


def best_eta(S: Float, start: float) -> float:
    """Return the eta that maximises its posterior for expected counts S, (W, K).                        math.md (L5)

    A count is taken as the whole number below or above it.
    """
    small, tokens = S[(S > 0.0) & (S < LARGE)], S.sum(axis=0)
    if not S.shape[1]:
        return start
    whole = small.astype(np.int64)
    tails: Float = np.bincount(whole, small - whole, LARGE).astype(np.float64)
    tails[:-1] += np.cumsum(np.bincount(whole, minlength=LARGE)[::-1])[::-1][1:]  # the pairs of more than j tokens
    return hyperparameters.best_eta(tails, S[S >= LARGE], tokens, S.shape[0], start, ETA_LIMITS)
