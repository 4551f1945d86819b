"""Weights of documents under fixed topics."""

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.inference import reference

from stickbreak.corpus import Corpus
from stickbreak.inference.document_weights import collapsed_weights
from stickbreak.inference.executor import ThreadExecutor


@pytest.fixture
def problem(seed):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.8, size=(12, 30))
    counts[4] = 0
    phi = rng.dirichlet(np.full(30, 0.2), size=6) + 1e-6
    return counts, phi / phi.sum(axis=1, keepdims=True), rng.dirichlet(np.ones(6)) * 1.5


def weights_of(counts, phi, prior, n_jobs=1, **limits):
    with ThreadExecutor(n_jobs) as executor:
        return collapsed_weights(Corpus.from_counts(counts), phi, prior, executor, **limits)


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


def test_default_tolerance_is_close_to_the_limit(problem):
    counts, phi, prior = problem
    found = weights_of(counts, phi, prior)
    for d in range(len(counts)):
        np.testing.assert_allclose(found[d], reference.document_weights(counts[d], phi, prior), atol=1e-4)


def test_empty_document_has_the_prior(problem):
    counts, phi, prior = problem
    np.testing.assert_allclose(weights_of(counts, phi, prior)[4], prior / prior.sum(), rtol=1e-14)


def test_weights_sum_to_one_and_take_fractions(problem):
    counts, phi, prior = problem
    found = weights_of(0.5 * counts, phi, prior)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(found[0], reference.document_weights(0.5 * counts[0], phi, prior), atol=1e-4)


def test_threads_change_no_bit(seed):
    rng = np.random.default_rng(seed)
    counts, phi = rng.poisson(0.5, size=(600, 200)), rng.dirichlet(np.full(200, 0.1), size=9) + 1e-9
    prior = np.full(9, 0.1)
    np.testing.assert_array_equal(weights_of(counts, phi, prior), weights_of(counts, phi, prior, n_jobs=3))


def test_extrapolation_never_lowers_the_objective(problem):
    """Stopped after any number of sweeps, the value is no lower than after fewer (up to the plain sweep's gain)."""
    counts, phi, prior = problem
    values = []
    for sweeps in range(1, 30):
        found = weights_of(counts, phi, prior, tolerance=0.0, max_sweeps=sweeps)
        values.append([reference.value(c, phi, prior, w) for c, w in zip(counts, found, strict=True)])
    ends = np.array(values)[[4, 8, 12, 16, 20, 24, 28]]
    assert (np.diff(ends, axis=0) > -1e-9).all()
