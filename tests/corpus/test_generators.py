import numpy as np
import pytest

from stickbreak.corpus import planted_hdp, planted_lda, toy_bars
from stickbreak.exceptions import InputError


def test_toy_bars_are_ten_distinct_bars():
    corpus, truth = toy_bars(200, noise=0.0)
    assert corpus.counts.shape == (200, 900)
    np.testing.assert_array_equal(corpus.document_lengths, 200)
    grid = truth.topic_word.reshape(10, 30, 30) > 0
    assert np.all(grid.sum(axis=(1, 2)) == 180)
    assert np.all(grid[:5].all(axis=2).sum(axis=1) == 6)  # whole rows
    assert np.all(grid[5:].all(axis=1).sum(axis=1) == 6)  # whole columns
    assert len({bar.tobytes() for bar in grid}) == 10


def test_toy_bars_documents_use_one_to_three_bars():
    _, truth = toy_bars(600)
    used = np.count_nonzero(truth.document_weights, axis=1)
    assert np.bincount(used, minlength=4)[1:].min() > 140
    assert used.max() == 3
    assert used.min() == 1


def test_toy_bars_noise_is_the_share_outside_the_bars():
    corpus, truth = toy_bars(500, topics_per_document=(1, 1), noise=0.2)
    bar = truth.document_weights.argmax(axis=1)
    inside = toy_bars(1, noise=0.0)[1].topic_word[bar] > 0
    outside = 1 - (corpus.counts.toarray() * inside).sum() / corpus.n_tokens
    assert outside == pytest.approx(0.2 * 0.8, abs=0.01)  # a fifth of the noise falls on the bar


@pytest.mark.parametrize("make", [lambda **k: planted_lda(300, 80, **k), lambda **k: planted_hdp(300, 80, **k)])
def test_planted_topics_explain_the_counts(make):
    corpus, truth = make(seed=3)
    np.testing.assert_allclose(truth.topic_word.sum(axis=1), 1)
    np.testing.assert_allclose(truth.topic_weights.sum(), 1)
    assert np.all(truth.document_weights.sum(axis=1) <= 1 + 1e-9)
    lengths = corpus.document_lengths
    expected = (lengths[:, None] * truth.document_weights).T @ np.ones(300) @ truth.topic_word
    observed = corpus.counts.sum(axis=0).A1
    scale = np.sqrt(expected + 1)
    assert np.abs((observed - expected) / scale).max() < 8
    assert lengths.mean() == pytest.approx(100, abs=3)


def test_planted_hdp_topics_are_those_with_tokens():
    _, few = planted_hdp(100, 50, gamma=1.0)
    _, many = planted_hdp(100, 50, gamma=20.0)
    for truth in (few, many):
        assert truth.topic_weights.min() > 0
        assert np.all(np.diff(truth.topic_weights) <= 0)
    assert few.n_topics < many.n_topics


def test_planted_hdp_weights_follow_the_dirichlet_process():
    """The variance of a Dirichlet(alpha beta) weight is beta (1 - beta) / (alpha + 1)."""
    _, truth = planted_hdp(20_000, 20, gamma=2.0, alpha=3.0, mean_tokens=2)
    pi = truth.document_weights[:, 0]
    assert pi.var() == pytest.approx(pi.mean() * (1 - pi.mean()) / 4, rel=0.05)


LDA_AND_HDP = [lambda n, **k: planted_lda(n, 9, **k), lambda n, **k: planted_hdp(n, 9, **k)]


@pytest.mark.parametrize("make", [toy_bars, *LDA_AND_HDP])
def test_generators_repeat_with_the_seed(make):
    first, again, other = (make(20, seed=seed)[0].counts for seed in (1, 1, 2))
    assert (first != again).nnz == 0
    assert (first != other).nnz > 0


@pytest.mark.parametrize(
    "call",
    [
        lambda: toy_bars(10, n_bars=7),
        lambda: toy_bars(10, size=31),
        lambda: toy_bars(10, topics_per_document=(0, 3)),
        lambda: toy_bars(0),
        lambda: toy_bars(10, noise=1.5),
        lambda: planted_lda(10, 5, alpha=0.0),
        lambda: planted_hdp(10, 0),
    ],
)
def test_generators_refuse_senseless_numbers(call):
    with pytest.raises(InputError):
        call()
