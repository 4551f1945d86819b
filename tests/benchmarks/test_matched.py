"""The systems of the comparisons of the hybrid: all with the same hyperparameters, one unit of work at a time."""

import numpy as np
import pytest
from benchmarks.hybrid import batches

from stickbreak.corpus import planted_lda

K = 6


@pytest.fixture(scope="module")
def corpus():
    return planted_lda(60, 50, n_topics=3, mean_tokens=40, seed=1)[0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", batches.SYSTEMS)
def test_answer_is_a_distribution_with_weights(name, corpus):
    for package in ("gensim", "tomotopy"):
        if package in name:
            pytest.importorskip(package)
    key = {"K": K, "eta": 0.05, "seed": 2, "batch": 20, "limit": 5.0, "init sweeps": 5}
    system, before = batches.SYSTEMS[name](corpus, key), 0.0
    for _, seconds in zip(range(3), system.work(), strict=False):
        assert seconds >= 0
        assert system.passes > before
        before = system.passes
    topic_word, weights = system.answer()
    assert topic_word.shape == (weights.size, corpus.n_words)
    np.testing.assert_allclose(topic_word.sum(axis=1), 1.0, atol=1e-6)
    assert weights.size <= 2 * K
    assert (weights >= 0).all()
    assert weights.sum() > 0
