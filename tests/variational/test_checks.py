"""The check of memory before a fit of words: what it estimates, whom it refuses, what it offers."""

import numpy as np
import pytest

from stickbreak import VariationalHDP
from stickbreak.corpus import Corpus, planted_lda, toy_bars
from stickbreak.exceptions import InputError
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


def test_a_stream_is_advised_smaller_minibatches(monkeypatch, no_sample):
    corpus = planted_lda(3000, 2000, n_topics=5, mean_tokens=5, seed=0)[0]
    needed = [bytes_needed(corpus, 3, MemoryPlan(n, kept=False, sampled=False)) for n in (1, 3)]
    for module in ("stickbreak.fitting.checks", "stickbreak.variational.checks"):
        monkeypatch.setattr(f"{module}.memory_installed", lambda: sum(needed) / 2)
    refused(lambda: small().partial_fit(corpus), "or smaller minibatches")
    refused(lambda: small(schedule="stochastic").fit(corpus), "or more batches by n_batches")
