"""A whole pass against its plain-Python twin, draw by draw; threads; expansion."""

import numpy as np
import pytest

from stickbreak.backoff_tree.laps import TreeLaps, TreeSettings
from stickbreak.backoff_tree.sampler import TreeSampler
from stickbreak.backoff_tree.shape import TreeShape
from stickbreak.corpus import planted_lda
from stickbreak.numerics.streams import key_of

from .problems import ONE, blocks_of, counters, leaves_of, random_delta, random_shape, small_corpus, tokens_of
from .reference import Tree, sweep


@pytest.mark.parametrize("at_once", [False, True])
def test_twin_makes_the_same_passes(seed, at_once):
    rng = np.random.default_rng(seed)
    for case in range(8):
        shape = random_shape(rng)
        deltas = random_delta(rng, shape.depth), random_delta(rng, shape.depth)
        corpus = small_corpus(rng)
        tokens, documents = tokens_of(corpus)
        sampler = TreeSampler(blocks_of(corpus), shape, *deltas, seed + case, at_once=at_once)
        sampler.begin()
        trees = [Tree(shape.branching, delta) for delta in deltas]
        for number in (1, 2, 3):
            before = leaves_of(sampler)
            score = sampler.sweep(ONE)
            z, log_p = sweep(
                documents, before.tolist(), counters(tokens, before), trees, sampler.backoff.scale,
                sampler.backoff.peak, int(key_of(seed + case, number, "tree")), at_once=at_once,
            )  # fmt: skip
            assert leaves_of(sampler).tolist() == z
            assert score == pytest.approx(log_p.sum() / tokens.word.size, rel=1e-9)


def test_expansion_keeps_the_counts_of_the_parents(seed):
    rng = np.random.default_rng(seed)
    sampler = TreeSampler(
        blocks_of(small_corpus(rng, n_documents=60)), TreeShape((2, 3)), [0.3, 0.4], [0.1, 0.2], seed, at_once=False
    )
    sampler.begin()
    sampler.sweep(ONE)
    before = leaves_of(sampler)
    sampler.expand(sampler.shape.expanded(4), 0.3, 0.1, 0.95)
    assert sampler.shape.branching == (2, 3, 4)
    np.testing.assert_array_equal(leaves_of(sampler) // 4, before)
    assert np.bincount(leaves_of(sampler) % 4, minlength=4).min() > z_share(before.size)
    np.testing.assert_allclose(sampler.delta_doc, np.array([0.3, 0.4, 0.3]) * 0.95)
    np.testing.assert_allclose(sampler.delta_word, [0.1, 0.2, 0.1])
    sampler.sweep(ONE)


def z_share(n):
    """Fewer than so many of n tokens in one of four children have a probability below 1e-6."""
    return n / 4 - 5 * np.sqrt(n * 3 / 16)


def test_discounts_wait_while_leaves_are_at_random(seed):
    corpus, _ = planted_lda(60, 30, n_topics=3, mean_tokens=50, seed=seed)
    delta = np.array([0.1, 0.2, 0.3])
    settings = TreeSettings(
        TreeShape((2, 3, 4)), delta, 0.5 * delta, stages=(2,), stage_sweeps=4, learn=("alpha", "eta"), learn_every=2
    )
    work = TreeLaps(blocks_of(corpus), settings, seed, ONE)
    work.sampler.begin()
    changed, before = [], (delta[:2], 0.5 * delta[:2])
    for _, lap in zip(range(8), work.laps(0), strict=False):
        now = work.sampler.delta_doc.copy(), work.sampler.delta_word.copy()
        assert lap.columns["alpha"] == now[0].sum()
        assert lap.columns["eta"] == now[1].sum()
        assert lap.columns["alpha_last"] == now[0][-1]
        assert lap.columns["eta_last"] == now[1][-1]
        if lap.moved:  # a new level comes with its own discount, all scaled down where the sum is too large
            for old, new, first in zip(before, now, (0.3, 0.15), strict=True):
                grown = np.append(old, first)
                np.testing.assert_allclose(new, grown * min(1.0, 0.95 / grown.sum()))
            changed.append(False)
        else:
            changed.append(any((old != new).any() for old, new in zip(before, now, strict=True)))
        before = now
    assert not any(changed[i] for i in (0, 1, 3, 4, 5, 7))
    assert any(changed)
