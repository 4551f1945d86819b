import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from stickbreak import TopicModel
from stickbreak.corpus import Corpus
from stickbreak.evaluation import Completion
from stickbreak.report import build_report

GOLDEN = Path(__file__).parents[1] / "data" / "report.json"


def approximately(value):
    """Wrap every number of nested JSON in a tolerance."""
    if isinstance(value, dict):
        return {key: approximately(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [approximately(entry) for entry in value]
    return pytest.approx(value, rel=1e-5, abs=1e-9) if isinstance(value, float) else value


def test_report_equals_the_golden_one(model, corpus):
    texts = [f"Text {d}: a cat, a bond and a team." for d in range(5)]
    data = build_report(
        model, corpus, title="Small", held_out=Completion(-1.5, -1.75, 20, 4), unigram=-2.0, texts=texts, n_words=3
    )
    found = json.loads(replace(data, version="golden", written="2026-11-23", document_map=None).to_json())
    assert found == approximately(json.loads(GOLDEN.read_text()))


def test_report_has_the_score_that_the_model_knows_unless_another_is_given(corpus):
    model = TopicModel(n_laps=1, random_state=0).fit(corpus)
    assert build_report(model, corpus).held_out is None
    model.note_held_out(Completion(-1.5, -1.75, 20, 4), unigram=-2.0)
    found = build_report(model, corpus).held_out
    assert (found.active, found.with_inactive, found.n_tokens, found.unigram) == (-1.5, -1.75, 20, -2.0)
    assert build_report(model, corpus, unigram=-2.5).held_out.unigram == -2.5
    given = build_report(model, corpus, held_out=-1.25).held_out
    assert (given.active, given.with_inactive, given.unigram) == (-1.25, None, None)
    for far in (-1e6, Completion(-1e6, -1e6, 20, 4)):  # as of a damaged model
        assert np.isfinite(build_report(model, corpus, held_out=far).held_out.perplexity)


def test_report_counts_topics_in_documents_and_gives_the_shares_of_the_fit(model, corpus):
    topics = build_report(model, corpus).topics
    assert [t.token_share for t in topics] == pytest.approx([0.5 / 0.95, 0.3 / 0.95, 0.15 / 0.95])
    assert [t.n_largest for t in topics] == [2, 1, 1]
    assert [t.n_present for t in topics] == [3, 2, 1]
    assert [sum(t.histogram) for t in topics] == [4, 4, 4]
    assert topics[2].histogram[18] == 1  # 0.9


def test_report_asks_for_the_texts_of_shown_documents_once(model, corpus):
    asked = []

    def texts(rows):
        asked.append(list(rows))
        return [f"text of {row}" for row in rows]

    data = build_report(model, corpus, texts=texts, n_examples=1)
    assert asked == [[0, 1, 3, 4]]
    snippets = [data.documents[topic.documents[0][0]].snippet for topic in data.topics]
    assert snippets == ["text of 3", "text of 1", "text of 4"]


def test_report_rests_on_a_seeded_sample_of_a_large_corpus(model):
    rows = np.tile([[4, 4, 0, 0, 0, 0], [0, 0, 6, 4, 0, 0]], (50, 1)).astype(np.int32)
    corpus = Corpus.from_counts(rows, vocabulary=list(model.vocabulary_))
    data = build_report(model, corpus, max_documents=30)
    assert (data.corpus.n_documents, data.corpus.n_described) == (100, 30)
    assert sum(t.n_largest for t in data.topics) == sum(data.topics[0].histogram) == 30
    assert model.asked[0] == 30
    shown = [data.documents[place].row for place, _ in data.topics[0].documents]
    assert shown == sorted(shown)  # all equal: ties go to the earlier document
    assert (data.document_map.n_documents, data.document_map.n_shown) == (100, 30)
    assert data == build_report(model, corpus, max_documents=30)
    assert data != build_report(model, corpus, max_documents=30, seed=1)
