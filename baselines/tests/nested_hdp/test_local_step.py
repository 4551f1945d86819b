"""The local step of the nested HDP beside its slow twin, and the bound beside the exact evidence."""

import numpy as np
import pytest

from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import Engine
from stickbreak_baselines.minibatch import Minibatch
from stickbreak_baselines.nested_hdp.kernels.documents import visit
from stickbreak_baselines.nested_hdp.local_step import Globals, LocalSettings, local_step
from stickbreak_baselines.nested_hdp.state import Subtrees, TreeState
from stickbreak_baselines.nested_hdp.steps import Rules, Steps
from stickbreak_baselines.nested_hdp.sticks import expected_weights
from stickbreak_baselines.nested_hdp.tree import Tree

from . import reference

TREE = Tree.truncated((3, 2, 2))
PRIORS = (0.7, 0.4, 1.3)  # alpha, m, pi
SERIAL = Engine(1)


@pytest.fixture
def globals_(seed):
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(12, 0.3), size=TREE.n_nodes) + 1e-4
    g = expected_weights(TREE, rng.gamma(2.0, 3.0, TREE.n_nodes), 1.5)
    return np.log(topics).T.copy(), np.log(g)


def draw(seed, n=1, mean=30):
    rng = np.random.default_rng(seed)
    counts = np.array([rng.multinomial(rng.poisson(mean) + 1, rng.dirichlet(np.full(12, 0.2))) for _ in range(n)])
    return Minibatch.from_corpus(Corpus.from_counts(counts)), counts


def run(documents, elog, log_g, subtrees, *, sweeps=50, fresh=True, tolerance=0.0, priors=PRIORS):
    share, value = np.zeros((documents.count.size, subtrees.node.shape[1])), np.empty(documents.n_documents)
    visit(
        documents.indptr, documents.word, documents.count, elog[documents.words], log_g, TREE.start, TREE.inner,
        *priors, tolerance, sweeps, fresh, subtrees.node, subtrees.up, subtrees.n_slots, subtrees.tokens, share, value,
        np.empty(documents.n_documents, np.int64),
    )  # fmt: skip
    return share, value


@pytest.mark.parametrize("case", range(12))
def test_local_step_is_that_of_the_slow_twin(case, globals_):
    elog, log_g = globals_
    documents, counts = draw(case)
    found = Subtrees.none(1, 9)
    share, value = run(documents, elog, log_g, found, sweeps=4, tolerance=-np.inf)
    E, count = elog[documents.words], counts[0][documents.words].astype(float)
    slots = reference.select(TREE, count, E, log_g, *PRIORS, most=9)
    n = found.n_slots[0]
    assert found.node[0, :n].tolist() == slots
    assert [slots[u] if u >= 0 else -1 for u in found.up[0, :n]] == TREE.parent[slots].tolist()
    zeta, tokens, bounds = reference.ascend(TREE, slots, np.zeros(n), count, E, log_g, *PRIORS, n_sweeps=4)
    np.testing.assert_allclose(share[:, :n], zeta, atol=1e-12)
    np.testing.assert_allclose(found.tokens[0, :n], tokens, atol=1e-10)
    assert value[0] == pytest.approx(bounds[-1], rel=1e-12)


def test_bound_of_a_document_never_falls_from_sweep_to_sweep_and_begins_at_that_of_the_selection(globals_):
    elog, log_g = globals_
    documents, counts = draw(3, n=10)
    values = []
    for sweeps in range(1, 15):
        values.append(run(documents, elog, log_g, Subtrees.none(10, 9), sweeps=sweeps, tolerance=-np.inf)[1])
    assert (np.diff(values, axis=0) >= -1e-9).all()
    assert (values[-1] > values[0] + 1e-3).any()
    found = Subtrees.none(10, 9)
    run(documents, elog, log_g, found)
    for d in range(10):
        slots = found.node[d, : found.n_slots[d]].tolist()
        q = reference.parameters(TREE, slots, np.zeros(len(slots)), *PRIORS)
        count, E = counts[d].astype(float), elog
        zeta = reference.best_shares(TREE, slots, q, E)
        assert reference.bound(TREE, slots, q, zeta, count, E, log_g, *PRIORS) <= values[0][d] + 1e-9


def test_sums_are_those_of_the_documents_for_any_number_of_threads(globals_, monkeypatch):
    monkeypatch.setattr("stickbreak_baselines.minibatch.SHARD_COUNTS", 20)
    elog, log_g = globals_
    documents, _ = draw(7, n=20)
    assert len(documents.shards()) > 3
    seen = Globals(TREE, elog[documents.words], log_g)
    settings, results = LocalSettings(*PRIORS, 1e-6, 50), []
    for threads in (1, 3):
        with Engine(threads) as engine:
            results.append(local_step(documents, seen, settings, Subtrees.none(20, 9), engine))
    one, three = results
    for name in ("S", "picks", "own", "sweeps"):
        np.testing.assert_array_equal(getattr(one, name), getattr(three, name))
    found = Subtrees.none(20, 9)
    share, value = run(documents, elog, log_g, found, tolerance=1e-6)
    S, picks = np.zeros(one.S.shape), np.zeros(TREE.n_nodes)
    for d in range(20):
        for t in range(found.n_slots[d]):
            picks[found.node[d, t]] += 1
            for i in range(documents.indptr[d], documents.indptr[d + 1]):
                S[documents.word[i], found.node[d, t]] += documents.count[i] * share[i, t]
    np.testing.assert_allclose(one.S, S, rtol=1e-12)
    np.testing.assert_array_equal(one.picks, picks)
    assert one.own == pytest.approx(value.sum() - (S * elog[documents.words]).sum() - picks @ log_g, rel=1e-12)


@pytest.mark.parametrize("words", [[0], [0, 1], [2, 2, 1], [0, 1, 2, 2]])
def test_bound_of_a_document_is_below_its_exact_log_probability(words, seed):
    tree = Tree.truncated((2, 2))
    rng = np.random.default_rng(seed)
    topics, g = rng.dirichlet(np.full(3, 0.5), size=6) + 1e-3, expected_weights(tree, rng.gamma(2.0, 3.0, 6), 1.5)
    documents = Minibatch.from_corpus(Corpus.from_counts(np.bincount(words, minlength=3)[None]))
    value = np.empty(1)
    visit(
        documents.indptr, documents.word, documents.count, np.log(topics).T[documents.words].copy(), np.log(g),
        tree.start, tree.inner, *PRIORS, 0.0, 200, True, *vars_of(Subtrees.none(1, 6)), np.empty((3, 6)), value,
        np.empty(1, np.int64),
    )  # fmt: skip
    exact = reference.exact_document(tree, words, topics, g, *PRIORS)
    assert value[0] < exact < value[0] + 2.0 * len(words)


def vars_of(subtrees):
    return subtrees.node, subtrees.up, subtrees.n_slots, subtrees.tokens


@pytest.mark.parametrize("gamma", [0.5, 3.0])
def test_whole_bound_is_below_the_exact_log_evidence_and_never_falls(gamma):
    tree, eta = Tree.truncated((2, 1)), 0.4
    words = [[0, 0, 1], [2, 1]]
    corpus = Corpus.from_counts(np.array([np.bincount(row, minlength=3) for row in words]))
    exact = reference.exact_collection(tree, words, 3, gamma, *PRIORS, eta)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        rules = Rules(tree, LocalSettings(*PRIORS, 0.0, 100), gamma, eta, 4, 0.6, 1.0, 0)
        steps, state = Steps(rules, SERIAL), TreeState.of(rng.gamma(1.0, 1.0, (3, 4)), np.ones(4))
        subtrees, before = Subtrees.none(2, 4), -np.inf
        for _ in range(12):
            objective = 5.0 * steps.whole(state, corpus, subtrees).objective
            assert before - 1e-9 <= objective < exact
            before = objective
        assert exact < before + 8.0


def test_shares_are_right_where_their_products_underflow(globals_):
    elog, log_g = globals_
    documents, counts = draw(2)
    priors = (1e-3, *PRIORS[1:])  # a second child has the log weight -1000
    far = elog - 2500.0
    branch = [k for k in range(TREE.n_nodes) if 0 in reference.way_to(TREE, k)]
    far[:, branch] = elog[:, branch] - np.where(np.arange(12) % 3, 0.0, 4000.0)[:, None]
    found = Subtrees.none(1, 9)
    share, value = run(documents, far, log_g, found, sweeps=1, tolerance=-np.inf, priors=priors)
    slots, E = found.node[0, : found.n_slots[0]].tolist(), far[documents.words]
    count, start = counts[0][documents.words].astype(float), np.zeros(len(slots))
    q = reference.parameters(TREE, slots, start, *priors)
    weight = reference.log_weights(TREE, slots, q)
    terms = np.exp(E[:, slots] - E[:, slots].max(axis=1, keepdims=True)) * np.exp(weight - weight.max())
    assert (terms.sum(axis=1) == 0.0).any()
    zeta, _, bounds = reference.ascend(TREE, slots, start, count, E, log_g, *priors, n_sweeps=1)
    np.testing.assert_allclose(share[:, : len(slots)], zeta, atol=1e-12)
    assert value[0] == pytest.approx(bounds[-1], rel=1e-12)
