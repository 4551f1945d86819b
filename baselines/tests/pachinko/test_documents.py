"""Documents under fixed topics of Pachinko allocation: their weights, and their probability from left to right."""

import numpy as np
import pytest
from tests.prediction import sequences as slow

from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import Engine
from stickbreak.prediction.left_to_right import score_sequences
from stickbreak_baselines.pachinko.documents import PathRule, weights_of
from stickbreak_baselines.pachinko.state import Paths, Priors, path_weights


@pytest.fixture(params=[Paths.pachinko(3, 5), Paths.hierarchical(2, 3)], ids=["pachinko", "hierarchical"])
def paths(request):
    return request.param


@pytest.fixture
def model(paths, seed):
    """Return topics over twelve words, a and b."""
    rng = np.random.default_rng(seed)
    priors = Priors(rng.uniform(0.2, 2.0, paths.n_super), rng.uniform(0.1, 1.0, paths.is_open.shape) * paths.is_open, 1)
    return rng.dirichlet(np.full(12, 0.3), size=paths.n_topics) + 1e-4, priors.a, priors.b


@pytest.fixture
def corpus(seed):
    counts = np.random.default_rng(seed).poisson(0.7, (9, 12))
    counts[4] = 0
    return Corpus.from_counts(counts)


def value(n, phi, theta, below, a, b):
    """The log posterior of the weights whose mode the fixed point is, up to a constant.              docs/math (P5)"""
    there = b > 0
    words = n @ np.log((theta[:, None] * below).sum(axis=0) @ phi)
    return float(words + a @ np.log(theta) + (b[there] * np.log(below[there])).sum())


def test_weights_are_a_fixed_point_and_a_mode(model, corpus):
    phi, a, b = model
    with Engine(1) as engine:
        of_super, of_topic = weights_of(corpus, phi, a, b, engine)
    np.testing.assert_allclose(of_super.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(of_topic.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(of_super[4], a / a.sum())
    np.testing.assert_allclose(of_topic[4], path_weights(a, b).sum(axis=0))
    rng = np.random.default_rng(0)
    for d in (0, 1, 2):
        n = corpus.counts.toarray()[d].astype(float)
        N = np.zeros(b.shape)
        for _ in range(3000):
            total = N.sum(axis=1)
            weight = ((total + a) / (total + b.sum(axis=1)))[:, None] * (N + b)
            r = weight[:, :, None] * phi[None]
            N = (n * r / r.sum(axis=(0, 1))).sum(axis=2)
        theta, below = (N.sum(axis=1) + a) / (n.sum() + a.sum()), (N + b) / (N + b).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(of_super[d], theta, atol=2e-3)
        np.testing.assert_allclose(of_topic[d], (theta[:, None] * below).sum(axis=0), atol=2e-3)
        best = value(n, phi, theta, below, a, b)
        for _ in range(30):
            other, elsewhere = (
                theta * np.exp(0.02 * rng.normal(size=a.size)),
                below * np.exp(0.02 * rng.normal(size=b.shape)),
            )
            other, elsewhere = other / other.sum(), elsewhere / elsewhere.sum(axis=1, keepdims=True)
            assert value(n, phi, other, elsewhere, a, b) < best + 1e-9


def flat(paths, phi, a, b):
    """Return the rule of (P6) over all paths as topics, and the words of each path."""

    def rule(z):
        n = np.bincount(np.asarray(z, dtype=int), minlength=b.size).reshape(b.shape)
        total = n.sum(axis=1)
        share = ((total + a) / (n.sum() + a.sum()) / (total + b.sum(axis=1)))[:, None] * (n + b)
        return share.ravel()

    return rule, np.tile(phi, (paths.n_super, 1))


@pytest.mark.parametrize("resample", [False, True])
def test_left_to_right_has_the_exact_expectation(resample, seed):
    rng, paths = np.random.default_rng(seed), Paths.hierarchical(1, 2)
    phi, a = rng.dirichlet(np.ones(3), size=paths.n_topics), rng.uniform(0.3, 1.5, paths.n_super)
    b = rng.uniform(0.3, 1.0, paths.is_open.shape) * paths.is_open
    corpus = Corpus.from_counts(np.array([[2, 1, 0], [1, 0, 2], [0, 1, 1]]))
    with Engine(1) as engine:
        found = score_sequences(PathRule(phi, a, b), corpus, 60_000, resample, 1, engine)
    rule, words_of = flat(paths, phi, a, b)
    for d, count in enumerate(corpus.counts.toarray()):
        words, _ = slow.ordered(count, 1)
        assert np.exp(found.unbiased_log_p[d]) == pytest.approx(slow.probability(words, rule, words_of), rel=0.01)
        assert np.exp(found.printed_log_p[d]) == pytest.approx(
            slow.propagate(words, rule, words_of, resample)[1], rel=0.01
        )
