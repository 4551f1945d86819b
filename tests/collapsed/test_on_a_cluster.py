"""Fits on the processes of a Dask cluster: the bits of one process, also where one of them is killed."""

import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

import stickbreak
from stickbreak import CollapsedHDP
from stickbreak.collapsed import cutting, moves, sampled, second_start, splitting
from stickbreak.corpus import Corpus, open_corpus, planted_lda, write_corpus
from stickbreak.fitting import cluster as fitting_cluster

from .test_files import same

distributed = pytest.importorskip("distributed")
SETTINGS: dict[str, Any] = {"n_laps": 16, "merge_laps": 9, "random_state": 0, "tolerance": None}


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few turns of several blocks, sums on the workers, few sweeps over halves, a short trial, and a second start."""
    monkeypatch.setattr(cutting, "BLOCK_COUNTS", (600, 1 << 20))
    monkeypatch.setattr(cutting, "TURNS", 2)
    monkeypatch.setattr(fitting_cluster, "FAN_IN", 2)  # workers add up the changes of counts ...
    monkeypatch.setattr(fitting_cluster, "MUCH", 0)  # ... although they are few
    monkeypatch.setattr(splitting, "SCANS", 2)
    monkeypatch.setattr(splitting, "MOST_VISITS", 2)
    monkeypatch.setattr(moves, "FIRST_MERGE", 6)
    monkeypatch.setattr(second_start, "TOPICS", 6)
    monkeypatch.setattr(sampled, "TRIAL", 4)
    monkeypatch.setattr(sampled, "BURN_IN", 1)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return planted_lda(230, 40, n_topics=4, mean_tokens=25, seed=1)[0]


def pids(client: Any) -> list[int]:
    """The processes of the workers."""
    return list(client.run(os.getpid).values())


def test_two_processes_have_the_bits_of_one_and_one_is_killed_in_a_lap(
    own_client: Any, corpus: Corpus, tmp_path: Path
) -> None:
    model = CollapsedHDP(**SETTINGS).fit(corpus)
    assert model.trace_["birth_accepted"].sum() > 0
    assert model.final_passes_ == "sampled"
    write_corpus(corpus, tmp_path / "corpus")
    scratch, victims = tmp_path / "scratch", []

    def kill(event: dict[str, Any]) -> None:
        if event["lap"] == 10:
            victims.append(pids(own_client)[0])
            threading.Timer(0.1, os.kill, (victims[-1], signal.SIGKILL)).start()

    with stickbreak.cluster(own_client, scratch=scratch):
        assert same(CollapsedHDP(**SETTINGS).fit(open_corpus(tmp_path / "corpus"), callback=kill), model)
        assert not list(scratch.glob("*/*"))  # the corpus was read where it is, and all shares are removed
    assert len(victims) == 1
    assert not any(os.path.exists(f"/proc/{victim}") for victim in victims)


def test_one_process_has_the_bits_of_none(corpus: Corpus) -> None:
    settings = {**SETTINGS, "n_laps": 4}
    with stickbreak.cluster(1):
        model = CollapsedHDP(**settings).fit(corpus)
    assert same(CollapsedHDP(**settings).fit(corpus), model)


def test_a_fit_that_was_begun_on_a_cluster_goes_on_without_it(client: Any, corpus: Corpus, tmp_path: Path) -> None:
    with stickbreak.cluster(client, scratch=tmp_path / "scratch"):
        CollapsedHDP(**{**SETTINGS, "n_laps": 5}).fit(corpus, checkpoint=tmp_path / "c")
    resumed = CollapsedHDP(**SETTINGS).fit(corpus, checkpoint=tmp_path / "c", resume=True)
    assert same(resumed, CollapsedHDP(**SETTINGS).fit(corpus))
