"""Shares by period and by class in a report: sums by hand, columns that are found, and columns that are none."""

import numpy as np
import pytest
from tests.questions.test_changed_words import collection

from stickbreak.corpus import Corpus
from stickbreak.questions import changed_words as model_words
from stickbreak.questions.columns import Span
from stickbreak.report import build_report
from stickbreak.report.grouped import SampleWeights, SpanReport, columns_of_report, describe_changed_words

DAYS = ["2024-01-31", "2024-02-01", "2024-02-29", "2023-12-31", "2024-02-02"]
LISTS = ["news", "mail", "mail", "news", None]


def with_columns(corpus, **columns):
    return Corpus.from_counts(corpus.counts, corpus.vocabulary, corpus.names, metadata=columns)


def test_shares_over_time_are_sums_over_tokens(model, corpus):
    time = build_report(model, with_columns(corpus, day=DAYS, rank=[1, 2, 3, 4, 5]), by="month").time
    assert (time.by, time.shares.column) == ("month", "day")
    assert time.shares.groups == ("2023-12-01", "2024-01-01", "2024-02-01")
    assert time.shares.documents == (1, 1, 2)  # the third document is empty
    assert time.shares.shares[0] == pytest.approx((0.97, 1.0, 0.05 * 20 / 30), rel=1e-3)
    assert time.shares.shares[1] == pytest.approx((0.03, 0.0, (10 + 0.05 * 20) / 30), rel=1e-3)
    assert time.shares.low[1][:2] == (None, None)  # one document has no interval
    assert 0 < time.shares.low[1][2] < time.shares.shares[1][2] < time.shares.high[1][2]


EVE = np.datetime64("2026-02-27")  # with another day of its month


@pytest.mark.parametrize(
    ("days", "by"),
    [
        (np.arange("2024-01", "2026-07", dtype="datetime64[M]"), "month"),
        (np.arange("2024-01", "2024-03", dtype="datetime64[M]"), "month"),
        (np.arange("2024-01-05", "2024-02-10", dtype="datetime64[D]"), "day"),
        (np.arange("2024-01-05", "2024-06-10", dtype="datetime64[D]"), "week"),
        (np.append(np.arange("2013-01-05", "2026-06-10", 150, dtype="datetime64[D]"), EVE), "quarter"),
        (np.arange("1969", "2024", dtype="datetime64[Y]"), "year"),
        (np.arange("1900", "2024", dtype="datetime64[Y]"), "year"),
        (np.array(["2019-12-30", "2020-01-01"], "datetime64[D]"), "day"),  # in two years, but that says little
        (np.array(["2018-05-02", "2019-03-01", "2020-07-07"], "datetime64[D]"), "year"),
    ],
)
def test_the_default_period_of_report_and_table_suits_the_dates(dated, fresh_model, days, by):
    when = days.astype("datetime64[D]")[np.arange(len(dated)) * days.size // len(dated)]
    assert build_report(fresh_model, dated, dates=when.astype(str), max_documents=90).time.by == by
    assert fresh_model.topics_over_time(dated, when, topic=0, n_resamples=2).attrs["by"] == by


def test_trends_of_the_report_are_those_of_the_question(fresh_model, dated):
    found = build_report(fresh_model, dated).time
    table = fresh_model.topic_trends(dated)
    assert [trend.topic for trend in found.trends] == table["topic"].tolist()
    assert [trend.change for trend in found.trends] == pytest.approx(table["change"].tolist(), rel=1e-3)
    assert [trend.p for trend in found.trends] == pytest.approx(table["p"].tolist(), rel=1e-3)
    over_time = fresh_model.topics_over_time(dated, by=found.by)
    shares = over_time.pivot(index="topic", columns="period", values="mean_weight").to_numpy()
    np.testing.assert_allclose(np.array(found.shares.shares, dtype=float), shares, rtol=1e-3, atol=1e-6)


@pytest.fixture(scope="module")
def dated():
    from stickbreak.corpus import planted_lda

    drawn = planted_lda(90, 30, n_topics=3, mean_tokens=30.0, seed=0)[0]
    days = np.datetime64("2020-01-15") + np.arange(90) * 20
    return Corpus.from_counts(
        drawn.counts, metadata={"day": days.astype(str).tolist(), "odd": ["ab"[d % 2] for d in range(90)]}
    )


@pytest.fixture(scope="module")
def fresh_model(dated):
    from stickbreak import TopicModel

    return TopicModel(n_topics=3, n_laps=5, random_state=0).fit(dated)


def test_shares_by_class_are_sums_over_tokens_and_tests_those_of_the_question(fresh_model, dated):
    (found,) = build_report(fresh_model, dated, dates=False).classes
    assert (found.column, found.groups, found.documents) == ("odd", ("a", "b"), (45, 45))
    table = fresh_model.topics_by(dated, "odd")
    for k in range(3):
        rows = table[table["topic"] == k].set_index("odd" if "odd" in table else "category")
        assert found.shares[k] == pytest.approx(rows.loc[["a", "b"], "mean_weight"].tolist(), rel=1e-3)
        assert found.p[k] == pytest.approx(rows.loc[["a", "b"], "p"].tolist(), rel=1e-2)


def test_a_span_of_days_chooses_what_is_shown_and_counted(model, corpus):
    columns = with_columns(corpus, day=[*DAYS[:3], None, DAYS[4]], list=LISTS)
    data = build_report(model, columns, since="2024-01", until="2024-02", by="month")
    assert data.span == SpanReport("day", "2024-01-01", "2024-02-29", n_documents=4, n_empty=1, n_undated=1)
    assert [one.row for one in data.documents] == [0, 1, 4]  # the third document is empty
    assert {data.documents[place].row for topic in data.topics for place, _ in topic.documents} <= {0, 1, 4}
    assert data.time.shares.documents == (1, 2)
    assert (data.time.n_dated, data.time.n_wordless) == (4, 1)
    assert data.time.shares.shares[0] == pytest.approx((1.0, 0.05 * 20 / 30), rel=1e-3)
    assert data.topics[0].n_largest == 1  # the fourth document has no date
    whole = build_report(model, columns)
    assert (whole.span, whole.topics[0].n_largest) == (None, 2)
    assert (whole.time.n_dated, whole.time.n_wordless) == (4, 1)
    assert [topic.token_share for topic in data.topics] == [topic.token_share for topic in whole.topics]
    later = build_report(model, columns, since="2024-02-02").span
    assert (later.since, later.until, later.n_documents) == ("2024-02-02", None, 2)


def test_columns_of_classes_are_those_with_few_values(model):
    counts = np.tile([[4, 4, 0, 0, 0, 0], [0, 0, 6, 4, 0, 0]], (20, 1)).astype(np.int32)
    columns = {
        "name": [f"n{d}" for d in range(40)],
        "kind": ["x", "y"] * 20,
        "same": ["z"] * 40,
        "size": list(range(40)),
        "sparse": ["a", "b"] + [None] * 38,
        "true": [True, False] * 20,
    }
    documents = Corpus.from_counts(counts, list(model.vocabulary_), metadata=columns)
    assert [one.column for one in build_report(model, documents).classes] == ["kind", "true"]
    assert [one.column for one in build_report(model, documents, categories="sparse").classes] == ["sparse"]
    assert build_report(model, documents, categories=[]).classes == ()
    given = build_report(model, documents, categories={"half": np.arange(40) // 20}).classes[0]
    assert (given.column, given.groups, given.documents) == ("half", ("0", "1"), (20, 20))


def test_words_that_change_are_those_of_the_question():
    model, corpus = collection(1, shift=0.05)
    columns = columns_of_report(corpus, "year", None, ["late"], None, Span.of(None, None))
    weights = model.transform(corpus).astype(np.float32)
    sample = SampleWeights(np.arange(len(corpus)), corpus.document_lengths, weights)
    found = describe_changed_words(columns, model, corpus, sample, range(4))
    for column, table in (
        ("late", model_words.words_by(model, corpus, "late")),
        ("year", model_words.words_over_time(model, corpus, "year")),
    ):
        group = table.iloc[:, 2].astype(str).str[:10]
        told = {(one.topic, one.group, one.word) for one in found if one.column == column}
        assert told == set(zip(table["topic"], group, table["word"], strict=True))
        assert told
    assert [one.lift > 1 for one in found if one.word == "w0" and one.group == "late"] == [True]
