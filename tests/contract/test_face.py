"""What report, command line and evaluation ask of the topics of any model, and how a foreign one is asked it."""

import ast
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from tests.contract.small import OF_WORDS, SMALL, TREES, data_of, fitted, unfitted

import stickbreak
from stickbreak.evaluation import document_completion, evaluate
from stickbreak.exceptions import InputError, InvalidCorpus
from stickbreak.methods import OWN, methods
from stickbreak.prediction.topics import FlatTopics, ForeignTopics, as_topics, shares_of
from stickbreak.prediction.words import top_word_indices


def test_every_method_of_words_is_under_contract(request):
    plugin = request.config.pluginmanager
    entries = next(
        (*module.ESTIMATORS, *module.SPARSE)
        for module in plugin.get_plugins()
        if str(getattr(module, "__file__", "")).endswith("contract/conftest.py")
    )
    of_words = [method.estimator for method in methods().values() if method.data == "documents"]
    assert sorted(entry.name for entry in entries) == sorted(of_words)


def test_own_estimators_are_in_all():
    assert {method.estimator for method in OWN.values()} <= set(stickbreak.__all__)


ROOMS = ("evaluation", "prediction", "report", "cli")
METHODS_OF_SOME = ("left_to_right", "update", "partial_fit", "predict_labels", "label_probabilities", "joins_topics")


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


def test_flat_models_show_all_topics_in_order_and_a_tree_its_largest(name, model):
    shown = model.shown_topics(2, most=2)
    if name != "BackoffTreeTopics":
        np.testing.assert_array_equal(shown.numbers, np.arange(model.n_topics_))
        np.testing.assert_array_equal(shown.weights, model.topic_weights_)
        np.testing.assert_array_equal(shown.shares, model.topic_shares_)
        assert [[word for word, _ in words] for words in shown.words] == model.top_words(2)
    else:
        assert len(shown.numbers) == 2 < model.n_topics_
        assert shown.shares.tolist() == shown.weights.tolist() == sorted(model.topic_weights_, reverse=True)[:2]
        assert shown.words == [model.tree_.leaf(leaf).words(2) for leaf in shown.numbers.tolist()]
        assert shown.words == [model.node_of(leaf).words(2) for leaf in shown.numbers.tolist()]


def test_shares_of_tokens_sum_to_one_and_are_saved(model, tmp_path):
    assert model.topic_shares_.shape == (model.n_topics_,)
    assert model.topic_shares_.sum() == pytest.approx(1.0)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(stickbreak.load(tmp_path / "model").topic_shares_, model.topic_shares_)


def test_share_of_tokens_is_that_of_the_expected_counts(name, model):
    if name == "BackoffTreeTopics":
        counts = model.leaf_tokens_
    elif name in ("NestedCRP", "NestedHDP"):
        counts = model.topic_tokens_
    else:
        counts = (model.components_ - model.eta_).sum(axis=1)
    np.testing.assert_allclose(model.topic_shares_, counts / counts.sum(), atol=1e-12)
    if name != "GibbsHDP":  # its mean over samples leaves out what the samples do not share
        assert counts.sum() == pytest.approx(data_of(name).n_tokens, rel=0.02)


def test_topics_without_tokens_have_equal_shares():
    np.testing.assert_array_equal(shares_of(np.zeros(4)), np.full(4, 0.25))


def test_top_word_indices_are_those_of_the_table(model):
    np.testing.assert_array_equal(model.top_word_indices(7), top_word_indices(model.topic_word_, 7))
    assert model.top_word_indices(1000).shape == (model.n_topics_, 25)


def test_complete_is_the_document_completion_and_the_score(name, model):
    halves = data_of(name).halves(seed=0)
    found = model.complete(*halves)
    assert found == document_completion(model, *halves)
    assert found.active == model.score(data_of(name))
    seen = np.arange(25) % 3 > 0
    fewer = model.complete(*halves, seen=seen)
    assert fewer.n_tokens == halves[1][halves[0].document_lengths > 0].counts.toarray()[:, seen].sum() < found.n_tokens


def test_complete_takes_tables_and_refuses_halves_of_others(name, model):
    observed, held_out = data_of(name).halves(seed=0)
    assert model.complete(observed.counts, held_out.counts.toarray()) == model.complete(observed, held_out)
    with pytest.raises(InputError, match="give the two halves of the same documents"):
        model.complete(observed, held_out[:-1])
    with pytest.raises(InvalidCorpus, match="24"):
        model.complete(observed.counts[:, 1:], held_out.counts[:, 1:])


def test_columns_of_transform_have_names(name, model):
    found = model.transform(data_of(name))
    assert found.shape[1] == model.n_columns_ == len(model.get_feature_names_out())
    assert model.transform(data_of(name)[:0]).shape == (0, model.n_columns_)


@pytest.mark.parametrize("wrong", [[0.5], ["a"], [[0]], [-1], [10_000]])
def test_word_distributions_of_no_topic_are_refused(model, wrong):
    with pytest.raises(InputError):
        model.word_distributions(wrong)


@pytest.mark.parametrize("n", [0, -1, 2.5, "3"])
def test_numbers_that_are_none_are_refused(model, n):
    for ask in (model.top_word_indices, model.shown_topics, lambda most: model.shown_topics(most=most)):
        with pytest.raises(InputError, match="give a whole number of at least 1"):
            ask(n)


@pytest.mark.parametrize("ask", ["top_word_indices", "shown_topics"])
def test_model_that_is_not_fitted_says_so(name, ask):
    with pytest.raises(NotFittedError):
        getattr(unfitted(name), ask)()
    with pytest.raises(NotFittedError):
        unfitted(name).complete(*data_of(name).halves(seed=0))


def test_every_model_says_whether_its_topics_form_a_tree():
    assert [name for name in SMALL if fitted(name).tree_ is not None] == list(TREES)


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


def test_nobody_asks_a_model_what_it_is():
    root = Path(stickbreak.__file__).parent
    asked = []
    for file in (path for room in ROOMS for path in (root / room).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) > 1):
                continue
            of_a_model = isinstance(node.args[0], ast.Name) and node.args[0].id in ("model", "fitted", "topics")
            by_name = node.func.id in ("getattr", "hasattr") and isinstance(node.args[1], ast.Constant)
            by_name = by_name and node.args[1].value not in METHODS_OF_SOME
            if of_a_model and (by_name or node.func.id == "isinstance"):
                asked.append((file.name, ast.unparse(node)))
    assert asked == [("topics.py", f"isinstance(model, {FlatTopics.__name__})")]
