"""Leave-one-out likelihoods against brute force and the oracle; the search."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from stickbreak.backoff_tree.discounts import (
    Entries,
    beam_search,
    document_likelihood,
    sample_of_groups,
    word_likelihood,
)
from stickbreak.backoff_tree.learning import learn
from stickbreak.backoff_tree.sampler import TreeSampler
from stickbreak.backoff_tree.shape import TreeShape
from stickbreak.corpus import planted_lda

from .problems import ONE, blocks_of, leaves_of, random_counts, random_delta, random_shape, tokens_of
from .reference import Tree, loo_document, loo_word

ORACLE = json.loads((Path(__file__).parents[1] / "data" / "sbt.json").read_text())["loo"]


def entries_of(groups, shape):
    pairs = [(g, z) for g, n in enumerate(groups) for z in n.elements()]
    group, leaf = np.array(pairs).T
    return Entries.of(group, leaf.astype(np.int32), shape)


@pytest.mark.parametrize("case", ORACLE, ids=lambda case: str(case["delta_by_depth"]))
def test_document_likelihood_is_that_of_the_oracle(case):
    shape = TreeShape(tuple(case["branching"]))
    n = Counter({z: int(count) for z, count in enumerate(case["n"]) if count})
    value = document_likelihood(entries_of([n], shape), shape)(np.array(case["delta_by_depth"]))
    assert value * n.total() == pytest.approx(case["loo"], rel=1e-12)


@pytest.mark.parametrize("kind", ["documents", "words"])
def test_likelihood_is_that_of_leaving_each_token_out(seed, kind):
    rng = np.random.default_rng(seed)
    for _ in range(50):
        shape = random_shape(rng)
        L = shape.n_leaves
        groups = [random_counts(rng, L, int(k)) for k in (1, 2, 3, 8, 30)]
        delta, prob = random_delta(rng, shape.depth), rng.uniform(0.1, 3.0, size=L)
        tree, entries = Tree(shape.branching, delta), entries_of(groups, shape)
        if kind == "documents":
            found = document_likelihood(entries, shape)(delta)
            expected = sum(loo_document(tree, n) for n in groups)
        else:
            found = word_likelihood(entries, prob, shape)(delta)
            expected = sum(loo_word(tree, n, prob) for n in groups)
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


def test_search_stays_below_one():
    found, _ = beam_search(lambda delta: float(delta.sum()), np.full(4, 0.1))
    assert 0.7 < found.sum() < 0.95


@pytest.mark.parametrize("start", [np.full(15, 0.97 / 15), np.full(15, 1e-4 / 15), np.full(15, 0.06)])
def test_search_starts_from_within_what_is_allowed(start):
    def value(delta):
        return -float(((delta - 0.03) ** 2).sum())

    found, best = beam_search(value, start)
    assert found.sum() <= 0.95 * (1 + 1e-12)
    assert found.min() >= 1e-4
    assert best > value(np.clip(start, 1e-4, 0.95 / 15)) + 1e-4  # and not where it began


def test_words_are_not_smoothed_to_leaves_without_tokens(seed):
    corpus, _ = planted_lda(40, 30, n_topics=3, mean_tokens=20, seed=seed)
    tokens, _ = tokens_of(corpus)
    sampler = TreeSampler(
        blocks_of(corpus), TreeShape((5, 9, 9)), np.full(3, 0.1), np.full(3, 0.1), seed, at_once=False
    )
    sampler.begin()
    z = (leaves_of(sampler) // 81 * 81).astype(np.int32)  # one leaf in each of five
    sampler.blocks.put([z])
    found = learn(sampler, "eta", ONE, search=False)
    prob = np.where(np.arange(405) % 81 == 0, sampler.backoff.prob, 0.0)
    groups = [Counter(z[tokens.word == w].tolist()) for w in range(tokens.n_words)]
    tree = Tree((5, 9, 9), sampler.delta_word)
    expected = sum(loo_word(tree, n, prob) for n in groups if n) / tokens.word.size
    assert found == pytest.approx(expected, rel=1e-9)


def test_sample_of_groups_holds_what_is_asked_for():
    start = np.concatenate(([0], np.cumsum([5, 0, 7, 3, 9])))
    rng = np.random.default_rng(0)
    assert sorted(sample_of_groups(start, 1000, rng)) == [0, 1, 2, 3, 4]
    chosen = sample_of_groups(start, 8, rng)
    sizes = np.diff(start)[chosen]
    assert sizes.sum() >= 8 > sizes[:-1].sum()


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
