"""The Dirichlet priors of LDA."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from stickbreak.collapsed.learning import best_eta
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.ranges import LARGEST, SMALLEST

LEARNABLE = ("alpha", "eta")
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
