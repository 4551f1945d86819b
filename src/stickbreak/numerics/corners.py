"""The corners of a cloud of points: what all of them are nearly mixtures of (docs/math (A2))."""

from __future__ import annotations

from typing import Any

import numpy as np

from stickbreak.numerics.arrays import Float, Float32, Int

# A squared distance below this share of the largest squared norm is rounding.
SPANNED: dict[np.dtype[Any], float] = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-5}


def corners(points: Float | Float32, n: int) -> Int:
    """Return the points farthest out: each next one is the farthest from the flat through those before it.

    The first is the farthest from zero. A distance is what Gram and Schmidt leave of a point, so only the new direction
    is needed in each step: |y|^2 falls by (y' b)^2.                                     docs/math (A2)

    Parameters
    ----------
    points : ndarray of float64 or float32, of shape (n_points, n_dimensions)
    n : int
        Most points to return.

    Returns
    -------
    ndarray of int
        Rows of `points`; fewer than n if they span all others.
    """
    squared = np.einsum("ij,ij->i", points, points)
    found = [int(np.argmax(squared))]
    rounding = SPANNED[points.dtype] * squared[found[0]]
    points = points - points[found[0]]
    squared = np.einsum("ij,ij->i", points, points)
    basis = np.empty((min(n - 1, points.shape[1]), points.shape[1]), points.dtype)
    for i in range(basis.shape[0]):
        farthest = int(np.argmax(squared))
        if squared[farthest] <= rounding:
            break
        direction = points[farthest]
        for _ in range(2):  # the second time takes off what rounding left
            direction = direction - (basis[:i] @ direction) @ basis[:i]
        basis[i] = direction / np.linalg.norm(direction)
        squared -= (points @ basis[i]) ** 2
        found.append(farthest)
    return np.array(found)
