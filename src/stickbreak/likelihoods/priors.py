"""Priors of Gaussian likelihoods: from the data by one rule, or checked as the user gives them.    docs/math (E8)"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stickbreak.exceptions import InputError
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.ranges import LARGEST_PRIOR, LARGEST_STATISTIC, SMALLEST_PRIOR

FLOOR = 1e-6  # least eigenvalue of a covariance, as a share of its largest
_BLOCK = 1 << 14  # vectors that are looked at at once
_ASYMMETRY = 1e-8  # relative


def mean_and_covariance(X: ArrayLike, *, zero_mean: bool) -> tuple[Float, Float]:
    """Return the mean (dim,), 0 if that is what is assumed, and the covariance (dim, dim) about it, in float64."""
    vectors = np.asarray(X)
    if vectors.ndim != 2 or 0 in vectors.shape or vectors.dtype.kind not in "biuf":
        raise InputError(
            f"a prior is set from vectors in a table (n, dim) of numbers, not from {vectors.dtype} of shape "
            f"{vectors.shape}; give at least one vector"
        )
    n, dim = vectors.shape

    def parts() -> Iterator[NDArray]:  # rows together whatever the order in memory: sums depend on it
        return (np.ascontiguousarray(vectors[start : start + _BLOCK]) for start in range(0, n, _BLOCK))

    mean = np.zeros(dim)
    if not zero_mean:  # summed from the first vector on: copies of it have no rounding that would look like a spread
        first = vectors[0].astype(np.float64)
        mean = first + np.add.reduce([(part - first).sum(axis=0) for part in parts()]) / n
    covariance = np.zeros((dim, dim))
    for part in parts():
        centred = part - mean
        covariance += centred.T @ centred
    covariance /= n
    if not np.isfinite(covariance).all():
        raise InputError("the vectors hold NaN or infinite (or overflowing) values; remove or repair them")
    if not np.trace(covariance) > 0:
        what = "zero" if zero_mean else "the same"
        raise InputError(f"all {n} vectors are {what}, so they do not determine a covariance; give your own prior")
    return mean, covariance


def floored(covariance: Float, floor: float) -> Float:
    """Return a covariance whose eigenvalues are at least `floor` times the largest."""
    checked_positive(floor=floor)
    values, vectors = np.linalg.eigh(covariance)
    return np.array((vectors * np.maximum(values, floor * values[-1])) @ vectors.T)


def checked_matrix(name: str, value: ArrayLike) -> Float:
    """Check that a value is a symmetric positive definite matrix."""
    matrix = _numbers(name, value)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise InputError(f"{name} is of shape {matrix.shape}; give a square matrix (dim, dim)")
    if np.abs(matrix - matrix.T).max() > _ASYMMETRY * np.abs(matrix).max():
        raise InputError(f"{name} is not symmetric; give a symmetric positive definite matrix")
    matrix = (matrix + matrix.T) / 2
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        raise InputError(f"{name} is not positive definite; add a small multiple of the identity") from None
    return matrix


def checked_vector(name: str, value: ArrayLike, dim: int) -> Float:
    """Check that a value is a vector of `dim` finite numbers."""
    vector = _numbers(name, value)
    if vector.shape != (dim,):
        raise InputError(f"{name} is of shape {vector.shape}; give {dim} numbers, one for each dimension")
    return vector


def checked_positive(**numbers: float) -> None:
    """Check that all numbers are positive, and in the range of those of a prior."""
    for name, value in numbers.items():
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not number or not SMALLEST_PRIOR <= value <= LARGEST_PRIOR:
            raise InputError(
                f"{name} is {value!r}; give a positive number, from {SMALLEST_PRIOR:g} to {LARGEST_PRIOR:g}"
            )


def checked_nu(nu: float, least: float) -> None:
    """Check that the degrees of freedom let the prior be a distribution."""
    checked_positive(nu=nu)
    if not nu > least:
        raise InputError(f"nu is {nu!r}, so the prior is not a distribution; give a number above {least:g}")


def _numbers(name: str, value: Any) -> Float:
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} is not an array of numbers; give finite numbers") from None
    if not np.isfinite(array).all():
        raise InputError(f"{name} holds NaN or infinity; give finite numbers")
    if np.abs(array).max(initial=0.0) > LARGEST_STATISTIC:
        raise InputError(f"{name} holds a number above {LARGEST_STATISTIC:g}; rescale to smaller numbers")
    return array
