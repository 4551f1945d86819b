"""`LDA` in batch and in minibatches: planted topics, fits that go on, streams, what it refuses."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import stickbreak
from stickbreak.corpus import Corpus, planted_lda
from stickbreak_baselines import LDA

HOW = {"batch": {}, "online": {"batch_size": 16}}


@pytest.fixture(params=HOW)
def how(request):
    return HOW[request.param]


@pytest.fixture(scope="module")
def small():
    return planted_lda(50, 30, n_topics=4, mean_tokens=30, seed=0)[0]


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


def test_stream_goes_on_after_any_fit_and_after_loading(how, small, tmp_path):
    model = LDA(n_topics=5, n_laps=12, random_state=0, total_documents=200, **how).fit(small)
    before = model.components_.copy()
    model.partial_fit(small)
    assert model.n_steps_ == 1
    assert model.n_documents_seen_ == 100
    size, share = (1.0 + model.learning_offset_) ** -0.7, 200 / 50
    assert size == pytest.approx(0.5)  # half of the documents so far are in this minibatch
    aimed_at = model.eta_ * 5 * 30 + share * small.n_tokens
    assert model.components_.sum() == pytest.approx((1 - size) * before.sum() + size * aimed_at)
    model.save(tmp_path / "model")
    again = stickbreak.load(tmp_path / "model").partial_fit(small)
    np.testing.assert_array_equal(again.components_, model.partial_fit(small).components_)
    assert again.alpha_ == model.alpha_


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
