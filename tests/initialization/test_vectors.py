"""The seeded start of vector models."""

import numpy as np
import pytest

from stickbreak.initialization import start_of_components, vectors
from stickbreak.initialization.vectors import _seeds
from stickbreak.likelihoods import Gaussian


def with_outliers(seed):
    """A crowd and, far away, two pairs of vectors."""
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(size=(400, 2)), [[60.0, 0], [60, 1], [0, -60], [1, -60]]])


@pytest.mark.parametrize("seed", range(8))
def test_seeds_are_drawn_where_the_others_explain_least(seed):
    X = with_outliers(seed)
    likelihood = Gaussian(4.0, np.eye(2), np.zeros(2), 0.01)
    S, N = start_of_components(likelihood, X, 4, np.random.default_rng(seed))
    assert S.shape == (likelihood.n_rows, N.size)
    assert N.sum() == len(X)
    assert (np.diff(N) <= 0).all()
    means = likelihood.mean(likelihood.posterior(S, N))
    for place in ([60, 0.5], [0.5, -60]):
        assert np.linalg.norm(means - place, axis=1).min() < 2


def test_there_are_no_more_components_than_vectors_and_given_seeds_stay():
    X, likelihood, rng = with_outliers(0), Gaussian(4.0, np.eye(2), np.zeros(2), 0.01), np.random.default_rng(0)
    assert start_of_components(likelihood, X[:3], 9, rng)[1].size == 3
    assert start_of_components(likelihood, np.tile(X[:1], (5, 1)), 3, rng)[1].sum() == 5  # copies
    _, N = start_of_components(likelihood, X, 9, rng, seeds=np.array([[0.0, 0], [60, 0], [0, -60]]))
    np.testing.assert_array_equal(N, [400, 2, 2])


def test_vectors_are_assigned_as_often_as_they_can_bear(monkeypatch):
    X, rounds = np.random.default_rng(0).normal(size=(700, 2)), []
    likelihood = Gaussian(4.0, np.eye(2), np.zeros(2), 0.01)
    assigned = vectors._assigned
    monkeypatch.setattr(vectors, "_assigned", lambda *given: rounds.append(1) or assigned(*given))
    for n, least, most in ((200, 1, 1), (40, 2, 700 // (40 * likelihood.n_rows)), (3, 3, 10)):
        rounds.clear()
        start_of_components(likelihood, X, n, np.random.default_rng(0))
        assert least <= len(rounds) <= most


def test_a_sample_of_many_blocks_is_assigned_as_one(monkeypatch):
    X, likelihood = with_outliers(0), Gaussian(4.0, np.eye(2), np.zeros(2), 0.01)
    posterior = likelihood.posterior(likelihood.statistics(X[:5], np.eye(5)), np.ones(5))
    expected = likelihood.expected_log(posterior, X).argmax(axis=1)
    monkeypatch.setattr(vectors, "BLOCK", 9)
    best, _, N = vectors._assigned(likelihood, posterior, X, 5)
    np.testing.assert_array_equal(best, expected)
    np.testing.assert_array_equal(N, np.bincount(expected, minlength=5))
    monkeypatch.undo()
    whole = start_of_components(likelihood, X, 5, np.random.default_rng(3))
    monkeypatch.setattr(vectors, "BLOCK", 7)
    for block, all_at_once in zip(start_of_components(likelihood, X, 5, np.random.default_rng(3)), whole, strict=True):
        np.testing.assert_allclose(block, all_at_once, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_few_seeds_stand_in_every_cluster(seed):
    rng = np.random.default_rng(seed)
    turns = 2 * np.pi * np.arange(5) / 5
    X = np.concatenate([rng.normal((40 * np.cos(turn), 40 * np.sin(turn)), 1, size=(50, 2)) for turn in turns])
    likelihood = Gaussian(4.0, np.eye(2), np.zeros(2), 0.01)
    seeds = _seeds(likelihood, X, 8, np.random.default_rng(seed))
    assert {index // 50 for index in seeds} == set(range(5))
