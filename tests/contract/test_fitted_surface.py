"""The surface that every fitted model shares (rule 5 of the design)."""

import numpy as np
import pytest

from stickbreak.corpus import Corpus
from stickbreak.evaluation import document_completion, left_to_right
from stickbreak.exceptions import InputError


def test_topics_are_word_distributions(model, corpus):
    assert isinstance(model.n_topics_, int)
    assert 1 <= model.n_topics_ <= 5
    assert model.topic_word_.shape == model.components_.shape == (model.n_topics_, corpus.n_words)
    assert model.topic_word_.dtype == np.float64
    assert (model.topic_word_ > 0).all()
    np.testing.assert_allclose(model.topic_word_.sum(axis=1), 1, rtol=1e-12)


def test_topic_weights_leave_some_mass_to_unseen_topics_where_there_can_be_any(entry, model):
    assert model.topic_weights_.shape == (model.n_topics_,)
    assert (model.topic_weights_ > 0).all()
    if entry.unseen_topics:
        assert model.topic_weights_.sum() < 1
    else:
        assert model.topic_weights_.sum() == pytest.approx(1.0, rel=1e-12)


def test_trace_has_a_row_for_every_lap(entry, model):
    assert {"objective", "n_topics", "seconds"} <= model.trace_.keys()
    for name, column in model.trace_.items():
        assert isinstance(column, np.ndarray), name
        assert column.shape == (model.n_laps_,), name
        assert np.isfinite(column).all(), name
    assert model.trace_["n_topics"][-1] == model.n_topics_
    assert model.trace_["n_topics"].dtype.kind == "i"
    assert (model.trace_["seconds"] > 0).all()


def test_transform_gives_weights_that_sum_to_one(model, corpus):
    weights = model.transform(corpus)
    assert weights.shape == (corpus.n_documents, model.n_topics_)
    assert weights.dtype == np.float64
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-12)


def test_expected_weights_have_the_inactive_mass_last(model, corpus):
    weights = model.expected_weights(corpus)
    assert weights.shape == (corpus.n_documents, model.n_topics_ + 1)
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-12)
    active = weights[:, :-1] / weights[:, :-1].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(active, model.transform(corpus), rtol=1e-12)
    assert weights[11, -1] == pytest.approx(1 - model.topic_weights_.sum()), "the empty document is not the prior"


def test_score_is_the_document_completion_of_the_evaluation(model, corpus):
    score = model.score(corpus)
    assert isinstance(score, float)
    assert -np.log(corpus.n_words) * 2 < score < 0
    observed, held_out = corpus.halves(seed=0)
    assert score == pytest.approx(document_completion(model, observed, held_out).active, rel=1e-12)


@pytest.mark.parametrize("resample", [True, False])
def test_left_to_right_is_that_of_the_topics_and_the_prior(entry, model, corpus, resample):
    """What an empty document has is the prior: alpha E beta, with the inactive rest as one more topic."""
    if not entry.flat_documents or not hasattr(model, "alpha_"):
        pytest.skip("its documents have no Dirichlet weights")
    empty = np.zeros((1, corpus.n_words), dtype=int)
    prior = model.alpha_ * model.expected_weights(empty)[0]
    topics = np.vstack([model.topic_word_, model.rest_word_])
    options = {"n_particles": 3, "resample": resample, "random_state": 7}
    found, expected = model.left_to_right(corpus, **options), left_to_right(topics, prior, corpus, **options)
    np.testing.assert_allclose(found.unbiased_log_p, expected.unbiased_log_p, rtol=1e-9)
    np.testing.assert_allclose(found.printed_log_p, expected.printed_log_p, rtol=1e-9)
    assert (found.n_tokens, found.n_documents) == (corpus.n_tokens, 39)
    assert found.unbiased_log_p[11] == 0


def test_top_words_are_the_most_relevant_first(model):
    words = model.top_words(4)
    assert len(words) == model.n_topics_
    relevance = np.log(model.topic_word_) - 0.4 * np.log(model.topic_shares_ @ model.topic_word_)
    for k, row in enumerate(words):
        columns = [model.vocabulary_.index(word) for word in row]
        assert (np.diff(relevance[k, columns]) <= 1e-12).all()
        assert relevance[k, columns[-1]] >= np.sort(relevance[k])[-4] - 1e-12
    assert all(len(row) == 10 for row in model.top_words())
    assert all(len(row) == 30 for row in model.top_words(1000))


@pytest.mark.parametrize("method", ["transform", "expected_weights", "score", "left_to_right"])
@pytest.mark.parametrize("change", [1, -1])
def test_documents_over_other_words_are_refused(corpus, as_kind, model_of_kind, method, change):
    columns = np.arange(corpus.n_words + change) % corpus.n_words
    words = [f"word{w}" for w in range(columns.size)]
    other = as_kind(Corpus.from_counts(corpus.counts[:, columns], vocabulary=words))
    wrong = "feature names" if hasattr(other, "columns") else rf"has {columns.size} .*{corpus.n_words}"
    with pytest.raises(ValueError, match=wrong):
        getattr(model_of_kind, method)(other)


@pytest.mark.parametrize("method", ["transform", "expected_weights", "score", "left_to_right"])
def test_corpus_with_another_vocabulary_of_the_same_size_is_refused(model, corpus, method):
    words = [*corpus.vocabulary[:-1], "stranger"]
    other = Corpus.from_counts(corpus.counts, vocabulary=words)
    with pytest.raises(InputError, match=r"'stranger'.*'word29'"):
        getattr(model, method)(other)


def test_more_documents_than_a_block_are_transformed_as_in_one(entry, model, corpus):
    many = corpus[np.tile(np.arange(corpus.n_documents), 110)]  # 4400 documents
    expected = np.tile(model.transform(corpus), (110, 1))
    np.testing.assert_array_equal(model.transform(many), expected)
