"""`LDA` in batch and in minibatches: planted topics, fits that go on, streams, what it refuses."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from stickbreak.corpus import Corpus
from stickbreak_baselines import LDA

HOW = {"batch": {}, "online": {"batch_size": 16}}


@pytest.fixture(params=HOW)
def how(request):
    return HOW[request.param]


def distance(found, true):
    """Return the largest total variation between topics and those that they are matched with."""
    apart = np.abs(found[:, None] - true[None]).sum(axis=2) / 2
    rows, columns = linear_sum_assignment(apart)
    return apart[rows, columns].max()


def test_planted_topics_and_their_weights_are_found(how):
    weights = np.array([0.5, 0.3, 0.2])
    rng = np.random.default_rng(1)
    true = np.kron(np.eye(3), np.ones(7) / 7)
    theta = rng.dirichlet(0.6 * weights, size=600)
    corpus = Corpus.from_counts(np.array([rng.multinomial(60, row @ true) for row in theta]))
    model = LDA(n_topics=3, n_laps=60, tolerance=None, random_state=0, **how).fit(corpus)
    assert distance(model.topic_word_, true) < 0.05
    # 0.578 and (0.512, 0.298, 0.190) with the true topics of the tokens
    assert model.alpha_ == pytest.approx(0.578, abs=0.03)
    np.testing.assert_allclose(model.topic_weights_, [0.512, 0.298, 0.190], atol=0.02)
    np.testing.assert_allclose(model.topic_shares_, theta.mean(axis=0), atol=0.03)


def test_stream_finds_planted_topics(seed):
    true = np.kron(np.eye(3), np.ones(7) / 7) * 0.94 + 0.06 / 21
    rng = np.random.default_rng(seed)
    model = LDA(n_topics=3, random_state=seed, learn=("alpha", "eta"))
    for _ in range(8):
        theta = rng.dirichlet(np.full(3, 0.2), size=100)
        model.partial_fit(Corpus.from_counts(np.array([rng.multinomial(60, row @ true) for row in theta])))
    assert distance(model.topic_word_, true) < 0.06
    assert model.n_steps_ == 8
    assert model.learned_ == ["alpha", "eta"]
    assert 0.3 < model.alpha_ < 1.6
