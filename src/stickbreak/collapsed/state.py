"""State of collapsed variational inference: expected counts of a set of documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]


@dataclass(slots=True)
class CollapsedState:
    """Expected counts under q(z) (SPEC 1.14); D documents, W words, K topics."""

    r: NDArray[np.float32]  # (nnz, K)  q(z = k) for the tokens of each stored count
    S: Float  # (W, K)    sum_d c_dw r_dwk
    N: Float  # (K,)      S.sum(0)
    n_dk: Float  # (D, K)    sum_w c_dw r_dwk
    beta: Float  # (K,)      corpus weights; the rest, 1 - beta.sum(), belongs to the inactive topics
