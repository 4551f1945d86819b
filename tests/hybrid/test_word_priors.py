"""Seeds, and rows of eta, in `HybridHDP`: topics that keep their numbers and pseudo-tokens that no step takes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.steered_problems import WORDS, documents, matched, topics

import stickbreak
from stickbreak import HybridHDP
from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
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


@pytest.mark.parametrize("top_level", ["truncated", "unbounded"])
def test_seeds_keep_the_words_of_their_themes(corpus: Corpus, top_level: str) -> None:
    seeded = HybridHDP(**SHORT, top_level=top_level).fit(corpus)
    both = topics(5)[:2].mean(axis=0)  # the first seed has words of two themes
    assert 0.5 * np.abs(seeded.topic_word_[0] - both).sum() < 0.5  # a theme of its own may be a free topic, too
    assert matched(seeded, 5)[1] == 2
    assert seeded.labels_ == {0: "space", 1: "war", 2: "none"}
    assert (own_counts(seeded) >= 50.0 - 1e-9).all()
    assert (own_counts(seeded) < 80.0).all()
    assert seeded.topic_shares_.sum() == pytest.approx(1.0)
    assert seeded.topic_shares_[2] < 0.02


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


def test_a_checkpoint_and_threads_change_no_bit(corpus: Corpus, tmp_path: Path) -> None:
    whole = HybridHDP(**SHORT).fit(corpus)
    for n_laps in (1, 3):
        again = HybridHDP(**{**SHORT, "n_laps": n_laps}, n_jobs=2).fit(corpus, checkpoint=tmp_path / "c", resume=True)
    np.testing.assert_array_equal(whole.components_, again.components_)
    joined = whole.joined([[0, 3]])
    assert set(joined.labels_.values()) == {"space", "war", "none"}
    assert joined.topic_shares_.sum() == pytest.approx(1.0)


def test_rows_of_eta_are_the_pseudo_counts_of_seeds(corpus: Corpus) -> None:
    rows = np.full((3, len(WORDS)), 0.02)
    for k, words in enumerate(SEEDS.values()):
        rows[k, [WORDS.index(word) for word in words]] += 100.0 / len(words)
    named = HybridHDP(**{**SHORT, "n_laps": 1}).fit(corpus)
    table = HybridHDP(**{**SHORT, "n_laps": 1, "seeds": None}, eta=rows).fit(corpus)
    np.testing.assert_allclose(table.components_, named.components_)
    assert table.eta_ == 0.02


@pytest.mark.parametrize("phi_weight", ["mean_field", "ratio"])
def test_an_eta_that_is_the_same_for_all_words_is_the_number(corpus: Corpus, phi_weight: str) -> None:
    options: dict[str, Any] = {**SHORT, "n_topics": 6, "seeds": None, "phi_weight": phi_weight, "n_laps": 2}
    number = HybridHDP(**options, eta=0.1, learn=("alpha", "gamma")).fit(corpus)
    by_word = HybridHDP(**options, eta=np.full(len(WORDS), 0.1), learn=("alpha", "gamma")).fit(corpus)
    np.testing.assert_allclose(by_word.components_, number.components_, rtol=1e-6, atol=1e-6)
    assert by_word.objective_ == pytest.approx(number.objective_, abs=1e-8)
    assert (by_word.alpha_, by_word.gamma_) == pytest.approx((number.alpha_, number.gamma_))


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


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"seeds": SEEDS, "init": "random"}, "seeds and init"),
        ({"eta": np.full(96, 0.1), "grow_vocabulary": True}, "lets words join that have none"),
        (
            {"eta": np.full(96, 0.1), "top_level": "unbounded", "phi_weight": "mean_field"},
            "set phi_weight='ratio' or top_level='truncated'",
        ),
        ({"eta": np.full(96, 0.1), "learn": ("eta",)}, "which is not learned"),
        ({"eta": np.full(95, 0.1)}, "documents have 96 words"),
        ({"eta": np.where(np.arange(96) == 3, 0.15, 0.1)[None]}, "keeps no pseudo-count below 0.1"),
        ({"eta": np.full((1, 9), 0.1)}, "documents have 96 words"),
    ],
)
def test_what_cannot_be_is_refused(corpus: Corpus, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        HybridHDP(n_topics=5, n_laps=1, **parameters).fit(corpus)
