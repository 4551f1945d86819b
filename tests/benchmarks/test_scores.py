"""What the harness says of topics."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.harness import corpora, scores
from benchmarks.harness.fold_in import FoldIn

from stickbreak.corpus import Corpus
from stickbreak.evaluation import coherence


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


def test_coherences_are_means_over_topics(split, rng):
    topic_word = rng.dirichlet(np.ones(split.train.n_words), size=4)
    found = scores.coherences(split, topic_word)
    assert found["umass"] == pytest.approx(coherence(topic_word, split.train, eps=1.0).mean())
    assert set(found) == {"umass", "umass_held_out", "npmi", "npmi_held_out"}
    assert found["npmi"] != found["npmi_held_out"]


def test_topics_in_use_are_the_largest(split, rng):
    topic_word = np.full((3, split.train.n_words), 1 / split.train.n_words)
    topic_word[2] = split.train.counts.sum(axis=0) / split.train.n_tokens
    used = scores.topics_in_use(split, topic_word, np.array([1e-9, 1e-9, 50.0]))
    assert used.tolist() == [2]
    order, tokens = scores.topics_by_size(split, topic_word, np.ones(3))
    assert order[0] == 2
    assert tokens.sum() == pytest.approx(split.train.n_tokens)
    assert scores.topics_in_use(split, topic_word, np.ones(3)).size == 3


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


def test_words_not_seen_in_training_do_not_count(rng):
    split = corpora.load("planted:200:30:3:60")
    topic_word, prior = rng.dirichlet(np.ones(30), size=4), np.ones(4)
    wider = [sp.hstack([part.counts, sp.csr_array(np.full((part.n_documents, 1), n))])
             for part, n in ((split.train, 0), (split.observed, 1), (split.held_out, 1))]  # fmt: skip
    other = type(split)("wider", *(Corpus.from_counts(counts) for counts in wider))
    with_more = np.hstack([0.9 * topic_word, np.full((4, 1), 0.1)])
    for score in (scores.completion, lambda *a: scores.sequential(*a)["left_to_right"]):
        assert score(other, with_more, prior) == pytest.approx(score(split, topic_word, prior), rel=1e-12)


def test_left_to_right_takes_fewer_long_documents(split, monkeypatch):
    answer = np.full((1, 40), 1 / 40), np.ones(1)
    assert scores.sequential(split, *answer)["left_to_right_documents"] == 20
    monkeypatch.setattr(scores, "MOST_DRAWS", 5 * 20 * 30**2 / 2)
    assert 3 <= scores.sequential(split, *answer)["left_to_right_documents"] <= 7
