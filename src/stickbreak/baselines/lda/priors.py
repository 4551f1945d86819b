"""The Dirichlet priors of LDA, and how they are learned."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from stickbreak.collapsed.learning import best_eta
from stickbreak.fitting.hyperparameters import PRIOR, opened
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.ranges import LARGEST, SMALLEST

LEARNABLE = ("alpha", "eta")
FIRST_LAP = 10  # that learns: random topics ask for a large alpha, which keeps them alike
LEARN_EVERY = 5  # laps
SUM_TOLERANCE = 1e-9  # of the sum of the priors of the topics


@dataclass(frozen=True, slots=True)
class Priors:
    """theta_d ~ Dir(a), phi_k ~ Dir(eta).                                                           math.md (L1)"""

    a: Float  # (K,)  a_k = alpha m_k
    alpha: float  # their sum, the concentration of a document
    eta: float

    @classmethod
    def even(cls, n_topics: int, alpha: float, eta: float) -> Priors:
        """Return priors under which all topics are alike."""
        return cls(np.full(n_topics, alpha / n_topics), alpha, eta)

    def with_weights(self, a: Float) -> Priors:
        """Return the same with another a, taken back into its range."""
        a = np.clip(a, SMALLEST, LARGEST / a.size)
        return replace(self, a=a, alpha=float(a.sum()))

    def with_eta_of(self, S: Float) -> Priors:
        """Return the same with the eta that maximises its posterior for expected counts S (W, K).     math.md (C7)"""
        return replace(self, eta=best_eta(S, S.sum(axis=0), self.eta))


def is_due(lap: int) -> bool:
    """Tell whether the hyperparameters are learned after a lap."""
    return lap >= FIRST_LAP and lap % LEARN_EVERY == 0


def fixed_point(tables: Float, alpha: float, lengths: Float | Int) -> Float:
    """Return a step of Minka's fixed point for a, (K,).                                               math.md (L4)

    Parameters
    ----------
    tables : ndarray of shape (K,)
        a_k sum_d psi(n_dk + a_k) - psi(a_k), expected.
    alpha : float
        The sum of a.
    lengths : ndarray of shape (D,)
        Tokens of the documents.
    """
    return (PRIOR.shape / tables.size + tables) / (PRIOR.rate + opened(alpha, lengths))
