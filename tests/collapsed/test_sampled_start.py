"""The sampled start: topics of short documents that splits leave together, and those that need none (math.md (C16))."""

from typing import Any

import numpy as np
import pytest

from stickbreak import CollapsedHDP
from stickbreak.collapsed import laps, sampled_start
from stickbreak.collapsed.state import Priors
from stickbreak.corpus import Corpus, planted_lda


def short_texts(n_documents: int, *, seed: int = 0) -> Corpus:
    """Documents of some five words, of many topics that share a common vocabulary."""
    rng, W, K = np.random.default_rng(seed), 400, 40
    common = 1 / np.arange(8, W + 8)
    common /= common.sum()
    topics = rng.dirichlet(20 * common + 1e-9, K)
    theta = rng.dirichlet(np.full(K, 1 / K), n_documents)
    lengths = np.maximum(rng.poisson(5, n_documents), 1)
    counts = [rng.multinomial(n, 0.1 * common + 0.9 * t @ topics) for n, t in zip(lengths, theta, strict=True)]
    return Corpus.from_counts(np.array(counts))


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return short_texts(2000)


def fitted(corpus: Corpus, **options: Any) -> CollapsedHDP:
    return CollapsedHDP(**{"n_laps": 110, "random_state": 0, **options}).fit(corpus)


def tried(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, Any]]:
    """Note what each sampled start was given, and what it returned."""
    found: list[tuple[Any, Any]] = []
    original = laps.try_sampled_start

    def noted(state: Any, *rest: Any) -> Any:
        before = [shard.shares for shard in state.documents.shards]
        answer = original(state, *rest)
        found.append((answer, all(a is s.shares for a, s in zip(before, state.documents.shards, strict=True))))
        return answer

    monkeypatch.setattr(laps, "try_sampled_start", noted)
    return found


def test_topics_that_splits_leave_together_are_found(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    noted = tried(monkeypatch)
    model = fitted(corpus)
    [(priors, same_shares)] = noted
    assert priors is not None
    assert not same_shares
    assert model.final_passes_ == "sampled"
    monkeypatch.setattr(sampled_start, "gains", lambda *_: np.array([-1.0]))
    splits_alone = fitted(corpus)
    assert splits_alone.n_topics_ < model.n_topics_ <= 100
    new = short_texts(3000)[2000:]  # the same topics, but documents of their own
    assert model.score(new) > splits_alone.score(new)


def test_planted_topics_that_splits_find_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    noted = tried(monkeypatch)
    corpus, _ = planted_lda(3000, 1000, n_topics=20, mean_tokens=6, seed=0)
    model = fitted(corpus)
    assert noted == [(None, True)]
    assert 18 <= model.n_topics_ <= 22


@pytest.mark.parametrize("options", [{"births": False, "n_topics": 20}, {"final_passes": "expected"}])
def test_there_is_none_without_births_or_a_trial(
    corpus: Corpus, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = tried(monkeypatch)
    fitted(corpus[:600], **options)
    assert all(answer == (None, True) for answer in noted)


def test_it_has_no_more_topics_than_are_allowed(corpus: Corpus) -> None:
    assert fitted(corpus, max_topics=30).n_topics_ <= 30


def test_gains_count_for_the_new_topics(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = iter([np.array([2.0, 3.0]), np.array([1.0, 1.0])] * sampled_start.HALVINGS)
    monkeypatch.setattr(sampled_start, "documents_apart", lambda *_: [])
    monkeypatch.setattr(sampled_start, "scores", lambda *_: next(scores))
    mean = sampled_start.Mean(np.ones((1, 1)), np.ones(1), 1)
    priors = Priors(1.0, 1.0, 0.05)
    gain = sampled_start.gains(type("S", (), {"shards": []})(), (mean, priors), (mean, priors), 0, None)  # type: ignore[arg-type]
    np.testing.assert_allclose(gain, [1.0, 2.0])
