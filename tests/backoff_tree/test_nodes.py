"""Nodes of a fitted tree against sums over its leaves, one by one."""

import itertools

import numpy as np
import pytest

from stickbreak import BackoffTreeTopics
from stickbreak.corpus import Corpus, planted_lda

BRANCHING = (3, 2, 4)
BELOW = (24, 8, 4, 1)


@pytest.fixture(scope="module")
def fitted():
    drawn, _ = planted_lda(25, 30, n_topics=4, mean_tokens=15, seed=0)
    corpus = Corpus.from_counts(drawn.counts, vocabulary=[f"word{w}" for w in range(30)])
    model = BackoffTreeTopics(branching=BRANCHING, n_laps=8, learn=(), random_state=0).fit(corpus)
    keep = np.isin(model.word_leaf_ // 4, (0, 1, 4, 5)) & ~np.isin(
        model.word_leaf_, (5, 21, 22, 23)
    )  # nodes and leaves without tokens
    word = np.repeat(np.arange(30), np.diff(model.word_start_))[keep]
    model.word_leaf_, model.word_count_ = model.word_leaf_[keep], model.word_count_[keep]
    model.word_start_ = np.concatenate(([0], np.cumsum(np.bincount(word, minlength=30))))
    model._model = model._build()
    return model


@pytest.fixture(scope="module")
def table(fitted):
    """Tokens of each word at each leaf, dense, made entry by entry."""
    out = np.zeros((24, 30), dtype=int)
    for w in range(30):
        for i in range(fitted.word_start_[w], fitted.word_start_[w + 1]):
            out[fitted.word_leaf_[i], w] += fitted.word_count_[i]
    return out


def every_node(table):
    """Level, index and leaves of each node with tokens, in the order of a walk."""
    found = []
    for level, below in enumerate(BELOW):
        for index in range(24 // below):
            leaves = range(index * below, (index + 1) * below)
            if table[leaves].sum():
                found.append((leaves[0], level, index, leaves))
    return [entry[1:] for entry in sorted(found, key=lambda entry: entry[:2])]


def test_node_counts_what_is_below(fitted, table):
    for node, (_, _, leaves) in zip(fitted.tree_.walk(), every_node(table), strict=True):
        here = table[leaves]
        assert (node.first_leaf, node.last_leaf) == (leaves[0], leaves[-1])
        assert node.n_tokens == here.sum()
        assert node.share == here.sum() / table.sum()
        assert node.leaves.tolist() == [z for z in leaves if table[z].sum()]
        assert node.n_topics == len(node.leaves)
        assert node.is_leaf == (len(leaves) == 1)


def test_words_of_a_node_are_ranked_by_relevance(fitted, table):
    everywhere = np.maximum(table.sum(axis=0), 1)
    for node, (level, _, leaves) in zip(fitted.tree_.walk(), every_node(table), strict=True):
        if level == 3:
            continue
        here = table[leaves].sum(axis=0)
        given_node = here / here.sum()
        order = [int(word[4:]) for word in node.top_words(30)]
        assert set(order) == set(np.flatnonzero(here))
        value = (given_node / everywhere**0.4)[order]
        assert (np.diff(value) <= 1e-12).all()
        assert all(i < j for i, j in itertools.pairwise(order) if (here[i], everywhere[i]) == (here[j], everywhere[j]))
        assert node.top_words(3) == [f"word{w}" for w in order[:3]]
        assert node.words(3) == [(f"word{w}", given_node[w]) for w in order[:3]]
        np.testing.assert_allclose(node.word_distribution(), given_node, rtol=1e-14)
