"""Synthetic groups of vectors whose components are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from stickbreak.corpus.vectors import GroupedVectors
from stickbreak.exceptions import InputError
from stickbreak.numerics.arrays import Float, Int

__all__ = ["PlantedGaussians", "planted_gaussians"]


@dataclass(frozen=True, slots=True, eq=False)
class PlantedGaussians:
    """The truth behind synthetic vectors: K components of `dim` dimensions, G groups, N vectors.

    Attributes
    ----------
    means : ndarray of shape (K, dim)
        Means of the components.
    covariances : ndarray of shape (K, dim, dim)
        Covariances of the components.
    group_weights : ndarray of shape (G, K)
        Proportions that each group was drawn from; rows sum to 1.
    weights : ndarray of shape (K,)
        Share of all vectors that come from each component.
    labels : ndarray of int of shape (N,)
        The component of each vector.
    """

    means: Float
    covariances: Float
    group_weights: Float
    weights: Float
    labels: Int

    @property
    def n_components(self) -> int:
        """Number of components K."""
        return len(self.means)


def planted_gaussians(
    n_groups: int = 50,
    n_vectors: int = 100,
    *,
    dim: int = 2,
    n_components: int = 4,
    separation: float = 6.0,
    contrast: float = 3.0,
    zero_mean: bool = False,
    alpha: float = 1.0,
    dtype: DTypeLike = np.float64,
    seed: int = 0,
) -> tuple[GroupedVectors, PlantedGaussians]:
    """Draw groups of vectors that share Gaussian components.

    The weights of a group are Dirichlet(alpha / K, ..., alpha / K). A covariance has random axes; the variances
    along them are drawn between 1 / contrast and contrast, uniformly in their logarithms.

    Parameters
    ----------
    n_groups : int
        G.
    n_vectors : int
        Vectors of each group.
    dim : int
        Dimension of the vectors.
    n_components : int
        K.
    separation : float
        Smallest distance between two means.
    contrast : float
        How far variances may be from 1, as a factor of at least 1. If all means are zero, components differ in nothing
        else; then 30, with several dimensions, makes them distinct.
    zero_mean : bool
        Whether all means are zero.
    alpha : float
        Concentration of a group. Smaller values give fewer components in each group.
    dtype : float32 or float64
        Dtype of the values.
    seed : int
        The same seed gives the same vectors.

    Returns
    -------
    vectors : GroupedVectors
    truth : PlantedGaussians

    Raises
    ------
    InputError
        If a size is not positive.

    Examples
    --------
    >>> vectors, truth = planted_gaussians(10, 20)
    >>> vectors
    GroupedVectors(10 groups, 200 vectors of 2 float64)
    >>> truth.means.shape
    (4, 2)
    """
    if min(n_groups, n_vectors, dim, n_components) < 1 or not alpha > 0 or not contrast >= 1 or separation < 0:
        raise InputError(
            f"planted_gaussians cannot draw n_groups={n_groups}, n_vectors={n_vectors}, dim={dim}, "
            f"n_components={n_components}, alpha={alpha}, contrast={contrast}, separation={separation}; give positive "
            "sizes, and a contrast of 1 or more"
        )
    rng = np.random.default_rng(seed)
    means = np.zeros((n_components, dim)) if zero_mean else _apart(n_components, dim, separation, rng)
    axes = np.linalg.qr(rng.standard_normal((n_components, dim, dim)))[0]
    deviations = contrast ** (rng.uniform(-1.0, 1.0, (n_components, dim)) / 2)
    roots = axes * deviations[:, None, :]
    group_weights = rng.dirichlet(np.full(n_components, alpha / n_components), n_groups)
    labels = np.concatenate([rng.choice(n_components, n_vectors, p=weights) for weights in group_weights])
    normal = rng.standard_normal((labels.size, dim))
    values = np.empty((labels.size, dim), dtype)
    for k in range(n_components):
        values[labels == k] = normal[labels == k] @ roots[k].T + means[k]
    vectors = GroupedVectors.from_values(values, np.arange(n_groups + 1) * n_vectors)
    share = np.bincount(labels, minlength=n_components) / labels.size
    return vectors, PlantedGaussians(means, roots @ np.swapaxes(roots, 1, 2), group_weights, share, labels)


def _apart(n_components: int, dim: int, separation: float, rng: np.random.Generator) -> np.ndarray:
    """Draw means one by one, further out where they come too near to one of the others."""
    means = np.zeros((n_components, dim))
    for k in range(n_components):
        radius = separation
        means[k] = radius * rng.standard_normal(dim)
        while k and np.linalg.norm(means[:k] - means[k], axis=1).min() < separation:
            radius *= 1.1
            means[k] = radius * rng.standard_normal(dim)
    return means
