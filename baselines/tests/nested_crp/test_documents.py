"""Documents under a fixed tree: the weights of its nodes, and the probability of the next token."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.special import digamma, gammaln
from tests.prediction import sequences as slow

from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import Engine
from stickbreak.prediction.left_to_right import score_sequences
from stickbreak_baselines.nested_crp.documents import Levels, RouteRule, Routes, weights_of

from .reference import levels_prior
from .test_gibbs import priors_of

PARENT, LEVEL, N = np.array([-1, 0, 0, 1, 1, 2]), np.array([0, 1, 1, 2, 2, 2]), np.array([6, 4, 2, 3, 1, 2])


@pytest.fixture
def routes():
    return Routes.of(PARENT, LEVEL, N, 3, 0.7)


@pytest.fixture
def topics(seed):
    """Six nodes over eight words, and new nodes."""
    drawn = np.random.default_rng(seed).dirichlet(np.full(8, 0.4), size=6) + 1e-3
    return np.vstack([drawn / drawn.sum(axis=1, keepdims=True), np.full(8, 1 / 8)])


def log_beta(a, b):
    return gammaln(a) + gammaln(b) - gammaln(a + b)


def bound(n, phi, priors):
    """The best bound of log p of words n (W,) on a route with topics phi (L, W), and the shares of the levels."""
    m, pi, N = priors.mean, priors.scale, np.zeros(len(phi))
    for _ in range(2000):
        a, b = m * pi + N[:-1], (1 - m) * pi + np.array([N[h + 1 :].sum() for h in range(len(phi) - 1)])
        log_v, log_rest = digamma(a) - digamma(a + b), digamma(b) - digamma(a + b)
        theta = np.exp(np.append(log_v, 0.0) + np.concatenate([[0.0], np.cumsum(log_rest)]))
        r = theta[:, None] * phi
        total = float(n @ np.log(r.sum(axis=0)))
        c, d = m * pi, (1 - m) * pi
        total -= float((log_beta(c, d) - log_beta(a, b) + (a - c) * log_v + (b - d) * log_rest).sum())
        N = (n * r / r.sum(axis=0)).sum(axis=1)
    return total, levels_prior(N.tolist(), priors)


def test_weights_are_those_of_all_routes(routes, topics, seed):
    priors = priors_of(3)
    counts = np.random.default_rng(seed).poisson(1.0, (5, 8))
    counts[3] = 0
    with Engine(1) as engine:
        found = weights_of(Corpus.from_counts(counts), topics, routes, Levels(priors.mean, priors.scale), engine)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    for d, n in enumerate(counts):
        of_routes = [bound(n, topics[nodes], priors) for nodes in routes.nodes]
        log_p = np.array([value for value, _ in of_routes]) + routes.log_prior
        p = np.exp(log_p - log_p.max())
        expected = np.zeros(7)
        for share, (_, shares), nodes in zip(p / p.sum(), of_routes, routes.nodes, strict=True):
            np.add.at(expected, nodes, share * shares)
        np.testing.assert_allclose(found[d], expected, atol=2e-3)


def probability(words, topics, routes, priors):
    """p(words): the sum over all routes and levels."""
    total = 0.0
    for z in product(range(3), repeat=len(words)):
        of_levels = math.prod(levels_prior([z[:i].count(h) for h in range(3)], priors)[z[i]] for i in range(len(words)))
        for nodes, log_p in zip(routes.nodes, routes.log_prior, strict=True):
            total += of_levels * math.exp(log_p) * math.prod(topics[nodes[h], w] for h, w in zip(z, words, strict=True))
    return total


@pytest.mark.parametrize("resample", [False, True])
def test_left_to_right_has_the_exact_expectation(routes, topics, resample):
    priors = priors_of(3)
    rule = RouteRule(topics, routes, Levels(priors.mean, priors.scale))
    corpus = Corpus.from_counts(np.array([[2, 1, 0, 0, 0, 1, 0, 0], [0, 0, 1, 0, 2, 0, 0, 0]]))
    with Engine(1) as engine:
        found = score_sequences(rule, corpus, 40_000, resample, 1, engine)
    for d, count in enumerate(corpus.counts.toarray()):
        words, _ = slow.ordered(count, 1)
        expected = probability(words, topics, routes, priors)
        assert np.exp(found.unbiased_log_p[d]) == pytest.approx(expected, rel=0.01)
        assert np.exp(found.printed_log_p[d]) == pytest.approx(expected, rel=0.05)
