"""The constant C of the backoff, given by the share of smoothing at the leaf with most of it."""

import numpy as np
import pytest

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
