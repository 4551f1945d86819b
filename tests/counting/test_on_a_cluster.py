"""Counting on processes: the same bytes for any number of them, also where one is killed."""

import os
import random
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import stickbreak
from stickbreak.exceptions import ReadError

distributed = pytest.importorskip("distributed")

N_LINES = 120_000  # so many that there are several jobs


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    draw = random.Random(0)
    words = [f"{a}{b}{c}ing" for a in "bcdfg" for b in "aeiou" for c in "lmnrst"]
    path = tmp_path_factory.mktemp("cluster") / "texts.txt"
    path.write_text("".join(" ".join(draw.choices(words, k=40)) + "\n" for _ in range(N_LINES)))
    return path


@pytest.fixture(scope="module")
def alone(texts: Path) -> dict[str, bytes]:
    done = stickbreak.count_files(texts, texts.parent / "alone")
    assert done.n_jobs > 3
    return contents(done.path)


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Start one process; tests ask for more."""
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as local, distributed.Client(local) as made:
        yield made


@pytest.mark.parametrize("workers", [1, 2])
def test_processes_give_the_same_bytes(
    client: Any, texts: Path, alone: dict[str, bytes], tmp_path: Path, workers: int
) -> None:
    client.cluster.scale(workers)
    client.wait_for_workers(workers, timeout=600)
    events: list[dict[str, Any]] = []
    with stickbreak.cluster(client):
        done = stickbreak.count_files(texts, tmp_path / "counts", callback=events.append)
    assert contents(tmp_path / "counts") == alone
    assert [event["done"] for event in events if event["stage"] == "count"] == list(range(done.n_jobs + 1))


def test_a_worker_that_is_killed_changes_nothing(
    client: Any, texts: Path, alone: dict[str, bytes], tmp_path: Path
) -> None:
    victim = next(iter(client.run(os.getpid).values()))
    killer = threading.Timer(0.3, os.kill, (victim, signal.SIGKILL))
    killer.start()
    with stickbreak.cluster(client):
        stickbreak.count_files(texts, tmp_path / "counts")
    killer.join()
    assert not os.path.exists(f"/proc/{victim}")
    assert contents(tmp_path / "counts") == alone


def test_what_is_wrong_in_a_job_is_the_error_of_the_call(client: Any, texts: Path, tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_bytes(texts.read_bytes()[:20_000_000] + b"\n\xff\n")
    with stickbreak.cluster(client), pytest.raises(ReadError, match="is not UTF-8: byte 0xff"):
        stickbreak.count_files(path, tmp_path / "counts")
