"""Seeds, and eta by word or by topic, in the nested HDP: the bound of its prior, and nodes that keep their numbers."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import Engine
from stickbreak_baselines.minibatch import Minibatch
from stickbreak_baselines.nested_hdp.local_step import LocalSettings
from stickbreak_baselines.nested_hdp.state import Subtrees, TreeState
from stickbreak_baselines.nested_hdp.steps import Rules, Steps
from stickbreak_baselines.nested_hdp.tree import Tree

from . import reference

TREE = Tree.truncated((3, 2))
W, L = 12, 2


@pytest.fixture
def known(seed: int) -> Any:
    """Rules with an eta by word and pseudo-counts of two nodes, their table (W, K), and a state."""
    rng = np.random.default_rng(seed)
    b = rng.gamma(0.5, 6.0, (W, L)) * (rng.random((W, L)) < 0.6)
    eta = rng.gamma(1.0, 0.3, W) + 0.05
    local = LocalSettings(0.7, 0.4, 1.3, 0.0, 100)
    rules = Rules(TREE, local, 1.5, eta, 8, 0.6, 1.0, 0, sparse.csr_array(b))
    table = np.repeat(eta[:, None], TREE.n_nodes, axis=1)
    table[:, :L] += b
    S = rng.gamma(0.7, 9.0, (W, TREE.n_nodes))
    S[:, :L] += b
    return rules, table, TreeState.of(S, rng.gamma(2.0, 3.0, TREE.n_nodes), n_kept=L)


def drawn(seed: int) -> Corpus:
    return Corpus.from_counts(np.random.default_rng(seed).poisson(1.0, (9, W)) + (np.arange(W) == 0))


def test_a_step_on_all_documents_has_the_bound_of_the_prior_of_each_node(known: Any, seed: int) -> None:
    rules, table, state = known
    corpus, steps, subtrees = drawn(seed), Steps(rules, Engine(1)), Subtrees.none(9, 8)
    found = steps.visit(state.copy(), Minibatch.from_corpus(corpus), subtrees)
    lap = steps.whole(state, corpus, Subtrees.none(9, 8))
    wanted = np.zeros((W, TREE.n_nodes))
    wanted[np.unique(corpus.counts.indices)] = found.S
    bound = reference.whole_bound(TREE, wanted, found.picks, found.own, table, rules.gamma)
    assert lap.objective == pytest.approx(bound / float(corpus.n_tokens))
    np.testing.assert_allclose(state.S(), wanted + table - rules.eta[:, None])
    np.testing.assert_allclose(state.tokens, state.S().sum(axis=0))


def test_a_step_on_a_minibatch_aims_at_the_pseudo_counts_and_the_scaled_counts(known: Any, seed: int) -> None:
    rules, table, state = known
    minibatch, steps, before = Minibatch.from_corpus(drawn(seed)), Steps(rules, Engine(1)), state.copy()
    found = steps.visit(state, minibatch, Subtrees.none(9, 8))
    steps.once(state, minibatch, 36)
    size, aim = steps.size(1), table - rules.eta[:, None]
    aim[minibatch.words] += 4 * found.S
    np.testing.assert_allclose(state.S(), (1 - size) * before.S() + size * aim)
    np.testing.assert_allclose(state.tokens, state.S().sum(axis=0))
