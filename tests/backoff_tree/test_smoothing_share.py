"""The constant C of the backoff, given by the share of smoothing at the leaf with most of it."""

import pickle

import numpy as np
import pytest

import stickbreak
from stickbreak import BackoffTreeTopics

from .fits import SMALL

SHARES = (0.02, 0.4, 0.95)


@pytest.fixture(scope="module")
def given(corpus):
    return {share: BackoffTreeTopics(**SMALL, smoothing_share=share).fit(corpus) for share in SHARES}


def smoothing_in(model):
    """The share of each leaf's words that no word of the leaf keeps: 1 - sum_w (n_zw - Delta) / P*(z) / C."""
    n, at = model.leaf_word_.toarray(), model.leaves_
    kept = np.where(n > 0, n - model.eta_, 0.0) * model._model.backoff.scale[at][:, None] / model._model.backoff.peak
    return 1.0 - kept.sum(axis=1)


@pytest.mark.parametrize("share", SHARES)
def test_share_is_that_of_the_leaf_with_most_smoothing(given, share):
    model = given[share]
    assert model.n_topics_ == model.n_leaves_
    assert smoothing_in(model).max() == pytest.approx(share, rel=1e-9)
    np.testing.assert_allclose(model.topic_word_.sum(axis=1), 1.0, rtol=1e-12)


def test_share_belongs_to_the_fit_not_to_what_is_set_later(given, corpus, tmp_path):
    model = pickle.loads(pickle.dumps(given[0.4])).set_params(smoothing_share=0.02)
    assert model.smoothing_share_ == 0.4
    model.save(tmp_path / "model")
    for copy in (pickle.loads(pickle.dumps(model)), stickbreak.load(tmp_path / "model")):
        np.testing.assert_array_equal(copy.topic_word_, given[0.4].topic_word_)
        assert copy.score(corpus) == given[0.4].score(corpus)
