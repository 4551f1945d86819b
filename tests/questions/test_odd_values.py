"""Columns and words that are written in odd ways: each is read, or refused in one clear sentence."""

import pyarrow as pa
import pytest

import stickbreak_baselines
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.evaluation import topic_scores, word_intrusion
from stickbreak.questions.columns import categories_of
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


@pytest.mark.parametrize("values", [[1.0, float("inf")], [1.0, 1e300, None]])
def test_numbers_beyond_whole_ones_are_categories(values):
    corpus = Corpus.from_counts([[1]] * len(values), metadata={"x": values})
    assert categories_of(corpus, "x", "category").dropna().tolist() == values[:2]


def test_large_numbers_beside_a_gap_stay_apart():
    values = [2**60, 2**60 + 1, None]
    corpus = Corpus.from_counts([[1]] * 3, metadata={"author": values})
    found = categories_of(corpus, "author", "category")
    assert found.isna().tolist() == [False, False, True]
    assert found.dropna().tolist() == values[:2]


def test_lists_of_json_lines_are_categories_with_plain_names(model, documents, caplog):
    by = model.topics_by(documents, "topics")
    assert sorted(set(by["category"])) == ["grain", "grain, ship"]
    assert "20 documents have no category and are left out" in caplog.text
    report = build_report(model, documents)
    assert [grouped.groups for grouped in report.classes] == [("grain", "grain, ship")]
    assert {one.values[0] for one in report.documents} <= {"grain, ship", "grain", ""}
