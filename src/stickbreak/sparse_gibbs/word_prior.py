"""The prior of the words, as sparse samplers read it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.pseudo_counts import Eta, total_of


def prior_of_words(
    eta: Eta, pseudo: sparse.csr_array | None, n_words: int, n_topics: int
) -> tuple[NDArray[np.float32], Int, Int, Float, Float]:
    """Return the prior of the words as a sweep takes it.                                              math.md (L9)

    Parameters
    ----------
    eta : float or ndarray of shape (W,)
    pseudo : csr_array of shape (W, n), optional
        Pseudo-counts of the first n topics.
    n_words, n_topics : int

    Returns
    -------
    tuple of ndarray
        Eta of each word, (W,); where the pseudo-counts of each word begin, (W + 1,); their topics and these counts; and
        the sum over the words of eta and the pseudo-counts of each topic, (K,).
    """
    of_words, totals = np.full(n_words, eta, np.float32), np.full(n_topics, total_of(eta, n_words))
    if pseudo is None:
        return of_words, np.zeros(n_words + 1, np.int64), np.zeros(0, np.int64), np.zeros(0), totals
    totals[: pseudo.shape[1]] += pseudo.sum(axis=0)
    return of_words, pseudo.indptr.astype(np.int64), pseudo.indices.astype(np.int64), pseudo.data, totals
