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


@pytest.mark.parametrize(
    ("by", "starts"),
    [
        ("day", ["2024-01-31", "2024-02-01", "2024-02-29", "NaT", "2023-12-31", "2024-03-01"]),
        ("week", ["2024-01-29", "2024-01-29", "2024-02-26", "NaT", "2023-12-25", "2024-02-26"]),
        ("month", ["2024-01-01", "2024-02-01", "2024-02-01", "NaT", "2023-12-01", "2024-03-01"]),
        ("quarter", ["2024-01-01", "2024-01-01", "2024-01-01", "NaT", "2023-10-01", "2024-01-01"]),
        ("year", ["2024-01-01", "2024-01-01", "2024-01-01", "NaT", "2023-01-01", "2024-01-01"]),
    ],
)
def test_periods_begin_where_the_calendar_says(by, starts):
    assert period_starts(DAYS, by).astype(str).tolist() == starts


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


def test_years_and_formats_are_read():
    corpus = Corpus.from_counts([[1], [1], [1]])
    assert days_of(corpus, [2015, 2016, None]).astype(str).tolist() == ["2015-01-01", "2016-01-01", "NaT"]
    assert days_of(corpus, [2015, 2016, 999 + 1]).astype(str).tolist()[2] == "1000-01-01"
    assert days_of(corpus, ["2015", "2016-03", "2016-03-04"]).astype(str).tolist()[1] == "2016-03-01"
    found = days_of(corpus, ["01.05.2024", "31.12.2024", None], "%d.%m.%Y")
    assert found.astype(str).tolist() == ["2024-05-01", "2024-12-31", "NaT"]


def test_dates_come_from_the_only_column_of_dates():
    days = [datetime.date(2024, 5, 1), None]
    corpus = Corpus.from_counts([[1], [2]], metadata={"kind": ["a", "b"], "when": days})
    assert days_of(corpus, None).astype(str).tolist() == ["2024-05-01", "NaT"]
    assert days_of(corpus, "when").astype(str).tolist() == ["2024-05-01", "NaT"]
    two = Corpus.from_counts(corpus, metadata={"kind": ["a", "b"], "when": days, "then": days})
    with pytest.raises(InputError, match="several columns of dates"):
        days_of(two, None)


def test_a_few_values_that_are_no_dates_count_as_missing():
    given = ["2024-05-01"] * 39 + ["unknown"]
    corpus = Corpus.from_counts([[1]] * 40, metadata={"kind": ["a"] * 40, "when": given})
    for days in (days_of(corpus, None), days_of(corpus, "when")):
        assert np.isnat(days).tolist() == [False] * 39 + [True]
    many = Corpus.from_counts(corpus, metadata={"when": given[2:] + ["2024", "unknown", "?"][1:]})
    with pytest.raises(InputError, match=r"what is not a date \('unknown' of document 37, and 2 more of 40\)"):
        days_of(many, "when")
    with pytest.raises(InputError, match="no column of dates"):
        days_of(many, None)


def test_the_only_column_that_a_format_reads_is_the_one_of_dates():
    metadata = {"sent": ["23.11.2026", "24.11.2026"], "from": ["Ann", "Bo"]}
    corpus = Corpus.from_counts([[1], [2]], metadata=metadata)
    assert days_of(corpus, None, "%d.%m.%Y").astype(str).tolist() == ["2026-11-23", "2026-11-24"]
    with pytest.raises(InputError, match="no column of dates such as %Y/%m/%d"):
        days_of(corpus, None, "%Y/%m/%d")
    twice = Corpus.from_counts(corpus, metadata={**metadata, "read": metadata["sent"]})
    with pytest.raises(InputError, match=r"several columns of dates \(sent, read\)"):
        days_of(twice, None, "%d.%m.%Y")


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


def test_few_times_that_are_none_count_as_missing_and_units_are_taken_at_their_word():
    given = [0, None, *[1_577_836_800] * 38]
    corpus = Corpus.from_counts([[1]] * 40, metadata={"when": given})
    assert np.isnat(days_of(corpus, "when")).tolist() == [False, True, *[False] * 38]
    old = days_of(Corpus.from_counts([[1], [2], [3]]), [-86_400, 86_400, 1e18], "seconds")
    assert old.astype(str).tolist() == ["1969-12-31", "1970-01-02", "NaT"]


def test_numbers_are_times_by_themselves_only_under_a_name_that_says_so():
    metadata = {"customer": SECONDS, "price": [1, 2, 3], "day": [20200101, 20200102, 20200201]}
    corpus = Corpus.from_counts([[1]] * 3, metadata=metadata)
    with pytest.raises(InputError, match="no column of dates"):
        days_of(corpus, None)
    assert days_of(corpus, "day", "%Y%m%d").astype(str).tolist() == ["2020-01-01", "2020-01-02", "2020-02-01"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "no column of dates"),
        ("date", r"dates is 'date', but the corpus has no columns beside the documents; read it with keep=\['date'\]"),
        (["2024-05-01"], "dates has 1 values for 2 documents"),
        (["01.05.2024", None], "what is not a date"),
        (["yesterday", None], "say how they are written with --date-format"),
        ([1.5, 2.5], "numbers that are not years"),
        ([20240501, 20240502], "numbers that are not years"),
        ([None, None], "holds no date"),
        (3, "dates is '3', but the corpus has no columns"),
    ],
)
def test_what_is_no_date_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        days_of(Corpus.from_counts([[1], [2]]), given)


def test_no_document_with_words_and_a_date_is_refused():
    with pytest.raises(InputError, match="no document has both words"):
        topics_over_time(OneWordEach(1), Corpus.from_counts([[0], [1]]), DAYS[[0, 3]], "day")


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


def test_trends_are_in_the_order_of_growth():
    counts = [[9, 1, 5], [5, 5, 5], [1, 9, 5]]
    days = np.array(["2020-01-01", "2021-01-01", "2022-01-01"], "datetime64[D]")
    table = topic_trends(OneWordEach(3), Corpus.from_counts(counts), days)
    assert table["topic"].tolist() == [1, 2, 0]
    np.testing.assert_allclose(table["change"], [4 / 15, 0, -4 / 15], rtol=1e-3, atol=1e-12)
    for some in (days[[0, 0, 0]], np.array(["2020-01-01", "2021-01-01", "NaT"], "datetime64[D]")):
        with pytest.raises(InputError, match="a trend needs three documents"):
            topic_trends(OneWordEach(3), Corpus.from_counts(counts), some)
