"""One chain on the processes of a Dask cluster: the bits of one process, also where one of them is killed."""

import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

import stickbreak
from stickbreak.corpus import open_corpus, write_corpus
from stickbreak.sampling import blocks

from .fits import assert_same, fit

distributed = pytest.importorskip("distributed")
DOCUMENTS: dict[str, Any] = {"representation": "partially-collapsed", "estimate": "average", "n_laps": 7}

SHARDS: dict[str, Any] = {"n_shards": 3, "n_laps": 7}
SEEDED: dict[str, Any] = {**SHARDS, "representation": "franchise", "seeds": {"first": ["w1", "w2"]}}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK_TOKENS", (300, 1 << 20))


@pytest.mark.parametrize("settings", [DOCUMENTS, SHARDS], ids=["documents", "shards"])
def test_two_processes_have_the_bits_of_one_and_one_is_killed_in_a_sweep(
    own_client: Any, corpus, tmp_path: Path, settings: dict[str, Any]
) -> None:
    """A checkpoint of it is gone on from in one process, in memory."""
    model = fit(corpus, **settings)
    write_corpus(corpus, tmp_path / "corpus")
    victims: list[int] = []

    def kill(event: dict[str, Any]) -> None:
        if event.get("lap") == 3:
            victims.append(next(iter(own_client.run(os.getpid).values())))
            threading.Timer(0.05, os.kill, (victims[0], signal.SIGKILL)).start()

    with stickbreak.cluster(own_client, scratch=tmp_path / "scratch"):
        documents = open_corpus(tmp_path / "corpus")
        assert_same(model, fit(documents, **settings, callback=kill))
        fit(corpus, **{**settings, "n_laps": 4}, checkpoint=tmp_path / "c")
    assert not list((tmp_path / "scratch").iterdir())
    assert len(victims) == 1
    assert not os.path.exists(f"/proc/{victims[0]}")
    assert_same(model, fit(corpus, **settings, checkpoint=tmp_path / "c", resume=True))


def test_one_process_has_the_bits_of_none(corpus) -> None:
    each = [{**settings, "n_laps": 4} for settings in (DOCUMENTS, SEEDED)]
    with stickbreak.cluster(1):
        models = [fit(corpus, **settings) for settings in each]
    for settings, model in zip(each, models, strict=True):
        assert_same(fit(corpus, **settings), model)
