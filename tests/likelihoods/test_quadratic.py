"""Quadratic forms and second moments at the speed of matrix products, against loops in more digits."""

import numpy as np
import pytest

from stickbreak.likelihoods.quadratic_forms import (
    FEATURE_ROWS,
    SPARSE,
    FeatureForms,
    WhitenedForms,
    moments,
    packed,
    unpacked,
)


def patches(n, dim, condition, seed=0):
    """Vectors whose covariance has a condition number, with lower triangular roots of three precisions near its own."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((dim, dim)))[0]
    variances = np.logspace(0, -np.log10(condition), dim)
    covariances = [(Q * (variances * scale)) @ Q.T for scale in (1.0, 0.5, 2.0)]
    X = rng.standard_normal((n, dim)) @ np.linalg.cholesky(covariances[0]).T
    return X, np.array([np.linalg.inv(np.linalg.cholesky(C)) for C in covariances])


def slow_forms(X, roots, offsets):
    X, roots, offsets = (a.astype(np.longdouble) for a in (X, roots, offsets))
    return np.stack([(((X - a) @ W.T) ** 2).sum(axis=1) for W, a in zip(roots, offsets, strict=True)], axis=1)


@pytest.mark.parametrize("dim", [1, 2, 5, 64])
@pytest.mark.parametrize("n", [0, 1, 63, FEATURE_ROWS + 1])
def test_forms_equal_loops(dim, n):
    X, roots = patches(n, dim, 1e5)
    offsets, origin = np.random.default_rng(1).standard_normal((3, dim)) * 0.1, np.linspace(0.0, 1.0, dim)
    for way, x, rtol in ((FeatureForms, X, 1e-9), (WhitenedForms, X.astype(np.float32), 3e-4)):
        np.testing.assert_allclose(way.of(roots)(x), slow_forms(x, roots, 0 * offsets), rtol=rtol)
        moved = (x + origin).astype(x.dtype)
        exact = slow_forms(moved - origin, roots, offsets)
        np.testing.assert_allclose(way.of(roots, offsets, origin)(moved), exact, rtol=10 * rtol, atol=1e-9)


def test_forms_are_never_negative():
    X, roots = patches(50, 8, 1e12)
    assert (FeatureForms.of(roots, np.repeat(X[:1], 3, axis=0))(X[:1]) >= 0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("density", [SPARSE / 2, 1.0])
@pytest.mark.parametrize("linear", [False, True])
def test_moments_equal_loops(dtype, density, linear, monkeypatch):
    monkeypatch.setattr("stickbreak.likelihoods.quadratic_forms.GATHERED_ROWS", 7)  # several blocks of one component
    rng = np.random.default_rng(2)
    X = rng.standard_normal((FEATURE_ROWS + 30, 5)).astype(dtype)
    R = rng.random((len(X), 20)) * (rng.random((len(X), 20)) < density)
    R[:, 3] = 0.0  # a component of no vectors
    origin = np.linspace(0, 1, 5) if linear else None
    x = X.astype(np.float64) - (origin if linear else 0.0)
    expected = packed(np.einsum("nk,ni,nj->kij", R, x, x))
    if linear:
        expected = np.concatenate([expected, x.T @ R])
    found = moments(X, R, origin, linear=linear)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("density", [SPARSE / 2, 1.0])
def test_moments_of_float32_keep_the_least_eigenvalue(density):
    """Patches whose mean was removed: along the constant patch there is nothing but the rounding of the patches."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((20_000, 8))
    X = (X - X.mean(axis=1, keepdims=True)).astype(np.float32)
    R = (rng.random((len(X), 2)) < density).astype(np.float32)
    values = np.linalg.eigvalsh(unpacked(moments(X, R), 8))
    assert (np.abs(values[:, 0]) < 1e-13 * values[:, -1]).all()
