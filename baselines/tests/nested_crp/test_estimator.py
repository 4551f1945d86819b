"""`NestedCRP`: a planted tree, fits that go on, the tree as nodes and in reports, what it refuses."""

import numpy as np
import pytest

import stickbreak
from stickbreak.corpus import planted_lda
from stickbreak_baselines import NestedCRP


@pytest.fixture(scope="module")
def small():
    return planted_lda(50, 30, n_topics=4, mean_tokens=30, seed=0)[0]


def planted():
    """Return documents of a tree: a root, two children, three leaves below each; each node has five words."""
    rng, counts, leaf = np.random.default_rng(0), np.zeros((300, 45), int), np.arange(300) % 6
    for d in range(300):
        words = np.array([0, 1 + leaf[d] // 3, 3 + leaf[d]])
        level = rng.choice(3, p=rng.dirichlet([4.0, 6.0, 3.0]), size=30)
        np.add.at(counts[d], 5 * words[level] + rng.integers(5, size=30), 1)
    return counts, leaf


def test_planted_tree_is_found():
    """Chains may end with a leaf above its parent in a branch of its own; this one does not."""
    counts, leaf = planted()
    model = NestedCRP(level_scale=5.0, eta=(1.0, 0.5, 0.3), gamma=0.5, n_laps=80, random_state=0).fit(counts)
    of_node = model.topic_word_.reshape(model.n_topics_, 9, 5).sum(axis=2)  # share of the words of each planted node
    root = model.tree_
    assert of_node[0, 0] > 0.95
    large = root.children[:2]
    assert sum(node.share for node in large) > 0.6
    assert sorted(of_node[node.topic].argmax() for node in large) == [1, 2]
    for node in large:
        group = of_node[node.topic].argmax()
        assert of_node[node.topic].max() > 0.9
        ours = {int(group), *range(3 * int(group), 3 * int(group) + 3)}
        assert {int(of_node[child.topic].argmax()) for child in node.children if child.share > 0.02} <= ours
    first = [node.topic for node in large]
    weights = model.transform(counts)[:, first]
    sure = weights.max(axis=1) > 0.2
    assert sure.mean() > 0.5
    found = of_node[np.array(first)[weights[sure].argmax(axis=1)]].argmax(axis=1)
    assert (found == 1 + leaf[sure] // 3).mean() > 0.98


def test_nodes_documents_and_tokens_belong_together(small):
    model = NestedCRP(n_levels=4, eta=(1.0, 0.5, 0.2, 0.1), n_laps=10, random_state=0).fit(small)
    parents, levels, n = model.topic_parents_, model.topic_levels_, model.topic_documents_
    assert n[0] == small.n_documents
    for j in range(1, model.n_topics_):
        assert levels[j] == levels[parents[j]] + 1
    inner = levels < 3
    np.testing.assert_array_equal(np.bincount(parents[1:], n[1:], n.size)[inner], n[inner])
    assert model.topic_tokens_.sum() == small.n_tokens
    assert model.eta_levels_.tolist() == [1.0, 0.5, 0.2, 0.1]
    np.testing.assert_allclose(model.components_.sum(axis=1) - model.topic_tokens_, 30 * model.eta_levels_[levels])
    assert 0 < model.topic_weights_.sum() < 1
    empty = model.expected_weights(np.zeros((1, 30), int))[0]
    np.testing.assert_allclose(empty[:-1], model.topic_weights_, rtol=1e-9)
    root = model.tree_
    assert [node.topic for node in root.walk(1)] == [0, *np.flatnonzero(parents == 0)]
    assert root.n_nodes == model.n_topics_
    assert root.depth == 3
    assert all(node.parent.topic == parents[node.topic] for node in root.walk() if node.level)


def test_eta_of_each_word_is_that_of_nodes_scores_and_saved_models(small, tmp_path):
    eta = np.random.default_rng(0).uniform(0.02, 0.4, 30)
    model = NestedCRP(eta=eta, n_laps=10, random_state=0).fit(small)
    counts = model.components_ - eta
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-9)
    np.testing.assert_allclose(counts.sum(axis=1), model.topic_tokens_, atol=1e-9)
    assert model.topic_tokens_.sum() == small.n_tokens
    np.testing.assert_allclose(model.eta_levels_[0] * model.eta_words_, eta, rtol=1e-12)
    np.testing.assert_allclose(model.rest_word_, eta / eta.sum(), rtol=1e-12)
    model.save(tmp_path / "m")
    loaded = stickbreak.load(tmp_path / "m")
    assert loaded.score(small) == model.score(small)
    np.testing.assert_array_equal(loaded.left_to_right(small[:3], n_particles=5).unbiased_log_p,
                                  model.left_to_right(small[:3], n_particles=5).unbiased_log_p)  # fmt: skip
    again = NestedCRP(eta=list(eta), n_laps=12, random_state=0).fit(small)
    np.testing.assert_array_equal(loaded.continue_fit(small, n_laps=2).components_, again.components_)
    seeded = NestedCRP(eta=eta, seeds={"one": small.words[:2]}, n_laps=5, random_state=0).fit(small)
    assert seeded.topic_tokens_.sum() == small.n_tokens
