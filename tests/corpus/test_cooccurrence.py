"""The co-occurrence of words, against pairs of tokens counted one by one."""

import numpy as np
import pytest

from stickbreak.corpus import Corpus, cooccurrence
from stickbreak.corpus.cooccurrence import Cooccurrence

COUNTS = np.array(
    [[2, 0, 1, 0, 0], [0, 3, 1, 0, 0], [1, 1, 1, 1, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 0], [4, 0, 0, 0, 0]]
)


def by_pairs(counts):
    """Q by counting pairs of different tokens of each document; a token may weigh less than one."""
    total = np.zeros((counts.shape[1], counts.shape[1]))
    for row in counts:
        tokens = []
        for word, count in enumerate(row):
            tokens += [(word, 1.0)] * int(count)
            if count > int(count):
                tokens.append((word, count - int(count)))
        Q = np.zeros_like(total)
        for i, (w, x) in enumerate(tokens):
            for j, (v, y) in enumerate(tokens):
                if i != j:
                    Q[w, v] += x * y
        if Q.sum() > 0:
            total += Q / Q.sum()
    return total


@pytest.mark.parametrize("scale", [1, 0.3, 0.7, 1.9])
def test_cooccurrence_counts_pairs_of_different_tokens(scale):
    counts = COUNTS * scale
    Q = Cooccurrence.of(Corpus.from_counts(counts))
    twin = by_pairs(counts)
    np.testing.assert_allclose(Q.mass, twin.sum(axis=1), atol=1e-14)
    seen = np.flatnonzero(Q.mass > 0)
    np.testing.assert_array_equal(seen, np.flatnonzero(twin.sum(axis=1)))
    mean = twin[seen] / twin[seen].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(Q.rows(seen), mean, atol=1e-14)
    columns = np.random.default_rng(0).normal(size=(5, 3))
    np.testing.assert_allclose(Q.times(columns, seen), mean @ columns, atol=1e-14)
    np.testing.assert_allclose(Q.times(columns, seen[[1]]), (mean @ columns)[[1]], atol=1e-14)


def test_cooccurrence_of_whole_counts_is_that_of_the_paper():
    """Q = sum_d [h h' - diag(h)] / (n (n - 1))."""
    Q = Cooccurrence.of(Corpus.from_counts(COUNTS))
    paper = np.zeros((5, 5))
    for h in COUNTS:
        if h.sum() > 1:
            paper += (np.outer(h, h) - np.diag(h)) / (h.sum() * (h.sum() - 1))
    np.testing.assert_allclose(Q.mass, paper.sum(axis=1), atol=1e-14)
    np.testing.assert_allclose(Q.rows(np.arange(4)) * Q.mass[:4, None], paper[:4], atol=1e-14)


def test_cooccurrence_leaves_out_documents_and_words_without_pairs():
    Q = Cooccurrence.of(Corpus.from_counts([[1, 0, 0], [0, 0.4, 0], [0, 0, 0]]))
    np.testing.assert_array_equal(Q.mass, 0)
    np.testing.assert_array_equal(Q.n_documents, 0)
    Q = Cooccurrence.of(Corpus.from_counts(COUNTS))
    np.testing.assert_array_equal(Q.n_documents, [3, 2, 3, 1, 0])
    assert Q.mass[4] == 0


def test_cooccurrence_of_tiny_weights_is_finite():
    weights = np.array([[1e-170, 3e-170, 0], [0, 2e-5, 1e-5]])
    Q = Cooccurrence.of(Corpus.from_counts(weights))
    np.testing.assert_allclose(Q.rows(np.arange(3)), [[0, 1, 0], [0.5, 0, 0.5], [0, 1, 0]], atol=1e-12)


def test_cooccurrence_blocks_cover_the_columns_once(monkeypatch):
    Q = Cooccurrence.of(Corpus.from_counts(COUNTS))
    assert list(Q.blocks(100)) == [slice(0, 100)]
    monkeypatch.setattr(cooccurrence, "BLOCK_BYTES", 6 * 8 * 40)  # 40 columns of 6 documents
    assert list(Q.blocks(100)) == [slice(0, 40), slice(40, 80), slice(80, 100)]
    monkeypatch.setattr(cooccurrence, "BLOCK_BYTES", 1)
    assert list(Q.blocks(2)) == [slice(0, 1), slice(1, 2)]
