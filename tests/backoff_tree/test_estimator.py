"""`BackoffTreeTopics` from outside: what it finds, gives, keeps and refuses."""

import numpy as np
import pytest
from scipy import sparse

from stickbreak import BackoffTreeTopics
from stickbreak.backoff_tree.model import N_SCORE, TreeModel
from stickbreak.backoff_tree.shape import TreeShape
from stickbreak.backoff_tree.state import WordCounts
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.exceptions import InputError, InvalidCorpus
from stickbreak.fitting.executor import ThreadExecutor

from .fits import SMALL, assert_same
from .reference import Tree


def test_fitted_surface_fits_together(fitted, corpus):
    assert fitted.n_leaves_ == 6
    assert fitted.n_topics_ == fitted.leaves_.size == fitted.trace_["n_topics"][-1] <= 6
    assert fitted.leaf_word_.shape == (fitted.n_topics_, 30)
    assert fitted.leaf_word_.sum() == corpus.n_tokens
    np.testing.assert_array_equal(fitted.leaf_word_.sum(axis=1), fitted.leaf_tokens_)
    np.testing.assert_array_equal(fitted.leaf_word_.sum(axis=0), np.asarray(corpus.counts.sum(axis=0)).ravel())
    assert fitted.topic_weights_.sum() == pytest.approx(1)
    assert fitted.n_laps_ == 4
    assert {column.shape for column in fitted.trace_.values()} == {(4,)}
    assert all(np.isfinite(column).all() for column in fitted.trace_.values())
    assert not fitted.converged_
    assert "4 passes" in fitted.stop_reason_


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


def test_top_words_are_ranked_by_relevance(fitted, corpus):
    frequency = np.asarray(corpus.counts.sum(axis=0)).ravel()
    phi, there = fitted.topic_word_, fitted.leaf_word_.toarray() > 0
    rows = fitted.top_words(5)
    for k, row in enumerate(rows):
        value = np.where(there[k], phi[k] / np.maximum(frequency, 1) ** 0.4, -1)
        assert row == [f"word{w}" for w in np.argsort(-value, kind="stable")[:5] if value[w] >= 0]
    assert fitted.top_words(3, leaves=[fitted.leaves_[2]]) == [rows[2][:3]]
    assert fitted.top_words(1, [f"name{w}" for w in range(30)])[0][0] == rows[0][0].replace("word", "name")


def test_weights_are_sparse_and_sum_to_one(fitted, corpus):
    weights = fitted.transform(corpus)
    assert sparse.issparse(weights)
    assert weights.shape == (40, 6)
    assert weights.format == "csr"
    assert weights.dtype == np.float64
    filled = corpus.document_lengths > 0
    np.testing.assert_allclose(weights.sum(axis=1)[filled], 1)
    assert weights[[11]].nnz == 0


def test_document_is_described_alone_as_among_others(fitted, corpus):
    together = fitted.transform(corpus).toarray()
    for d in (0, 11, 39):
        np.testing.assert_array_equal(fitted.transform(corpus[d : d + 1]).toarray()[0], together[d])


def test_random_numbers_of_a_document_come_from_all_its_words():
    """Words with one and the same tree: documents that differ only in these differ by their random numbers."""
    words = WordCounts(np.arange(6) * 6, np.tile(np.arange(6, dtype=np.int32), 5), np.ones(30, np.int32))
    executor, delta = ThreadExecutor(1), np.full(2, 0.2)
    model = TreeModel(words, TreeShape((2, 3)), delta, delta, None, executor)
    same_ends = Corpus.from_counts([[1, 8, 0, 0, 1], [1, 0, 8, 0, 1], [1, 0, 0, 8, 1], [1, 8, 0, 0, 1]])
    rows = model.weights(same_ends, executor).toarray()
    assert len({row.tobytes() for row in rows[:3]}) == 3
    np.testing.assert_array_equal(rows[3], rows[0])


def test_blocks_of_documents_change_nothing(fitted, corpus, monkeypatch):
    whole, score = fitted.transform(corpus).toarray(), fitted.score(corpus)
    monkeypatch.setattr("stickbreak.backoff_tree.model._BLOCK_TOKENS", 100)
    np.testing.assert_array_equal(fitted.transform(corpus).toarray(), whole)
    assert fitted.score(corpus) == pytest.approx(score, rel=1e-12)


def test_words_that_the_fit_never_saw_say_nothing(fitted, corpus):
    counts = corpus.counts.toarray()
    expected = fitted.transform(counts).toarray()
    counts[:, 7] = 3
    found = fitted.transform(counts).toarray()
    np.testing.assert_array_equal(found, expected)
    assert np.isfinite(fitted.score(counts))
    assert fitted.score(counts) < fitted.score(corpus)


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
    samples = model.samples(tokens, N_SCORE, ThreadExecutor(1))
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


@pytest.mark.parametrize("updates", ["parallel", "serial"])
def test_number_of_threads_changes_no_bit(seed, updates):
    large, _ = planted_lda(200, 200, n_topics=5, mean_tokens=200, seed=seed)
    assert large.n_tokens > 35_000, "too small to be cut into several shards"
    fits = [BackoffTreeTopics(**{**SMALL, "n_laps": 3}, updates=updates, n_jobs=n).fit(large) for n in (1, 3)]
    assert_same(*fits)
    if updates == "parallel":
        np.testing.assert_array_equal(*(m.transform(large).toarray() for m in fits))
        assert fits[0].score(large) == fits[1].score(large)


def test_expanded_model_has_the_larger_tree(corpus):
    model = BackoffTreeTopics(**SMALL).fit(corpus)
    model.expand(corpus, 4, n_laps=2).continue_fit(corpus, n_laps=1)
    assert model.branching_ == [2, 3, 4]
    assert model.transform(corpus).shape == (40, 24)
    assert model.trace_["n_leaves"].tolist() == [6] * 4 + [24] * 3
    assert model.leaf_word_.sum() == corpus.n_tokens


@pytest.mark.parametrize(
    ("stages", "n_laps", "expected"),
    [(None, 8, [2, 2, 6, 6, 12, 12, 12, 12]), (None, 5, [6, 6, 12, 12, 12]), (None, 3, [12] * 3), ((), 4, [12] * 4)],
)
def test_trees_grow_a_level_at_a_time_in_at_most_half_of_the_passes(corpus, stages, n_laps, expected):
    settings = {"branching": (2, 3, 2), "n_laps": n_laps, "stages": stages, "stage_sweeps": 2, "random_state": 0}
    assert BackoffTreeTopics(**settings).fit(corpus).trace_["n_leaves"].tolist() == expected


def test_new_level_has_the_mean_of_the_other_discounts(corpus):
    settings = {"branching": (3, 4), "alpha": (0.1, 0.3), "eta": (0.2, 0.1), "learn": (), "n_laps": 2}
    model = BackoffTreeTopics(**settings, random_state=0).fit(corpus).expand(corpus, 2, n_laps=1)
    np.testing.assert_allclose(model.alpha_levels_, [0.1, 0.3, 0.2])
    np.testing.assert_allclose(model.eta_levels_, [0.2, 0.1, 0.15])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"branching": (2, 1)}, "2 or more"),
        ({"branching": np.array([2, 1])}, r"branching is \(2, 1\); .* 2 or more"),
        ({"branching": np.array([[2, 3]])}, "2 or more"),
        ({"branching": np.array([2.0, 3.0])}, "2 or more"),
        ({"alpha": ["a", "b"]}, "alpha is .* one discount for each of 2 levels"),
        ({"eta": [[0.1], [0.1, 0.2]]}, "eta is .* one discount for each of 2 levels"),
        ({"branching": "wide", "n_topics": 1}, "at least 2 leaves"),
        ({"alpha": (0.2, 0.2, 0.2)}, "each of 2 levels"),
        ({"alpha": 1.0}, "less than 1"),
        ({"alpha": (0.6, 0.5)}, "less than 1"),
        ({"eta": (0.0, 0.5)}, "positive"),
        ({"learn": ("gamma",)}, "gamma"),
        ({"stages": (2,)}, "increasing numbers of levels"),
        ({"stages": (0,)}, "at least 1"),
        ({"stages": (1,), "stage_sweeps": 4}, "leave no sweep"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(corpus, change, words):
    with pytest.raises(InputError, match=words):
        BackoffTreeTopics(**{**SMALL, **change}).fit(corpus)


def test_documents_that_make_no_sense_are_refused(fitted, corpus):
    with pytest.raises(InvalidCorpus, match="whole"):
        BackoffTreeTopics(**SMALL).fit(corpus.counts * 0.5)
    with pytest.raises(InvalidCorpus, match="all documents are empty"):
        BackoffTreeTopics(**SMALL).fit(np.zeros((3, 4)))
    with pytest.raises(InputError, match="two words or more"):
        fitted.score(np.eye(30, dtype=int)[:2])
    with pytest.raises(InputError, match="differs in its counts"):
        fitted.continue_fit(Corpus.from_counts(corpus.counts * 2, corpus.vocabulary), n_laps=1)
    with pytest.raises(ValueError, match="30"):
        fitted.transform(corpus.counts[:, :29])


def test_what_would_be_dense_is_not_there_or_refused(fitted, monkeypatch):
    assert not hasattr(fitted, "expected_weights")
    assert "`expected_weights`" in type(fitted).__doc__
    monkeypatch.setattr("stickbreak.backoff_tree.estimator._MOST_NUMBERS", 60)
    with pytest.raises(InputError, match="at most 2 leaves at a time"):
        fitted.topic_word_  # noqa: B018
    assert fitted.word_distributions(fitted.leaves_[:2]).shape == (2, 30)


@pytest.mark.parametrize("leaves", [[0.7], [[0, 1]], [[]], ["a"], [True], [[0], [0, 1]], [None], [2**64]], ids=repr)
def test_leaves_are_whole_numbers_in_a_row(fitted, leaves):
    for ask in (fitted.word_distributions, lambda given: fitted.top_words(leaves=given)):
        with pytest.raises(InputError, match=r"leaves is .*; give a list of whole numbers"):
            ask(leaves)


@pytest.mark.parametrize("leaf", [6, -1, 2**63])
def test_leaves_have_tokens(fitted, leaf):
    with pytest.raises(InputError, match=f"leaf {leaf} has no token"):
        fitted.word_distributions([leaf])


def test_no_leaves_have_no_words(fitted):
    assert fitted.word_distributions([]).shape == (0, 30)
    assert fitted.top_words(leaves=[]) == []


@pytest.mark.parametrize("n", [0, -1, 2.5, "3", True])
def test_number_of_words_or_leaves_is_whole(fitted, n):
    for ask in (fitted.top_words, fitted.shown_topics, lambda most: fitted.shown_topics(most=most), fitted.tree_.words):
        with pytest.raises(InputError, match=f" is {n!r}; give a whole number of at least 1"):
            ask(n)


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
