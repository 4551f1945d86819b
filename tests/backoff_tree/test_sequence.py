"""Left-to-right likelihood under a fitted tree, and the most probable words of its leaves."""

import math

import numpy as np
import pytest
from tests.prediction import sequences

from stickbreak import BackoffTreeTopics
from stickbreak.corpus import planted_lda
from stickbreak.prediction.words import top_word_indices

from .sequences import DenseTree, TreeStep, tree_rule


def fit(branching, seed=0, n_documents=12, mean_tokens=10, n_words=8, **changes):
    drawn, _ = planted_lda(n_documents, n_words, n_topics=3, mean_tokens=mean_tokens, seed=seed)
    counts = drawn.counts.toarray()
    counts[:, 2] = 0  # a word that the fit never sees
    return BackoffTreeTopics(branching=branching, n_laps=3, random_state=seed, **changes).fit(counts)


@pytest.fixture(scope="module")
def sparse_tree():
    """A small tree with leaves without tokens, where what the words lack matters much."""
    model = fit((2, 2, 2), n_documents=3, mean_tokens=3, eta=0.7, learn=())
    assert 2 <= model.n_topics_ <= 6
    assert DenseTree(model).lack.max() > 0.2
    return model


@pytest.fixture(scope="module")
def full_tree():
    """A small tree whose leaves all have tokens."""
    model = fit((2, 2), n_documents=40, alpha=(0.3, 0.4))
    assert model.n_topics_ == 4
    return model


def both(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(params=["sparse_tree", "full_tree"])
def fitted(request):
    return both(request)


@pytest.mark.parametrize("resample", [True, False])
def test_particles_have_their_exact_means(fitted, resample):
    dense, rule = DenseTree(fitted), tree_rule(fitted.branching_, fitted.alpha_levels_)
    count = np.array([2, 1, 0, 0, 0, 0, 0, 1]) * np.array([len(n) > 0 for n in dense.lists])
    assert count.sum() > 2
    for random_state in range(2):
        words, _ = sequences.ordered(count, random_state)
        mean, limit = sequences.propagate([w for w in words if dense.lists[w]], rule, dense.phi, resample)
        found = fitted.left_to_right([count], n_particles=100_000, resample=resample, random_state=random_state)
        assert math.exp(found.unbiased_log_p[0]) == pytest.approx(mean, rel=0.01)
        assert math.exp(found.printed_log_p[0]) == pytest.approx(limit, rel=0.01)


@pytest.mark.parametrize("resample", [True, False])
@pytest.mark.parametrize("branching", [(3,), (2, 3), (4, 5, 6)])
def test_twin_draws_the_same_leaves(seed, resample, branching):
    model = fit(branching, seed=seed)
    dense = DenseTree(model)
    rng = np.random.default_rng(seed)
    counts = rng.poisson(1.0, size=(8, 8))
    counts[4] = 0
    found = model.left_to_right(counts, n_particles=4, resample=resample, random_state=seed)
    for d, count in enumerate(counts):
        p = sequences.particles(count, TreeStep(dense), 4, resample, seed)
        expected = sequences.estimates(p)
        np.testing.assert_allclose([found.printed_log_p[d], found.unbiased_log_p[d]], expected, rtol=1e-9, atol=1e-9)


def test_threads_and_shards_change_no_bit(fitted, seed, monkeypatch):
    counts = np.random.default_rng(seed).poisson(1.0, size=(20, 8))
    expected = fitted.left_to_right(counts)
    monkeypatch.setattr("stickbreak.prediction.left_to_right._SHARD_DRAWS", 1000)
    for n_jobs in (1, 3):
        found = BackoffTreeTopics.__new__(BackoffTreeTopics)
        found.__dict__.update(fitted.__dict__, n_jobs=n_jobs)
        np.testing.assert_array_equal(found.left_to_right(counts).unbiased_log_p, expected.unbiased_log_p)
    np.testing.assert_array_equal(fitted.left_to_right(counts[7:9]).printed_log_p, expected.printed_log_p[7:9])


@pytest.mark.parametrize("branching", [(5,), (2, 3), (3, 4, 5), (2, 2, 2, 2)])
def test_top_word_indices_are_those_of_the_dense_table(seed, branching):
    model = fit(branching, seed=seed, n_documents=30, n_words=25)
    for n in (1, 3, 10, 25, 40):
        np.testing.assert_array_equal(model.top_word_indices(n), top_word_indices(model.topic_word_, n))
    assert model.top_word_indices().shape == (model.n_topics_, 10)
