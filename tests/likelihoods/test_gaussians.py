"""Gaussian likelihoods against the oracle, closed forms, slow twins and integration."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import gamma, norm

from stickbreak.exceptions import InputError
from stickbreak.likelihoods import DiagonalGaussian, Gaussian, ZeroMeanGaussian
from stickbreak.likelihoods.gaussian import NormalGammaPosterior, mean_and_covariance
from stickbreak.likelihoods.wishart import SCALE_LIMITS, NormalWishartPosterior, WishartPosterior

ORACLE = json.loads((Path(__file__).parents[1] / "data" / "ef_dpm.json").read_text(encoding="utf-8"))
DIM = 3
B = np.array([[2.0, 0.3, -0.2], [0.3, 1.0, 0.4], [-0.2, 0.4, 1.5]])
M = np.array([0.5, -1.0, 2.0])
FAMILIES = {
    "zero_mean": ZeroMeanGaussian(5.5, B),
    "full": Gaussian(5.5, B, M, 0.7),
    "diagonal": DiagonalGaussian(5.5, np.diag(B), M, 0.7),
}
every_family = pytest.mark.parametrize("family", list(FAMILIES.values()), ids=list(FAMILIES))


def of_oracle(entry):
    prior = entry.get("prior", entry)
    if entry["model"] == "ZeroMeanGauss":
        return ZeroMeanGaussian(prior["nu"], prior["B"])
    return Gaussian(prior["nu"], prior["B"], prior["m"], prior["kappa"])


def data(n=40, K=4, seed=0, dim=DIM):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, dim)) @ rng.standard_normal((dim, dim)) + 1.0
    return X, rng.dirichlet(np.full(K, 0.4), n)


def fitted(family, X, R):
    S, N = family.statistics(X, R), R.sum(axis=0)
    return S, N, family.posterior(S, N)


def one(X):
    return np.ones((len(X), 1))


def mean_of(q, k):
    return q.m[k] if hasattr(q, "m") else 0.0


def slow_expected_log(q, X):
    """E log p by loops over components, with inverses.                                            docs/math (E1)"""
    out = np.empty((len(X), q.nu.size))
    for k in range(q.nu.size):
        kappa_term = X.shape[1] / q.kappa[k] if hasattr(q, "kappa") else 0.0
        E_precision = (
            np.diag(q.precision[k]) if isinstance(q, NormalGammaPosterior) else q.nu[k] * np.linalg.inv(q.B[k])
        )
        d = X - mean_of(q, k)
        out[:, k] = q.expected_log_det[k] - X.shape[1] * np.log(2 * np.pi) - kappa_term
        out[:, k] -= np.einsum("ni,ij,nj->n", d, E_precision, d)
    return out / 2


@pytest.mark.parametrize("entry", ORACLE["evidence"])
def test_evidence_of_one_component_is_that_of_the_oracle(entry):
    X = np.array(entry["X"])
    S, N, q = fitted(of_oracle(entry), X, one(X))
    np.testing.assert_allclose(of_oracle(entry).evidence(S, N), [entry["log_evidence"]], rtol=1e-12)
    np.testing.assert_allclose(of_oracle(entry).objective(S, N, q), [entry["log_evidence"]], rtol=1e-12)


@pytest.mark.parametrize("entry", ORACLE["L_data_at_q"])
def test_objective_and_expected_log_at_any_parameters_are_those_of_the_oracle(entry):
    family, X, R = of_oracle(entry), np.array(entry["X"]), np.array(entry["r"])[:, None]
    q = entry["q"]
    nu, B_q = np.array([q["nu"]]), np.array([q["B"]])
    if entry["model"] == "ZeroMeanGauss":
        posterior = WishartPosterior(nu, B_q)
    else:
        posterior = NormalWishartPosterior(nu, B_q, np.array([q["kappa"]]), np.array([q["m"]]) - family.m, family.m)
    L = family.objective(family.statistics(X, R), R.sum(axis=0), posterior)
    np.testing.assert_allclose(L, [entry["L_data"]], rtol=1e-12)
    np.testing.assert_allclose(family.expected_log(posterior, X)[:, 0], entry["elog"], rtol=1e-12)


def test_evidence_in_one_dimension_is_the_integral():
    x, nu, b = np.array([[0.3], [-1.2], [2.1]]), 3.0, 1.5

    def integrand(precision):
        return np.exp(norm.logpdf(x, 0, precision**-0.5).sum() + gamma.logpdf(precision, nu / 2, scale=2 / b))

    family = ZeroMeanGaussian(nu, [[b]])
    L = family.evidence(family.statistics(x, one(x)), np.array([3.0]))
    assert L[0] == pytest.approx(np.log(quad(integrand, 0, 60, epsabs=1e-13, limit=300)[0]), abs=1e-8)


def test_diagonal_is_the_product_of_one_dimensional_gaussians():
    X, R = data()
    family = FAMILIES["diagonal"]
    S, N, q = fitted(family, X, R)
    other = replace(q, nu=q.nu * 1.1, b=q.b * 0.8, kappa=q.kappa * 1.2, offsets=q.offsets + 0.1)
    sums = [0.0, 0.0, 0.0, 0.0]
    for d in range(DIM):
        single = Gaussian(5.5, [[B[d, d]]], [M[d]], 0.7)
        s, _, p = fitted(single, X[:, [d]], R)
        p_other = NormalWishartPosterior(
            other.nu, other.b[:, d, None, None], other.kappa, other.offsets[:, [d]], M[[d]]
        )
        parts = (
            single.evidence(s, N),
            single.objective(s, N, p_other),
            single.expected_log(p, X[:, [d]]),
            single.predictive_log(p, X[:, [d]]),
        )
        sums = [total + part for total, part in zip(sums, parts, strict=True)]
    ours = family.evidence(S, N), family.objective(S, N, other), family.expected_log(q, X), family.predictive_log(q, X)
    for value, expected in zip(ours, sums, strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-10, atol=1e-10)


@every_family
def test_evidence_is_the_objective_at_the_posterior_and_its_largest_value(family):
    X, R = data()
    S, N, q = fitted(family, X, R)
    best = family.evidence(S, N)
    np.testing.assert_allclose(best, family.objective(S, N, q), rtol=1e-11)
    names = [name for name in ("nu", "B", "b", "kappa", "offsets") if hasattr(q, name)]
    for name in names:
        for factor in (0.97, 1.03):
            assert (family.objective(S, N, replace(q, **{name: getattr(q, name) * factor})) < best).all(), name


@every_family
def test_evidence_is_the_chain_of_predictions(family):
    X, _ = data(6)
    total = 0.0
    for n in range(len(X)):
        _, _, q = fitted(family, X[:n], np.ones((n, 1)))
        total += family.predictive_log(q, X[[n]])[0, 0]
    S, N, _ = fitted(family, X, one(X))
    assert family.evidence(S, N)[0] == pytest.approx(total, rel=1e-11)


@every_family
@given(seed=st.integers(0, 10_000), n=st.integers(1, 30), dim=st.integers(1, 6))
@settings(max_examples=25, deadline=None)
def test_statistics_add_up_and_do_not_depend_on_the_order(family, seed, n, dim):
    family = type(family).from_data(np.random.default_rng(1).standard_normal((50, dim)))
    X, R = data(n, seed=seed, dim=dim)
    S = family.statistics(X, R)
    assert S.shape == (family.n_rows, R.shape[1])
    cut, order = n // 2, np.random.default_rng(seed).permutation(n)
    halves = family.statistics(X[:cut], R[:cut]) + family.statistics(X[cut:], R[cut:])
    np.testing.assert_allclose(S, halves, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(S, family.statistics(X[order], R[order]), rtol=1e-10, atol=1e-10)
    pooled = family.statistics(X, R[:, [0]] + R[:, [1]])
    np.testing.assert_allclose(S[:, [0]] + S[:, [1]], pooled, rtol=1e-10, atol=1e-10)


@every_family
@given(seed=st.integers(0, 10_000), n=st.integers(1, 20))
@settings(max_examples=15, deadline=None)
def test_expected_log_equals_the_slow_twin(family, seed, n):
    X, R = data(n, seed=seed)
    _, _, q = fitted(family, X, R)
    np.testing.assert_allclose(family.expected_log(q, X), slow_expected_log(q, X), rtol=1e-10, atol=1e-9)
    single = family.expected_log(q, X.astype(np.float32))
    assert single.dtype == np.float64
    np.testing.assert_allclose(single, slow_expected_log(q, X), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["full", "diagonal"])
def test_data_far_from_zero_lose_no_digits(name):
    X, R = data()
    family, far = FAMILIES[name], 1e7
    moved = replace(family, m=family.m + far)
    S, N, q = fitted(family, X, R)
    X_far = (X + far).astype(np.float64)
    S_far, _, q_far = fitted(moved, X_far, R)
    np.testing.assert_allclose(moved.evidence(S_far, N), family.evidence(S, N), rtol=1e-6)
    np.testing.assert_allclose(moved.expected_log(q_far, X_far), family.expected_log(q, X), rtol=1e-5, atol=1e-5)


@every_family
def test_learned_scale_has_the_largest_evidence(family):
    X, R = data(300)
    S, N = family.statistics(X * 0.1, R), R.sum(axis=0)
    found = family.learned(S, N)
    evidences = [replace(found, scale=found.scale * x).evidence(S, N).sum() for x in (0.99, 1.0, 1.01)]
    assert evidences[1] == max(evidences)
    assert found.scale != 1.0
    assert family.with_hyperparameters(found.hyperparameters).scale == found.scale
    nothing = family.learned(S * 0.0, N * 0.0)  # no data, no slope: it stays
    assert nothing.scale == 1.0
    assert SCALE_LIMITS[0] < found.scale < SCALE_LIMITS[1]


@every_family
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["constant coordinate", "fewer vectors than dimensions", "mean removed"])
def test_singular_data_give_finite_numbers(family, dtype, kind):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((3 if kind.startswith("fewer") else 200, 8))
    if kind == "constant coordinate":
        X[:, 2] = 0.25
    if kind == "mean removed":
        X -= X.mean(axis=1, keepdims=True)
        X[:20] = 0.0  # constant patches
    X = X.astype(dtype)
    found = type(family).from_data(X)
    R = np.random.default_rng(0).dirichlet(np.ones(3), len(X))
    S, N, q = fitted(found, X, R)
    for value in (found.evidence(S, N), found.objective(S, N, q), found.expected_log(q, X), found.predictive_log(q, X)):
        assert np.isfinite(value).all()
    np.testing.assert_allclose(found.evidence(S, N), found.objective(S, N, q), rtol=1e-8, atol=1e-6)


def test_scatter_that_rounding_made_negative_is_repaired():
    family = ZeroMeanGaussian(5.5, B * 1e-6)
    S = np.zeros((6, 2))
    S[0] = -1.0, 1.0  # the first component's sums were added and taken away again
    q = family.posterior(S, np.zeros(2))
    assert np.isfinite(q.log_det).all()
    np.testing.assert_allclose(q.B[0], B * 1e-6, rtol=1e-6)
    np.testing.assert_allclose(q.B[1][0, 0], 1.0, rtol=1e-5)


@every_family
def test_statistics_move_to_another_origin(family):
    """The moments of vectors about another prior mean; and those of vectors minus the origin are the same."""
    X, R = data()
    S, N = family.statistics(X, R), R.sum(axis=0)
    other = replace(family, m=np.array([30.0, -4.0, 0.5])) if hasattr(family, "m") else replace(family, scale=3.0)
    np.testing.assert_allclose(other.moved_from(family, S, N), other.statistics(X, R), rtol=1e-11, atol=1e-11)
    np.testing.assert_array_equal(family.from_origin().statistics(X - family.origin, R), S)


@pytest.mark.parametrize("value", [0.1, -1 / 3, 1e-20, 12345.678])
@pytest.mark.parametrize("n", [2, 300, 40_000])
def test_a_spread_of_rounding_alone_is_none(value, n):
    with pytest.raises(InputError, match="are the same, so they do not determine"):
        mean_and_covariance(np.full((n, 3), value), zero_mean=False)
