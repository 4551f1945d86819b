"""What the likelihoods of counts share: a pseudo-count eta, and a prior mean for each word."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from stickbreak.likelihoods.base import CountLikelihood, overlaps
from stickbreak.likelihoods.priors import checked_positive, checked_vector
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.maximum import maximiser
from stickbreak.numerics.ranges import ETA_LIMITS


@dataclass(frozen=True, slots=True)
class WordMeans(CountLikelihood):
    """Base of families whose first W rows of S count what a topic has of each word."""

    eta: float
    means: Float

    def __post_init__(self) -> None:
        checked_positive(eta=self.eta)
        means = checked_vector("means", self.means, np.size(self.means))
        self._check_means(means)
        object.__setattr__(self, "means", means)

    @abstractmethod
    def _check_means(self, means: Float) -> None:
        """Raise an InputError for means (W,) that the prior cannot have."""

    @abstractmethod
    def evidence_slope(self, S: Float) -> float:
        """Return the derivative of sum_k evidence_k by eta."""

    @property
    def n_words(self) -> int:
        """Number of words W."""
        return int(self.means.size)

    @property
    def hyperparameters(self) -> dict[str, float]:
        """The pseudo-count eta."""
        return {"eta": self.eta}

    def with_hyperparameters(self, values: Mapping[str, float]) -> Self:
        """Return the family with another eta."""
        return replace(self, eta=values["eta"])

    def learned(self, S: Float, N: Float) -> Self:
        """Return the family with the eta under which the evidence is largest, within `ETA_LIMITS`.  math.md (V16)"""

        def slope(eta: float) -> float:
            return replace(self, eta=eta).evidence_slope(S)

        return replace(self, eta=maximiser(slope, self.eta, ETA_LIMITS))

    def tokens(self, tau: Float) -> Float:
        """Return what each topic has of all words together, (K,)."""
        return np.asarray(tau[: self.n_words].sum(axis=0), dtype=np.float64)

    def merge_scores(self, S: Float, N: Float, evidence: Float) -> Float:
        """Return how alike the words of each pair of topics are, (K, K); NaN for empty topics."""
        return overlaps(S[: self.n_words])
