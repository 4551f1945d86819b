"""The starts: shapes, seeds, order, and what is refused."""

import numpy as np
import pytest
from scipy import sparse

from stickbreak.corpus import Corpus, planted_lda, toy_bars
from stickbreak.corpus.tokens import rounded
from stickbreak.exceptions import InputError
from stickbreak.fitting.engine import Engine
from stickbreak.initialization import (
    STARTS,
    StartSettings,
    make_start,
    resampled,
    start,
    start_from_topics,
    topic_model,
)
from stickbreak.initialization.base import ALONE


@pytest.fixture(scope="module")
def corpus():
    bars, _ = toy_bars(40, size=6, n_bars=4, tokens=30, seed=0)
    counts = bars.counts.toarray()
    counts[[0, 7]] = 0
    return Corpus.from_counts(counts)


def settings_of(**changes):
    return StartSettings(**({"n_topics": 6, "alpha": 0.5, "gamma": 10.0, "eta": 0.1, "seed": 3, "sweeps": 5} | changes))


@pytest.mark.parametrize("name", sorted(STARTS))
def test_start_has_counts_and_weights_that_leave_a_rest(corpus, name):
    made = make_start(name, corpus, settings_of())
    assert made.counts.shape == (corpus.n_words, 6)
    assert made.counts.flags.c_contiguous
    assert made.weights.shape == (6,)
    assert np.isfinite(made.counts).all()
    assert (made.counts >= 0).all()
    assert (made.weights > 0).all()
    assert made.weights.sum() < 1


@pytest.mark.parametrize("name", sorted(STARTS))
def test_start_is_fixed_by_its_seed(corpus, name):
    one, same, other = (make_start(name, corpus, settings_of(seed=seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.counts, same.counts)
    np.testing.assert_array_equal(one.weights, same.weights)
    draws = name != "anchors"  # the vocabulary is too small for a random projection
    assert np.array_equal(one.counts, other.counts) != draws


def test_lda_finds_planted_topics_the_largest_first():
    corpus, truth = planted_lda(600, 200, n_topics=6, mean_tokens=50, seed=0)
    made = make_start("lda", corpus, settings_of(sweeps=50, eta=0.05))
    assert (np.diff(made.counts.sum(axis=0)) <= 0).all()
    np.testing.assert_allclose(made.counts.sum(), corpus.n_tokens)
    apart = np.abs(truth.topic_word[:, None] - (made.counts / made.counts.sum(axis=0)).T[None]).sum(axis=2) / 2
    assert apart.min(axis=1).max() < 0.25


@pytest.mark.parametrize("make", [STARTS["lda"], topic_model])
def test_threads_that_make_a_start_change_no_number(make, corpus, monkeypatch):
    """What goes to an engine goes to that of the fit."""
    alone = make(corpus, settings_of())
    with Engine(3) as threads:
        monkeypatch.setattr(ALONE, "map", None)
        shared = make(corpus, settings_of(engine=threads))
    np.testing.assert_array_equal(shared.counts, alone.counts)
    np.testing.assert_array_equal(shared.weights, alone.weights)


def test_lda_takes_whole_documents_that_fit_at_random_and_scales_up(corpus, monkeypatch):
    monkeypatch.setattr(start, "MOST_TOKENS", int(corpus.n_tokens) // 3)
    sample, rows = start.documents_that_fit(corpus, 3)
    longest = corpus.document_lengths.max()
    assert corpus.n_tokens / 3 - longest - 1 <= sample.n_tokens <= corpus.n_tokens / 3
    np.testing.assert_array_equal(sample.counts.toarray(), corpus.counts.toarray()[rows])
    assert not np.array_equal(rows, start.documents_that_fit(corpus, 4)[1])
    np.testing.assert_allclose(make_start("lda", corpus, settings_of()).counts.sum(), corpus.n_tokens)
    monkeypatch.setattr(start, "MOST_TOKENS", 1)
    assert start.documents_that_fit(corpus, 3)[0].n_documents == 1


def test_pseudo_counts_are_not_scaled_up_with_a_sample(corpus, monkeypatch):
    monkeypatch.setattr(start, "MOST_TOKENS", int(corpus.n_tokens) // 3)
    pseudo = np.zeros((corpus.n_words, 1))
    pseudo[:2] = 50.0
    made = make_start("lda", corpus, settings_of(pseudo=sparse.csr_array(pseudo)))
    np.testing.assert_allclose(made.counts.sum(), corpus.n_tokens + 100.0)
    assert (made.counts[:2, 0] >= 50.0).all()


def test_lda_refuses_more_topics_than_can_be_numbered(corpus):
    with pytest.raises(InputError, match=r"init is 'lda', which starts with 65536 topics at most, but there are 65537"):
        make_start("lda", corpus, settings_of(n_topics=65537))


def test_weights_are_rounded_without_a_bias(corpus):
    weights = Corpus.from_counts(corpus.counts * 0.3)
    mean = np.mean([rounded(weights, seed).counts.toarray() for seed in range(400)], axis=0)
    np.testing.assert_allclose(mean, weights.counts.toarray(), atol=0.13)  # five standard errors of half a token
    assert rounded(corpus, 0) is corpus


def test_topics_are_found_again_in_their_order_and_in_halves(seed):
    corpus, truth = planted_lda(400, 120, n_topics=4, mean_tokens=50, seed=1)
    a = np.full(4, 0.25)
    again = resampled(corpus, truth.topic_word, a, settings_of(n_topics=4, sweeps=10, seed=seed))
    found = (again.counts / again.counts.sum(axis=0)).T
    assert (np.abs(found - truth.topic_word).sum(axis=1) / 2 < 0.2).all()
    halves = resampled(corpus, truth.topic_word, a, settings_of(sweeps=1, seed=seed), np.random.default_rng(seed))
    tokens = halves.counts.sum(axis=0)
    assert tokens.size == 8
    assert (np.minimum(tokens[:4], tokens[4:]) > 0.25 * (tokens[:4] + tokens[4:])).all()


def test_documents_start_takes_filled_documents_and_none_twice_while_there_are_enough(corpus):
    rows = {tuple(row) for row in corpus.counts.toarray()}
    made = make_start("documents", corpus, settings_of(n_topics=38))
    columns = [tuple(column) for column in made.counts.T]
    assert set(columns) <= rows
    assert (made.counts.sum(axis=0) > 0).all()
    assert len(set(columns)) == 38  # all but the two empty ones
    again = make_start("documents", corpus, settings_of(n_topics=100))
    assert again.counts.shape == (corpus.n_words, 100)
    assert len({tuple(column) for column in again.counts.T}) == 38


def test_start_from_counts_keeps_them_the_largest_first(corpus):
    counts = np.zeros((3, corpus.n_words))
    counts[0, :3], counts[1, 3:9], counts[2, 0] = 2, 5, 30  # 6, 30 and 30 counts
    made = start_from_topics(counts, corpus)
    np.testing.assert_array_equal(made.counts, counts[[1, 2, 0]].T)
    np.testing.assert_allclose(made.weights, np.array([30, 30, 6]) / 66 * 0.75)
