"""A whole pass against its plain-Python twin, draw by draw; threads; expansion."""

import numpy as np
import pytest

from stickbreak.backoff_tree.sampler import TreeSampler
from stickbreak.backoff_tree.shape import TreeShape
from stickbreak.corpus import planted_lda
from stickbreak.inference.executor import ThreadExecutor
from stickbreak.inference.keys import key_of

from .problems import ONE, counters, random_delta, random_shape, small_corpus, tokens_of
from .reference import Tree, sweep


@pytest.mark.parametrize("at_once", [False, True])
def test_twin_makes_the_same_passes(seed, at_once):
    rng = np.random.default_rng(seed)
    for case in range(8):
        shape = random_shape(rng)
        deltas = random_delta(rng, shape.depth), random_delta(rng, shape.depth)
        tokens, documents = tokens_of(small_corpus(rng))
        sampler = TreeSampler(tokens, shape, *deltas, seed + case, at_once=at_once)
        sampler.begin()
        trees = [Tree(shape.branching, delta) for delta in deltas]
        for number in (1, 2, 3):
            before = sampler.z.copy()
            score = sampler.sweep(ONE)
            z, log_p = sweep(
                documents, before.tolist(), counters(tokens, before), trees, sampler.backoff.scale,
                sampler.backoff.peak, int(key_of(seed + case, number, "tree")), at_once=at_once,
            )  # fmt: skip
            assert sampler.z.tolist() == z
            assert score == pytest.approx(log_p.sum() / tokens.word.size, rel=1e-9)


@pytest.mark.parametrize("at_once", [False, True])
def test_number_of_threads_changes_no_leaf(seed, at_once):
    corpus, _ = planted_lda(200, 200, n_topics=5, mean_tokens=200, seed=seed)
    tokens, _ = tokens_of(corpus)
    assert tokens.word.size > 35_000, "too small to be cut into several shards"
    delta, found = np.full(3, 0.2), []
    for n_jobs in (1, 3):
        sampler = TreeSampler(tokens, TreeShape((3, 6, 6)), delta, delta, seed, at_once=at_once)
        sampler.begin()
        with ThreadExecutor(n_jobs) as executor:
            scores = [sampler.sweep(executor) for _ in range(2)]
        found.append((sampler.z.tobytes(), scores))
    assert found[0] == found[1]


def test_words_become_more_probable_pass_by_pass(seed):
    corpus, _ = planted_lda(100, 60, n_topics=4, mean_tokens=60, seed=seed)
    tokens, _ = tokens_of(corpus)
    for at_once in (False, True):
        delta = np.full(2, 0.3)
        sampler = TreeSampler(tokens, TreeShape((3, 4)), delta, delta, seed, at_once=at_once)
        sampler.begin()
        scores = [sampler.sweep(ONE) for _ in range(25)]
        assert scores[-1] > scores[0] + 0.2


def test_expansion_keeps_the_counts_of_the_parents(seed):
    rng = np.random.default_rng(seed)
    tokens, _ = tokens_of(small_corpus(rng, n_documents=60))
    sampler = TreeSampler(tokens, TreeShape((2, 3)), [0.3, 0.4], [0.1, 0.2], seed, at_once=False)
    sampler.begin()
    sampler.sweep(ONE)
    before = sampler.z.copy()
    sampler.expand(4, 0.3, 0.1, 0.95)
    assert sampler.shape.branching == (2, 3, 4)
    np.testing.assert_array_equal(sampler.z // 4, before)
    assert np.bincount(sampler.z % 4, minlength=4).min() > z_share(before.size)
    np.testing.assert_allclose(sampler.delta_doc, np.array([0.3, 0.4, 0.3]) * 0.95)
    np.testing.assert_allclose(sampler.delta_word, [0.1, 0.2, 0.1])
    sampler.sweep(ONE)


def z_share(n):
    """Fewer than so many of n tokens in one of four children have a probability below 1e-6."""
    return n / 4 - 5 * np.sqrt(n * 3 / 16)
