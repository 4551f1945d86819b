"""The face of the family on the edges of its parameters."""

import numpy as np
import pytest

from stickbreak.corpus import toy_bars
from stickbreak.variational import VariationalHDP

COUNTS = np.array([[5, 5, 0, 0], [4, 3, 0, 0], [0, 1, 1, 2]])


@pytest.mark.parametrize("init", ["lda", "near-uniform", "documents", "anchors"])
@pytest.mark.parametrize("eta", [1e-2, 1e-4, 1e-6])
def test_fit_accepts_a_tiny_eta(eta, init):
    """A topic that empties then has sum_w tau = W eta, whose exp(psi(.)) is zero in double precision."""
    model = VariationalHDP(n_topics=3, eta=eta, init=init, random_state=0, n_laps=5).fit(COUNTS)
    assert np.isfinite(model.trace_["objective"]).all()
    assert np.isfinite(model.transform(COUNTS)).all()


def test_fit_accepts_small_weights_and_a_small_eta():
    counts = toy_bars(60, seed=0)[0].counts * 0.01
    model = VariationalHDP(n_topics=8, eta=0.01, random_state=0, n_laps=3).fit(counts)
    assert np.isfinite(model.trace_["objective"]).all()


@pytest.mark.parametrize("scale", [1e-3, 1e-5, 1e-7])
def test_transform_of_tiny_weights_under_a_tiny_alpha_is_finite(scale):
    corpus, _ = toy_bars(40, size=6, n_bars=4, tokens=50, seed=0)
    model = VariationalHDP(n_topics=6, alpha=1e-3, n_laps=3, init_sweeps=3, random_state=0).fit(corpus)
    weights = model.transform(corpus.counts * scale)
    assert np.isfinite(weights).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
