"""`GaussianDPMixture` and `GaussianHDP`: planted data, oracles, threads, checkpoints, saved models, odd input."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.special import betaln

from stickbreak import GaussianDPMixture, GaussianHDP
from stickbreak.likelihoods import Gaussian, ZeroMeanGaussian
from stickbreak.variational import local_step, vectors

ORACLE = json.loads((Path(__file__).parents[1] / "data" / "ef_dpm.json").read_text(encoding="utf-8"))
FAMILIES = {"ZeroMeanGauss": ZeroMeanGaussian, "NormalWishart": Gaussian}
SMALL = {"n_components": 8, "random_state": 0}


def places(seed, n=4, least=7.0):
    """Means in the plane, no two nearer than `least`."""
    rng = np.random.default_rng(seed)
    while True:
        means = rng.uniform(-12, 12, (n, 2))
        distance = np.linalg.norm(means[:, None] - means, axis=2) + 99 * np.eye(n)
        if distance.min() > least:
            return means


def mixture(seed, n=400):
    rng, means = np.random.default_rng(seed), places(seed)
    return means[rng.integers(len(means), size=n)] + rng.normal(size=(n, 2)), means


def posterior_of(likelihood, X, means):
    """The posterior of each planted component given the vectors nearest to its mean."""
    R = np.eye(len(means))[nearest(means, X)]
    return likelihood.posterior(likelihood.statistics(X, R), R.sum(axis=0))


def groups(seed, sizes=None):
    """Groups of very different sizes, the first empty and the second of one vector."""
    rng, means = np.random.default_rng(seed), places(seed)
    sizes = [0, 1, *rng.integers(5, 40, size=28)] if sizes is None else sizes
    weights = rng.dirichlet(np.full(4, 0.5), size=len(sizes))
    return [means[rng.choice(4, n, p=w)] + rng.normal(size=(n, 2)) for n, w in zip(sizes, weights, strict=True)], means


def nearest(found, means):
    return np.linalg.norm(found[:, None] - means, axis=2).argmin(axis=0)


@pytest.mark.parametrize("seed", range(6))
def test_mixture_finds_the_planted_components(seed):
    X, means = mixture(seed)
    model = GaussianDPMixture(n_components=20, random_state=seed).fit(X)
    assert model.n_components_ == 4
    order = nearest(model.means_, means)
    assert sorted(order) == [0, 1, 2, 3]
    planted = posterior_of(model.likelihood_, X, means)
    np.testing.assert_allclose(model.means_[order], model.likelihood_.mean(planted), atol=0.05)
    np.testing.assert_allclose(model.covariances_[order], model.likelihood_.covariance(planted), atol=0.1)
    assert (np.diff(model.trace_["objective"]) > -1e-9).all()


@pytest.mark.parametrize("seed", range(6))
def test_groups_find_the_planted_components(seed):
    X, means = groups(seed)
    model = GaussianHDP(n_components=10, likelihood="full", random_state=seed, n_batches=2, tolerance=1e-3).fit(X)
    assert model.n_components_ == 4
    order = nearest(model.means_, means)
    assert sorted(order) == [0, 1, 2, 3]
    values = np.concatenate(X)
    planted = posterior_of(model.likelihood_, values, means)
    np.testing.assert_allclose(model.means_[order], model.likelihood_.mean(planted), atol=0.1)
    np.testing.assert_allclose(model.covariances_[order], model.likelihood_.covariance(planted), atol=0.25)
    assert (np.diff(model.trace_["objective"]) > -1e-9).all()


def test_groups_of_zero_mean_vectors_find_the_planted_covariances():
    rng = np.random.default_rng(5)
    scales = np.array([[10.0, 0.3, 1], [0.3, 10, 1], [1, 0.3, 10]])
    X = [scales[rng.choice(3, 60, p=w)] * rng.normal(size=(60, 3)) for w in rng.dirichlet(np.full(3, 0.3), size=25)]
    model = GaussianHDP(n_components=12, random_state=0).fit(X)
    assert model.n_components_ == 3
    found = np.sqrt(np.diagonal(model.covariances_, axis1=1, axis2=2))
    order = [int(np.abs(np.log(found / s)).sum(axis=1).argmin()) for s in scales]
    np.testing.assert_allclose(found[order], scales, rtol=0.2, atol=0.1)  # the prior widens the narrow ones


@pytest.mark.parametrize("case", ORACLE["evidence"], ids=lambda case: f"{case['model']} {len(case['B'])}-d")
def test_one_component_has_the_marginal_likelihood(case):
    """With one component nothing is approximated but the sticks: q(v_1) = Beta(1 + N, gamma) costs its own evidence."""
    prior = {name: case[name] for name in ("nu", "B", "m", "kappa") if name in case}
    X = np.array(case["X"])
    model = GaussianDPMixture(n_components=1, likelihood=FAMILIES[case["model"]](**prior), gamma=2.0).fit(X)
    sticks = np.log(2.0) + betaln(1 + len(X), 2.0)  # log E v_1^N
    assert model.objective_ * len(X) == pytest.approx(case["log_evidence"] + sticks, abs=1e-8)


@pytest.mark.parametrize("n_components", [1, 2, 3, 5])
def test_objective_stays_below_the_exact_evidence(n_components):
    exact = ORACLE["dpm_exact"]
    prior, X = exact["prior"], np.array(exact["X"])
    likelihood = Gaussian(prior["nu"], prior["B"], prior["m"], prior["kappa"])
    model = GaussianDPMixture(n_components=n_components, likelihood=likelihood, gamma=exact["alpha0"], random_state=0)
    value = model.fit(X).objective_ * len(X)
    assert value < exact["log_evidence"]
    if n_components > 1:
        assert value > exact["log_evidence"] - 4.5
        assert model.n_components_ == 2


@pytest.mark.parametrize("schedule", ["memoized", "stochastic"])
def test_the_number_of_threads_changes_no_bit(schedule, monkeypatch):
    monkeypatch.setattr(vectors, "SHARD_VECTORS", 32)
    monkeypatch.setattr(vectors, "SHARD_COUNTS", 64)
    monkeypatch.setattr(local_step, "SHARD_COUNTS", 64)
    X, _ = groups(4)
    one, three = (
        GaussianHDP(likelihood="full", schedule=schedule, n_batches=2, n_laps=6, n_jobs=n, **SMALL).fit(X)
        for n in (1, 3)
    )
    np.testing.assert_array_equal(one.statistics_, three.statistics_)
    np.testing.assert_array_equal(one.trace_["objective"], three.trace_["objective"])
    values = np.concatenate(X)
    one, three = (
        GaussianDPMixture(schedule=schedule, n_batches=2, n_laps=6, n_jobs=n, **SMALL).fit(values) for n in (1, 3)
    )
    np.testing.assert_array_equal(one.statistics_, three.statistics_)
    np.testing.assert_array_equal(one.trace_["objective"], three.trace_["objective"])


def test_samples_have_the_moments_of_the_components():
    X, _ = mixture(9)
    model = GaussianDPMixture(**SMALL).fit(X)
    drawn, components = model.sample(20_000, random_state=1)
    np.testing.assert_allclose(np.bincount(components) / 20_000, model.weights_, atol=0.02)
    for k in range(model.n_components_):
        np.testing.assert_allclose(drawn[components == k].mean(axis=0), model.means_[k], atol=0.1)
    groups_, _ = groups(9)
    hdp = GaussianHDP(likelihood="full", **SMALL).fit(groups_)
    _, components = hdp.sample(50, weights=np.eye(hdp.n_components_)[1], random_state=0)
    assert (components == 1).all()
