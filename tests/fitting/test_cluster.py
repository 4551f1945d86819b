"""Dask: the same bits on processes, also where one of them is killed."""

import os
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stickbreak
from stickbreak.corpus import Corpus
from stickbreak.exceptions import ClusterError
from stickbreak.fitting import cluster as cluster_of_room
from stickbreak.fitting.cluster import DaskWorkers
from stickbreak.model import topic_estimator

from .faults import die_once

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return stickbreak.corpus.toy_bars(n_documents=80, tokens=20, seed=1)[0]


def mortal_square(shared: tuple[Path, int], job: int) -> int:
    """Square; the first process to do job 5 dies of it."""
    if job == 5:
        die_once(shared[0])
    return shared[1] * job * job


def endless(marker: Path, job: int) -> None:
    """Begin, and come to no end while the test lasts."""
    marker.touch()
    time.sleep(1200)


def sums(shared: Any, job: Any) -> Any:
    """Return as much as came with the job."""
    return job + shared.sum()


def test_processes_give_the_same_bits(client: Any, corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topic_estimator, "JOB_COUNTS", 150)
    model = stickbreak.TopicModel(n_laps=3, random_state=0).fit(corpus)
    expected = model.transform(corpus)
    with stickbreak.cluster(client):
        found = model.transform(corpus)
        score = model.score(corpus)
    assert np.array_equal(found, expected)
    assert score == model.score(corpus)


def test_processes_sample_the_same_bits(client: Any, corpus: Corpus) -> None:
    model = stickbreak.GibbsHDP(n_topics=5, n_laps=4, burn_in=2, thin=1, n_chains=3, random_state=0).fit(corpus)
    with stickbreak.cluster(client):
        found = stickbreak.GibbsHDP(**model.get_params()).fit(corpus)
    assert np.array_equal(found.components_, model.components_)
    assert np.array_equal(found.trace_["objective"], model.trace_["objective"])


def test_what_travels_arrives_as_it_was(client: Any, tmp_path: Path) -> None:
    workers = DaskWorkers(client, tmp_path)
    found = workers.run(sums, [np.zeros(1000), np.zeros(500)], np.ones(2000))
    np.testing.assert_array_equal(np.concatenate(found), 2000.0)
    assert all(each.flags.writeable for each in found)  # kernels are compiled for such arrays


def test_results_come_in_order_although_a_worker_is_killed(own_client: Any, tmp_path: Path) -> None:
    workers, marker = DaskWorkers(own_client, tmp_path / "scratch"), tmp_path / "died"
    assert workers.run(mortal_square, range(16), (marker, 3)) == [3 * i * i for i in range(16)]
    assert marker.exists()


def halves(shared: tuple[float, Path | None], job: int) -> Any:
    """Return a part of a sum; the first process to do job 5 dies."""
    factor, marker = shared
    if marker is not None and job == 5:
        die_once(marker)
    return np.full(10_000, job * factor)


def total(parts: Any) -> Any:
    """Add parts; say how many are added at once."""
    assert len(parts) <= 3
    return np.sum(parts, axis=0)


def test_many_parts_are_added_by_the_workers(own_client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_of_room, "FAN_IN", 3)
    workers, marker = DaskWorkers(own_client, tmp_path / "scratch"), tmp_path / "died"
    (part,) = workers.run_summed(halves, range(14), (0.5, marker), total)
    assert marker.exists()
    np.testing.assert_array_equal(part, 0.5 * sum(range(14)))
    assert len(workers.run_summed(halves, range(3), (1.0, None), total)) == 3  # too few


def test_a_call_ends_where_all_workers_have_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_of_room, "WAIT", 1)
    options = {
        "memory_limit": "512MiB",
        "n_workers": 1,
        "threads_per_worker": 1,
        "processes": True,
        "dashboard_address": ":0",
    }
    with distributed.LocalCluster(**options) as local, distributed.Client(local) as made:
        begun = tmp_path / "begun"

        def leave() -> None:
            while not begun.exists():
                time.sleep(0.01)
            local.scale(0)

        leaver = threading.Thread(target=leave, daemon=True)
        leaver.start()
        with pytest.raises(ClusterError, match=r"have gone and none came in 1 seconds, .* of 512 MiB was too small"):
            DaskWorkers(made, tmp_path / "scratch").run(endless, [begun], begun)
        leaver.join()


def test_a_scheduler_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stickbreak.fitting.cluster.ANSWER", 1)
    with (
        pytest.raises(
            ClusterError,
            match=r"no Dask scheduler answers at .tcp://127\.0\.0\.1:9",
        ),
        stickbreak.cluster("tcp://127.0.0.1:9"),
    ):
        pass


def test_documents_are_stored_once_and_removed(client: Any, corpus: Corpus) -> None:
    with stickbreak.cluster(client) as workers:
        place = workers.place(corpus)
        assert workers.place(Corpus.from_counts(corpus.counts.copy())) == place
        assert os.path.isdir(place.folder)
    assert not os.path.exists(place.folder)


def test_workers_fetch_the_rows_of_a_url(client: Any, corpus: Corpus, tmp_path: Path) -> None:
    stickbreak.corpus.write_corpus(corpus, tmp_path / "counts")
    url = f"local://{tmp_path}/counts"  # read as storage elsewhere is: no path of it is opened
    fetched = stickbreak.corpus.open_corpus(url)
    options: dict[str, Any] = {"n_laps": 2, "random_state": 0}
    expected = stickbreak.TopicModel(**options).fit(corpus)
    with stickbreak.cluster(client) as workers:
        assert workers.place(fetched).folder == url
        model = stickbreak.TopicModel(**options).fit(fetched)
        assert not list(workers.scratch.glob("corpus-*"))
    assert np.array_equal(model.components_, expected.components_)


def test_processes_of_this_machine_keep_the_memory_that_jobs_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dask has it given back at once, and new pages for every job cost a fifth of its time."""
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    with stickbreak.cluster(1) as workers:
        assert workers.run(told_of_memory, [0], None) == [(None, "67108864", "1")]
        workers.run(new_pages, [0], None)
        assert workers.run(new_pages, [0, 1, 2], None) == pytest.approx([0, 0, 0], abs=1000)


def told_of_memory(shared: None, job: int) -> tuple[str | None, ...]:
    """Say what the process was told of memory that is freed, and of threads of linear algebra."""
    return tuple(map(os.environ.get, ("MALLOC_TRIM_THRESHOLD_", "MALLOC_TOP_PAD_", "OPENBLAS_NUM_THREADS")))


def new_pages(shared: None, job: int) -> int:
    """Return how many pages of memory the system had to give for 20 MB, in many arrays: 5,000 if it gives all."""
    resource = pytest.importorskip("resource")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    assert len([np.ones(1 << 17) for _ in range(20)]) == 20
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
