"""Which topics a fit shows: those that have tokens."""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.arrays import Float, Int

ALIVE = 0.5  # tokens of a topic that is shown


def alive(N: Float) -> Int:
    """Return the topics with at least half an expected token, the largest first; the largest in any case.

    Examples
    --------
    >>> alive(np.array([0.2, 3.0, 0.5, 7.0])).tolist(), alive(np.array([0.1, 0.2])).tolist()
    ([3, 1, 2], [1])
    """
    order = np.argsort(-N, kind="stable")
    return order[: max(1, int((N >= ALIVE).sum()))]
