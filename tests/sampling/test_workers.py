"""Chains and documents on threads and on the workers of a cluster: the same bits as in one thread."""

from collections.abc import Iterator

import numpy as np
import pytest
from tests.fitting.test_engine import Travelling

from stickbreak.fitting.engine import use_workers
from stickbreak.sampling import laps, representations, state

from .fits import assert_same, fit

DOCUMENTS = {"representation": "partially-collapsed", "estimate": "average"}
CHAINS = {
    "average": {"n_chains": 3, "estimate": "average"},
    "best": {"n_chains": 2, "estimate": "best", "split_merge_trials": 3},
    "last": {"n_chains": 2, "estimate": "last"},
    "franchise": {"n_chains": 2, "representation": "franchise"},
    "partially collapsed": {"n_chains": 2, **DOCUMENTS},
}


@pytest.fixture
def workers(tmp_path) -> Iterator[Travelling]:
    folder = tmp_path / "scratch"
    folder.mkdir()
    found = Travelling(folder)
    with use_workers(found):
        yield found


def test_size_of_the_parts_changes_no_bit(corpus, monkeypatch):
    expected = fit(corpus, **DOCUMENTS)
    monkeypatch.setattr(representations, "PART_TOKENS", 31)
    monkeypatch.setattr(state, "PART_TOKENS", 31)
    for n_jobs in (1, 2, 4):
        assert_same(expected, fit(corpus, **DOCUMENTS, n_jobs=n_jobs))


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
    monkeypatch.setattr(laps, "_AT_HAND", forgetful())
    assert_same(expected, fit(corpus, n_chains=2))
