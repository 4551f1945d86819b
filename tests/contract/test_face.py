"""What report, command line and evaluation ask of the topics of any model, and how a foreign one is asked it."""

import numpy as np
import pytest
from tests.contract.small import OF_WORDS, SMALL, TREES, data_of, fitted

from stickbreak.evaluation import document_completion, evaluate
from stickbreak.exceptions import InputError
from stickbreak.methods import methods
from stickbreak.prediction.topics import ForeignTopics, as_topics


def test_every_method_of_words_is_under_contract(request):
    plugin = request.config.pluginmanager
    entries = next(
        (*module.ESTIMATORS, *module.SPARSE)
        for module in plugin.get_plugins()
        if str(getattr(module, "__file__", "")).endswith("contract/conftest.py")
    )
    of_words = [method.estimator for method in methods().values() if method.data == "documents"]
    assert sorted(entry.name for entry in entries) == sorted(of_words)


class Foreign:
    """What `FittedTopics` names, taken from a model, and nothing else."""

    def __init__(self, model):
        for name in ("n_topics_", "topic_word_", "topic_weights_", "rest_word_", "vocabulary_", "trace_"):
            setattr(self, name, getattr(model, name))
        self.transform, self.expected_weights = model.transform, model.expected_weights


@pytest.fixture(params=["TopicModel", "GibbsHDP", "BackoffTreeTopics"])
def name(request):
    return request.param


@pytest.fixture
def model(name):
    return fitted(name)


def test_shown_topics_have_the_weights_and_the_words_of_their_numbers(model):
    shown = model.shown_topics(4, most=3)
    assert len(shown.numbers) == len(shown.weights) == len(shown.words) >= 1
    phi = model.word_distributions(shown.numbers)
    np.testing.assert_allclose(phi.sum(axis=1), 1.0, rtol=1e-9)
    for row, words in zip(phi, shown.words, strict=True):
        assert 1 <= len(words) <= 4
        for word, probability in words:
            assert probability == pytest.approx(row[model.vocabulary_.index(word)], rel=1e-9)


def test_complete_is_the_document_completion_and_the_score(name, model):
    halves = data_of(name).halves(seed=0)
    found = model.complete(*halves)
    assert found == document_completion(model, *halves)
    assert found.active == model.score(data_of(name))
    seen = np.arange(25) % 3 > 0
    fewer = model.complete(*halves, seen=seen)
    assert fewer.n_tokens == halves[1][halves[0].document_lengths > 0].counts.toarray()[:, seen].sum() < found.n_tokens


@pytest.mark.parametrize("name", SMALL)
def test_every_model_says_whether_its_topics_form_a_tree(name):
    assert (fitted(name).tree_ is not None) == (name in TREES)


@pytest.mark.parametrize("name", [name for name in OF_WORDS if name != "BackoffTreeTopics"])
def test_foreign_model_is_asked_through_an_adapter_and_gives_the_same(name):
    model, documents = fitted(name), data_of(name)
    foreign = Foreign(model)
    assert as_topics(model) is model
    assert isinstance(as_topics(foreign), ForeignTopics)
    ours, theirs = evaluate(model, documents), evaluate(foreign, documents)
    assert ours.completion == theirs.completion
    np.testing.assert_array_equal(ours.coherence, theirs.coherence)
    with pytest.raises(InputError, match="Foreign has no left_to_right"):
        evaluate(foreign, documents, n_particles=2)
