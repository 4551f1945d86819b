"""Counting on processes: the same bytes for any number of them, also where one is killed."""

import os
import random
import signal
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


def test_processes_give_the_same_bytes(client: Any, texts: Path, alone: dict[str, bytes], tmp_path: Path) -> None:
    events: list[dict[str, Any]] = []
    with stickbreak.cluster(client):
        done = stickbreak.count_files(texts, tmp_path / "counts", callback=events.append)
    assert contents(tmp_path / "counts") == alone
    assert [event["done"] for event in events if event["stage"] == "count"] == list(range(done.n_jobs + 1))


def test_a_worker_that_is_killed_changes_nothing(
    own_client: Any, texts: Path, alone: dict[str, bytes], tmp_path: Path
) -> None:
    victims = list[int]()

    def kill(event: dict[str, Any]) -> None:
        if event["stage"] == "count" and event["done"] == 1:
            victims.append(next(iter(own_client.run(os.getpid).values())))
            os.kill(victims[-1], signal.SIGKILL)

    with stickbreak.cluster(own_client):
        stickbreak.count_files(texts, tmp_path / "counts", callback=kill)
    assert len(victims) == 1
    assert contents(tmp_path / "counts") == alone


def test_what_is_wrong_in_a_job_is_the_error_of_the_call(client: Any, texts: Path, tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_bytes(texts.read_bytes()[:20_000_000] + b"\n\xff\n")
    with stickbreak.cluster(client), pytest.raises(ReadError, match=r"is not UTF-8 \(byte 0xff\)"):
        stickbreak.count_files(path, tmp_path / "counts")
