"""The Dirichlet priors of LDA."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.fitting.checkpoint import is_table, require
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.pseudo_counts import Eta, by_word
from stickbreak.numerics.ranges import LARGEST, SMALLEST, is_concentration

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

    def restored(self, a: NDArray, values: Mapping[str, Any]) -> Priors:
        """Return the priors that were saved; raise a ValueError for what cannot be. What is not learned is as here."""
        require(is_table(a, self.a.size) and float(a.min()) > 0.0, "its priors are not those of its topics")
        saved = {name: values[name] for name in self.row()}
        require(all(map(is_concentration, saved.values())), "its alpha or its eta is out of its range")
        require(math.isclose(float(a.sum()), saved["alpha"], rel_tol=SUM_TOLERANCE), "its priors do not sum to alpha")
        return replace(self, a=np.array(a), **saved)
