"""Likelihoods of discounts against brute force and enumeration; the search."""

from itertools import permutations

import numpy as np
import pytest

from stickbreak.backoff_tree.discounts import (
    LeafEntries,
    beam_search,
    document_likelihood,
    word_likelihood,
)
from stickbreak.backoff_tree.sampler import TreeSampler, learn
from stickbreak.backoff_tree.shape import TreeShape, taxonomy_of
from stickbreak.corpus import planted_lda

from .problems import ONE, blocks_of, random_counts, random_delta, random_shape
from .reference import Stream, Tree, log_sequence, loo_word, shuffled
from .test_exact_conditional import Dense


def entries_of(groups, shape):
    pairs = [(g, z) for g, n in enumerate(groups) for z in n.elements()]
    group, leaf = np.array(pairs).T
    return LeafEntries.of(group, leaf.astype(np.int32), shape)


def likelihood_of(documents, key, shape):
    """That of documents whose leaves are given."""
    start = np.concatenate(([0], np.cumsum([len(leaves) for leaves in documents])))
    return document_likelihood(start, np.concatenate(documents).astype(np.int32), np.uint64(key), shape)


def test_documents_have_the_likelihood_of_their_tokens_one_after_another(seed):
    rng = np.random.default_rng(seed)
    taxonomy = taxonomy_of(["a/x/1", "a/x/2", "a/y", "b", "c/1", "c/2/i"])
    for shape in [*(random_shape(rng) for _ in range(20)), taxonomy]:
        documents = [list(random_counts(rng, shape.n_leaves, int(k)).elements()) for k in (1, 2, 3, 8, 30)]
        delta, key = random_delta(rng, shape.depth), int(rng.integers(1 << 60))
        tree = Dense(shape.branching, delta) if shape is taxonomy else Tree(shape.branching, delta)
        expected = sum(log_sequence(tree, shuffled(z, Stream(key, d))) for d, z in enumerate(documents))
        assert likelihood_of(documents, key, shape)(delta) * 44 == pytest.approx(expected, rel=1e-10)


def test_orders_of_the_kernel_are_uniform():
    shape, delta, leaves = TreeShape((2, 2)), np.array([0.5, 0.3]), [0, 0, 1, 3]
    tree = Tree(shape.branching, delta)
    orders = np.array([log_sequence(tree, order) for order in permutations(leaves)])
    assert np.ptp(orders) > 0.3
    drawn = np.array([likelihood_of([leaves], key, shape)(delta) * 4 for key in range(4000)])
    assert abs(drawn.mean() - orders.mean()) < 4.5 * orders.std() / np.sqrt(drawn.size)
    assert set(np.round(drawn, 9)) == set(np.round(orders, 9))


def test_words_have_the_likelihood_of_leaving_each_token_out(seed):
    rng = np.random.default_rng(seed)
    for _ in range(50):
        shape = random_shape(rng)
        L = shape.n_leaves
        groups = [random_counts(rng, L, int(k)) for k in (1, 2, 3, 8, 30)]
        delta, prob = random_delta(rng, shape.depth), rng.uniform(0.1, 3.0, size=L)
        found = word_likelihood(entries_of(groups, shape), prob, shape)(delta)
        expected = sum(loo_word(Tree(shape.branching, delta), n, prob) for n in groups)
        assert found * 44 == pytest.approx(expected, rel=1e-10)


def test_search_climbs_to_a_place_that_no_step_improves():
    target = np.array([0.1, 0.3, 0.2])

    def value(delta):
        return -float(np.sum(np.log(delta / target) ** 2))

    found, best = beam_search(value, np.full(3, 0.05))
    assert best == value(found)
    np.testing.assert_allclose(found, target, rtol=0.13)
    for h in range(3):
        for factor in (0.8, 1.25):
            other = found.copy()
            other[h] *= factor
            assert value(other) <= best


@pytest.mark.parametrize(("name", "attribute"), [("alpha", "delta_doc"), ("eta", "delta_word")])
def test_learning_changes_its_own_discounts_for_the_better(seed, name, attribute):
    corpus, _ = planted_lda(60, 50, n_topics=4, mean_tokens=50, seed=seed)
    sampler = TreeSampler(blocks_of(corpus), TreeShape((3, 4)), [0.02, 0.02], [0.02, 0.02], seed, at_once=False)
    sampler.begin()
    for _ in range(5):
        sampler.sweep(ONE)
    first = learn(sampler, name, ONE)
    assert getattr(sampler, attribute).sum() > 0.05
    other = {"delta_doc", "delta_word"} - {attribute}
    assert getattr(sampler, other.pop()).tolist() == [0.02, 0.02]
    assert learn(sampler, name, ONE) == pytest.approx(first, rel=1e-3)  # P* follows the discounts of words
