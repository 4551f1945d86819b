"""Trees of any shape: the same numbers as a regular tree where the paths form one, names, and what is refused."""

from itertools import product

import numpy as np
import pytest

from stickbreak import BackoffTreeTopics
from stickbreak.backoff_tree.discounts import LeafEntries, word_likelihood
from stickbreak.backoff_tree.shape import taxonomy_of
from stickbreak.corpus import planted_lda
from stickbreak.exceptions import InputError

from .fits import learned
from .problems import counters, random_delta, small_corpus, tokens_of
from .test_exact_conditional import Dense

PATHS = ["science/physics/optics", "science/physics/sound", "arts", "science/biology", "sport/ball/foot", "sport/run"]
ORDERED = ("science/physics/optics", "science/physics/sound", "science/biology", "arts", "sport/ball/foot", "sport/run")


def as_paths(branching):
    return ["/".join(way) for way in product(*[[f"n{i}" for i in range(k)] for k in branching])]


@pytest.fixture(scope="module")
def corpus():
    return planted_lda(60, 40, n_topics=6, mean_tokens=50, seed=3)[0]


@pytest.fixture(scope="module")
def fitted(corpus):
    return BackoffTreeTopics(branching=PATHS, n_laps=12, random_state=0).fit(corpus)


def same_fits(left, right):
    one, other = learned(left), learned(right)
    for name in one.keys() - {"branching_", "eta_likelihood"}:  # sums of P* over leaves are taken in another order
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)
    np.testing.assert_allclose(one["eta_likelihood"], other["eta_likelihood"], rtol=1e-12)


@pytest.mark.parametrize("settings", [{}, {"updates": "serial"}, {"alpha": (0.1, 0.2, 0.3), "learn": ("eta",)}])
def test_paths_of_a_regular_tree_give_its_numbers(corpus, settings):
    settings = {"n_laps": 4, "learn_every": 2, "random_state": 0, **settings}
    regular = BackoffTreeTopics(branching=(3, 2, 4), **settings).fit(corpus)
    paths = BackoffTreeTopics(branching=as_paths((3, 2, 4)), **settings).fit(corpus)
    same_fits(regular, paths)
    assert (regular.transform(corpus) != paths.transform(corpus)).nnz == 0
    np.testing.assert_allclose(regular.topic_word_, paths.topic_word_, rtol=1e-12)
    np.testing.assert_array_equal(regular.top_word_indices(7), paths.top_word_indices(7))
    halves = corpus.halves(seed=1)
    assert regular.complete(*halves) == paths.complete(*halves)
    one, other = regular.left_to_right(corpus[:5]), paths.left_to_right(corpus[:5])
    np.testing.assert_allclose(one.unbiased, other.unbiased, rtol=1e-12)
    assert [node.place for node in regular.tree_.walk()] == [node.place for node in paths.tree_.walk()]
    assert [node.path for node in regular.tree_.walk()] == [node.path for node in paths.tree_.walk()]
    assert regular.tree_.n_nodes == paths.tree_.n_nodes


@pytest.mark.parametrize("shape", [PATHS, ["a", "b/1", "b/2/x", "b/2/y", "b/2/z"]])
def test_discounts_of_words_have_the_likelihood_of_the_definition(shape, seed):
    rng, shape = np.random.default_rng(seed), taxonomy_of(shape)
    tokens, _ = tokens_of(small_corpus(rng))
    z = rng.integers(shape.n_leaves, size=tokens.word.size, dtype=np.int32)
    delta, prob = random_delta(rng, shape.depth), rng.uniform(0.5, 2.0, size=shape.n_leaves)
    tree, total = Dense(shape.branching, delta), 0.0
    for n in counters(tokens, z):
        for leaf, count in n.items():
            rest = np.bincount([leaf], minlength=shape.n_leaves) * -1
            for other, times in n.items():
                rest[other] += times
            mass = tree.kept(rest) + tree.smoothing(rest) * prob if rest.any() else prob
            total += count * np.log(mass[leaf] / mass.sum())
    found = word_likelihood(LeafEntries.of(tokens.word.astype(np.int64), z, shape), prob, shape)(delta)
    assert found * tokens.word.size == pytest.approx(total, rel=1e-10)


def test_nodes_have_names_and_levels(fitted):
    root = fitted.tree_
    assert (root.name, root.depth, root.branching, root.is_leaf) == (None, 3, (), False)
    full = {
        "/".join(n.name for n in (leaf.ancestor(h) for h in range(1, leaf.level + 1))): leaf for leaf in root.walk()
    }
    leaves = {path: node for path, node in full.items() if node.is_leaf}
    assert list(leaves) == [ORDERED[z] for z in fitted.leaves_]
    assert [node.topic for node in leaves.values()] == fitted.leaves_.tolist()
    for path, node in leaves.items():
        assert (node.level, node.depth, node.children, node.n_nodes) == (path.count("/") + 1, 0, (), 1)
        assert root.descend(node.path) == node == fitted.node_of(node.topic)
        assert node.parent in [*full.values(), root]
    assert root.n_nodes == len(list(root.walk()))
    assert sum(child.n_tokens for child in root.children) == root.n_tokens
    with pytest.raises(InputError, match="parent is a leaf"):
        root.descend((1, 0))


def test_planted_groups_are_found_below_one_node():
    """Words of two themes never meet in a document: their leaves are below different nodes, if these are smoothed."""
    rng = np.random.default_rng(0)
    counts = np.zeros((120, 40), int)
    for d in range(120):
        theme, topic = d % 2, rng.integers(3)
        words = 20 * theme + np.r_[rng.integers(20, size=15), 6 * topic + rng.integers(6, size=25)]
        np.add.at(counts[d], words, 1)
    paths = ["left/1", "left/2", "left/3", "right/a/1", "right/a/2", "right/b"]
    model = BackoffTreeTopics(branching=paths, stages=(1,), stage_sweeps=80, n_laps=100, random_state=1).fit(counts)
    shares = np.array([node.word_distribution()[:20].sum() for node in model.tree_.children])
    assert np.abs(shares - 0.5).min() > 0.25


def test_tokens_go_below_the_leaf_where_they_were():
    whole, rng = taxonomy_of(PATHS), np.random.default_rng(0)
    for level in (1, 2):
        before, after = whole.cut(level), whole.cut(level + 1)
        z = rng.integers(before.n_leaves, size=5000, dtype=np.int32)
        new = after.scattered(before.branching, z, rng)
        assert (after.node_of(new, level) == z).all()
        assert np.unique(new).size == after.n_leaves
    before, after = whole, whole.expanded(3)
    z = np.arange(6, dtype=np.int32).repeat(50)
    assert (after.scattered(before.branching, z, rng) // 3 == z).all()
