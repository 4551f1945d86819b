"""What the harness says of topics."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.harness import corpora, scores
from benchmarks.harness.fold_in import FoldIn

from stickbreak.corpus import Corpus


@pytest.fixture
def split():
    return corpora.load("planted:100:40:3:30")


def slow_npmi(words, counts):
    """The mean over pairs by its definition."""
    occurs, found = counts > 0, []
    for i in range(len(words)):
        for j in range(i):
            v, w = occurs[:, words[i]], occurs[:, words[j]]
            p_v, p_w, p = v.mean(), w.mean(), (v & w).mean()
            if p_v * p_w == 0:
                continue
            found.append(-1.0 if p == 0 else 1.0 if p == 1 else math.log(p / (p_v * p_w)) / -math.log(p))
    return np.mean(found) if found else np.nan


def test_npmi_is_its_definition(rng):
    counts = rng.poisson(0.3, size=(30, 12))
    counts[:, 0], counts[:, 1], counts[:, 2], counts[:, 3] = 1, 2, 0, 0  # two words are everywhere, two are nowhere
    counts[:, 4], counts[:, 5] = np.arange(30) < 5, np.arange(30) > 9
    top = np.array([[0, 1, 4, 5, 6], [7, 2, 8, 9, 10], [11, 3, 4, 6, 0], [2, 3, 2, 3, 2]])
    found = scores.npmi(top, Corpus.from_counts(sp.csr_array(counts)))
    np.testing.assert_allclose(found, [slow_npmi(words, counts) for words in top], rtol=1e-12)


def test_planted_topics_score_higher_than_one_topic(split):
    from stickbreak.corpus import planted_lda

    truth = planted_lda(100, 40, n_topics=3, mean_tokens=30, seed=0)[1].topic_word
    one = np.asarray(split.train.counts.sum(axis=0), dtype=float).reshape(1, -1) + 1e-9
    one /= one.sum()
    truth = (truth + 1e-6) / (truth + 1e-6).sum(axis=1, keepdims=True)
    for score in (scores.completion, lambda *a: scores.sequential(*a)["left_to_right"]):
        assert score(split, truth, np.full(3, 0.1)) > score(split, one, np.ones(1)) + 0.2


def test_completion_is_that_of_the_common_fold_in(rng):
    split = corpora.load("planted:200:30:3:60")
    topic_word, prior = np.zeros((4, 30)), np.array([0.5, 1.0, 0.2, 0.3])
    topic_word[:, split.seen] = rng.dirichlet(np.ones(split.seen.sum()), size=4)
    judge = FoldIn(split, 2.0)
    assert scores.completion(split, topic_word, prior) == pytest.approx(judge.completion(topic_word, prior), rel=1e-12)
