"""Weights of documents under fixed topics."""

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.prediction import reference

from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import Engine
from stickbreak.prediction.document_weights import collapsed_weights
from stickbreak.prediction.kernels import weights as weight_kernels


@pytest.fixture
def problem(seed):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.8, size=(12, 30))
    counts[4] = 0
    phi = rng.dirichlet(np.full(30, 0.2), size=6) + 1e-6
    return counts, phi / phi.sum(axis=1, keepdims=True), rng.dirichlet(np.ones(6)) * 1.5


def weights_of(counts, phi, prior, n_jobs=1, **limits):
    with Engine(n_jobs) as engine:
        return collapsed_weights(Corpus.from_counts(counts), phi, prior, engine, **limits)


def test_weights_equal_the_twin(problem):
    counts, phi, prior = problem
    found = weights_of(counts, phi, prior, tolerance=1e-12, max_sweeps=10_000)
    for d in range(len(counts)):
        np.testing.assert_allclose(found[d], reference.document_weights(counts[d], phi, prior), atol=1e-10)


def test_weights_are_the_maximum_of_their_objective(problem, seed):
    counts, phi, prior = problem
    found = weights_of(counts, phi, prior)

    def loss(logits, d):
        weights = np.exp(logits - logits.max())
        return -reference.value(counts[d], phi, prior, weights / weights.sum())

    for d in (0, 7):
        best = minimize(loss, np.zeros(6), args=(d,), tol=1e-12)
        assert reference.value(counts[d], phi, prior, found[d]) == pytest.approx(-best.fun, abs=1e-6)


def test_threads_change_no_bit(seed):
    rng = np.random.default_rng(seed)
    counts, phi = rng.poisson(0.5, size=(600, 200)), rng.dirichlet(np.full(200, 0.1), size=9) + 1e-9
    prior = np.full(9, 0.1)
    np.testing.assert_array_equal(weights_of(counts, phi, prior), weights_of(counts, phi, prior, n_jobs=3))


def test_extrapolation_that_lowers_the_objective_is_taken_back(problem, monkeypatch):
    counts, phi, prior = problem

    def astray(first, second, third, out):
        out[:] = 0.0
        out[-1] = third.sum()
        return True

    monkeypatch.setattr(weight_kernels, "_extrapolate", astray)
    monkeypatch.setattr(weight_kernels, "document_weights", weight_kernels.document_weights.py_func)
    for max_sweeps in (4, 5, 9, 12, 40):
        spoilt = weights_of(counts, phi, prior, tolerance=0.0, max_sweeps=max_sweeps)
        for d in np.flatnonzero(counts.sum(axis=1)):
            plain = reference.document_weights(counts[d], phi, prior, rounds=max(1, (max_sweeps - 1) // 4 * 3))
            assert reference.value(counts[d], phi, prior, spoilt[d]) >= (
                reference.value(counts[d], phi, prior, plain) - 1e-9
            )


@pytest.mark.parametrize("strength", [0.5, 20.0])
def test_weights_without_repeats_equal_the_twin_and_are_a_maximum(problem, strength):
    counts, phi, prior = problem
    counts[2, 5:8] = 20, 40, 300  # sums, and differences of special functions
    found = weights_of(counts, phi, prior, strength=strength, tolerance=1e-12, max_sweeps=10_000)
    for d in (0, 2, 4):
        expected = reference.document_weights(counts[d], phi, prior, 5000, strength=strength)
        np.testing.assert_allclose(found[d], expected, atol=1e-9)

        def loss(logits, d=d):
            weights = np.exp(logits - logits.max())
            return -reference.value(counts[d], phi, prior, weights / weights.sum(), strength)

        best = minimize(loss, np.zeros(6), tol=1e-12)
        assert reference.value(counts[d], phi, prior, found[d], strength) == pytest.approx(-best.fun, abs=1e-6)
