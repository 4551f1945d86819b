"""Seeded topics that are not what their seeds say are told of, and others are not."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

from stickbreak import BackoffTreeTopics, TopicModel
from stickbreak.corpus import Corpus
from stickbreak.model.seeds import LEAST, moved_on
from stickbreak_baselines import LDA

from ..steered_problems import documents

KEPT = ["a0", "a1"]
RARE = ["g0", "g1"]  # of a theme that no document has


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return documents(300, [0, 1, 2, 3, 4], 0)


def told(model: Any, corpus: Corpus, caplog: pytest.LogCaptureFixture) -> str:
    with caplog.at_level(logging.WARNING):
        reason = model.fit(corpus).stop_reason_
    assert all(line in reason for line in caplog.messages)
    return " ".join(caplog.messages)


def test_a_topic_has_moved_on_where_its_seeds_are_few_of_its_tokens_in_documents():
    seen = np.array([60.0, 0.0, 20.0, 20.0])
    for of_seeds, moved in ((LEAST * 60 - 0.1, True), (LEAST * 60 + 0.1, False)):
        seen[1] = of_seeds
        counted = np.add(seen, [0, 50, 0, 0])  # pseudo-tokens alone would make it the second word
        for eta in (0.0, 30.0, np.array([10.0, 40.0, 0.5, 200.0])):  # of words, beside the tokens
            phi = (counted + eta) / (counted + eta).sum()
            assert moved_on(phi, [1], 50.0, seen.sum(), eta) is moved


def test_a_seeded_topic_of_other_words_is_named_with_them(corpus, caplog):
    model = TopicModel(seeds={"a": KEPT, "odd": RARE}, seed_tokens=3, n_laps=100, random_state=2)
    note = told(model, corpus, caplog)
    assert note.startswith("Topics whose words moved on from their seeds: 1 (odd: now ")
    assert "0 (a" not in note
    assert not set(note.split("now ")[1].split(")")[0].split(", ")) & set(RARE)
    assert "seed_tokens" in note


@pytest.mark.parametrize(
    "model",
    [
        TopicModel(seeds={"a": KEPT, "c": ["c0"]}, n_laps=80, random_state=0),
        LDA(n_topics=5, seeds={"a": KEPT, "c": ["c0"]}, n_laps=30, random_state=0),
        BackoffTreeTopics(branching=(4, 2), seeds={"a": KEPT, "c": ["c0"]}, n_laps=30, random_state=0),
    ],
    ids=["topics", "lda", "tree"],
)
def test_topics_that_kept_their_seeds_are_not_named(model, corpus, caplog):
    assert told(model, corpus, caplog) == ""


def test_with_bursts_tokens_that_repeat_their_document_say_nothing_of_a_seed(caplog):
    few = documents(20, [0, 1, 2, 3, 4], 0)
    repeated = Corpus.from_counts(few.counts * 20, vocabulary=few.vocabulary)
    model = TopicModel(seeds={"a": KEPT}, n_topics=5, bursts=True, n_laps=40, random_state=0)
    assert told(model, repeated, caplog).startswith("Seeded topics that hold little but their seeds: 0 (a).")
