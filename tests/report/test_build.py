import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from stickbreak import TopicModel, VariationalHDP
from stickbreak.corpus import Corpus
from stickbreak.evaluation import Completion, exclusivity, npmi, topic_diversity
from stickbreak.exceptions import InputError
from stickbreak.prediction import words as prediction_words
from stickbreak.report import build, build_report

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


def test_report_states_the_corpus_and_the_fit(model, corpus):
    data = build_report(model, corpus)
    assert data.title == "Topics of 5 documents"
    described = data.corpus
    assert (described.n_documents, described.n_words, described.n_tokens) == (5, 6, 118)
    assert (described.n_empty, described.n_described) == (1, 4)
    assert (data.fit.family, data.fit.n_laps, data.fit.converged) == ("SmallModel", 3, True)
    assert (data.fit.objective, data.fit.seconds) == (-8.25, 1.0)
    assert data.fit.start_seconds is None  # of a model that does not say
    assert data.fit.trace["lap"] == (1, 2, 3)
    assert data.fit.trace["merge_gain"] == (None, 1.5, None)
    assert data.held_out is None


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


def test_report_states_the_start_that_the_trace_does_not_show(model, corpus):
    model.start_seconds_ = 2.5
    fit = build_report(model, corpus).fit
    assert (fit.seconds, fit.start_seconds) == (1.0, 2.5)


def test_report_counts_topics_in_documents_and_gives_the_shares_of_the_fit(model, corpus):
    topics = build_report(model, corpus).topics
    assert [t.token_share for t in topics] == pytest.approx([0.5 / 0.95, 0.3 / 0.95, 0.15 / 0.95])
    assert [t.n_largest for t in topics] == [2, 1, 1]
    assert [t.n_present for t in topics] == [3, 2, 1]
    assert [sum(t.histogram) for t in topics] == [4, 4, 4]
    assert topics[2].histogram[18] == 1  # 0.9


def test_report_shows_long_documents_before_short_ones_of_equal_share(model, corpus):
    data = build_report(model, corpus, n_examples=2)
    first = data.topics[0]
    best = data.documents[first.documents[0][0]]
    assert [data.documents[place].name for place, _ in first.documents] == ["more pets", "pets"]
    assert first.documents[0][1] == pytest.approx(0.97)
    assert (best.row, best.n_tokens) == (3, 80)


def test_report_describes_documents_by_telling_words_where_there_is_no_text(model, corpus):
    data = build_report(model, corpus)
    sport = data.documents[data.topics[2].documents[0][0]]
    assert sport.snippet is None
    assert sport.words == ("goal", "team", "bond", "cat")


def test_report_counts_a_repeated_word_as_more_telling(model):
    rows = np.array([[1, 8, 0, 0, 0, 0]], dtype=np.int32)  # the topic itself prefers "cat" to "dog"
    corpus = Corpus.from_counts(rows, vocabulary=list(model.vocabulary_))
    (document,) = build_report(model, corpus, weights=[[1.0, 0.0, 0.0]]).documents
    assert document.words == ("dog", "cat")


def test_report_asks_for_the_texts_of_shown_documents_once(model, corpus):
    asked = []

    def texts(rows):
        asked.append(list(rows))
        return [f"text of {row}" for row in rows]

    data = build_report(model, corpus, texts=texts, n_examples=1)
    assert asked == [[0, 1, 3, 4]]
    snippets = [data.documents[topic.documents[0][0]].snippet for topic in data.topics]
    assert snippets == ["text of 3", "text of 1", "text of 4"]


def test_report_carries_the_scores_that_papers_report(model, corpus):
    data = build_report(model, corpus)
    assert [t.coherence for t in data.topics] == pytest.approx(list(npmi(model.topic_word_, corpus)))
    assert data.mean_coherence == pytest.approx(np.mean([t.coherence for t in data.topics]))
    assert [t.exclusivity for t in data.topics] == pytest.approx(list(exclusivity(model.topic_word_)))
    assert data.diversity == topic_diversity(model.topic_word_)


def test_report_is_the_same_from_given_weights_in_blocks(model, corpus, monkeypatch):
    asked = build_report(model, corpus)
    monkeypatch.setattr(prediction_words, "_BLOCK_ELEMENTS", 8)
    cut = build_report(model, corpus)
    given = build_report(model, corpus, weights=model.transform(corpus))
    with_rest = build_report(model, corpus, weights=model.expected_weights(corpus))
    assert asked.to_json() == cut.to_json() == given.to_json() == with_rest.to_json()
    assert model.asked[2:4] == [2, 2]


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


def test_report_of_an_empty_trace_has_no_objective(model, corpus):
    fit = build_report(replace(model, trace_={}, objective_=np.nan), corpus).fit
    assert (fit.objective, fit.seconds, fit.trace) == (None, None, {"lap": ()})


def test_report_thins_a_long_trace_and_keeps_both_ends(model, corpus):
    long = replace(model, trace_={"objective": np.arange(5000.0)})
    trace = build_report(long, corpus).fit.trace
    assert len(trace["lap"]) == 1000
    assert (trace["lap"][0], trace["lap"][-1]) == (1, 5000)
    assert trace["objective"][-1] == 4999


def test_report_writes_settings_as_text(model, corpus):
    settings = dict(build_report(model, corpus).fit.settings)
    assert settings == {
        "alpha": "0.5",
        "callback": "object",
        "init": "array of shape (3, 6)",
        "moves": "merge, reorder",
        "n_jobs": "None",
    }


def test_report_names_what_was_learned(corpus):
    settings = {"n_topics": 3, "n_laps": 8, "init": "near-uniform", "moves": (), "tolerance": 0.0, "random_state": 0}
    by_default = VariationalHDP(**settings).fit(corpus)
    told = dict(build_report(by_default, corpus).fit.settings)
    assert (told["learn"], told["eta"]) == ("eta", f"{by_default.eta_:.4g}, learned from 0.1")
    nothing = dict(build_report(VariationalHDP(**settings, learn=()).fit(corpus), corpus).fit.settings)
    assert (nothing["learn"], nothing["eta"]) == ("none", "0.1")
    stochastic = VariationalHDP(**settings, schedule="stochastic").fit(corpus)
    assert dict(build_report(stochastic, corpus).fit.settings)["learn"] == "none"


def test_report_of_a_corpus_without_a_token_is_made(model):
    nothing = Corpus.from_counts(np.zeros((3, 6), dtype=int), vocabulary=list(model.vocabulary_))
    data = build_report(model, nothing)
    assert [t.n_present for t in data.topics] == [0, 0, 0]
    assert all(t.documents == () for t in data.topics)
    data.to_json()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"texts": ["one"]}, "there are 1 texts for 5 documents"),
        ({"texts": lambda rows: ["one"]}, "texts returned 1 texts for"),
        ({"weights": np.ones((4, 3))}, r"weights have shape \(4, 3\)"),
        ({"weights": np.ones((5, 2))}, r"weights have shape \(5, 2\)"),
        ({"n_words": 0}, "n_words is 0"),
        ({"n_examples": -1}, "n_examples is -1"),
        ({"max_documents": 0}, "max_documents is 0"),
        ({"snippet_length": 1}, "snippet_length is 1"),
    ],
)
def test_report_refuses_what_does_not_fit(model, corpus, options, message):
    with pytest.raises(InputError, match=message):
        build_report(model, corpus, **options)


def test_report_refuses_a_corpus_of_other_words(model):
    other = Corpus.from_counts(np.ones((1, 6), dtype=int), vocabulary=list("abcdef"))
    with pytest.raises(InputError, match="column 0 is 'a' in the corpus, but 'cat' in the model"):
        build_report(model, other)


def test_fewer_long_documents_are_described_where_topics_are_many(model, corpus, monkeypatch):
    """Half of the work that there is: half of the documents, but no fewer than the least."""
    monkeypatch.setattr(build, "_MOST_WORK", corpus.counts.nnz * model.topic_word_.shape[0] / 2)
    assert build_report(model, corpus).corpus.n_described == 4  # a few are always described
    monkeypatch.setattr(build, "_LEAST_DOCUMENTS", 1)
    assert build_report(model, corpus).corpus.n_described == len(corpus) // 2
