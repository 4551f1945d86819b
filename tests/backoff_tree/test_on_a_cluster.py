"""Fits on the processes of a Dask cluster: the bits of one process, also where one of them is killed."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

import stickbreak
from stickbreak import BackoffTreeTopics
from stickbreak.backoff_tree import document_blocks, laps
from stickbreak.corpus import Corpus, open_corpus, planted_lda, write_corpus
from stickbreak.fitting import cluster as fitting_cluster

from .fits import assert_same

distributed = pytest.importorskip("distributed")
SETTINGS: dict[str, Any] = {"branching": (2, 3, 4), "stages": (2,), "stage_sweeps": 2, "n_laps": 5, "learn_every": 2}
SETTINGS["random_state"] = 0


@pytest.fixture(autouse=True)
def cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several blocks, whose counts are added up by the workers."""
    monkeypatch.setattr(document_blocks, "BLOCK_TOKENS", (500, 1 << 20))
    monkeypatch.setattr(fitting_cluster, "FAN_IN", 2)
    monkeypatch.setattr(fitting_cluster, "LARGE", 0)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return planted_lda(120, 30, n_topics=4, mean_tokens=25, seed=1)[0]


@pytest.fixture(scope="module")
def model(corpus: Corpus) -> BackoffTreeTopics:
    return BackoffTreeTopics(**SETTINGS).fit(corpus)


def test_two_processes_have_the_bits_of_one_and_one_is_killed(
    own_client: Any, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(laps, "FIRST_TOKENS", 700)
    model = BackoffTreeTopics(**SETTINGS).fit(corpus)
    assert model.trace_["n_tokens"][0] < corpus.n_tokens
    write_corpus(corpus, tmp_path / "corpus")
    scratch, victims = tmp_path / "scratch", list[int]()

    def kill(event: dict[str, Any]) -> None:
        if event.get("lap") == 3:  # before the other documents join
            victims.append(next(iter(own_client.run(os.getpid).values())))
            os.kill(victims[-1], signal.SIGKILL)

    with stickbreak.cluster(own_client, scratch=scratch):
        fitted = BackoffTreeTopics(**SETTINGS).fit(open_corpus(tmp_path / "corpus"), callback=kill)
        assert not list(scratch.glob("*/*"))  # the corpus was read where it is, and all leaves are removed
    assert_same(fitted, model)
    assert len(victims) == 1


def test_a_fit_that_was_begun_on_a_cluster_goes_on_without_it(
    client: Any, corpus: Corpus, model: BackoffTreeTopics, tmp_path: Path
) -> None:
    settings = {**SETTINGS, "n_laps": 3}
    with stickbreak.cluster(client, scratch=tmp_path / "scratch"):
        BackoffTreeTopics(**settings).fit(corpus, checkpoint=tmp_path / "c")
    assert_same(BackoffTreeTopics(**SETTINGS).fit(corpus, checkpoint=tmp_path / "c", resume=True), model)
