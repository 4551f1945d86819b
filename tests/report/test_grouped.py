"""Shares by period and by class in a report: sums by hand, columns that are found, and columns that are none."""

import numpy as np
import pytest
from tests.questions.test_changed_words import collection

from stickbreak.corpus import Corpus
from stickbreak.questions import changed_words as model_words
from stickbreak.questions.columns import Span
from stickbreak.report import build_report
from stickbreak.report.grouped import SampleWeights, SpanReport, columns_of_report, describe_changed_words
from stickbreak.report.write import figures_of

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


def test_classes_are_compared_with_the_share_in_all_their_tokens(model, corpus):
    data = build_report(model, corpus, categories={"list": LISTS})
    assert (data.classes[0].groups, data.classes[0].tokens) == (("mail", "news"), (10, 88))
    times = figures_of(data)["class-0"].data[0].customdata[0][1][3]
    share = 8 + 0.97 * 80
    assert times == pytest.approx(share / 88 / (share / 98), rel=1e-3)


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
