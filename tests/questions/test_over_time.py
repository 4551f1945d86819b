"""Shares over time equal sums by hand; trends cover planted ones at their rate."""

import datetime

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.questions.problems import OneWordEach, drawn

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.questions.columns import days_of, period_starts
from stickbreak.questions.over_time import topic_trends, topics_over_time

DAYS = np.array(["2024-01-31", "2024-02-01", "2024-02-29", "NaT", "2023-12-31", "2024-03-01"], "datetime64[D]")


def test_table_has_the_sums_of_each_period():
    corpus = Corpus.from_counts([[3, 1], [1, 0], [1, 2], [9, 9], [0, 2], [0, 0]])
    table = topics_over_time(OneWordEach(2), corpus, DAYS, "month")
    assert list(table.columns) == ["topic", "label", "period", "mean_weight", "low", "high", "tokens", "documents"]
    assert table["topic"].tolist() == [0, 0, 0, 1, 1, 1]
    assert table["label"].tolist() == ["w0"] * 3 + ["w1"] * 3
    assert table["period"].tolist() == [pd.Timestamp(day) for day in ("2023-12-01", "2024-01-01", "2024-02-01")] * 2
    np.testing.assert_allclose(table["mean_weight"], [0, 3 / 4, 2 / 4, 1, 1 / 4, 2 / 4])
    assert table["tokens"].tolist() == [2, 4, 4] * 2
    assert table["documents"].tolist() == [1, 1, 2] * 2
    assert table["low"].isna().tolist() == [True, True, False] * 2
    years = topics_over_time(OneWordEach(2), corpus, DAYS, "year")
    np.testing.assert_allclose(years["mean_weight"], [0, 5 / 8, 1, 3 / 8])


def test_periods_are_those_of_pandas():
    days = np.arange(np.datetime64("1896-02-27"), np.datetime64("2004-03-02"))
    for by, name in (("week", "W"), ("month", "M"), ("quarter", "Q"), ("year", "Y")):
        expected = pd.PeriodIndex(pd.DatetimeIndex(days), freq=name).start_time.to_numpy().astype("datetime64[D]")
        np.testing.assert_array_equal(period_starts(days, by), expected)
    with pytest.raises(InputError, match="by is 'decade'; give one of 'day', 'week'"):
        period_starts(days, "decade")


@pytest.mark.parametrize(
    "given",
    [
        ["2024-05-01", "2024-06-02T23:59:00+00:00", None],
        [datetime.date(2024, 5, 1), datetime.date(2024, 6, 2), None],
        pd.to_datetime(["2024-05-01", "2024-06-02", None]),
        pd.to_datetime(["2024-05-01 03:00+04:00", "2024-06-02 00:00+04:00", None]) + pd.Timedelta(days=1),
        np.array(["2024-05-01", "2024-06-02", "NaT"], "datetime64[s]"),
        pd.Series(["2024-05-01", "2024-06-02", ""], index=[5, 6, 7]),
    ],
)
def test_dates_of_many_kinds_are_read(given):
    found = days_of(Corpus.from_counts([[1], [1], [1]]), given)
    assert found.astype(str).tolist() == ["2024-05-01", "2024-06-02", "NaT"]


SECONDS = [1_577_836_800, 1_577_923_200 + 3600, 1_580_515_200]  # 2020-01-01, a day later in the night, 2020-02-01
TIMES = {
    "seconds": SECONDS,
    "seconds with fractions": [second + 0.25 for second in SECONDS],
    "milliseconds": [1000 * second + 17 for second in SECONDS],
    "microseconds": [10**6 * second + 17 for second in SECONDS],
    "seconds as text": [str(second) for second in SECONDS],
    "seconds of messages as text": [f"{second}.000200" for second in SECONDS],
    "whole numbers of pandas": pd.array(SECONDS, "Int64"),
}


@pytest.mark.parametrize("kind", TIMES)
def test_times_since_1970_are_dates_and_told(kind, caplog):
    corpus = Corpus.from_counts([[1]] * 3, metadata={"created_utc": TIMES[kind], "id": SECONDS})
    days = ["2020-01-01", "2020-01-02", "2020-02-01"]
    for given in ("created_utc", TIMES[kind], None):
        assert days_of(corpus, given).astype(str).tolist() == days
    unit = next(unit for unit in ("milliseconds", "microseconds", "seconds") if unit in kind or unit == "seconds")
    assert f"'created_utc' holds {unit} since 1970" in caplog.text
    caplog.clear()
    assert days_of(corpus, "created_utc", unit).astype(str).tolist() == days
    assert days_of(corpus, None, unit).astype(str).tolist() == days
    assert not caplog.text


def test_a_few_texts_among_times_are_missing():
    texts = [*map(str, SECONDS * 10), "unknown", ""]
    found = days_of(Corpus.from_counts([[1]] * 32), texts).astype(str).tolist()
    assert found == ["2020-01-01", "2020-01-02", "2020-02-01"] * 10 + ["NaT", "NaT"]
    with pytest.raises(InputError, match="holds what is not a date"):
        days_of(Corpus.from_counts([[1]] * 34), [*texts, "x", "y"])


def test_numbers_are_times_by_themselves_only_under_a_name_that_says_so():
    metadata = {"customer": SECONDS, "price": [1, 2, 3], "day": [20200101, 20200102, 20200201]}
    corpus = Corpus.from_counts([[1]] * 3, metadata=metadata)
    with pytest.raises(InputError, match="no column of dates"):
        days_of(corpus, None)
    assert days_of(corpus, "day", "%Y%m%d").astype(str).tolist() == ["2020-01-01", "2020-01-02", "2020-02-01"]


def trend_by_hand(N, t, pi):
    """Fit the weighted regression, with the effective number of documents that decide the slope."""
    X = np.column_stack([np.ones(t.size), t])
    bread = np.linalg.inv(X.T * N @ X)
    a, b = bread @ (X.T * N @ pi)
    e = pi - a - b * t
    m = (N @ t**2) ** 2 / (N**2 @ t**4)
    V = bread @ (X.T * (N * e) ** 2 @ X) @ bread * m / (m - 1)
    return b, np.sqrt(V[1, 1]), m - 1


def test_trend_is_that_of_a_weighted_regression():
    rng = np.random.default_rng(0)
    days = np.datetime64("2001-01-01") + rng.integers(0, 3000, 50)
    corpus = drawn(np.full((50, 2), 0.5), 3.0, 20.0, rng)
    table = topic_trends(OneWordEach(2), corpus, days).set_index("topic")
    N, pi = corpus.document_lengths.astype(float), OneWordEach(2).transform(corpus)
    t = days.astype(np.int64) / 365.25
    b, error, freedom = trend_by_hand(N, t - np.average(t, weights=N), pi[:, 0])
    found = table.loc[0]
    assert found["change"] == pytest.approx(b, rel=1e-9)
    assert found["high"] - found["change"] == pytest.approx(stats.t.ppf(0.975, freedom) * error, rel=1e-6)
    assert found["p"] == pytest.approx(2 * stats.t.sf(abs(b) / error, freedom), rel=1e-6)
    assert found["mean_weight"] == pytest.approx(np.average(pi[:, 0], weights=N))
    assert found["change"] == pytest.approx(-table.loc[1]["change"])


@pytest.mark.parametrize("seed", range(4))
def test_a_single_topic_has_no_trend(seed):
    rng = np.random.default_rng(seed)
    corpus = Corpus.from_counts(rng.integers(1, 50, (200, 1)))
    table = topic_trends(OneWordEach(1), corpus, np.datetime64("2001-01-01") + rng.integers(0, 3000, 200))
    assert table["p"].tolist() == [1]


def test_weights_on_a_straight_line_are_a_sure_trend():
    table = topic_trends(
        OneWordEach(2), Corpus.from_counts([[3, 1], [2, 2], [1, 3]]), ["2021-01-01", "2021-01-02", "2021-01-03"]
    )
    assert (table["p"] < 1e-9).all()


def test_intervals_cover_planted_trends_at_their_rate():
    rng, covered, rejected, repeats = np.random.default_rng(2), 0, 0, 300
    days = np.datetime64("2010-01-01") + np.arange(0, 3650, 61)
    years = (days - days[0]).astype(float) / 365.25
    for _ in range(repeats):
        first, flat = 0.2 + 0.03 * years, np.full(years.size, 0.25)
        corpus = drawn(np.column_stack([first, flat, 0.75 - first]), 4.0, 30.0, rng)
        table = topic_trends(OneWordEach(3), corpus, days).set_index("topic")
        covered += table.loc[0, "low"] <= 0.03 <= table.loc[0, "high"]
        rejected += table.loc[1, "low"] > 0 or table.loc[1, "high"] < 0
    least, most = stats.binom.interval(0.999, repeats, 0.95)
    assert least <= covered <= most
    assert least <= repeats - rejected <= most


def test_dates_of_iso_are_read_beside_a_format():
    both = Corpus.from_counts([[1]] * 4, metadata={"day": ["01.02.2021", "31.12.2021", "2021-03-04", "2022-05-06"]})
    expected = ["2021-02-01", "2021-12-31", "2021-03-04", "2022-05-06"]
    assert days_of(both, None, "%d.%m.%Y").astype(str).tolist() == expected
    with pytest.raises(InputError, match=r"as %d/%m/%Y \('01.02.2021' of document 0, .*write the others as 2026-11-23"):
        days_of(both, "day", "%d/%m/%Y")
    with pytest.raises(InputError, match=r"not a date as %Y-%d-%m"):
        days_of(both, "day", "%Y-%d-%m")
