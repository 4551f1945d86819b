"""Chains and documents on threads and on the workers of a cluster: the same bits as in one thread."""

from collections.abc import Iterator

import numpy as np
import pytest
from tests.fitting.test_engine import MOST_BYTES, Travelling

import stickbreak
from stickbreak.corpus import open_corpus, write_corpus
from stickbreak.fitting.engine import use_workers
from stickbreak.sampling import blocks, chain_jobs, counts, partially_collapsed

from .fits import assert_same, fit

DOCUMENTS = {"representation": "partially-collapsed", "estimate": "average"}
CHAINS = {
    "average": {"n_chains": 3, "estimate": "average"},
    "best": {"n_chains": 2, "estimate": "best", "split_merge_trials": 3},
    "last": {"n_chains": 2, "estimate": "last"},
    "shards": {"n_chains": 2, "n_shards": 3},
    "franchise": {"n_chains": 2, "representation": "franchise"},
    "partially collapsed": {"n_chains": 2, **DOCUMENTS},
}
SHARDS = {
    "indicator": {"n_shards": 3, "split_merge_trials": 2},
    "many tables": {"n_shards": 2, "alpha": 40.0, "learn": (), "subtopic_trials": 0},  # more than are tabulated
    "root": {"n_shards": 3, "root": "indicator", "estimate": "average"},
    "direct": {"n_shards": 4, "representation": "direct"},
    "franchise": {"n_shards": 3, "representation": "franchise"},
    "augmented": {"n_shards": 3, "representation": "augmented"},
}


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("PART_TOKENS", 90), ("BLOCK", 7)):
        monkeypatch.setattr(partially_collapsed, name, value)
    monkeypatch.setattr(counts, "PART_TOKENS", 90)
    monkeypatch.setattr(blocks, "BLOCK_TOKENS", (300, 1 << 20))


@pytest.fixture
def workers(tmp_path) -> Iterator[Travelling]:
    folder = tmp_path / "scratch"
    folder.mkdir()
    found = Travelling(folder)
    with use_workers(found):
        yield found


@pytest.mark.usefixtures("small_parts")
def test_documents_on_threads_and_workers_change_no_bit(corpus, workers):
    with use_workers(None):
        expected = fit(corpus, **DOCUMENTS)
        for n_jobs in (2, 4):
            assert_same(expected, fit(corpus, **DOCUMENTS, n_jobs=n_jobs))
    assert_same(expected, fit(corpus, **DOCUMENTS))
    assert workers.jobs > 8 * 3
    assert workers.bytes < MOST_BYTES  # a job names its documents and topics


@pytest.mark.parametrize("changes", SHARDS.values(), ids=SHARDS)
def test_shards_of_one_chain_on_threads_and_workers_change_no_bit(corpus, workers, changes):
    with use_workers(None):
        expected = fit(corpus, **changes)
        for n_jobs in (2, 4):
            assert_same(expected, fit(corpus, **changes, n_jobs=n_jobs))
    found = fit(corpus, **changes)
    assert_same(expected, found)
    for name, array in expected._kept.arrays.items():
        np.testing.assert_array_equal(array, found._kept.arrays[name], err_msg=name)
    passes = 2 if changes.get("representation") in ("franchise", "augmented") else 1  # tokens, then dishes
    assert workers.jobs == 8 * passes * changes["n_shards"]


def test_shards_on_workers_go_on_without_them(corpus, workers, tmp_path):
    changes = {**SHARDS["indicator"], "n_laps": 4}
    fit(corpus, **changes, checkpoint=tmp_path / "c")
    with use_workers(None):
        resumed = fit(corpus, **SHARDS["indicator"], checkpoint=tmp_path / "c", resume=True)
        assert_same(resumed, fit(corpus, **SHARDS["indicator"]))


def test_size_of_the_parts_changes_no_bit(corpus, monkeypatch):
    expected = fit(corpus, **DOCUMENTS)
    monkeypatch.setattr(partially_collapsed, "PART_TOKENS", 31)
    monkeypatch.setattr(counts, "PART_TOKENS", 31)
    assert_same(expected, fit(corpus, **DOCUMENTS))


@pytest.mark.parametrize("changes", CHAINS.values(), ids=CHAINS)
def test_chains_on_workers_are_those_of_one_process(corpus, workers, changes):
    with use_workers(None):
        expected = fit(corpus, **changes)
    found = fit(corpus, **changes)
    assert_same(expected, found)
    assert found._kept.arrays.keys() == expected._kept.arrays.keys()
    for name, array in expected._kept.arrays.items():
        np.testing.assert_array_equal(array, found._kept.arrays[name], err_msg=name)
    assert workers.jobs == 8 * changes["n_chains"]


def test_chain_that_no_worker_has_at_hand_is_restored(corpus, workers, monkeypatch):
    with use_workers(None):
        expected = fit(corpus, n_chains=2)
    forgetful = type("Forgetful", (dict,), {"__setitem__": lambda self, name, value: None})
    monkeypatch.setattr(chain_jobs, "_AT_HAND", forgetful())
    assert_same(expected, fit(corpus, n_chains=2))


@pytest.mark.parametrize("changes", [{"n_chains": 2}, DOCUMENTS], ids=["chains", "documents"])
def test_fit_on_workers_is_cut_and_resumed_anywhere(corpus, workers, tmp_path, changes):
    with use_workers(None):
        expected = fit(corpus, **changes)
    fit(corpus, n_laps=5, checkpoint=tmp_path / "cut", **changes)
    with use_workers(None):
        assert_same(expected, fit(corpus, checkpoint=tmp_path / "cut", resume=True, **changes))
        model = fit(corpus, n_laps=5, burn_in=3, **changes)
    assert_same(expected, model.continue_fit(corpus, n_laps=3))


def test_corpus_of_a_folder_is_read_from_there(corpus, workers, tmp_path):
    write_corpus(corpus, tmp_path / "corpus")
    with use_workers(None):
        expected = fit(corpus, **DOCUMENTS)
    assert_same(expected, fit(open_corpus(tmp_path / "corpus"), **DOCUMENTS))
    assert not list(workers.folder.iterdir())


def test_one_chain_of_another_representation_stays_here(corpus, workers):
    assert stickbreak.GibbsHDP(n_topics=3, n_laps=2, random_state=0).fit(corpus).n_laps_ == 2
    assert workers.jobs == 0
    assert not list(workers.folder.iterdir())


def test_start_that_needs_all_tokens_in_memory_stays_here(corpus, workers):
    with use_workers(None):
        expected = fit(corpus, **{**DOCUMENTS, "init": "sequential", "n_laps": 4})
    assert_same(expected, fit(corpus, **{**DOCUMENTS, "init": "sequential", "n_laps": 4}))
    assert workers.jobs == 0
