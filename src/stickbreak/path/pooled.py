"""Sums of statistics over the topics that become one."""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.arrays import Float, Int


def pooled(table: Float, to: Int) -> Float:
    """Return the table in which row k has become a part of row to[k]; every row from 0 to max(to) gets some.

    Rows with to[k] of -1 are left out.

    Examples
    --------
    >>> pooled(np.array([[1.0, 2.0], [4.0, 0.0], [3.0, 3.0]]), np.array([1, 0, 1])).tolist()
    [[4.0, 0.0], [4.0, 5.0]]
    """
    order = np.argsort(to, kind="stable")[int((to < 0).sum()) :]
    first = np.searchsorted(to[order], np.arange(int(to.max()) + 1))
    return np.asarray(np.add.reduceat(table[order], first, axis=0), dtype=np.float64)
