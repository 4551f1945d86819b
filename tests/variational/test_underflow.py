"""Weights of documents that would underflow: tiny alpha E[beta], tiny documents."""

import numpy as np
import pytest

from stickbreak import VariationalHDP
from stickbreak.corpus import toy_bars


@pytest.mark.parametrize("scale", [1e-3, 1e-5, 1e-7])
def test_transform_of_tiny_weights_under_a_tiny_alpha_is_finite(scale):
    corpus, _ = toy_bars(40, size=6, n_bars=4, tokens=50, seed=0)
    model = VariationalHDP(n_topics=6, alpha=1e-3, n_laps=3, init_sweeps=3, random_state=0).fit(corpus)
    weights = model.transform(corpus.counts * scale)
    assert np.isfinite(weights).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)


def test_fit_of_one_token_documents_with_many_topics_is_finite():
    counts = np.eye(12, dtype=int)[np.arange(600) % 12]
    model = VariationalHDP(n_topics=500, init="near-uniform", n_laps=3, random_state=0).fit(counts)
    assert np.isfinite(model.trace_["objective"]).all()
    assert np.diff(model.trace_["objective"]).min() >= -1e-9


def test_no_alpha_beyond_the_rounding_of_the_objective():
    with pytest.raises(ValueError, match="alpha"):
        VariationalHDP(alpha=1e15).fit(np.eye(3, dtype=int))
