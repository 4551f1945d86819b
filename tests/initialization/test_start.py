"""The starts: shapes, seeds, order, and what is refused."""

from itertools import islice

import numpy as np
import pytest
from stickbreak.collapsed import ALONE, COUNT_BYTES, cvb0

from stickbreak.corpus import Corpus, toy_bars
from stickbreak.exceptions import InputError
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.executor import ThreadExecutor
from stickbreak.initialization import STARTS, StartSettings, births, make_start, start, start_from_topics


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


def test_collapsed_start_is_cvb0_with_a_larger_eta_sorted_by_size(corpus):
    made = make_start("collapsed", corpus, settings_of())
    *_, state = islice(cvb0(corpus, 6, alpha=0.5, gamma=10.0, eta=start.SMOOTHING * 0.1, seed=3), 5)
    order = np.argsort(-state.S.sum(axis=0))
    np.testing.assert_allclose(made.counts, np.maximum(state.S, 0)[:, order])
    np.testing.assert_allclose(made.weights, state.beta[order])
    assert (np.diff(made.counts.sum(axis=0)) <= 0).all()
    np.testing.assert_allclose(made.counts.sum(), corpus.n_tokens)


@pytest.mark.parametrize("name", ["collapsed", "births"])
def test_threads_that_make_a_start_change_no_number(name, corpus, monkeypatch):
    """All of its work is done by the engine of the fit."""
    make = births if name == "births" else STARTS[name]
    alone, done = make(corpus, settings_of()), []
    with ThreadExecutor(3) as threads:
        monkeypatch.setattr(ALONE, "map", None)
        counting = Engine(threads)
        monkeypatch.setattr(counting, "map", lambda *a: done.append(a) or threads.map(*a))
        shared = make(corpus, settings_of(engine=counting))
    assert len(done) >= 5
    np.testing.assert_array_equal(shared.counts, alone.counts)
    np.testing.assert_array_equal(shared.weights, alone.weights)


def test_collapsed_start_reports_every_sweep(corpus):
    seen = []
    make_start("collapsed", corpus, settings_of(progress=lambda done, total: seen.append((done, total))))
    assert seen == [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5)]


def test_collapsed_start_samples_documents_when_responsibilities_do_not_fit(corpus, monkeypatch):
    """As many whole documents as fit, drawn at random; the counts are scaled up to the corpus."""
    limit = COUNT_BYTES * (corpus.counts.nnz // 3)
    monkeypatch.setattr(start, "RESPONSIBILITY_BYTES", limit)
    seen = []

    def spy(sample, *args, **kwargs):
        seen.append(sample)
        return cvb0(sample, *args, **kwargs)

    monkeypatch.setattr(start, "cvb0", spy)
    made = make_start("collapsed", corpus, settings_of())
    (sample,) = seen
    largest = np.diff(corpus.counts.indptr).max()
    assert limit / COUNT_BYTES - largest <= sample.counts.nnz <= limit / COUNT_BYTES
    assert sample.n_words == corpus.n_words
    np.testing.assert_allclose(made.counts.sum(), corpus.n_tokens)
    make_start("collapsed", corpus, settings_of())
    np.testing.assert_array_equal(seen[0].counts.toarray(), seen[1].counts.toarray())
    make_start("collapsed", corpus, settings_of(seed=4))
    assert not np.array_equal(seen[0].counts.toarray(), seen[2].counts.toarray())


def test_collapsed_start_takes_one_document_when_none_fits(corpus, monkeypatch):
    monkeypatch.setattr(start, "RESPONSIBILITY_BYTES", 1)
    seen = []
    monkeypatch.setattr(start, "cvb0", lambda sample, *a, **k: seen.append(sample) or cvb0(sample, *a, **k))
    made = make_start("collapsed", corpus, settings_of())
    assert seen[0].n_documents == 1
    assert np.isfinite(made.counts).all()


def test_near_uniform_start_is_near_uniform(corpus):
    made = make_start("near-uniform", corpus, settings_of(n_topics=50))
    assert abs(made.counts.mean() - 1.0) < 0.01
    assert abs(made.counts.std() - 0.1) < 0.01
    np.testing.assert_allclose(made.weights, 1 / 51)


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


def test_make_start_refuses_an_unknown_name(corpus):
    with pytest.raises(InputError, match=r"init is 'zufall'; give one of 'collapsed', 'near-uniform', 'documents'"):
        make_start("zufall", corpus, settings_of())


def test_start_from_distributions_shares_the_tokens_evenly(corpus):
    phi = np.random.default_rng(0).dirichlet(np.ones(corpus.n_words), size=4)
    made = start_from_topics(phi, corpus)
    np.testing.assert_allclose(made.counts.sum(axis=0), corpus.n_tokens / 4)
    np.testing.assert_allclose(made.weights, 0.2)
    np.testing.assert_allclose(made.counts / made.counts.sum(axis=0), phi.T)


def test_start_from_counts_keeps_them_the_largest_first(corpus):
    counts = np.zeros((3, corpus.n_words))
    counts[0, :3], counts[1, 3:9], counts[2, 0] = 2, 5, 30  # 6, 30 and 30 counts
    made = start_from_topics(counts, corpus)
    np.testing.assert_array_equal(made.counts, counts[[1, 2, 0]].T)
    np.testing.assert_allclose(made.weights, np.array([30, 30, 6]) / 66 * 0.75)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -0.1])
def test_start_from_topics_refuses_bad_values(corpus, bad):
    topics = np.ones((2, corpus.n_words))
    topics[1, 4] = bad
    with pytest.raises(InputError, match="negative, infinite or missing value or an empty row"):
        start_from_topics(topics, corpus)


def test_start_from_topics_refuses_an_empty_row(corpus):
    topics = np.ones((2, corpus.n_words))
    topics[0] = 0
    with pytest.raises(InputError, match="empty row"):
        start_from_topics(topics, corpus)


@pytest.mark.parametrize("shape", [(36,), (2, 35), (1, 2, 36)])
def test_start_from_topics_refuses_a_shape_that_does_not_fit(corpus, shape):
    with pytest.raises(InputError, match=r"give a row for each topic and 36 columns"):
        start_from_topics(np.ones(shape), corpus)


def test_collapsed_start_smooths_three_times_as_much(monkeypatch, corpus):
    seen = []
    monkeypatch.setattr(start, "cvb0", lambda *a, **k: seen.append(k["eta"]) or cvb0(*a, **k))
    make_start("collapsed", corpus, settings_of())
    assert seen == [pytest.approx(0.3)]


def test_collapsed_start_ends_when_asked(corpus):
    done = []
    settings = settings_of(sweeps=30, progress=lambda at, of: done.append(at), stop=lambda: len(done) == 4)
    make_start("collapsed", corpus, settings)
    assert done == [1, 2, 3, 4]
