"""Lists of leaves, the backoff, and changes one by one."""

from itertools import pairwise

import numpy as np
import pytest

from stickbreak.backoff_tree.document_blocks import listed, merged
from stickbreak.backoff_tree.kernels import lists as list_kernels
from stickbreak.backoff_tree.shape import TreeShape
from stickbreak.backoff_tree.state import (
    Discounts,
    Totals,
    Trees,
    WordCounts,
    directories,
    lists_of,
    solve_backoff,
    with_room,
)
from stickbreak.corpus import planted_lda

from .problems import ONE, counters, random_delta, random_shape, small_corpus, tokens_of, word_lists
from .reference import Tree, backoff


def test_lists_have_the_counts_of_the_tokens(seed):
    rng = np.random.default_rng(seed)
    tokens, _ = tokens_of(small_corpus(rng, n_documents=40))
    z = rng.integers(6, size=tokens.word.size, dtype=np.int32)
    cuts = np.array([0, 1, z.size // 3, z.size // 2, z.size])
    parts = [listed(tokens.word[a:b], z[a:b], tokens.n_words) for a, b in pairwise(cuts)]
    counts = merged(merged(WordCounts.none(tokens.n_words), parts[:2], 6, ONE), parts[2:], 6, ONE)
    n_tokens, n_words, of_word = Totals.of(counts, 6)
    for lists in (lists_of(counts), with_room(counts, of_word)):
        for w, n in enumerate(counters(tokens, z)):
            here = slice(lists.start[w], lists.start[w] + lists.size[w])
            assert list(zip(lists.leaf[here].tolist(), lists.n[here].tolist(), strict=True)) == sorted(n.items())
    assert of_word.tolist() == np.bincount(tokens.word, minlength=tokens.n_words).tolist()
    assert n_tokens.tolist() == np.bincount(z, minlength=6).tolist()
    assert n_words.tolist() == [sum(n[y] > 0 for n in counters(tokens, z)) for y in range(6)]


def test_backoff_is_that_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    tokens, _ = tokens_of(small_corpus(rng, n_documents=30))
    for _ in range(50):
        shape = random_shape(rng)
        delta, L = random_delta(rng, shape.depth), shape.n_leaves
        z = rng.integers(max(1, L // 2), size=tokens.word.size, dtype=np.int32)  # half of the leaves stay empty
        words = counters(tokens, z)
        n_words = np.array([sum(n[y] > 0 for n in words) for y in range(L)])
        found = solve_backoff(np.bincount(z, minlength=L), n_words, Discounts.of(delta, shape), shape)
        A, B, peak = backoff(words, Tree(shape.branching, delta), z.size)
        np.testing.assert_allclose(found.smoothing, B, rtol=1e-12)
        assert found.peak == pytest.approx(peak, rel=1e-9)
        used = A > 0
        np.testing.assert_allclose(found.prob[used], A[used] / (found.peak - B[used]), rtol=1e-10)
        assert (found.prob > 0).all()


def test_ten_thousand_changes_equal_a_rebuild(seed):
    rng = np.random.default_rng(seed)
    shape = TreeShape((3, 4, 5))
    delta, below, scale = random_delta(rng, 3), shape.leaves_below, rng.uniform(0.5, 2.0, size=60)
    corpus, _ = planted_lda(20, 12, n_topics=3, mean_tokens=30, seed=seed)
    tokens, _ = tokens_of(corpus)
    z = rng.integers(60, size=tokens.word.size, dtype=np.int32)
    counts, discounts = listed(tokens.word, z, tokens.n_words), Discounts.of(delta, shape)
    lists = with_room(counts, Totals.of(counts, 60).of_word)
    found = directories(lists, scale, discounts, shape, ONE)
    trees = Trees(shape.below, shape.nodes, discounts, discounts, lists, found)
    assert set(found.level) >= {1, 2}, "directories of one level only"
    taken = 0
    for _ in range(10_000):
        i = int(rng.integers(z.size))
        w, new = int(tokens.word[i]), int(rng.integers(60))
        taken += int(lists.n[lists.start[w] : lists.start[w] + lists.size[w]].min() == 1)
        for step, leaf in ((-1, z[i]), (1, new)):
            list_kernels.change_leaf(w, np.int64(leaf), step, scale, trees)
        z[i] = new
    assert taken > 1000
    fresh = word_lists(counters(tokens, z))
    for w in range(tokens.n_words):
        here = slice(lists.start[w], lists.start[w] + lists.size[w])
        assert lists.size[w] == fresh.size[w]
        assert lists.leaf[here].tolist() == fresh.leaf[here].tolist()
        assert lists.n[here].tolist() == fresh.n[here].tolist()
        n = lists.size[w]
        kept = (fresh.n[here] - discounts.given[-1]) * scale[fresh.leaf[here]]
        sums = np.concatenate(([0.0], np.cumsum(kept)))
        first = lists.start[w] + w
        np.testing.assert_allclose(lists.mass[first : first + n + 1], sums, rtol=0, atol=1e-10)
        for level in range(found.level[w] + 1):
            bounds = np.arange(60 // below[level] + 1) * below[level]
            at = np.searchsorted(fresh.leaf[here], bounds)
            first = found.start[w] + found.offset[level]
            rows = found.row[first : first + bounds.size]
            assert rows[:, 0].tolist() == at.tolist()
            np.testing.assert_allclose(rows[:, 1], sums[at], rtol=0, atol=1e-10)
        assert found.start[w + 1] == found.start[w] + found.offset[found.level[w] + 1]
