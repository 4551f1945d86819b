"""The start of many short documents from the words beside a word, which the hybrid takes."""

from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from stickbreak import HybridHDP
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.initialization import Start, StartSettings, companions

MODULE = import_module("stickbreak.initialization.companions")  # the function has the same name
SETTINGS = StartSettings(n_topics=50, alpha=1.0, gamma=1.0, eta=0.1, seed=3)


@pytest.fixture(scope="module")
def short() -> tuple[Corpus, Any]:
    """40 topics in short documents that tell them apart."""
    return planted_lda(8000, 600, n_topics=40, mean_tokens=10, alpha=0.03, seed=2)


def test_topics_are_those_that_are_planted(short: tuple[Corpus, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, truth = short
    assert companions(corpus, SETTINGS) is None  # of few counts
    monkeypatch.setattr(MODULE, "LEAST", 1000)
    start = companions(corpus, SETTINGS)
    assert isinstance(start, Start)
    assert start.counts.shape == (600, 50)
    assert (start.counts.sum() - start.counts.size * 0.1) == pytest.approx(corpus.n_tokens)
    assert start.counts.min() >= 0.1
    assert start.weights.sum() <= 1
    topics = start.counts / start.counts.sum(axis=0)
    distances = np.abs(truth.topic_word[:, None] - topics.T[None]).sum(axis=2)
    assert np.unique(distances.argmin(axis=1)).size >= 34  # nearly each of the 40 has one of its own


def test_there_are_as_many_topics_as_are_asked_for_or_none(
    short: tuple[Corpus, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MODULE, "LEAST", 1000)
    start = companions(short[0], replace(SETTINGS, n_topics=300))  # more than the least number of dimensions
    assert start is not None
    assert start.counts.shape == (600, 300)
    assert companions(short[0], replace(SETTINGS, n_topics=550)) is None  # too few words are in enough documents


@pytest.mark.parametrize("n_documents", [1500, 8000])
def test_long_documents_and_those_of_one_topic_begin_otherwise(
    n_documents: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MODULE, "LEAST", 1000)
    n_topics, tokens = (20, 60) if n_documents == 1500 else (1, 10)
    corpus = planted_lda(n_documents, 600, n_topics=n_topics, mean_tokens=tokens, seed=2)[0]
    assert companions(corpus, SETTINGS) is None


def test_the_hybrid_begins_with_them_and_a_part_of_a_stream_does_not(
    short: tuple[Corpus, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, truth = short
    given: dict[str, Any] = {"n_topics": 50, "n_laps": 1, "learn": (), "random_state": 0}
    monkeypatch.setattr(MODULE, "LEAST", 1000)
    model, again = HybridHDP(**given).fit(corpus), HybridHDP(**given, n_jobs=2).fit(corpus)
    np.testing.assert_array_equal(again.components_, model.components_)
    near = np.abs(truth.topic_word[:, None] - model.topic_word_[None]).sum(axis=2).min(axis=1)
    assert np.mean(near < 1.3) > 0.8  # after one pass; two different topics are nearly 2 apart
    asked = []
    monkeypatch.setattr("stickbreak.hybrid.starts.companions", lambda *these: asked.append(these))
    HybridHDP(**given, total_documents=20_000).partial_fit(corpus[:1000])
    HybridHDP(**given, init="random").fit(corpus)
    assert not asked
