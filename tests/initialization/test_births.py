"""The start that finds the number of topics too."""

import numpy as np
import pytest

from stickbreak import CollapsedHDP
from stickbreak.corpus import Corpus, toy_bars
from stickbreak.initialization import StartSettings, births, start
from stickbreak.numerics.streams import seed_from


@pytest.fixture(scope="module")
def corpus():
    return toy_bars(200, size=6, n_bars=4, tokens=60, seed=0)[0]


def settings_of(**changes):
    return StartSettings(
        **({"n_topics": 1, "alpha": 1.0, "gamma": 1.0, "eta": 0.03, "seed": 3, "sweeps": 40} | changes)
    )


def test_births_find_the_bars_from_one_topic(corpus):
    made = births(corpus, settings_of())
    assert made.counts.shape == (corpus.n_words, made.weights.size)
    assert 4 <= made.weights.size <= 6
    assert (made.weights > 0).all()
    assert made.weights.sum() < 1
    assert (np.diff(made.counts.sum(axis=0)) <= 0).all()
    np.testing.assert_allclose(made.counts.sum(), corpus.n_tokens, rtol=1e-3)


def test_births_are_a_collapsed_fit_that_ends_in_its_moves(corpus):
    fit = CollapsedHDP(eta=0.03, n_laps=12, merge_laps=12, tolerance=None, final_passes="expected", random_state=3).fit(
        corpus
    )
    made = births(corpus, settings_of(sweeps=12, seed=seed_from(3)))
    assert made.weights.size == fit.n_topics_
    np.testing.assert_allclose(made.counts.T, fit.components_ - fit.eta_, rtol=1e-6, atol=1e-6)


def test_births_report_every_sweep_and_stop_when_asked(corpus):
    seen = []
    births(corpus, settings_of(sweeps=4, progress=lambda done, total: seen.append((done, total))))
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    births(corpus, settings_of(progress=lambda done, total: seen.append((done, total)), stop=lambda: True))
    assert seen[4:] == [(1, 40)]


def test_births_take_a_sample_when_the_shares_do_not_fit(corpus, monkeypatch):
    monkeypatch.setattr(start, "RESPONSIBILITY_BYTES", 220 * (corpus.counts.nnz // 3))
    made = births(corpus, settings_of(sweeps=6))
    np.testing.assert_allclose(made.counts.sum(), corpus.n_tokens, rtol=1e-3)


def test_births_suit_the_smallest_collection():
    made = births(Corpus.from_counts(np.array([[1, 0]])), settings_of())
    assert made.weights.size == 1
