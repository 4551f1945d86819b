"""Masses, products and draws of two trees, against the oracle's values and the dense definition."""

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from .problems import Pair, random_counts, random_delta, random_shape
from .reference import Document, Stream, Tree, Walk, last_level, without

FALSE_ALARM = 1e-6


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


BOTH_WAYS = pytest.mark.parametrize("shares", [False, True], ids=["by nodes", "by levels"])


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
