"""Documents under a fixed tree: the weights of its nodes, and the probability of the next token."""

import numpy as np
import pytest

from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import Engine, threads_and_workers
from stickbreak.prediction.left_to_right import score_sequences
from stickbreak_baselines.nested_hdp.documents import Grown, TreeRule, weights_of
from stickbreak_baselines.nested_hdp.sticks import expected_log_weights, expected_weights, objective_of_sticks
from stickbreak_baselines.nested_hdp.tree import Tree

from . import reference

PRIORS = (0.7, 0.4, 1.3)  # alpha, m, pi
# children: 0, 1 of the root; 2, 3 of node 0; 4 of node 1; 5 of node 2
TREE = Tree.of(np.array([-1, -1, 0, 0, 1, 2]), np.array([1, 1, 2, 2, 2, 3]), 3)


@pytest.fixture
def grown(seed):
    """A tree that shows not all children of its nodes."""
    g = expected_weights(TREE, np.random.default_rng(seed).gamma(2.0, 3.0, 6), 1.5)
    g *= np.array([0.9, 0.9, 1.0, 1.0, 0.5, 0.8])
    return Grown(TREE, g, np.log(g), *PRIORS)


@pytest.fixture
def topics(seed):
    drawn = np.random.default_rng(seed).dirichlet(np.full(8, 0.4), size=6) + 1e-3
    return np.vstack([drawn / drawn.sum(axis=1, keepdims=True), np.full(8, 1 / 8)])


def test_weights_of_the_corpus_are_those_of_the_sticks(seed):
    rng = np.random.default_rng(seed)
    tree, gamma = Tree.truncated((3, 2)), 1.5
    picks = rng.gamma(2.0, 3.0, tree.n_nodes)
    g, log_g = expected_weights(tree, picks, gamma), expected_log_weights(tree, picks, gamma)
    for p in range(-1, 3):
        children = range(tree.start[p + 1], tree.start[p + 2])
        assert sum(g[k] for k in children) == pytest.approx(1.0)
        draws, left = np.ones((200_000, len(children))), 1.0
        for i, k in enumerate(children):
            a, b = 1 + picks[k], gamma + sum(picks[j] for j in children if j > k)
            v = rng.beta(a, b, 200_000) if k != children[-1] else 1.0
            draws[:, i], left = left * v, left * (1 - v)
        np.testing.assert_allclose(draws.mean(axis=0), g[list(children)], rtol=0.02)
        np.testing.assert_allclose(np.log(draws).mean(axis=0), log_g[list(children)], atol=0.03)
    expected = -sum(
        reference.kl(1 + picks[k], gamma + sum(picks[j] for j in range(k + 1, end)), 1.0, gamma)
        for first, end in ((0, 3), (3, 5), (5, 7), (7, 9))
        for k in range(first, end - 1)
    )
    assert objective_of_sticks(tree, picks, gamma) == pytest.approx(expected, rel=1e-12)


def test_weights_of_documents_are_those_of_the_slow_twin_for_any_number_of_threads(grown, topics, seed, monkeypatch):
    monkeypatch.setattr("stickbreak_baselines.nested_hdp.documents._SHARD_COUNTS", 4)
    rng = np.random.default_rng(seed)
    counts = np.array([rng.multinomial(n, rng.dirichlet(np.full(8, 0.3))) for n in (12, 30, 1, 7, 0)])
    elog, found = np.log(topics[:-1]), []
    for threads in (1, 3):
        with Engine(threads) as engine:
            found.append(weights_of(Corpus.from_counts(counts), elog, grown, 4, engine))
    np.testing.assert_array_equal(*found)
    np.testing.assert_allclose(found[0].sum(axis=1), 1.0)
    for row, count in zip(found[0], counts.astype(float), strict=True):
        slots, tokens = [], np.zeros(0)
        if count.sum():
            slots = reference.select(TREE, count, elog.T, grown.log_g, *PRIORS, most=4)
            start = np.zeros(len(slots))
            _, tokens, _ = reference.ascend(TREE, slots, start, count, elog.T, grown.log_g, *PRIORS, n_sweeps=200)
        np.testing.assert_allclose(row, reference.weights(TREE, slots, tokens, grown.g, *PRIORS), atol=1e-3)
    prior = reference.weights(TREE, [], np.zeros(0), grown.g, *PRIORS)
    np.testing.assert_allclose(found[0][-1], prior, rtol=1e-12)
    assert 0.02 < prior[-1] < 0.5


@pytest.mark.parametrize("resample", [False, True])
def test_left_to_right_is_the_exact_probability_where_that_can_be_enumerated(grown, topics, resample):
    words = [[1], [0, 3], [2, 2, 5]]
    counts = np.array([np.bincount(row, minlength=8) for row in words])
    with threads_and_workers(None) as engine:
        found = score_sequences(TreeRule(topics, grown), Corpus.from_counts(counts), 20_000, resample, 0, engine)
    lacking = [1 - grown.g[:2].sum(), 0.0, 1 - grown.g[4], 1 - grown.g[5]]  # below the root, 0, 1, 2
    parent = np.append(TREE.parent, [-1, 1, 2, 3, 4])
    inner = np.append(TREE.inner, [False] * 5)
    g = np.append(grown.g, [lacking[0], lacking[2], lacking[3], 1.0, 1.0])
    full = _AnyTree(parent, inner)
    with_rest = np.vstack([topics[:-1], np.tile(topics[-1], (5, 1))])
    for d, row in enumerate(words):
        exact = reference.exact_document(full, row, with_rest, g, *PRIORS)
        assert found.unbiased_log_p[d] == pytest.approx(exact, abs=1e-12 if len(row) == 1 else 0.02)


class _AnyTree:
    def __init__(self, parent, inner):
        self.parent, self.inner, self.n_nodes = parent, inner, parent.size
