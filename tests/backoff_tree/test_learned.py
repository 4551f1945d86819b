"""Trees whose shape is learned: the likelihood and its moves against slow twins, planted trees, and the whole fit."""

import numpy as np
import pytest
from benchmarks.trees.learned import DISCOUNTS, leaves_in_sequence, planted_tree, random_groups

import stickbreak
from stickbreak import BackoffTreeTopics
from stickbreak.backoff_tree.learned import groups_of_joins
from stickbreak.backoff_tree.moves import (
    LeafSequences,
    ShapeSearch,
    groups_of,
    moves_of,
    nodes_of,
    regraft,
    shape_of_groups,
)
from stickbreak.backoff_tree.shape import taxonomy_of
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.exceptions import InputError

from .fits import assert_same
from .problems import random_delta
from .test_exact_conditional import Dense

L, DEPTH = 9, 4


def group(*leaves):
    return frozenset(leaves)


def random_shape(rng):
    return frozenset(g for g in random_groups(rng, 0, L) if 1 < len(g) < L)


def random_sequences(rng, depth=DEPTH, n_groups=8, most=20):
    """Leaves of some documents, one of them empty, and of some words."""
    found = []
    for prior in (np.ones(L), rng.uniform(0.3, 2.0, size=L)):
        sizes = np.append(rng.integers(1, most, size=n_groups), 0)
        start = np.concatenate(([0], np.cumsum(sizes)))
        leaf = rng.choice(L, p=rng.dirichlet(np.full(L, 0.5)), size=start[-1]).astype(np.int32)
        found.append(LeafSequences.of(start, leaf, prior, random_delta(rng, depth), rng))
    return tuple(found)


def slow_log_likelihoods(sequence, groups):
    """The same by the definition (T17): dense masses of a tree of paths, token by token."""
    shape, to = shape_of_groups(groups, L)
    tree, out = Dense(shape.branching, sequence.delta.tolist()), []
    prior = np.empty(L)
    prior[to] = sequence.prior
    for a, b in zip(sequence.start[:-1], sequence.start[1:], strict=True):
        n, total = np.zeros(L), 0.0
        for i, z in enumerate(to[sequence.leaf[a:b]]):
            if i:
                mass = tree.kept(n) + tree.smoothing(n) * prior
                total += np.log(mass[z] / mass.sum())
            n[z] += 1
        out.append(total)
    return np.array(out)


def everything(sequence):
    return np.arange(sequence.start.size - 1)


def test_leaves_in_sequence_have_the_likelihood_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    for _ in range(10):
        groups = random_shape(rng)
        for sequence in random_sequences(rng):
            found = sequence.log_likelihoods(groups, everything(sequence))
            np.testing.assert_allclose(found, slow_log_likelihoods(sequence, groups), rtol=1e-10, atol=1e-12)
            np.testing.assert_array_equal(sequence.log_likelihoods(groups, np.array([3, 1])), found[[3, 1]])


def test_what_a_move_adds_is_the_difference_of_the_whole(seed):
    rng, n_moves = np.random.default_rng(seed), 0
    for _ in range(5):
        search = ShapeSearch(random_shape(rng), random_sequences(rng))
        node = frozenset([int(rng.integers(L))]) if rng.random() < 0.5 else max(search.groups, key=min)
        whole = sum(slow_log_likelihoods(one, search.groups).sum() for one in search.sequences)
        assert search.objective == pytest.approx(whole - search.price * len(search.groups), rel=1e-10)
        for other in moves_of(search.groups, node, rng.random(L)):
            if len(max((way for way in ways(other)), key=len)) > DEPTH:
                assert search.gain(other) == -np.inf
                continue
            n_moves += 1
            after = sum(slow_log_likelihoods(one, other).sum() for one in search.sequences)
            price = search.price * (len(other) - len(search.groups))
            assert search.gain(other) == pytest.approx(after - whole - price, rel=1e-8, abs=1e-8)
    assert n_moves > 20


def ways(groups):
    return [path.split("/") for path in shape_of_groups(groups, L)[0].branching]


def test_moves_lead_to_trees_and_the_objective_never_falls(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    values = []
    take = ShapeSearch.take

    def noted(search, groups):
        take(search, groups)
        values.append(search.objective)

    monkeypatch.setattr(ShapeSearch, "take", noted)
    for _ in range(10):
        values.clear()
        search = ShapeSearch(random_shape(rng), random_sequences(rng))
        search.price = 0.0  # more moves
        values.clear()
        before = search.objective
        n_moves = search.move_nodes(rng)
        assert len(values) == n_moves
        assert (np.diff([before, *values]) > 0).all()
        assert all(a <= b or b <= a or not a & b for a in search.groups for b in search.groups)
        assert all(1 < len(g) < L for g in search.groups)


def test_the_moves_of_a_node():
    groups = frozenset([group(0, 1, 2, 3), group(2, 3), group(5, 6, 7)])
    assert regraft(groups, group(3), group(5, 6, 7)) >= {group(0, 1, 2), group(3, 5, 6, 7)}
    near = np.zeros(9)
    near[[6, 0]] = 2.0, 1.0
    found = set(moves_of(groups, group(2, 3), near))
    assert found == {
        groups - {group(2, 3)},  # cut
        frozenset([group(0, 1), group(2, 3), group(5, 6, 7)]),  # to the root
        frozenset([group(0, 1), group(2, 3), group(2, 3, 6), group(2, 3, 5, 6, 7)]),  # beside leaf 6
        frozenset([group(0, 1), group(2, 3), group(5, 6, 7), group(2, 3, 5, 6, 7)]),  # beside the node of leaf 6
        frozenset([group(0, 1), group(2, 3), group(2, 3, 5, 6, 7)]),  # below it
        frozenset([*groups, group(0, 2, 3)]),  # beside leaf 0
    }


def test_shapes_and_trees_of_paths_say_the_same(seed):
    rng = np.random.default_rng(seed)
    for _ in range(20):
        leaves = rng.permutation(L)
        groups = frozenset(frozenset(leaves[sorted(g)].tolist()) for g in random_shape(rng))
        shape, to = shape_of_groups(groups, L)
        assert groups_of(shape) == frozenset(frozenset(to[sorted(g)].tolist()) for g in groups)
        nodes = nodes_of(groups, L, shape.depth)
        for h in range(shape.depth):
            same = shape.nodes[h][to][:, None] == shape.nodes[h][to]
            np.testing.assert_array_equal(nodes[:, h, None] == nodes[:, h], same)
    assert groups_of(taxonomy_of(["a/b/1", "a/b/2", "a/c", "d"])) == {group(0, 1), group(0, 1, 2)}


def test_joins_are_cut_where_they_cost_little():
    linkage = np.array([[0, 1, 1.0, 2], [2, 5, 2.0, 3], [3, 4, 0.0, 2], [6, 7, 50.0, 5]])
    assert groups_of_joins(linkage) == {group(0, 1, 2), group(3, 4)}
    assert groups_of_joins(linkage, cheaper=2.0) == {group(0, 1, 2), group(0, 1), group(3, 4)}


def test_a_planted_shape_is_found_from_given_leaves():
    """From no inner node, and from wrong ones."""
    _, groups, _ = planted_tree(0, n_documents=1)
    rng = np.random.default_rng(0)
    counts = np.array(list(leaves_in_sequence(groups, rng, 1500, 80.0)))
    leaf = np.concatenate([np.repeat(np.arange(16, dtype=np.int32), n) for n in counts])
    start = np.concatenate(([0], np.cumsum(counts.sum(axis=1))))
    sequence = LeafSequences.of(start, leaf, np.ones(16), np.array(DISCOUNTS), rng)
    for begin in (frozenset(), frozenset([group(0, 5), group(0, 5, 9), group(3, 14), group(2, 8)])):
        search = ShapeSearch(begin, (sequence,))
        while search.move_nodes(rng):
            pass
        assert search.groups == groups
    lowest = next(g for g in sorted(groups, key=len) if len(g) > 2 and not any(other < g for other in groups))
    search.take(groups | {frozenset(sorted(lowest)[:2])})
    search.cut_nodes(rng)
    assert search.groups == groups


LEARNED = {"branching": "learned", "n_laps": 7, "learn_every": 2, "random_state": 0}


@pytest.fixture(scope="module")
def corpus():
    drawn, _ = planted_lda(150, 60, n_topics=8, mean_tokens=60, seed=0)
    return Corpus.from_counts(drawn.counts, vocabulary=[f"word{w}" for w in range(59)] + ["and/or"])


@pytest.fixture(scope="module")
def fitted(corpus):
    return BackoffTreeTopics(**LEARNED).fit(corpus)


def test_nodes_are_named_by_their_words(fitted):
    for node in fitted.tree_.walk():
        assert node.shown_name is None
        if node.level:
            shared = node.parent.top_words()
            words = [word for word in node.top_words() if word not in shared] or node.top_words()
            assert node.name.split(" (")[0] == ", ".join(words[:3]).replace("/", " ")
    assert len(set(fitted.branching_)) == fitted.n_leaves_ >= 2
    again = BackoffTreeTopics(branching=fitted.branching_)
    assert again.branching == fitted.branching_


def test_fits_that_go_on_are_those_of_one_go(corpus, fitted, tmp_path):
    short = BackoffTreeTopics(**{**LEARNED, "n_laps": 3}).fit(corpus, checkpoint=tmp_path / "c")
    resumed = BackoffTreeTopics(**LEARNED).fit(corpus, checkpoint=tmp_path / "c", resume=True)
    assert resumed.branching_ == fitted.branching_
    short.save(tmp_path / "model")
    loaded = stickbreak.load(tmp_path / "model")
    assert loaded.branching_ == short.branching_
    assert (loaded.transform(corpus) != short.transform(corpus)).nnz == 0
    for model in (resumed, loaded.continue_fit(corpus, n_laps=4)):
        np.testing.assert_array_equal(model.word_leaf_, fitted.word_leaf_)
        np.testing.assert_array_equal(model.trace_["objective"], fitted.trace_["objective"])


def test_blocks_in_files_and_threads_change_nothing(corpus, fitted, tmp_path):
    assert_same(fitted, BackoffTreeTopics(**LEARNED, n_jobs=2, scratch=tmp_path).fit(corpus))


def test_the_topics_of_the_first_tree_are_in_the_files_of_scratch_too(corpus, tmp_path):
    seen = []

    def look(event):
        if event.get("stage") == "init":
            seen.append(any(path.is_file() for path in tmp_path.rglob("*")))

    BackoffTreeTopics(**LEARNED, scratch=tmp_path).fit(corpus, callback=look)
    assert seen
    assert all(seen)


def test_a_learned_tree_predicts_and_grows(corpus, fitted):
    halves = corpus.halves(seed=0)
    assert np.isfinite(fitted.complete(*halves).active)
    grown = BackoffTreeTopics(**LEARNED).fit(corpus).expand(corpus, 2, n_laps=3)
    assert grown.n_leaves_ == 2 * fitted.n_leaves_


def test_an_interrupted_start_ends_the_fit(corpus):
    import signal

    def stop(event):
        if event.get("stage") == "init" and event["done"] == 3:
            signal.raise_signal(signal.SIGINT)

    model = BackoffTreeTopics(**LEARNED).fit(corpus, callback=stop)
    assert model.n_laps_ == 1
    assert "start was cut short" in model.stop_reason_


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stages": (1,)}, "stages"),
        ({"seeds": {"a": ["word1"]}}, "seeds"),
        ({"alpha": (0.2, 0.3)}, "alpha"),
        ({"eta": [0.2, 0.3]}, "eta"),
    ],
)
def test_what_belongs_to_a_given_tree_is_refused(corpus, change, message):
    with pytest.raises(InputError, match=rf"{message}.*learned"):
        BackoffTreeTopics(**LEARNED, **change).fit(corpus)


def test_documents_of_one_topic_are_refused():
    counts = np.zeros((30, 5), int)
    counts[:, :2] = 4
    with pytest.raises(InputError, match="branching"):
        BackoffTreeTopics(**LEARNED).fit(counts)
