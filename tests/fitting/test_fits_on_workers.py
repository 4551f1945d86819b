"""Fits of the variational and the hybrid family on workers: the bits of one process, and jobs that name documents."""

import gc
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz.models import FITS, digest

import stickbreak
from stickbreak.exceptions import ReadError, WriteError
from stickbreak.fitting.engine import use_workers

from .test_engine import Travelling

MOST_BYTES = 1_000  # of a job
NAMES = ["variational", "variational stochastic", "hybrid", "gaussian", "gaussian mixture"]


def several(name: str, at_once: int) -> dict[str, Any]:
    """Parameters of a fit with several batches in a lap, some of them visited together."""
    small = {"batch_size": 9} if name == "hybrid" else {"n_batches": 4}
    return {"batches_at_once": at_once, **small}


@cache
def expected(name: str, at_once: int) -> str:
    """The hash of a fit in one thread of this process."""
    data = FITS[name].documents()
    return digest(FITS[name].model(**several(name, at_once)).fit(data), data)


@pytest.fixture
def workers(tmp_path: Path) -> Travelling:
    folder = tmp_path / "workers"
    folder.mkdir()
    return Travelling(folder)


@pytest.mark.parametrize("at_once", [1, 5])  # one by one, or (there are four) all together
@pytest.mark.parametrize("name", NAMES)
def test_a_fit_on_workers_is_that_of_one_process(name: str, at_once: int, workers: Travelling) -> None:
    data = FITS[name].documents()
    with use_workers(workers):
        model = FITS[name].model(**several(name, at_once)).fit(data)
    assert digest(model, data) == expected(name, at_once)
    assert workers.jobs >= 4 * model.n_laps_
    assert workers.bytes < MOST_BYTES


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n_jobs", [2, 4])
def test_a_fit_in_threads_is_that_of_one_thread(name: str, n_jobs: int) -> None:
    """Groups of two batches: each in a thread, or both in all of four threads."""
    data = FITS[name].documents()
    model = FITS[name].model(n_jobs=n_jobs, **several(name, 2)).fit(data)
    assert digest(model, data) == expected(name, 2)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("hybrid", "variational stochastic")])
def test_a_fit_with_scratch_is_that_of_memory_and_leaves_no_file(name: str, tmp_path: Path) -> None:
    data, scratch = FITS[name].documents(), tmp_path / "deep" / "scratch"
    sizes: list[int] = []

    def count(event: dict[str, Any]) -> None:
        if "lap" in event:
            sizes.append(len([file for file in scratch.rglob("*-*") if file.is_file()]))

    gc.disable()  # files go with what they are of, and do not wait for the collector
    try:
        model = FITS[name].model(scratch=scratch, **several(name, 2)).fit(data, callback=count)
        assert set(sizes) == {8}  # statistics and documents of four batches
        assert not list(scratch.iterdir())
    finally:
        gc.enable()
    assert digest(model, data) == expected(name, 2)


def test_a_model_whose_files_are_gone_can_be_saved_and_goes_on(tmp_path: Path) -> None:
    fit, data = FITS["variational"], FITS["variational"].documents()
    model = fit.model(fit.n - 2, scratch=tmp_path / "scratch", **several("variational", 1)).fit(data)
    gc.collect()
    assert not list((tmp_path / "scratch").iterdir())
    model.save(tmp_path / "model")
    loaded = stickbreak.load(tmp_path / "model")
    assert digest(loaded.continue_fit(data, n_laps=2), data) == expected("variational", 1)
    assert digest(model.continue_fit(data, n_laps=2), data) == expected("variational", 1)


@pytest.mark.parametrize("name", NAMES)
def test_a_fit_that_was_cut_on_workers_goes_on_without_them(name: str, tmp_path: Path, workers: Travelling) -> None:
    fit, data, options = FITS[name], FITS[name].documents(), several(name, 2)
    with use_workers(workers):
        fit.model(fit.n - 3, **options).fit(data, checkpoint=tmp_path / "checkpoint")
    resumed = fit.model(**options).fit(data, checkpoint=tmp_path / "checkpoint", resume=True)
    assert digest(resumed, data) == expected(name, 2)
    with use_workers(workers):
        fit.model(fit.n - 3, **options).fit(data, checkpoint=tmp_path / "other")
        again = fit.model(**options).fit(data, checkpoint=tmp_path / "other", resume=True)
    assert digest(again, data) == expected(name, 2)


class Forgetful(Travelling):
    """Does every job twice, as a cluster does that has lost a worker after its work."""

    def run(self, work: Callable[[Any, Any], Any], jobs: Any, shared: Any) -> list[Any]:
        super().run(work, jobs, shared)
        return super().run(work, jobs, shared)


@pytest.mark.parametrize("name", NAMES)
def test_jobs_that_are_done_twice_change_nothing(name: str, tmp_path: Path) -> None:
    data = FITS[name].documents()
    with use_workers(Forgetful(tmp_path)):
        model = FITS[name].model(**several(name, 2)).fit(data)
    assert digest(model, data) == expected(name, 2)


def test_a_scratch_folder_that_is_emptied_ends_the_fit_with_a_sentence(tmp_path: Path) -> None:
    data = FITS["variational"].documents()

    def empty(event: dict[str, Any]) -> None:
        for file in (tmp_path / "scratch").rglob("*-*"):
            if file.is_file():
                file.unlink()

    with pytest.raises(ReadError, match="leave the scratch folder alone while a fit runs"):
        FITS["variational"].model(scratch=tmp_path / "scratch").fit(data, callback=empty)


def test_a_full_disk_ends_the_fit_with_a_sentence_and_leaves_no_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, content: bytes) -> int:
        with path.open("wb") as file:
            file.write(content[:10])
        raise OSError(28, os.strerror(28))

    scratch = tmp_path / "scratch"
    model = FITS["variational"].model(scratch=scratch)
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(WriteError, match="disk is full"):
        model.fit(FITS["variational"].documents())
    gc.collect()
    assert not [file for file in scratch.rglob("*") if file.is_file()]


def test_a_group_of_minibatches_is_a_larger_one() -> None:
    """A stochastic step of vectors towards two batches is that towards their union."""
    vectors = np.asarray(FITS["gaussian mixture"].documents())
    settings = {"n_components": 4, "schedule": "stochastic", "n_laps": 3, "random_state": 0, "moves": ()}
    whole = stickbreak.GaussianDPMixture(n_batches=1, **settings).fit(vectors)
    cut = stickbreak.GaussianDPMixture(n_batches=5, batches_at_once=5, **settings).fit(vectors)
    np.testing.assert_allclose(cut.statistics_, whole.statistics_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(cut.rho_, whole.rho_, rtol=1e-8)
    assert cut.n_steps_ == whole.n_steps_ == 3
