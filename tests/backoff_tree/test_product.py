"""Masses, products and draws of two trees, against the oracle's values and the dense definition."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from stickbreak.backoff_tree.shape import TreeShape

from .problems import Pair, random_counts, random_delta, random_shape
from .reference import Document, Stream, Tree, Walk, last_level, without

ORACLE = json.loads((Path(__file__).parents[1] / "data" / "sbt.json").read_text())
FALSE_ALARM = 1e-6


def counter(n):
    return Counter({z: int(count) for z, count in enumerate(n) if count > 0})


def of_oracle(case, *, shares=False):
    shape = TreeShape(tuple(case["branching"]))
    return Pair(
        shape,
        counter(case["n1"]),
        case["delta1"],
        counter(case["n2"]),
        case["delta2"],
        np.array(case["scale2"]),
        shares=shares,
    )


def random_pair(rng, *, crowded=False, shares=False):
    """Two trees; `crowded` leaves are all below the first nodes, so that the word's directory does not part them."""
    shape = random_shape(rng)
    L = shape.n_leaves
    within = max(2, L // 6) if crowded else L
    document, word = (random_counts(rng, within, int(rng.integers(1, 40)), all_of=crowded) for _ in range(2))
    deltas = random_delta(rng, shape.depth), random_delta(rng, shape.depth)
    scale = rng.uniform(0.3, 3.0, size=L)
    trees = Tree(shape.branching, deltas[0]), Tree(shape.branching, deltas[1])
    pair = Pair(shape, document, deltas[0], word, deltas[1], scale, shares=shares)
    return pair, document, word, trees, scale


def test_reference_has_the_twelve_numbers_of_figure_1():
    case = ORACLE["figure1"]
    mass = Tree(case["branching"], case["delta_by_depth"]).mass(counter(case["n"]))
    np.testing.assert_allclose(mass, case["pseudo_counts"], rtol=0, atol=1e-12)
    assert np.round(mass, 2).tolist() == [0.46, 0.36, 0.36, 1.56, 0.56, 0.46, 0.14, 0.14, 0.14, 0.24, 0.24, 0.34]


def test_figure_1_comes_out_of_the_kernels():
    """A word with one token and hardly any discount picks out a leaf: its product with the document is that mass."""
    case = ORACLE["figure1"]
    shape, tiny = TreeShape(tuple(case["branching"])), np.full(3, 1e-15)
    for z, expected in enumerate(case["pseudo_counts"]):
        pair = Pair(shape, counter(case["n"]), case["delta_by_depth"], Counter({z: 1}), tiny, np.ones(12))
        pair.seed(0)
        assert pair.draw()[1] * 5 == pytest.approx(expected, rel=1e-12)


BOTH_WAYS = pytest.mark.parametrize("shares", [False, True], ids=["by nodes", "by levels"])


@BOTH_WAYS
@pytest.mark.parametrize("case", ORACLE["product"], ids=lambda case: str(case["branching"]))
def test_product_has_the_mass_of_the_oracle(case, shares):
    pair = of_oracle(case, shares=shares)
    pair.seed(0)
    assert pair.draw()[1] * sum(case["n1"]) == pytest.approx(case["root_tau"], rel=1e-12)


@BOTH_WAYS
@pytest.mark.parametrize("case", ORACLE["product"], ids=lambda case: str(case["branching"]))
def test_draws_have_the_distribution_of_the_oracle(case, shares):
    pair, n = of_oracle(case, shares=shares), 20_000
    pair.seed(3)
    found = np.bincount([pair.draw()[0] for _ in range(n)], minlength=len(case["n1"]))
    assert stats.chisquare(found, np.array(case["distribution"]) * n).pvalue > FALSE_ALARM


@BOTH_WAYS
def test_mass_of_the_product_is_that_of_the_dense_one(seed, shares):
    rng = np.random.default_rng(seed)
    for case in range(200):
        pair, document, word, (doc_tree, word_tree), scale = random_pair(rng, crowded=case % 3 == 0, shares=shares)
        pair.seed(1)
        dense = doc_tree.mass(document) * word_tree.mass(word, scale)
        assert pair.draw()[1] * pair.n_tokens == pytest.approx(dense.sum(), rel=1e-11)


@BOTH_WAYS
def test_mass_without_a_token_is_that_of_the_word_without_it(seed, shares):
    rng = np.random.default_rng(seed + 1)
    seen = Counter()
    for case in range(200):
        pair, document, word, (doc_tree, word_tree), scale = random_pair(rng, crowded=case % 3 == 0, shares=shares)
        z = int(rng.choice(sorted(word)))
        rest = without(word, z)
        seen[word[z] == 1, bool(rest)] += 1
        pair.seed(1)
        dense = doc_tree.mass(document) * word_tree.mass(rest, scale)
        assert pair.draw_without(z, scale)[1] * pair.n_tokens == pytest.approx(dense.sum(), rel=1e-9)
    assert len(seen) == 3, "a kind of token was not tried"


@BOTH_WAYS
@pytest.mark.parametrize("left_out", [False, True])
def test_draws_have_the_distribution_of_the_dense_product(seed, left_out, shares):
    rng, n = np.random.default_rng(seed + 2), 4000
    for case in range(25):
        pair, document, word, (doc_tree, word_tree), scale = random_pair(rng, crowded=case % 3 == 0, shares=shares)
        pair.seed(int(rng.integers(2**60)))
        rest, z = word, 0
        if left_out:
            z = int(rng.choice(sorted(word)))
            rest = without(word, z)
            if not rest:
                continue
        draws = [pair.draw_without(z, scale)[0] if left_out else pair.draw()[0] for _ in range(n)]
        dense = doc_tree.mass(document) * word_tree.mass(rest, scale)
        expected = dense / dense.sum() * n
        order = np.argsort(expected)
        found = np.bincount(draws, minlength=expected.size)
        groups = np.minimum(np.cumsum(expected[order]) // 10, n // 10 - 1).astype(int)  # at least some 10 expected each
        observed, wanted = (np.bincount(groups, weights=x[order]) for x in (found, expected))
        kept = wanted > 0
        assert kept.sum() < 2 or stats.chisquare(observed[kept], wanted[kept]).pvalue > FALSE_ALARM
        assert found[expected == 0].sum() == 0


@BOTH_WAYS
@pytest.mark.parametrize("z", [0, 4, 9])
def test_a_token_of_a_word_with_few_leaves_its_node_to_the_others(z, shares):
    """What is taken out is a fifth of the word or more, at nodes of its directory and below."""
    shape, delta, n = TreeShape((3, 2, 2)), [0.1, 0.1, 0.1], 20_000
    document, word, scale = Counter(range(12)) + Counter([0, 0, 4, 9]), Counter([0, 4, 4, 8, 9]), np.ones(12)
    pair = Pair(shape, document, delta, word, delta, scale, shares=shares)
    pair.seed(z)
    found = np.bincount([pair.draw_without(z, scale)[0] for _ in range(n)], minlength=12)
    tree = Tree(shape.branching, delta)
    expected = tree.mass(document) * tree.mass(without(word, z), scale)
    assert stats.chisquare(found, expected / expected.sum() * n).pvalue > FALSE_ALARM


@pytest.mark.parametrize("missing", ["document", "word", "both"])
def test_draw_from_one_tree_alone_has_its_distribution(missing):
    shape, n = TreeShape((2, 3, 2)), 20_000
    delta, scale = [0.2, 0.3, 0.1], np.linspace(0.5, 2.0, 12)
    document = Counter({1: 2, 5: 1, 6: 1}) if missing == "word" else Counter()
    word = Counter({4: 1}) if missing != "document" else Counter({0: 1, 4: 3, 11: 1})
    pair = Pair(shape, document, delta, word, delta, scale)
    pair.seed(5)
    tree = Tree((2, 3, 2), delta)
    if missing == "document":
        expected, total = tree.mass(word, scale), tree.mass(word, scale).sum() / 12
        drawn = [pair.draw() for _ in range(n)]
    else:
        expected, total = (tree.mass(document) if missing == "word" else np.ones(12)), 0.0
        drawn = [pair.draw_without(4, scale) for _ in range(n)]
    assert drawn[0][1] == pytest.approx(total)
    found = np.bincount([z for z, _ in drawn], minlength=12)
    assert stats.chisquare(found, expected / expected.sum() * n).pvalue > FALSE_ALARM


def test_twin_draws_the_same_leaves(seed):
    rng, ways = np.random.default_rng(seed + 3), set()
    for case in range(150):
        pair, document, word, trees, scale = random_pair(rng, crowded=case % 3 == 0)
        pair.seed(7)
        walk, level = Walk(*trees, Stream(7, 0)), int(pair.directory.level[0])
        assert level == last_level(trees[1], word)
        there = Document(trees[0], document.elements())
        for _ in range(20):
            z, mean = pair.draw()
            expected = walk.draw(there, word, scale, level=level)
            assert z == expected[0]
            assert mean == pytest.approx(expected[1], rel=1e-10)
        ways |= walk.ways
    assert ways == {"one", "few", "many"}
