"""The default in parts: the bits of one thread in memory, also in files, on threads, on processes, and after a kill."""

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stickbreak
from stickbreak import TopicModel
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.topics import laps

SETTINGS: dict[str, Any] = {"n_laps": 62, "random_state": 0}  # topics merge from pass 40 on
LABELS = [None if d % 3 else f"L{d % 2}" for d in range(150)]


@pytest.fixture(autouse=True)
def parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four parts of a small collection."""
    monkeypatch.setattr(laps, "PART", 500)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return planted_lda(150, 40, n_topics=4, mean_tokens=25, seed=1)[0]


@pytest.fixture
def model(corpus: Corpus) -> TopicModel:
    return TopicModel(**SETTINGS).fit(corpus)


def assert_same(fitted: TopicModel, model: TopicModel) -> None:
    for name in ("components_", "topic_prior_"):
        np.testing.assert_array_equal(getattr(fitted, name), getattr(model, name))
    np.testing.assert_array_equal(fitted.trace_["objective"], model.trace_["objective"])


@pytest.mark.parametrize("labels", [None, LABELS])
def test_files_and_threads_change_no_bit(corpus: Corpus, labels: Any, tmp_path: Path) -> None:
    seen = list[Path]()

    def look(event: dict[str, Any]) -> None:
        if event.get("lap") == 50:
            seen.extend((tmp_path / "new").iterdir())

    given = {**SETTINGS, "seeds": {"one": ["w1", "w2"]}}
    model = TopicModel(**given).fit(corpus, labels=labels)
    assert model.n_topics_ < model.started_
    for threads, scratch in ((3, None), (1, tmp_path / "new"), (2, tmp_path / "new")):
        fitted = TopicModel(**given, n_jobs=threads, scratch=scratch)
        assert_same(fitted.fit(corpus, labels=labels, callback=look if scratch else None), model)
    assert seen
    assert not list((tmp_path / "new").iterdir())


def test_fits_go_on_with_files_or_without(corpus: Corpus, model: TopicModel, tmp_path: Path) -> None:
    for places in ((None, tmp_path / "s"), (tmp_path / "s", None)):
        folder = tmp_path / str(places[0] is None)
        begun = TopicModel(**{**SETTINGS, "n_laps": 45}, scratch=places[0]).fit(corpus, checkpoint=folder)
        resumed = TopicModel(**SETTINGS, scratch=places[1]).fit(corpus, checkpoint=folder, resume=True)
        assert_same(resumed, model)
        assert_same(begun.continue_fit(corpus, n_laps=17), model)


def test_updates_in_files_have_the_bits_of_memory(corpus: Corpus, tmp_path: Path) -> None:
    more = planted_lda(150, 40, n_topics=4, mean_tokens=25, seed=2)[0]
    here, there = (TopicModel(**SETTINGS, scratch=place).fit(corpus).update(more) for place in (None, tmp_path / "s"))
    assert_same(there, here)


@pytest.mark.long  # processes that start and die
def test_two_processes_have_the_bits_of_one_and_one_is_killed(
    own_client: Any, corpus: Corpus, model: TopicModel, tmp_path: Path
) -> None:
    scratch, victims = tmp_path / "scratch", list[int]()

    def kill(event: dict[str, Any]) -> None:
        if event.get("lap") == 41:
            victims.append(next(iter(own_client.run(os.getpid).values())))
            os.kill(victims[-1], signal.SIGKILL)

    with stickbreak.cluster(own_client, scratch=scratch):
        fitted = TopicModel(**SETTINGS).fit(corpus, callback=kill)
        assert not list(scratch.glob("*/*"))
    assert_same(fitted, model)
    assert len(victims) == 1
