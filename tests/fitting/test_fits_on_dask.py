"""Fits of the variational and the hybrid family on Dask: the bits of one process, also where a worker is killed."""

import os
import signal
from functools import cache
from typing import Any

import pytest
from fuzz.models import FITS, digest

import stickbreak

distributed = pytest.importorskip("distributed")

SETTINGS: dict[str, dict[str, Any]] = {
    "variational": {"n_batches": 4, "batches_at_once": 2, "n_laps": 4, "moves": ("merge", "delete"), "learn": ("eta",)},
    "variational stochastic": {"n_batches": 4, "batches_at_once": 2, "n_laps": 2},
    "hybrid": {"batch_size": 9, "batches_at_once": 3, "n_laps": 2},
    "gaussian": {"n_batches": 3, "batches_at_once": 3, "n_laps": 2},
}


def model(name: str, **more: Any) -> Any:
    return FITS[name].model().set_params(**{**SETTINGS[name], **more})


@cache
def expected(name: str) -> str:
    data = FITS[name].documents()
    return digest(model(name).fit(data), data)


@pytest.mark.parametrize("name", SETTINGS)
def test_two_processes_give_the_bits_of_one(client: Any, name: str) -> None:
    data = FITS[name].documents()
    with stickbreak.cluster(client):
        fitted = model(name).fit(data)
    assert digest(fitted, data) == expected(name)


@pytest.mark.parametrize("name", ["variational", "hybrid"])
def test_a_worker_that_is_killed_in_the_middle_of_a_fit_changes_nothing(own_client: Any, name: str) -> None:
    data, killed = FITS[name].documents(), list[int]()

    def kill(event: dict[str, Any]) -> None:
        if event.get("lap") == 1:
            killed.append(next(iter(own_client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    with stickbreak.cluster(own_client):
        fitted = model(name).fit(data, callback=kill)
    assert digest(fitted, data) == expected(name)
    assert len(killed) == 1


def test_a_fit_is_cut_in_one_process_and_goes_on_in_two(client: Any, tmp_path: Any) -> None:
    data, checkpoint = FITS["variational"].documents(), tmp_path / "checkpoint"
    model("variational", n_laps=2).fit(data, checkpoint=checkpoint)
    with stickbreak.cluster(client, scratch=tmp_path / "scratch"):
        fitted = model("variational", scratch=tmp_path / "mine").fit(data, checkpoint=checkpoint, resume=True)
    assert digest(fitted, data) == expected("variational")
    assert not list((tmp_path / "scratch").iterdir())
