"""The check of memory before a fit of words: what it estimates, whom it refuses, what it offers."""

import numpy as np
import pytest

from stickbreak import VariationalHDP
from stickbreak.corpus import Corpus, planted_lda, toy_bars
from stickbreak.exceptions import InputError
from stickbreak.initialization.start import TOKEN_BYTES
from stickbreak.variational.checks import STORED_BYTES, MemoryPlan, bytes_needed, stored_entries


def small(**changes):
    return VariationalHDP(**{"n_topics": 3, "n_laps": 2, "init_sweeps": 2, "random_state": 0, **changes})


def refused(call, *parts):
    with pytest.raises(InputError) as caught:
        call()
    assert all(part in str(caught.value) for part in parts), str(caught.value)


@pytest.fixture
def no_sample(monkeypatch):
    """Leave the sample of collapsed inference aside: of a small corpus it is larger than all else."""
    monkeypatch.setattr("stickbreak.variational.checks.sample_bytes", lambda corpus: 0.0)


def memory_of(monkeypatch, bytes_there):
    for place in ("fitting.checks", "variational.checks"):
        monkeypatch.setattr(f"stickbreak.{place}.memory_installed", lambda: bytes_there)


def test_scratch_is_offered_where_it_helps_and_counted_where_it_is_given(monkeypatch, tmp_path, no_sample):
    corpus = Corpus.from_counts(toy_bars(200, seed=0)[0].counts)
    given = {"n_topics": 20, "n_laps": 1, "init_sweeps": 1, "n_batches": 50, "moves": ("merge",)}
    in_files, in_memory = (bytes_needed(corpus, 20, MemoryPlan(50, on_disk=on_disk)) for on_disk in (True, False))
    memory_of(monkeypatch, (in_files + in_memory) / 2)
    refused(lambda: small(**given).fit(corpus), "n_topics", "20", "GiB", "or a folder for scratch.")
    small(**given, scratch=tmp_path).fit(corpus)
    memory_of(monkeypatch, 0.9 * in_files)
    refused(lambda: small(**given, scratch=tmp_path).fit(corpus), "GiB", "fewer words.")


def test_a_sample_for_gibbs_sampling_is_counted(monkeypatch):
    corpus = toy_bars(200, seed=0)[0]
    sample = TOKEN_BYTES * corpus.n_tokens
    assert bytes_needed(corpus, 2, MemoryPlan()) > sample > bytes_needed(corpus, 2, MemoryPlan(sampled=False))
    monkeypatch.setattr("stickbreak.fitting.checks.memory_installed", lambda: sample)
    given = {"n_topics": 2, "n_laps": 1, "n_batches": 5}
    refused(lambda: small(**given, moves=()).fit(corpus), "n_topics", "2", "GiB")
    refused(lambda: small(**given, init="documents", moves=("refine",)).fit(corpus), "n_topics", "2", "GiB")
    small(**given, init="documents", moves=()).fit(corpus)


@pytest.mark.parametrize("n_batches", [1, 6])
def test_stored_statistics_are_as_many_as_a_fit_keeps(n_batches):
    corpus = planted_lda(600, 2000, n_topics=40, alpha=0.05, eta=0.02, seed=0)[0]
    model = small(n_topics=40, init_sweeps=10, n_batches=n_batches, moves=()).fit(corpus)
    kept = [array.size for name, array in model._kept.arrays.items() if name.endswith("S_value")]
    assert len(kept) == n_batches
    predicted = stored_entries(corpus, 40, MemoryPlan(n_batches))
    assert 0.7 < np.mean(kept) / predicted < 1.1, (np.mean(kept), predicted)


def test_memory_of_a_trial_is_counted(monkeypatch, no_sample):
    """A refinement keeps what the fit has stored a second time."""
    documents, _ = toy_bars(200, seed=0)
    corpus = Corpus.from_counts(documents.counts)
    without = bytes_needed(corpus, 20, MemoryPlan())
    stored = STORED_BYTES * stored_entries(corpus, 20, MemoryPlan())
    assert bytes_needed(corpus, 20, MemoryPlan(beside=1)) > without + 20 * 16 * corpus.n_words + stored
    assert bytes_needed(corpus, 20, MemoryPlan(beside=2)) > without + 40 * 16 * corpus.n_words + stored
    monkeypatch.setattr("stickbreak.fitting.checks.memory_installed", lambda: without + 1)
    settings = {"n_topics": 20, "n_laps": 1, "init_sweeps": 1}
    for moves in (("refine",), ("merge", "birth")):
        refused(lambda moves=moves: small(**settings, moves=moves).fit(documents), "n_topics", "20", "GiB")
    small(**settings, moves=("merge", "delete", "reorder")).fit(documents)
    small(**settings, schedule="stochastic").fit(documents)
    small(**settings).partial_fit(documents)
