"""`fit` on a corpus that stays on disk: it never asks for all of it at once."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from stickbreak import HybridHDP
from stickbreak.corpus import Corpus, csr, open_corpus, write_corpus
from stickbreak.hybrid import estimator as starts

SETTINGS = {"n_topics": 4, "n_laps": 1, "batch_size": 100, "burn_in_sweeps": 0, "saved_sweeps": 1, "random_state": 0}


@pytest.fixture(scope="module")
def on_disk(tmp_path_factory):
    """Four thousand documents of fifty words, 1.6 MB of entries, and the first of them in memory."""
    n_documents, length = 4000, 50
    word = np.random.default_rng(0).integers(10, size=(n_documents, length)) + 10 * np.arange(length)
    counts = sparse.csr_matrix((np.ones(word.size, int), word.ravel(), np.arange(0, word.size + 1, length)))
    path = tmp_path_factory.mktemp("disk") / "corpus"
    write_corpus(Corpus.from_counts(counts), path)
    return open_corpus(path)


@pytest.mark.parametrize("init", ["random", "documents", "array"])
def test_fit_never_holds_more_than_a_part_of_the_entries(on_disk, init, tmp_path, monkeypatch):
    assert isinstance(on_disk.counts.data.base, np.memmap)
    for module in (starts, csr):
        monkeypatch.setattr(module, "_BLOCK", 1 << 12)
    topics = np.random.default_rng(1).random((4, on_disk.n_words))
    model = HybridHDP(**SETTINGS, init=topics if init == "array" else init)
    model.fit(on_disk[:200])  # what is compiled and imported is not counted
    tracemalloc.start()
    try:
        model.fit(on_disk, checkpoint=tmp_path / "checkpoint")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert model.n_documents_seen_ == 4000
    assert peak < 0.5 * (on_disk.counts.data.nbytes + on_disk.counts.indices.nbytes)
