"""Learning alpha, gamma and eta: what the families have in common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma

from stickbreak.exceptions import InputError
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.maximum import maximiser
from stickbreak.numerics.ranges import LARGEST_PRIOR, SMALLEST_PRIOR, within

LEARNABLE = ("alpha", "gamma", "eta")
CONCENTRATION_LIMITS = (1e-3, 1e3)  # of a learned alpha or gamma, where it is sought as a maximum
LARGE = 40  # tokens of a pair whose digamma is taken at their expectation


@dataclass(frozen=True, slots=True)
class GammaPrior:
    """Gamma(shape, rate); the mean is shape / rate.

    Raises
    ------
    InputError
        If one of them is outside of 1e-9 to 1e9.
    """

    shape: float
    rate: float

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if not SMALLEST_PRIOR <= value <= LARGEST_PRIOR:
                raise InputError(
                    f"the {name} of a Gamma prior is {value}, but must be positive and finite; give a number from "
                    f"{SMALLEST_PRIOR:g} to {LARGEST_PRIOR:g}."
                )


PRIOR = GammaPrior(1.0, 1.0)  # of each hyperparameter, where it is not a parameter; the samplers' default


def digamma_gain(alpha: float, lengths: Float | Int) -> float:
    """Return sum_d psi(alpha + N_d) - psi(alpha), what alpha is learned from."""
    return float((digamma(alpha + lengths) - digamma(alpha)).sum())


def mean_alpha(tables: float, of_documents: float) -> float:
    """Return (a + M) / (b + sum of `digamma_gain`), the posterior mean given M tables.                docs/math (B8)"""
    return within(float((PRIOR.shape + tables) / (PRIOR.rate + of_documents)))


def best_eta(
    tails: Float, many: Float, tokens: Float, n_words: int, start: float, limits: tuple[float, float]
) -> float:
    """Return the eta that maximises its expected posterior, in log eta.                        docs/math (L19), (B10)

    psi(eta + S_kw) in place of its expectation would take many fractions of a token for many tokens, and find eta too
    large by several times.

    Parameters
    ----------
    tails : ndarray of shape (J,)
        T_j = sum of P(n_kw > j) over the pairs of few tokens, under the law that the family takes n_kw to have.
    many : ndarray of shape (P,)
        S_kw of the pairs of many tokens (about `LARGE`).
    tokens : ndarray of shape (K,)
    n_words : int
        W.
    start : float
    limits : (float, float)
    """
    order = np.arange(tails.size)

    def slope(eta: float) -> float:
        total = n_words * eta
        topics = n_words * float((digamma(total + tokens) - digamma(total)).sum())
        words = float((tails / (eta + order)).sum() + (digamma(eta + many) - digamma(eta)).sum())
        return PRIOR.shape / eta - PRIOR.rate + words - topics

    return maximiser(slope, start, limits)
