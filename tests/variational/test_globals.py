"""What the globals hold of each likelihood: a table that follows the statistics, and the statistics behind it."""

import numpy as np
import pytest

from stickbreak.likelihoods import DiagonalGaussian, DirichletMultinomial, Gaussian, ZeroMeanGaussian
from stickbreak.variational.state import GlobalParameters, Summary

STICKS = np.array([0.4, 0.3, 0.2]), np.array([9.0, 8.0, 7.0])


def words(seed):
    S = np.random.default_rng(seed).gamma(0.4, 5.0, size=(11, 3))
    return DirichletMultinomial(0.3, 11), S, S.sum(axis=0)


def vectors(family):
    def draw(seed):
        values = np.random.default_rng(9).normal(size=(50, 2)) + 1.0
        R = np.random.default_rng(seed).dirichlet(np.full(3, 0.3), size=50)
        likelihood = family.from_data(values)
        return likelihood, likelihood.statistics(values, R), R.sum(axis=0)

    return draw


CASES = [words, *map(vectors, (ZeroMeanGaussian, Gaussian, DiagonalGaussian))]


def assert_same(found, wanted):
    for name in ("tau", "tau_sum", "rho", "omega"):
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), rtol=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_globals_that_follow_equal_those_from_scratch(case):
    likelihood, S, N = case(0)
    _, other_S, other_N = case(1)
    want = GlobalParameters.of(likelihood, other_S, other_N, *STICKS)
    start = GlobalParameters.of(likelihood, S, N, *STICKS)
    assert_same(start.followed(likelihood, other_S, other_N, *STICKS), want)
    totals, rows = Summary.zeros(*S.shape), np.arange(1, len(S) if case is not words else 6)
    totals.S = S.copy()
    totals.S[rows] = other_S[rows]
    totals.N = totals.S.sum(axis=0) if case is words else other_N
    start.follow_batch(likelihood, totals, rows)
    assert_same(start, GlobalParameters.of(likelihood, totals.S, totals.N, *STICKS))


@pytest.mark.parametrize("case", CASES)
def test_merge_scores_are_highest_for_copies_and_missing_for_empty_topics(case):
    likelihood, S, N = case(0)
    S, N = (np.concatenate([x, x[..., :1], np.zeros_like(x[..., :1])], axis=-1) for x in (S, N))
    score = likelihood.merge_scores(S, N, likelihood.evidence(S, N))
    np.testing.assert_array_equal(score, score.T)
    assert np.isnan(score[4]).all()
    inner = np.where(np.eye(4, dtype=bool), -np.inf, score[:4, :4])
    assert np.unravel_index(inner.argmax(), inner.shape) == (0, 3)
    assert inner.max() > likelihood.least_merge_score
