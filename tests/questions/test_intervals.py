"""Intervals of shares cover the planted shares at their rate; sums are those by hand."""

import numpy as np
import pytest
from scipy import stats
from tests.questions.problems import OneWordEach, drawn

from stickbreak.corpus import Corpus
from stickbreak.prediction import words as prediction_words
from stickbreak.questions.intervals import expanded_tail, group_shares

K = 3
EVERY = np.arange(K)


def planted(n_groups: int) -> np.ndarray:
    """Return shares that change from group to group."""
    first = np.linspace(0.15, 0.55, n_groups)
    return np.column_stack([first, np.full(n_groups, 0.25), 0.75 - first])


@pytest.mark.parametrize("n_documents", [6, 40])
def test_intervals_cover_planted_shares_at_their_rate(n_documents):
    n_groups = 400
    shares, group = planted(n_groups), np.repeat(np.arange(n_groups), n_documents)
    corpus = drawn(shares[group], 4.0, 30.0, np.random.default_rng(1))
    found = group_shares(OneWordEach(K), corpus, group, n_groups, EVERY)
    covered = (found.low <= shares) & (shares <= found.high)
    least, most = stats.binom.interval(0.9999, n_groups, 0.95) if n_documents == 40 else (345, n_groups)
    for k in EVERY:
        assert least <= covered[:, k].sum() <= most


def test_shares_are_sums_by_hand():
    corpus = Corpus.from_counts([[2, 0, 0], [1, 3, 0], [0, 0, 0], [0, 1, 1], [5, 0, 5]])
    group = np.array([0, 0, 0, 1, -1])
    found = group_shares(OneWordEach(K), corpus, group, 3, EVERY)
    np.testing.assert_allclose(found.shares[:2], [[3 / 6, 3 / 6, 0], [0, 1 / 2, 1 / 2]])
    assert np.isnan(found.shares[2]).all()
    assert found.n_documents.tolist() == [2, 1, 0]
    assert found.tokens.tolist() == [6, 2, 0]
    assert found.squares.tolist() == [4 + 16, 4, 0]
    np.testing.assert_allclose(found.of_squares[0], [4 + 16 / 4, 16 * 3 / 4, 0])
    np.testing.assert_allclose(found.squared[0], [4 + 1, 9, 0])
    assert np.isnan(found.low[1]).all(), "a single document says nothing of others"
    assert (found.low[0] <= found.shares[0]).all()
    assert (found.shares[0] <= found.high[0]).all()


def test_intervals_are_those_of_the_bootstrap_by_hand():
    rng = np.random.default_rng(3)
    corpus = drawn(planted(1)[[0] * 25], 4.0, 30.0, rng)
    found = group_shares(OneWordEach(K), corpus, np.zeros(25, np.int64), 1, EVERY, n_resamples=4000)
    N, pi = corpus.document_lengths, OneWordEach(K).transform(corpus)
    v = rng.standard_exponential((4000, 25)) * N
    resampled = v @ pi / v.sum(axis=1, keepdims=True)
    tail = expanded_tail(N.sum() ** 2 / (N @ N))
    expected = np.quantile(resampled, [tail, 1 - tail], axis=0)
    np.testing.assert_allclose([found.low[0], found.high[0]], expected, atol=0.012)


def test_blocks_and_order_of_groups_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    group = rng.permutation(np.repeat(np.arange(5), 12))
    corpus = drawn(planted(5)[group], 4.0, 30.0, rng)
    whole = group_shares(OneWordEach(K), corpus, group, 5, EVERY)
    monkeypatch.setattr(prediction_words, "_BLOCK_ELEMENTS", 28)
    topics = OneWordEach(K)
    parts = group_shares(topics, corpus, group, 5, EVERY)
    assert max(topics.calls) == 7
    for name in ("low", "high", "of_topics", "squared", "n_documents"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-12)
    order = np.argsort(group, kind="stable")
    again = group_shares(OneWordEach(K), corpus[order], group[order], 5, EVERY)
    np.testing.assert_allclose(again.low, whole.low, rtol=1e-12)
    other = group_shares(OneWordEach(K), corpus, group, 5, EVERY, seed=1)
    assert (other.low != whole.low).all()
    twice = group_shares(OneWordEach(K), corpus[np.tile(order[:12], 2)], np.repeat([0, 1], 12), 2, EVERY)
    assert (twice.low[0] != twice.low[1]).all(), "each group has its own random numbers"
