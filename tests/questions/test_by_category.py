"""Shares by category, and the test of their differences."""

import numpy as np
import pytest
from scipy import stats
from tests.questions.problems import OneWordEach, drawn

from stickbreak.corpus import Corpus
from stickbreak.questions.by_category import adjusted, differences, topics_by
from stickbreak.questions.intervals import group_shares


def test_table_has_the_sums_of_each_category():
    corpus = Corpus.from_counts([[3, 1], [1, 0], [1, 2], [9, 9], [0, 2], [0, 0]])
    table = topics_by(OneWordEach(2), corpus, np.array(["b", "a", "a", None, "b", "c"], object))
    assert list(table.columns) == [
        "topic", "label", "category", "mean_weight", "low", "high", "difference", "p", "tokens", "documents",
    ]  # fmt: skip
    assert table["category"].tolist() == ["a", "b"] * 2
    np.testing.assert_allclose(table["mean_weight"], [2 / 4, 3 / 6, 2 / 4, 3 / 6])
    np.testing.assert_allclose(table["difference"], 0, atol=1e-12)
    assert table["tokens"].tolist() == [4, 6] * 2
    assert table["documents"].tolist() == [2, 2] * 2


def test_test_is_that_of_two_means_with_the_scatter_of_all_documents():
    rng = np.random.default_rng(0)
    weights = rng.dirichlet([2.0, 2.0], 60)
    counts = np.round(weights * 1000).astype(int)
    counts[:, 1] = 1000 - counts[:, 0]
    group = np.repeat([0, 1], [20, 40])
    found = group_shares(OneWordEach(2), Corpus.from_counts(counts), group, 2, np.arange(2))
    difference, p = differences(found)
    x, y = counts[:20, 0] / 1000, counts[20:, 0] / 1000
    assert difference[0, 0] == pytest.approx(x.mean() - y.mean())
    assert difference[0, 0] == pytest.approx(-difference[1, 0])
    error = np.std(counts[:, 0] / 1000, ddof=1) * np.sqrt(1 / 20 + 1 / 40)
    expected = 2 * stats.t.sf(abs(x.mean() - y.mean()) / error, 59)
    np.testing.assert_allclose(p, expected, rtol=1e-9)


def test_categories_that_do_not_differ_are_found_to_differ_at_the_rate_of_the_test():
    rng, repeats, rejected = np.random.default_rng(5), 400, np.zeros((3, 2))
    group = np.repeat(np.arange(3), [30, 60, 120])
    for _ in range(repeats):
        corpus = drawn(np.full((210, 2), [0.3, 0.7]), 3.0, 25.0, rng)
        rejected += differences(group_shares(OneWordEach(2), corpus, group, 3, np.arange(2)))[1] < 0.05
    least, most = stats.binom.interval(0.9999, repeats, 0.05)
    assert (rejected >= least).all()
    assert (rejected <= most).all()


def test_planted_difference_is_found_and_no_other():
    rng = np.random.default_rng(1)
    shares = np.repeat([[0.2, 0.2, 0.3, 0.3], [0.2, 0.2, 0.3, 0.3], [0.4, 0.2, 0.1, 0.3]], 60, axis=0)
    table = topics_by(OneWordEach(4), drawn(shares, 6.0, 40.0, rng), np.repeat([1, 2, 3], 60))
    found = set(zip(*table.loc[table["p"] < 0.01, ["topic", "category"]].to_numpy().T.tolist(), strict=True))
    assert {(0, 3), (2, 3)} <= found
    assert not any(topic in (1, 3) for topic, _ in found)


def test_p_values_are_adjusted_as_benjamini_and_hochberg_do():
    p = np.array([0.001, 0.2, np.nan, 0.03, 0.04])
    np.testing.assert_allclose(adjusted(p), [0.004, 0.2, np.nan, 0.16 / 3, 0.16 / 3])
    assert np.isnan(adjusted(np.array([np.nan]))).all()
