"""Discounts of nodes in kernels: masses, products, draws, likelihoods, against the dense definition."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from stickbreak.backoff_tree.discounts import Entries, document_likelihood, word_likelihood
from stickbreak.backoff_tree.kernels.lists import entry_mass
from stickbreak.backoff_tree.kernels.products import draw_from_document, draw_from_word
from stickbreak.backoff_tree.kernels.trees import child_of
from stickbreak.backoff_tree.learning import learn
from stickbreak.backoff_tree.lists import directories
from stickbreak.backoff_tree.node_discounts import NodeDiscounts, OfBoth
from stickbreak.backoff_tree.sampler import TreeSampler
from stickbreak.backoff_tree.state import Discounts
from stickbreak.backoff_tree.taxonomy import taxonomy_of

from ..sampling.laws import chi_square, largest_z
from .problems import (
    ONE,
    Pair,
    blocks_of,
    counters,
    leaves_of,
    random_counts,
    random_delta,
    small_corpus,
    tokens_of,
    word_lists,
)
from .test_exact_conditional import Dense, scores

SHAPES = (
    ["a/x/1", "a/x/2", "a/x/3", "a/y", "b", "c/z/1/i", "c/z/1/j", "c/z/2", "d/u/v/w"],
    ["a", "b/1", "b/2", "b/3", "b/4", "b/5", "c/1/i", "c/1/ii"],
    [f"{a}/{b}/{c}" for a in "abc" for b in "uv" for c in range(12)],  # more entries below a node than are looked at
    ["a/1", "b/1", "c/1/2/3", *(f"c/2/{i}" for i in range(9))],
)
ALARM = 1e-6


def random_nodes(rng, shape, share=0.5):
    """Discounts of some of the nodes above leaves, other ones for documents and words."""
    found = ({}, {})
    for path, place in shape.places.items():
        if not shape.is_leaf(*place):
            for one in found:
                if rng.random() < share:
                    one[path] = float(rng.uniform(0.01, 0.45 / shape.depth))
    return OfBoth(*map(NodeDiscounts, found))


BOTH_WAYS = pytest.mark.parametrize("shares", [False, True], ids=["by nodes", "by levels"])


def random_pair(rng, paths, *, shares=False):
    """Trees of a document and a word as kernels and as the definition have them."""
    shape = taxonomy_of(paths)
    nodes, L = random_nodes(rng, shape), shape.n_leaves
    document, word = (random_counts(rng, L, int(rng.integers(1, 40)), all_of=True) for _ in range(2))
    deltas, scale = [0.5 * random_delta(rng, shape.depth) for _ in range(2)], rng.uniform(0.3, 3.0, size=L)
    pair = Pair(shape, document, deltas[0], word, deltas[1], scale, nodes, shares=shares)
    pair.seed(int(rng.integers(2**60)))
    trees = [Dense(shape.branching, delta, own.of) for delta, own in zip(deltas, nodes, strict=True)]
    return pair, document, word, trees, scale


def product_of(document, word, trees, scale):
    """Masses of both trees at each leaf."""
    n, m = (np.array([of[z] for z in range(scale.size)]) for of in (document, word))
    return (trees[0].kept(n) + trees[0].smoothing(n)) * (trees[1].kept(m) * scale + trees[1].smoothing(m))


@BOTH_WAYS
@pytest.mark.parametrize("paths", SHAPES, ids=len)
def test_mass_of_the_product_is_that_of_the_definition(paths, seed, shares):
    rng, seen = np.random.default_rng(seed), set()
    for _ in range(100):
        pair, document, word, trees, scale = random_pair(rng, paths, shares=shares)
        dense = product_of(document, word, trees, scale)
        assert pair.draw()[1] * pair.n_tokens == pytest.approx(dense.sum(), rel=1e-11)
        z = int(rng.choice(sorted(word)))
        rest = word - Counter([z])
        seen.add((word[z] == 1, bool(rest)))
        dense = product_of(document, rest, trees, scale) if rest else np.zeros(1)
        assert pair.draw_without(z, scale)[1] * pair.n_tokens == pytest.approx(dense.sum(), rel=1e-9)
    assert {(True, True), (False, True)} <= seen


@pytest.mark.parametrize("paths", SHAPES, ids=len)
@BOTH_WAYS
@pytest.mark.parametrize("left_out", [False, True], ids=["", "left out"])
def test_draws_have_the_law_of_the_product(paths, left_out, seed, shares):
    rng, n = np.random.default_rng(seed), 4000
    for _ in range(12):
        pair, document, word, trees, scale = random_pair(rng, paths, shares=shares)
        z = int(rng.choice(sorted(word)))
        rest = word - Counter([z]) if left_out else word
        if not rest:
            continue
        draws = [pair.draw_without(z, scale)[0] if left_out else pair.draw()[0] for _ in range(n)]
        dense = product_of(document, rest, trees, scale)
        assert chi_square(np.bincount(draws, minlength=dense.size), dense / dense.sum()) > ALARM


@pytest.mark.parametrize("left_out", ["no token", "one of several", "the only one"])
def test_draws_from_a_word_below_a_node_have_its_law(left_out, seed):
    """With much given above the node: an entry has that less there."""
    rng, shape, n = np.random.default_rng(seed), taxonomy_of(["a/x/1", "a/x/2", "a/x/3", "a/y", "a/z/1", "b"]), 20_000
    nodes = OfBoth(*2 * [NodeDiscounts({"": 0.6, "a": 0.15, "a/x": 0.05})])
    word, scale, delta = Counter({0: 1, 1: 2, 2: 1, 3: 1, 5: 4}), rng.uniform(0.5, 2.0, size=6), [0.1, 0.1, 0.1]
    z = {"no token": None, "one of several": 1, "the only one": 0}[left_out]
    rest = word - Counter([z])
    pair, tree = Pair(shape, Counter([0]), delta, word, delta, scale, nodes), Dense(shape.branching, delta, nodes[1].of)
    pair.seed(int(rng.integers(2**60)))
    lists, of, gone = pair.lists, pair.word, int(left_out == "the only one")
    lost = 0.0 if z is None else entry_mass(1, z, scale, of.given) if gone else scale[z]
    for path in ("", "a", "a/x"):
        h, a = shape.places[path]
        first, last = shape.first_leaf(h, a), shape.first_leaf(h, a + 1)
        inside = np.array([rest[y] * (first <= y < last) for y in range(6)])
        law = tree.kept(inside) * scale + tree.smoothing(inside, h)
        low, high = np.searchsorted(lists.leaf[: lists.size[0]], (first, last))
        own = -1 if z is None else sorted(word).index(z)
        drawn = [
            draw_from_word(
                h, low, high, pair.below, pair.scratch.finder, of.delta, of.from_here, 0, 0, lists.leaf, lists.mass,
                own, gone, lost, pair.scratch.rng,
            )
            for _ in range(n)
        ]  # fmt: skip
        assert chi_square(np.bincount(drawn, minlength=6), law / law.sum()) > ALARM, path


def test_draws_from_a_document_below_a_node_have_its_law(seed):
    """Without the smoothing of the node itself and of those above; it gives much more than its sister."""
    rng, shape, n = np.random.default_rng(seed), taxonomy_of(["a/x", "a/y", "b/u/1", "b/u/2", "b/v/1", "b/w"]), 20_000
    nodes, delta = OfBoth(*2 * [NodeDiscounts({"a": 0.01, "b": 0.5, "b/u": 0.2, "b/v": 0.01})]), [0.05, 0.05, 0.05]
    document, tree = Counter({0: 2, 1: 1, 2: 1, 3: 2, 4: 1, 5: 1}), Dense(shape.branching, delta, nodes[0].of)
    pair = Pair(shape, document, delta, Counter([0]), delta, np.ones(6), nodes)
    pair.seed(int(rng.integers(2**60)))
    table = pair.scratch.node
    for path in (None, "", "a", "b", "b/u", "b/v"):
        h, a = (-1, 0) if path is None else shape.places[path]
        first, last = (0, 6) if path is None else (shape.first_leaf(h, a), shape.first_leaf(h, a + 1))
        inside = np.array([document[y] * (first <= y < last) for y in range(6)])
        law, at = tree.kept(inside) + tree.smoothing(inside, h + 1), 0
        for level in range(1, h + 1):
            at = child_of(table, at, shape.nodes[level, first])
        drawn = [
            draw_from_document(
                table, at, h, pair.below, pair.scratch.finder, pair.doc.delta, pair.doc.given, pair.scratch.rng
            )
            for _ in range(n)
        ]
        assert chi_square(np.bincount(drawn, minlength=6), law / law.sum()) > ALARM, path


@pytest.mark.parametrize("missing", ["document", "word"])
def test_draws_from_one_tree_alone_have_its_law(missing, seed):
    rng, n = np.random.default_rng(seed), 10_000
    for paths in SHAPES:
        shape = taxonomy_of(paths)
        nodes, delta, L = random_nodes(rng, shape), 0.5 * random_delta(rng, shape.depth), shape.n_leaves
        many, one, scale = random_counts(rng, L, 9, all_of=True), Counter({L - 1: 1}), np.linspace(0.5, 2.0, L)
        document, word = (Counter(), many + one) if missing == "document" else (many, one)
        pair = Pair(shape, document, delta, word, delta, scale, nodes)
        pair.seed(int(rng.integers(2**60)))
        counts = np.array([many[z] for z in range(L)])
        tree = Dense(shape.branching, delta, nodes[missing == "document"].of)
        p = tree.kept(counts) * (scale if missing == "document" else 1.0) + tree.smoothing(counts)
        draws = [pair.draw_without(L - 1, scale)[0] for _ in range(n)]
        assert chi_square(np.bincount(draws, minlength=L), p / p.sum()) > ALARM


@pytest.mark.parametrize("at_once", [True, False], ids=["serial", "parallel"])
def test_leaves_of_a_fit_are_drawn_from_the_conditional(at_once, seed):
    z = []
    for case, paths in enumerate(SHAPES):
        nodes = random_nodes(np.random.default_rng(seed + case), taxonomy_of(paths))
        share = 0.3 if case == 1 else None
        z.append(scores(taxonomy_of(paths), 8 * seed + case, at_once, case == 0, share, nodes))
    z = np.concatenate(z)
    assert np.abs(z).max() < largest_z(z.size, None)
    assert np.sqrt(np.mean(z**2)) < 1.5


@pytest.mark.parametrize("paths", SHAPES, ids=len)
def test_discounts_of_levels_have_the_likelihood_of_the_definition(paths, seed):
    rng, shape = np.random.default_rng(seed), taxonomy_of(paths)
    tokens, _ = tokens_of(small_corpus(rng))
    z = rng.integers(shape.n_leaves, size=tokens.word.size, dtype=np.int32)
    delta, prob = 0.5 * random_delta(rng, shape.depth), rng.uniform(0.5, 2.0, size=shape.n_leaves)
    nodes, entries = random_nodes(rng, shape), Entries.of(tokens.word.astype(np.int64), z, shape)
    for own, weigh, found in (
        (nodes.documents, np.ones(shape.n_leaves), document_likelihood(entries, shape, nodes.documents)(delta)),
        (nodes.words, prob, word_likelihood(entries, prob, shape, nodes.words)(delta)),
    ):
        assert found == left_out_one_by_one(Dense(shape.branching, delta, own.of), tokens, z, weigh)


def left_out_one_by_one(tree, groups, z, weigh):
    """The log probability of the leaf of each token given the others of its word, or document; the mean."""
    total = 0.0
    for n in counters(groups, z):
        for leaf, count in n.items():
            rest = np.array([n[y] - (y == leaf) for y in range(weigh.size)])
            mass = tree.kept(rest) + tree.smoothing(rest) * weigh if rest.any() else weigh
            total += count * np.log(mass[leaf] / mass.sum())
    return pytest.approx(total / z.size, rel=1e-10)


@pytest.mark.parametrize("name", ["alpha", "eta"])
def test_search_is_given_the_nodes(name, seed):
    shape, nodes = taxonomy_of(SHAPES[0]), OfBoth(NodeDiscounts({"a": 0.3}), NodeDiscounts({"c": 0.4, "a/x": 0.1}))
    corpus = small_corpus(np.random.default_rng(seed))
    (tokens, documents), delta = tokens_of(corpus), np.full(4, 0.1)
    sampler = TreeSampler(blocks_of(corpus), shape, delta, delta, seed, at_once=False, nodes=nodes)
    sampler.begin()
    found, z = learn(sampler, name, ONE, search=False), leaves_of(sampler)
    groups, weigh, own = tokens, np.ones(shape.n_leaves), nodes.documents
    if name == "alpha":
        groups = SimpleNamespace(word=np.repeat(np.arange(len(documents)), tokens.lengths), n_words=len(documents))
    else:
        weigh, own = np.where(np.bincount(z, minlength=weigh.size) > 0, sampler.backoff.prob, 0.0), nodes.words
    assert found == left_out_one_by_one(Dense(shape.branching, delta, own.of), groups, z, weigh)


def test_nodes_with_the_discounts_of_their_levels_change_no_mass(seed):
    rng = np.random.default_rng(seed)
    for paths in SHAPES:
        shape = taxonomy_of(paths)
        delta, scale = random_delta(rng, shape.depth), rng.uniform(0.3, 3.0, size=shape.n_leaves)
        same = NodeDiscounts({path: delta[h] for path, (h, a) in shape.places.items() if not shape.is_leaf(h, a)})
        for nodes in (OfBoth(same, same), OfBoth(same, NodeDiscounts()), OfBoth(NodeDiscounts(), same)):
            counts = [random_counts(rng, shape.n_leaves, 20, all_of=True) for _ in range(2)]
            one, other = (Pair(shape, counts[0], delta, counts[1], delta, scale, *own) for own in ((), (nodes,)))
            one.seed(0)
            other.seed(0)
            assert one.draw()[1] == pytest.approx(other.draw()[1], rel=1e-12)


def test_directories_have_sums_of_all_that_entries_have(seed):
    rng, shape = np.random.default_rng(seed), taxonomy_of(SHAPES[2])
    delta, scale = 0.5 * random_delta(rng, 3), rng.uniform(0.3, 3.0, size=shape.n_leaves)
    nodes = random_nodes(rng, shape).words
    lists, discounts = word_lists(random_counts(rng, shape.n_leaves, 60)), Discounts.of(delta, shape, nodes)
    found, given = directories(lists, scale, discounts, shape, ONE), Dense(shape.branching, delta, nodes.of).discount
    leaf = lists.leaf[: lists.size[0]]
    all_of_it = (lists.n[: leaf.size] - given[leaf]) * scale[leaf] + given[leaf]
    np.testing.assert_allclose(np.diff(lists.mass[: leaf.size + 1]), all_of_it, rtol=1e-10)
    assert found.row[1, 1] == pytest.approx(all_of_it.sum())
