"""The Dirichlet priors of LDA."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from stickbreak.numerics.arrays import Float
from stickbreak.numerics.pseudo_counts import Eta, by_word
from stickbreak.numerics.ranges import LARGEST, SMALLEST

SUM_TOLERANCE = 1e-9  # of the sum of the priors of the topics


@dataclass(frozen=True, slots=True)
class Priors:
    """theta_d ~ Dir(a), phi_k ~ Dir(eta + b_k), the topics with b_k first.                    math.md (L1), (L9)"""

    a: Float  # (K,)  a_k = alpha m_k
    alpha: float  # their sum, the concentration of a document
    eta: Eta  # a number, or (W,)
    pseudo: sparse.csr_array | None = None  # (W, n_kept)  b_k: not zero

    @classmethod
    def even(cls, n_topics: int, alpha: float, eta: Eta, pseudo: sparse.csr_array | None = None) -> Priors:
        """Return priors under which all topics are as probable."""
        return cls(np.full(n_topics, alpha / n_topics), alpha, eta, pseudo)

    @property
    def n_kept(self) -> int:
        """Number of topics with pseudo-counts of their own."""
        return 0 if self.pseudo is None else int(self.pseudo.shape[1])

    def of_words(self) -> Float | float:
        """Return eta + b_k as it is added to a table of words and topics, (W, K)."""
        eta = by_word(self.eta)
        if self.pseudo is None:
            return eta
        return np.asarray(eta + np.pad(self.pseudo.toarray(), ((0, 0), (0, self.a.size - self.n_kept))))

    def with_weights(self, a: Float) -> Priors:
        """Return the same with another a, taken back into its range."""
        a = np.clip(a, SMALLEST, LARGEST / a.size)
        return replace(self, a=a, alpha=float(a.sum()))

    def row(self) -> dict[str, float]:
        """Return those that are numbers: eta by word, which is not learned, stays what it was."""
        numbers = {"alpha": self.alpha}
        return numbers if isinstance(self.eta, np.ndarray) else {**numbers, "eta": self.eta}
