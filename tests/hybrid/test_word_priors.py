"""Seeds, and rows of eta, in `HybridHDP`: topics that keep their numbers and pseudo-tokens that no step takes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.steered_problems import WORDS, documents, matched

import stickbreak
from stickbreak import HybridHDP
from stickbreak.corpus import Corpus
from stickbreak.hybrid.global_step import best_eta, best_gamma
from stickbreak.hybrid.state import HybridState, KnownTopics, WordTopics

SEEDS = {"space": ["a0", "a1", "b0", "b1"], "war": ["c0", "c1"], "none": ["f0", "f1"]}  # the last hardly occur
SHORT: dict[str, Any] = {"n_topics": 3, "seeds": SEEDS, "n_laps": 3, "batch_size": 50, "random_state": 0}


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return documents(300, [0, 1, 2, 3, 4], 0)


def own_counts(model: HybridHDP) -> np.ndarray:
    """Expected tokens of its words in the topic of the last seed, which has 50 pseudo-tokens of each."""
    return model.components_[2, [WORDS.index(word) for word in SEEDS["none"]]] - model.eta_


@pytest.mark.parametrize("offset", [None, 0.0])
def test_minibatches_of_a_stream_take_no_pseudo_token(corpus: Corpus, offset: float | None, tmp_path: Path) -> None:
    """Also where the first step, of size one, leaves nothing of what was before."""
    model = HybridHDP(**SHORT, learning_offset=offset, top_level="unbounded", learn=("alpha", "gamma", "eta"))
    for begin in range(0, 300, 60):
        model.partial_fit(corpus[begin : begin + 60])
        if begin == 120:
            model.save(tmp_path / "model")
    assert model.labels_ == {0: "space", 1: "war", 2: "none"}
    assert (own_counts(model) >= 50.0 - 1e-9).all()
    assert model.tables_[2] >= 1.0 - 1e-9
    loaded = stickbreak.load(tmp_path / "model")
    for begin in (180, 240):
        loaded.partial_fit(corpus[begin : begin + 60])
    np.testing.assert_array_equal(loaded.components_, model.components_)


@pytest.mark.parametrize("options", [{"phi_weight": "mean_field"}, {"top_level": "unbounded"}], ids=str)
def test_words_with_larger_eta_are_in_every_topic(corpus: Corpus, options: dict[str, Any], tmp_path: Path) -> None:
    eta = np.full(len(WORDS), 0.02)
    eta[:3] = 5.0
    given: dict[str, Any] = {**SHORT, **options, "n_topics": 6, "seeds": None}
    whole = HybridHDP(**given, eta=eta, learn=("alpha",)).fit(corpus)
    assert whole.rest_word_ == pytest.approx(eta / eta.sum())
    assert (whole.components_ >= eta - 1e-12).all()
    assert sorted(set(matched(whole, 5))) == [0, 1, 2, 3, 4]
    for n_laps in (1, 3):
        again = HybridHDP(**{**given, "n_laps": n_laps}, eta=eta, learn=("alpha",), n_jobs=2)
        again.fit(corpus, checkpoint=tmp_path / "c", resume=True)
    np.testing.assert_array_equal(whole.components_, again.components_)
    whole.save(tmp_path / "model")
    loaded = stickbreak.load(tmp_path / "model", HybridHDP)
    np.testing.assert_array_equal(loaded.eta_, eta)
    np.testing.assert_array_equal(loaded.transform(corpus[:9]), whole.transform(corpus[:9]))
    for model in (loaded, whole):
        model.partial_fit(corpus[:60])
    np.testing.assert_array_equal(loaded.components_, whole.components_)
    named = HybridHDP(**{**given, "seeds": SEEDS}, eta=eta).fit(corpus)
    assert named.labels_ == {0: "space", 1: "war", 2: "none"}


def test_gamma_and_eta_are_learned_from_what_is_not_known() -> None:
    """Known topics without documents change neither, whatever their pseudo-tokens."""
    rng = np.random.default_rng(0)
    S = rng.gamma(0.3, 5.0, (12, 4))
    tables = np.array([3.0, 2.0, 4.0, 1.5])
    known = KnownTopics(np.array([0, 5]), np.array([0, 1]), np.array([900.0, 30.0]), 2)
    wide = np.zeros((12, 6))
    wide[:, 2:], wide[0, 0], wide[5, 1] = S, 900.0, 30.0
    plain = HybridState(WordTopics.from_dense(S), S.sum(axis=0), tables, 1, unbounded=True)
    seeded = HybridState(
        WordTopics.from_dense(wide), wide.sum(axis=0), np.append([1.0, 1.0], tables), 1, unbounded=True, known=known
    )
    assert best_eta(seeded, 0.1) == pytest.approx(best_eta(plain, 0.1))
    found = best_gamma(seeded, 1.0)
    slopes = [_log_posterior(gamma, tables) for gamma in (0.99 * found, found, 1.01 * found)]
    assert slopes[1] >= max(slopes)


def _log_posterior(gamma: float, tables: np.ndarray) -> float:
    """Log posterior, in log gamma, of four topics with these tables beside two known ones with a table each."""
    from scipy.special import gammaln

    value = np.log(gamma) - gamma + tables.size * np.log(gamma)
    return float(value + gammaln(gamma + 2) - gammaln(gamma + 2 + tables.sum()))
