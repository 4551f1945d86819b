"""Births of components: from one component to the planted ones."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import stickbreak
from stickbreak import GaussianDPMixture, GaussianHDP

MOVES = ("birth", "merge", "delete", "reorder")


def ten_clusters(seed, n=1500, apart=8.0):
    """Ten clusters of standard deviation 1 in four dimensions, `apart` of each other at least."""
    rng = np.random.default_rng(seed)
    means = rng.normal(0, 9, (10, 4))
    while np.linalg.norm(means[:, None] - means, axis=2)[~np.eye(10, dtype=bool)].min() < apart:
        means = rng.normal(0, 9, (10, 4))
    cluster = rng.integers(10, size=n)
    return means[cluster] + rng.normal(size=(n, 4)), cluster


@pytest.mark.parametrize("seed", range(10))
def test_births_take_a_mixture_from_one_component_to_the_planted_ten(seed):
    X, cluster = ten_clusters(seed)
    model = GaussianDPMixture(n_components=1, moves=MOVES, n_laps=60, random_state=seed).fit(X)
    assert model.n_components_ == 10
    assert adjusted_rand_score(cluster, model.predict(X)) > 0.99
    assert (np.diff(model.trace_["objective"]) > -1e-9).all()
    assert model.trace_["birth_accepted"].sum() >= 1


@pytest.mark.parametrize("seed", range(3))
def test_births_take_an_hdp_from_one_component_to_those_of_its_groups(seed):
    X, _ = ten_clusters(seed)
    groups = [X[g::30] for g in range(30)]
    model = GaussianHDP(n_components=1, likelihood="full", moves=MOVES, n_laps=60, random_state=seed).fit(groups)
    assert model.n_components_ == 10
    assert (np.diff(model.trace_["objective"]) > -1e-9).all()


def test_no_birth_where_there_is_one_cluster():
    X = np.random.default_rng(0).normal(size=(600, 3))
    model = GaussianDPMixture(n_components=1, moves=MOVES, n_laps=30, random_state=0).fit(X)
    assert model.n_components_ == 1
    assert model.trace_["birth_tried"].sum() >= 1
    assert model.trace_["birth_accepted"].sum() == 0


def test_fit_with_births_goes_on_to_the_same_bits(tmp_path):
    X, _ = ten_clusters(0)
    settings = {"n_components": 1, "moves": MOVES, "tolerance": 0.0, "random_state": 0}
    whole = GaussianDPMixture(n_laps=8, **settings).fit(X)
    assert whole.trace_["birth_accepted"].tolist() == [0, 0, 0, 1, 0, 0, 1, 0], "a birth on either side of the cut"
    GaussianDPMixture(n_laps=5, **settings).fit(X).save(tmp_path / "m")
    again = stickbreak.load(tmp_path / "m").continue_fit(X, n_laps=3)
    np.testing.assert_array_equal(again.statistics_, whole.statistics_)
    np.testing.assert_array_equal(again.trace_["objective"], whole.trace_["objective"])
