"""Which topics a fit shows: those that have tokens."""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.arrays import Float, Int

ALIVE = 0.5  # tokens of a topic that is shown


def alive(N: Float, n_kept: int = 0) -> Int:
    """Return the topics with at least half an expected token, the largest first; the largest in any case.

    Topics 0 to `n_kept` - 1 come before all others, in their order and whatever they have.

    Examples
    --------
    >>> alive(np.array([0.2, 3.0, 0.5, 7.0])).tolist(), alive(np.array([0.1, 0.2])).tolist()
    ([3, 1, 2], [1])
    >>> alive(np.array([0.2, 3.0, 0.5, 7.0]), n_kept=2).tolist()
    [0, 1, 3, 2]
    """
    if n_kept:
        others = np.argsort(-N[n_kept:], kind="stable")
        return np.concatenate([np.arange(n_kept), n_kept + others[: int((N[n_kept:] >= ALIVE).sum())]])
    order = np.argsort(-N, kind="stable")
    return order[: max(1, int((N >= ALIVE).sum()))]
