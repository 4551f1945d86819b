import numpy as np
import pytest

from stickbreak.corpus import Corpus
from stickbreak.evaluation import coherence, document_completion, evaluate

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


def test_evaluate_has_no_mean_coherence_over_a_single_word(make_model):
    model = make_model([[1.0]], lambda corpus: np.tile([0.9, 0.1], (corpus.n_documents, 1)))
    found = evaluate(model, Corpus.from_counts([[4], [6]]))
    assert np.isnan(found.mean_coherence)
    assert found.completion.active == 0.0
