"""Topics of two models: a permutation is found, and so are splits and joins that were made by hand."""

from dataclasses import replace

import numpy as np
import pytest

import stickbreak
from stickbreak.comparison import align
from stickbreak.comparison.align import _described
from stickbreak.exceptions import InputError
from stickbreak.questions.labels import LabelledTopics

CORPUS, _ = stickbreak.corpus.toy_bars(n_documents=150, seed=0)


class Permuted:
    """A fitted model with its topics in another order."""

    def __init__(self, model, order):
        self.model, self.order = model, order
        self.vocabulary_, self.n_columns_ = model.vocabulary_, model.n_columns_
        self.topic_word_ = model.topic_word_[order]

    def labelled_topics(self):
        labels = self.model.labelled_topics().labels
        return LabelledTopics(np.arange(self.order.size), tuple(labels[k] for k in self.order))

    def word_distributions(self, topics):
        return self.topic_word_[topics]

    def shown_topics(self, n_words, most):
        shown = self.model.shown_topics(n_words, most=most)
        return replace(shown, shares=shown.shares[self.order])

    def _bare_documents(self, corpus):
        return self.model._bare_documents(corpus)

    def active_weights(self, X):
        return np.asarray(self.model.active_weights(X))[:, self.order]


@pytest.fixture(scope="module")
def model():
    return stickbreak.TopicModel(n_topics=12, n_laps=40, random_state=0).fit(CORPUS)


@pytest.fixture(scope="module")
def permuted(model):
    return Permuted(model, np.random.default_rng(0).permutation(model.n_topics_))


@pytest.mark.parametrize("X", [None, CORPUS], ids=["words", "tokens"])
def test_a_permuted_model_is_aligned_by_the_permutation(model, permuted, X):
    found = align(permuted, model, X)
    assert found.table["topic_b"].tolist() == permuted.order.tolist()
    assert found.table["label_a"].tolist() == found.table["label_b"].tolist()
    assert set(found.table["what"]) == {"same"}
    assert found.table["similarity"].to_numpy() == pytest.approx(1)
    assert found.table["share_a"].sum() == pytest.approx(1)
    assert found.agreement == pytest.approx(1)


def test_topics_that_were_joined_by_hand_are_found_from_both_sides(model):
    model.find_path(CORPUS)
    small = model.reduced(model.n_topics_ - 1)
    there, back = align(model, small, CORPUS).table, align(small, model, CORPUS).table
    joined = there[there["what"] == "joined"]
    assert len(joined) == 2
    assert set(joined["parts"]) == {tuple(joined["topic_a"])}
    split = back[back["what"] == "split"]
    assert set(split["parts"]) == {tuple(joined["topic_a"])}
    assert set(split["topic_b"]) == set(joined["topic_a"])
    assert (there["what"] == "same").sum() == small.n_topics_ - 1 == (back["what"] == "same").sum()


def what_of(shared, match):
    shared = np.array(shared, float)
    sizes = shared.sum(axis=1), shared.sum(axis=0)
    numbers = 10 + np.arange(shared.shape[0]), 20 + np.arange(shared.shape[1])
    return [(k, j, what, parts) for k, j, _, what, parts in _described(shared, sizes, numbers, match)]


def test_topics_without_a_partner_are_gone_or_new():
    shared = [[60, 0, 0, 0], [0, 60, 0, 0], [0, 0, 60, 0], [4, 4, 4, 0]]
    assert what_of(shared, {0: 0, 1: 1, 2: 2})[3] == (3, -1, "gone", (20,))
    assert what_of(np.transpose(shared), {0: 0, 1: 1, 2: 2})[-1] == (-1, 3, "new", (10,))
    assert what_of([[60, 0], [0, 0]], {0: 0})[1:] == [(1, -1, "gone", ()), (-1, 1, "new", ())]  # nothing is near


def test_models_of_other_words_share_what_both_know(model, permuted):
    half = Permuted(model, permuted.order)
    keep = np.arange(CORPUS.n_words)[::-2]
    half.vocabulary_, half.topic_word_ = tuple(model.vocabulary_[w] for w in keep), permuted.topic_word_[:, keep]
    found = align(half, model)
    assert found.table["topic_b"].tolist() == permuted.order.tolist()
    assert found.agreement == pytest.approx(1)
    other = stickbreak.TopicModel(n_laps=2).fit(["quite other words here", "other words there"] * 5)
    with pytest.raises(InputError, match="no word in common"):
        align(model, other)


@pytest.mark.parametrize("branching", [(3, 3), (4, 50)], ids=["every leaf", "the largest leaves"])
def test_a_tree_beside_a_table(model, branching):
    tree = stickbreak.BackoffTreeTopics(branching=branching, n_laps=3, random_state=0).fit(CORPUS)
    found = align(tree, model, CORPUS)
    assert 0 < found.agreement <= 1
    shown = tree.labelled_topics().numbers
    assert set(found.table.loc[found.table["topic_a"] >= 0, "topic_a"]) == set(shown.tolist())
    assert (shown.size < tree.n_topics_) == (branching == (4, 50))
