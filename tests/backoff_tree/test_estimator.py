"""`BackoffTreeTopics` from outside: what it finds, gives, keeps and refuses."""

import numpy as np
import pytest

from stickbreak import BackoffTreeTopics
from stickbreak.backoff_tree.model import N_SCORE
from stickbreak.backoff_tree.shape import TreeShape
from stickbreak.corpus import planted_lda
from stickbreak.fitting.engine import Engine

from .fits import SMALL
from .reference import Tree


def test_topics_are_the_smoothed_words_of_their_leaves(fitted):
    model, shape = fitted._model, TreeShape((2, 3))
    tree = Tree(shape.branching, fitted.eta_levels_)
    start = fitted.word_start_
    expected = np.zeros((6, 30))
    for w in range(30):
        n = {int(z): int(c) for z, c in zip(fitted.word_leaf_[start[w] : start[w + 1]],
                                            fitted.word_count_[start[w] : start[w + 1]], strict=True)}  # fmt: skip
        expected[:, w] = tree.mass(n, model.backoff.scale) / model.backoff.peak
    np.testing.assert_allclose(fitted.topic_word_, expected[fitted.leaves_], rtol=1e-10)
    np.testing.assert_allclose(fitted.topic_word_.sum(axis=1), 1, rtol=1e-10)
    np.testing.assert_allclose(fitted.word_distributions(fitted.leaves_[1]), expected[fitted.leaves_[1:2]], rtol=1e-10)


def test_document_is_described_alone_as_among_others(fitted, corpus):
    together = fitted.transform(corpus).toarray()
    for d in (0, 11, 39):
        np.testing.assert_array_equal(fitted.transform(corpus[d : d + 1]).toarray()[0], together[d])


@pytest.mark.parametrize("branching", [(2, 3), (6, 8, 10)])
def test_score_is_the_mean_over_samples_of_the_predictive_distribution(corpus, branching):
    """Against dense vectors: P(z | document) P(w | z) summed over all leaves, what empty leaves lack given to words."""
    fitted = BackoffTreeTopics(**{**SMALL, "branching": branching}).fit(corpus)
    model = fitted._model
    assert (model.n_tokens == 0).any() == (len(branching) == 3), (
        "both kinds of trees are meant: full, with empty leaves"
    )
    observed, held_out = corpus.halves(seed=0)
    rows = np.flatnonzero((observed.document_lengths > 0) & (held_out.document_lengths > 0))
    trees = Tree(branching, fitted.alpha_levels_), Tree(branching, fitted.eta_levels_)
    start = fitted.word_start_
    words = [
        {int(fitted.word_leaf_[j]): int(fitted.word_count_[j]) for j in range(start[w], start[w + 1])}
        for w in range(30)
    ]
    phi = np.array([trees[1].mass(n, model.backoff.scale) / model.backoff.peak for n in words])
    frequency = model.word_tokens / model.word_tokens.sum()
    phi += (1 - phi.sum(axis=0)) * frequency[:, None]
    np.testing.assert_allclose(phi.sum(axis=0), 1)
    from stickbreak.corpus.tokens import Tokens

    tokens = Tokens.from_corpus(observed[rows])
    samples = model.samples(tokens, N_SCORE, Engine(1))
    given_away = 1 / (1 + corpus.n_tokens)
    total = 0.0
    for d in range(rows.size):
        here = samples[:, tokens.start[d] : tokens.start[d + 1]]
        counts = [dict(zip(*np.unique(sample, return_counts=True), strict=True)) for sample in here]
        theta = np.mean([trees[0].mass(n) for n in counts], axis=0) / here.shape[1]
        held = held_out[rows].counts[[d]].toarray().ravel()
        total += held @ np.log(np.maximum(phi @ theta * (1 - given_away), 1e-300))
    assert fitted.score(corpus) == pytest.approx(total / held_out[rows].counts.sum(), rel=1e-9)


def test_planted_topics_predict_better_than_word_frequencies(seed):
    documents, _ = planted_lda(300, 60, n_topics=5, mean_tokens=50, seed=seed)
    train, test = documents[:200], documents[200:]
    model = BackoffTreeTopics(branching=(3, 4), n_laps=40, random_state=seed).fit(train)
    frequency = np.asarray(train.counts.sum(axis=0)).ravel() + 1.0
    counts = test.counts.sum(axis=0)
    alone = float((np.asarray(counts).ravel() @ np.log(frequency / frequency.sum())) / counts.sum())
    assert model.score(test) > alone + 0.1


@pytest.mark.long
def test_tree_of_a_million_leaves_fits_documents_and_is_walked(seed):
    documents, _ = planted_lda(60, 50, n_topics=5, mean_tokens=40, seed=seed)
    model = BackoffTreeTopics(n_topics=1_259_712, n_laps=3, random_state=seed).fit(documents)
    assert model.n_leaves_ == 1_259_712
    assert model.transform(documents).shape == (60, 1_259_712)
    assert np.isfinite(model.score(documents))
    assert len(model.top_words(3)) == model.n_topics_
    nodes = list(model.tree_.walk())
    assert sum(node.is_leaf for node in nodes) == model.n_topics_
    assert sum(node.n_tokens for node in nodes if node.is_leaf) == documents.n_tokens
    assert all(node.top_words(1) for node in nodes)
