"""Quadratic forms and second moments of many vectors at the speed of matrix products.             docs/math (E5)

A symmetric matrix is kept as its upper triangle, row by row: P = dim (dim + 1) / 2 numbers, one column a component.

Two ways lead to x' A_k x for n vectors and K matrices; each serves one precision (measured on one core: 8,192
vectors of dim 64, K = 100, covariances of condition number 1e5; errors of forms near 64 against extended precision):

=========================  ===================  ==================
way                        float64              float32
=========================  ===================  ==================
one product of features     95 ms, error 3e-11   40 ms, error 2e-2
whitened, whole             158 ms               84 ms
whitened, four strips       120 ms               51 ms, error 1e-4
=========================  ===================  ==================

Features (the P products x_i x_j) ask for half the operations of a whitening but cancel: their error grows with the
condition number, of which float64 has digits to spare and float32 has not. Whitening is for the local step alone:
the sums that the objective is made of are always in float64, so that it is exact for the responsibilities used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from stickbreak.numerics.arrays import Float

FEATURE_ROWS = 256  # vectors of a block of features: 4 MiB at dim 64, which the cache holds
STRIP_ROWS = 64  # vectors of a block that is whitened
STRIPS = 4  # a triangle in four strips is 5/8 of its square
GATHERED_ROWS = 4096  # vectors of a block that are gathered for one component
WHOLE_ROWS = 1024  # a multiple of the vectors of every block of a likelihood
SPARSE = 0.3  # below this share of responsibilities above 0, gathering the vectors of a component is the faster way


@cache
def _triangle(dim: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return np.triu_indices(dim)


def packed_size(dim: int) -> int:
    """Return P = dim (dim + 1) / 2, the numbers of a symmetric matrix."""
    return dim * (dim + 1) // 2


def packed(matrices: Float) -> Float:
    """Return symmetric matrices (K, dim, dim) as columns (P, K)."""
    rows, columns = _triangle(matrices.shape[-1])
    return np.ascontiguousarray(matrices[:, rows, columns].T)


def unpacked(columns: Float, dim: int) -> Float:
    """Return columns (P, K) as symmetric matrices (K, dim, dim)."""
    i, j = _triangle(dim)
    out = np.empty((columns.shape[1], dim, dim))
    out[:, i, j] = out[:, j, i] = columns.T
    return out


def as_vectors(X: NDArray) -> NDArray:
    """Return vectors (n, dim) as they are if they are float32 or float64, otherwise as float64."""
    X = np.asarray(X)
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def whole(X: NDArray) -> NDArray:
    """Return vectors in float64 with copies of the last one after them, so that all blocks made of them are full.

    A matrix product rounds a row as the size of the product has it: in blocks of one size the numbers of a vector do
    not depend on how many others there are, nor on its place among them. In float32 they do even so on some processors.
    """
    wide, missing = np.asarray(X, dtype=np.float64), -len(X) % WHOLE_ROWS
    return np.concatenate([wide, np.broadcast_to(wide[-1], (missing, wide.shape[1]))]) if missing else wide


def blocks(
    X: NDArray, n_rows: int, dtype: DTypeLike = np.float64, origin: Float | None = None
) -> Iterator[tuple[slice, NDArray]]:
    """Yield (rows, their vectors minus the origin as columns (dim, rows), subtracted in float64, then in `dtype`)."""
    for start in range(0, len(X), n_rows):
        rows = slice(start, start + n_rows)
        block = X[rows] if origin is None else X[rows] - origin
        yield rows, np.ascontiguousarray(block.T, dtype=dtype)


def features(columns: NDArray, linear: bool, out: NDArray) -> NDArray:
    """Return the products x_i x_j, i <= j, of vectors (dim, n), then their coordinates if `linear`; (rows, n)."""
    dim, n = columns.shape
    place, out = 0, out[:, :n]
    for i in range(dim):
        np.multiply(columns[i], columns[i:], out=out[place : place + dim - i])
        place += dim - i
    if linear:
        out[place:] = columns
    return out


@dataclass(frozen=True, slots=True)
class FeatureForms:
    """Quadratic forms (x - o - a_k)' A_k (x - o - a_k) as one product of features and coefficients, in float64."""

    coefficients: Float  # (P, K), or (P + dim, K) where there are offsets a_k
    constants: Float  # (K,)
    origin: Float | None  # (dim,) o

    @classmethod
    def of(cls, roots: Float, offsets: Float | None = None, origin: Float | None = None) -> Self:
        """Prepare the forms of A_k = W_k' W_k; roots W (K, dim, dim), offsets (K, dim)."""
        A = np.swapaxes(roots, 1, 2) @ roots
        rows, columns = _triangle(roots.shape[1])
        coefficients = packed(A) * np.where(rows == columns, 1.0, 2.0)[:, None]
        if offsets is None:
            return cls(coefficients, np.zeros(len(roots)), origin)
        linear = np.einsum("kij,kj->ki", A, offsets)
        constants = np.einsum("ki,ki->k", linear, offsets)
        return cls(np.concatenate([coefficients, -2.0 * linear.T]), constants, origin)

    def __call__(self, X: NDArray) -> Float:
        """Return the forms, (n, K)."""
        out = np.empty((len(X), self.constants.size))
        linear = self.coefficients.shape[0] > packed_size(X.shape[1])
        buffer = np.empty((self.coefficients.shape[0], min(FEATURE_ROWS, len(X))))
        for rows, columns in blocks(X, FEATURE_ROWS, np.float64, self.origin):
            np.matmul(features(columns, linear, buffer).T, self.coefficients, out=out[rows])
        out += self.constants
        return np.maximum(out, 0.0, out=out)


@dataclass(frozen=True, slots=True)
class WhitenedForms:
    """The same forms as squared lengths of W_k (x - o - a_k), W_k lower triangular, in float32.

    Rows of all W_k are cut into strips; strip b of a triangle needs the first coordinates of x only.
    """

    strips: tuple[NDArray[np.float32], ...]  # (width * K, 1 + coordinates); the first column is - W_k a_k
    n_components: int
    origin: Float | None

    @classmethod
    def of(cls, roots: Float, offsets: Float | None = None, origin: Float | None = None) -> Self:
        """Prepare the forms of lower triangular roots W (K, dim, dim), offsets (K, dim)."""
        K, dim, _ = roots.shape
        shift = np.zeros((K, dim)) if offsets is None else -np.einsum("kij,kj->ki", roots, offsets)
        bounds = np.linspace(0, dim, min(STRIPS, dim) + 1).astype(int)
        strips = []
        for a, b in pairwise(bounds):
            strip = np.concatenate([shift[:, a:b, None], roots[:, a:b, :b]], axis=2)  # (K, width, 1 + b)
            strips.append(strip.transpose(1, 0, 2).reshape((b - a) * K, 1 + b).astype(np.float32))
        return cls(tuple(strips), K, origin)

    def __call__(self, X: NDArray) -> Float:
        """Return the forms, (n, K)."""
        out = np.empty((len(X), self.n_components))
        for rows, columns in blocks(X, STRIP_ROWS, np.float32, self.origin):
            n = columns.shape[1]
            with_one = np.concatenate([np.ones((1, n), np.float32), columns])
            total = np.zeros((self.n_components, n), np.float32)
            for strip in self.strips:
                y = strip @ with_one[: strip.shape[1]]
                np.square(y, out=y)
                total += y.reshape(-1, self.n_components, n).sum(axis=0)
            out[rows] = total.T
        return out


def moments(X: NDArray, R: NDArray, origin: Float | None = None, *, linear: bool = False) -> Float:
    """Return sum_n r_nk x x' as columns, then sum_n r_nk x if `linear`; x counted from the origin.

    Always in float64: the least eigenvalues of these sums decide about log |B_k|, and products in float32 would change
    them by more than their size where the covariance is nearly singular. Dense responsibilities: one product of
    features. Sparse ones, as they are after the first laps: a product for each component of the vectors that it has
    (and there float32 would save nothing).

    `X` (n, dim). `R` (n, K): responsibilities. `origin` (dim,): the default is 0. `linear`: whether first moments are
    wanted, too. Returns (P, K) or (P + dim, K).
    """
    if np.count_nonzero(R) < SPARSE * R.size:
        return _gathered_moments(X, R, origin, linear)
    dim = X.shape[1]
    n_rows = packed_size(dim) + (dim if linear else 0)
    out, buffer = np.zeros((n_rows, R.shape[1])), np.empty((n_rows, min(FEATURE_ROWS, len(X))))
    for rows, columns in blocks(X, FEATURE_ROWS, np.float64, origin):
        out += features(columns, linear, buffer) @ R[rows].astype(np.float64, copy=False)
    return out


def _gathered_moments(X: NDArray, R: NDArray, origin: Float | None, linear: bool) -> Float:
    dim, K = X.shape[1], R.shape[1]
    second, first = np.zeros((K, dim, dim)), np.zeros((dim, K))
    by_component = np.ascontiguousarray(R.T, dtype=np.float64)
    for k in range(K):
        chosen = np.flatnonzero(by_component[k])
        for start in range(0, chosen.size, GATHERED_ROWS):
            rows = chosen[start : start + GATHERED_ROWS]
            x = X[rows].astype(np.float64, copy=False)
            x = x if origin is None else x - origin
            weighted = x * by_component[k, rows][:, None]
            second[k] += weighted.T @ x
            if linear:
                first[:, k] += weighted.sum(axis=0)
    return np.concatenate([packed(second), first]) if linear else packed(second)
