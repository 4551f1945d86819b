"""The second start: weak topics that no split finds, and collections that have none (math.md (C14))."""

from typing import Any

import numpy as np
import pytest

from stickbreak import CollapsedHDP
from stickbreak.collapsed import second_start
from stickbreak.corpus import Corpus
from stickbreak.evaluation import document_completion


def weak_topics(n_documents: int, *, strength: float, seed: int = 0) -> Corpus:
    """Documents of which half is background, and the rest from forty topics that differ little from it."""
    W, K, rng = 1500, 40, np.random.default_rng(seed)
    background = 1 / np.arange(5, W + 5)
    background /= background.sum()
    topics = np.stack([rng.dirichlet(strength * background + 0.002) for _ in range(K)])
    theta = rng.dirichlet(np.full(K, 0.1), size=n_documents)
    counts = [rng.multinomial(80, 0.5 * background + 0.5 * weights @ topics) for weights in theta]
    return Corpus.from_counts(np.array(counts))


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return weak_topics(1200, strength=20.0)


@pytest.fixture(scope="module")
def model(corpus: Corpus) -> CollapsedHDP:
    return CollapsedHDP(n_laps=40, random_state=0).fit(corpus)


def test_weak_topics_that_no_split_finds_are_found(
    corpus: Corpus, model: CollapsedHDP, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(second_start, "FEW_TOPICS", 0)
    splits_alone = CollapsedHDP(n_laps=40, random_state=0).fit(corpus)
    assert splits_alone.n_topics_ < 5
    assert 20 <= model.n_topics_ <= 70
    new = weak_topics(1500, strength=20.0)[1200:]  # the same topics: the draws of documents come last
    observed, held_out = new.halves(seed=0)
    found, alone = (document_completion(m, observed, held_out).active for m in (model, splits_alone))
    assert found > alone + 0.02


def test_the_trace_counts_a_second_start_as_a_birth(model: CollapsedHDP) -> None:
    tried = np.flatnonzero(model.trace_["birth_tried"])
    last = tried[-1]
    assert model.trace_["n_topics"][last] > 20 > model.trace_["n_topics"][last - 1]
    assert model.trace_["birth_accepted"][last] >= 1


@pytest.mark.parametrize("kind", ["one topic", "two topics"])
def test_what_is_not_there_is_not_found(kind: str) -> None:
    rng, W = np.random.default_rng(3), 300
    topics = rng.dirichlet(np.full(W, 0.3), size=2)
    own = rng.integers(2, size=400) * (kind == "two topics")
    corpus = Corpus.from_counts(np.stack([rng.multinomial(60, topics[k]) for k in own]))
    model = CollapsedHDP(n_laps=32, random_state=0).fit(corpus)
    assert model.n_topics_ == 1 + (kind == "two topics")
    assert model.trace_["birth_tried"].sum() > 0


def test_a_refused_second_start_leaves_no_trace_in_the_topics(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = weak_topics(300, strength=1000.0)
    options: dict[str, Any] = {"n_laps": 40, "random_state": 0}
    with_it = CollapsedHDP(**options).fit(corpus)
    monkeypatch.setattr(second_start, "FEW_TOPICS", 0)
    without = CollapsedHDP(**options).fit(corpus)
    assert np.array_equal(with_it.components_, without.components_)
    assert with_it.alpha_ == without.alpha_


def test_threads_give_the_same_bits(corpus: Corpus, model: CollapsedHDP) -> None:
    again = CollapsedHDP(n_laps=40, random_state=0, n_jobs=3).fit(corpus)
    assert np.array_equal(again.components_, model.components_)


@pytest.mark.parametrize("lap", [23, 24, 25])
def test_a_fit_that_goes_on_around_it_ends_at_the_same_bits(corpus: Corpus, model: CollapsedHDP, lap: int) -> None:
    part = CollapsedHDP(n_laps=lap, random_state=0).fit(corpus)
    part.continue_fit(corpus, n_laps=40 - lap)
    assert np.array_equal(part.components_, model.components_)


def test_max_topics_holds_for_a_second_start(corpus: Corpus) -> None:
    assert CollapsedHDP(n_laps=40, max_topics=6, random_state=0).fit(corpus).n_topics_ <= 6


def test_three_standard_errors_decide() -> None:
    old = np.zeros(100)
    assert second_start.is_better(old + 0.3, old)
    assert not second_start.is_better(old - 0.3, old)
    lucky = np.zeros(100)
    lucky[0] = 5.0  # one document says so, and no other
    assert not second_start.is_better(lucky, old)
    assert not second_start.is_better(old, old)
