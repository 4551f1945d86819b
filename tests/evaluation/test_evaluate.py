import numpy as np
import pytest

from stickbreak import BackoffTreeTopics, GibbsHDP
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.evaluation import coherence, document_completion, evaluate
from stickbreak.exceptions import InputError

PHI = np.array([[0.5, 0.3, 0.1, 0.1], [0.1, 0.1, 0.4, 0.4]])


@pytest.fixture
def model(make_model):
    return make_model(PHI, lambda corpus: np.tile([0.6, 0.3, 0.1], (corpus.n_documents, 1)))


@pytest.fixture
def corpus():
    return Corpus.from_counts(np.random.default_rng(3).poisson(3.0, (12, 4)))


def test_evaluate_scores_the_seeded_halves(model, corpus):
    found = evaluate(model, corpus, seed=5)
    assert found.completion == document_completion(model, *corpus.halves(seed=5))
    assert (found.seed, found.n_documents) == (5, 12)
    assert found.completion != evaluate(model, corpus, seed=6).completion


def test_evaluate_takes_the_coherence_from_the_reference(model, corpus):
    reference = Corpus.from_counts(np.eye(4, dtype=int))
    found = evaluate(model, corpus, reference=reference, n_words=2)
    assert found.coherence == pytest.approx(coherence(PHI, reference, 2))
    assert found.mean_coherence == pytest.approx(found.coherence.mean())
    assert evaluate(model, corpus, n_words=2).coherence == pytest.approx(coherence(PHI, corpus, 2))


@pytest.fixture(scope="module")
def documents():
    return planted_lda(30, 20, n_topics=3, mean_tokens=12, seed=0)[0]


@pytest.fixture(scope="module")
def gibbs(documents):
    return GibbsHDP(n_topics=4, n_laps=3, random_state=0).fit(documents)


@pytest.fixture(scope="module")
def tree(documents):
    return BackoffTreeTopics(branching=(3, 4), n_laps=3, random_state=0).fit(documents)


def test_evaluate_measures_left_to_right_where_it_is_asked_to(gibbs, documents):
    assert evaluate(gibbs, documents).left_to_right is None
    for resample in (True, False):
        found = evaluate(gibbs, documents, seed=4, n_particles=3, resample=resample).left_to_right
        expected = gibbs.left_to_right(documents, n_particles=3, resample=resample, random_state=4)
        np.testing.assert_array_equal(found.unbiased_log_p, expected.unbiased_log_p)
        assert (found.printed, found.unbiased) == (expected.printed, expected.unbiased)


def test_evaluate_leaves_words_that_are_not_scored_out_of_documents(gibbs, documents):
    seen = np.arange(20) % 4 > 0
    found = evaluate(gibbs, documents, n_particles=3, seen=seen).left_to_right
    expected = gibbs.left_to_right(documents.counts.toarray() * seen, n_particles=3)
    np.testing.assert_array_equal(found.unbiased_log_p, expected.unbiased_log_p)
    assert found.n_tokens == documents.counts.toarray()[:, seen].sum() < documents.n_tokens


def test_evaluate_refuses_other_than_one_boolean_for_each_word(gibbs, documents):
    with pytest.raises(InputError, match=r"seen has shape \(2,\), but there are \d+ words"):
        evaluate(gibbs, documents, seen=[True, False], n_particles=3)


def test_evaluate_scores_a_tree_without_a_table_of_its_topics(tree, documents, monkeypatch):
    expected = coherence(tree.topic_word_, documents, 5)
    monkeypatch.setattr("stickbreak.backoff_tree.estimator._MOST_NUMBERS", 20)
    with pytest.raises(InputError, match="at a time"):
        tree.topic_word_  # noqa: B018
    found = evaluate(tree, documents, n_words=5, n_particles=2)
    np.testing.assert_allclose(found.coherence, expected, rtol=1e-12)
    assert found.mean_coherence == pytest.approx(expected.mean())
    assert found.completion.active == document_completion(tree, *documents.halves(seed=0)).active
    assert found.left_to_right.unbiased == tree.left_to_right(documents, n_particles=2).unbiased
