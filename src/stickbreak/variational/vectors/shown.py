"""Components of vectors as they are shown: mean, spread, and the directions in which they spread most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stickbreak.likelihoods import VectorLikelihood
from stickbreak.numerics.arrays import Float


@dataclass(frozen=True, slots=True)
class ShownComponent:
    """A component as it is told and drawn.

    Attributes
    ----------
    number : int
        Its row in `means_`.
    weight : float
        Its expected weight.
    count : float
        Vectors that it has in the fit.
    mean, spread : ndarray of shape (dim,)
        Mean and standard deviation of each coordinate.
    directions : ndarray of shape (m, dim)
        The leading eigenvectors of its covariance, of length one; the largest entry of each is positive.
    shares : ndarray of shape (m,)
        The share of the variance along each.
    """

    number: int
    weight: float
    count: float
    mean: Float
    spread: Float
    directions: Float
    shares: Float

    def telling(self, n: int, centre: Float) -> list[int]:
        """Return the n coordinates whose mean is farthest from a centre, in standard deviations of this component.

        Among those that are equally far, as in components of mean zero, the ones that spread most come first.

        Parameters
        ----------
        n : int
        centre : ndarray of shape (dim,)
        """
        far = np.abs(self.mean - centre) / np.maximum(self.spread, np.finfo(float).tiny)
        return [int(j) for j in np.lexsort((-self.spread, -far))[:n]]


def shown_components(
    likelihood: VectorLikelihood, S: Float, N: Float, weights: Float, n_directions: int
) -> list[ShownComponent]:
    """Describe components, the largest first; one at a time, so that no table (K, dim, dim) is held.

    Parameters
    ----------
    likelihood : VectorLikelihood
    S, N : ndarray of shape (rows, K) and (K,)
        Their statistics.
    weights : ndarray of shape (K,)
    n_directions : int
        Eigenvectors of each, at most.
    """
    order = np.argsort(-weights, kind="stable")
    return [_shown(likelihood, S[:, [k]], N[[k]], int(k), float(weights[k]), n_directions) for k in order]


def _shown(likelihood: VectorLikelihood, S: Float, N: Float, k: int, weight: float, n: int) -> ShownComponent:
    posterior = likelihood.posterior(S, N)
    covariance = likelihood.covariance(posterior)[0]
    values, vectors = np.linalg.eigh(covariance)
    values, directions = np.maximum(values[::-1], 0.0), vectors.T[::-1][:n]
    at_largest = directions[np.arange(len(directions)), np.abs(directions).argmax(axis=1)]
    return ShownComponent(
        k,
        weight,
        float(N[0]),
        np.asarray(likelihood.mean(posterior)[0], dtype=np.float64),
        np.sqrt(np.maximum(np.diagonal(covariance), 0.0)),
        directions * np.where(at_largest < 0, -1.0, 1.0)[:, None],
        values[:n] / max(float(values.sum()), np.finfo(float).tiny),
    )
