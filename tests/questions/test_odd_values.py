"""Columns and words that are written in odd ways: each is read, or refused in one clear sentence."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

import stickbreak
import stickbreak_baselines
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.evaluation import topic_scores, word_intrusion
from stickbreak.exceptions import InputError
from stickbreak.questions import topics_over_time
from stickbreak.questions.columns import columns_of_dates
from stickbreak.report import build_report

HALF = "a\ud800b"  # half of a surrogate pair, as JSON lines may hold it


@pytest.fixture(scope="module")
def documents():
    drawn = planted_lda(60, 12, n_topics=3, mean_tokens=25, seed=0)[0]
    lists = ['["grain", "ship"]', '["grain"]', "[]"] * 20
    return Corpus.from_counts(
        drawn.counts, [*(f"w{w}" for w in range(11)), HALF], metadata=pa.table({"topics": lists, "id": range(60)})
    )


@pytest.fixture(scope="module")
def model(documents):
    return stickbreak_baselines.LDA(n_topics=3, n_laps=5, random_state=0).fit(documents)


def test_half_of_a_surrogate_pair_is_a_question_mark_in_every_table(model, documents):
    assert "a?b" in " ".join(model.topics_table(documents, n_words=12)["words"]).split()
    assert "a?b" in list(model.words_of(0, n=12)["word"])
    assert "a?b" in list(model.word_topics(documents)["word"])
    assert len(model.search(HALF))
    assert "a?b" in " ".join(topic_scores(model, documents, n_words=12)["words"]).split()
    assert len(word_intrusion(model.topic_word_, model.vocabulary_, n_words=3))
    assert all(label.encode() for label in model.topics_of(documents)["label"])


def test_generator_of_dates_or_classes_is_read_once(model, documents):
    days = [f"2020-{1 + d % 12:02}-11" for d in range(60)]
    drawn = model.plot.over_time(documents, iter(days), "month")
    assert [list(one.y) for one in drawn.data] == [
        list(one.y) for one in model.plot.over_time(documents, days, "month").data
    ]
    by = model.topics_by(documents, (d % 2 for d in range(60)))
    assert sorted(set(by["category"])) == [0, 1]


def test_lists_of_json_lines_are_categories_with_plain_names(model, documents, caplog):
    by = model.topics_by(documents, "topics")
    assert sorted(set(by["category"])) == ["grain", "grain, ship"]
    assert "20 documents have no category and are left out" in caplog.text
    report = build_report(model, documents)
    assert [grouped.groups for grouped in report.classes] == [("grain", "grain, ship")]
    assert {one.values[0] for one in report.documents} <= {"grain, ship", "grain", ""}


@pytest.mark.parametrize("value", [b"a", ["a"], {"a": 1}, np.array(["a"])])
def test_value_that_is_no_category_is_refused(model, documents, value):
    column = np.empty(60, dtype=object)
    column[:] = [value] * 60 if not isinstance(value, np.ndarray) else [value.copy() for _ in range(60)]
    with pytest.raises(InputError, match=r"^category has .* for a document; give a text, number or date for each"):
        model.topics_by(documents, list(column))
    with pytest.raises(InputError, match="which is not a name of a column; name columns, or give a mapping"):
        build_report(model, documents, categories=list(column))


def test_labels_of_days_are_called_by_the_day_and_half_a_pair_is_a_question_mark(documents):
    days = [datetime.datetime(2020, 1, 1 + d % 2) for d in range(60)]
    fit = stickbreak.TopicModel(n_laps=2, random_state=0).fit
    assert fit(documents, labels=days).label_names_ == ["2020-01-01", "2020-01-02"]
    assert fit(documents, labels=[HALF] * 60).label_names_ == ["a?b"]


@pytest.mark.parametrize("words", [None, 7, [None], ["w1", 7], {}, [], "", float("nan"), np.array([[1]])])
def test_search_for_what_is_no_word_is_refused(model, words):
    with pytest.raises(InputError, match=r"words (is empty|holds)"):
        model.search(words)


def test_numbers_of_journals_and_telephones_are_no_dates():
    columns = {
        "issn": ["0028-0836", "1476-4687"],
        "phone": ["5551-2345", "2026-1134"],
        "day": ["2026-11-23", "2026-11"],
    }
    assert columns_of_dates(pa.table(columns)) == ["day"]


@pytest.mark.parametrize("dates", [None, ["2026-11-23"] * 40])
def test_a_date_format_is_text(model, documents, dates):
    with pytest.raises(InputError, match="date_format is"):
        topics_over_time(model, documents[:40], dates, date_format=["%Y"])


def test_documents_of_no_topic_are_refused(model, documents):
    with pytest.raises(InputError, match="topics is"):
        model.documents_of(None, documents)


def test_column_of_ids_among_counts_is_told(documents, caplog):
    counts = np.column_stack([documents.counts.toarray(), 100_000 + np.arange(60)])
    corpus = Corpus.from_counts(counts, [*documents.words, "customer_id"])
    stickbreak_baselines.LDA(n_topics=2, n_laps=2, random_state=0).fit(corpus)
    assert "column 'customer_id' holds most of all counts" in caplog.text
