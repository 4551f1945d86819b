"""The extrapolation of the local step: where it ends, what it costs, and its safeguard."""

import numpy as np
import pytest

from stickbreak.variational.kernels import ascent as ascent_kernels
from stickbreak.variational.local_step import LocalSettings

from .problems import ragged_corpus, random_parameters
from .test_local_step import visit_of

N_TOPICS = 8


def problem(seed):
    corpus = ragged_corpus(seed, n_documents=40)
    return corpus, random_parameters(corpus.n_words, N_TOPICS, seed, concentration=0.3)


def settle(max_sweeps, *, accelerate=True):
    """(N (K,), sweeps, value) of a document by `_settle`, not compiled, so that its parts can be spoilt."""
    rng = np.random.default_rng(0)
    block, count = rng.gamma(0.3, 1.0, size=(N_TOPICS, 30)) + 1e-6, rng.integers(1, 5, 30).astype(float)
    prior, row, topic = np.full(N_TOPICS + 1, 0.05), np.arange(N_TOPICS), np.arange(N_TOPICS, dtype=np.int32)
    n_dk, weight, new = np.zeros(N_TOPICS), prior[:-1].copy(), np.empty(N_TOPICS)
    document = ascent_kernels.Document(
        block, row, weight, prior, topic, n_dk, count, count.sum(), np.empty(30), np.empty(30), new,
        np.zeros((2, N_TOPICS)), np.empty((4, N_TOPICS)),
    )  # fmt: skip
    active, sweeps, value = ascent_kernels._settle.py_func(document, N_TOPICS, 1e-9, max_sweeps, accelerate)
    full = np.zeros(N_TOPICS)
    full[topic[:active]] = n_dk[:active]
    return full, sweeps, value


def to_one_topic(row, n_dk, active, change):
    n_dk[:active] = 1e-9
    n_dk[active - 1] = 60.0


def test_document_that_ends_below_its_floor_goes_back_and_on_plainly(monkeypatch):
    first = ascent_kernels.EARLY_SWEEPS + 2
    floor = settle(first, accelerate=False)[2]
    monkeypatch.setattr(ascent_kernels, "_ascend", ascent_kernels._ascend.py_func)
    monkeypatch.setattr(ascent_kernels, "_extrapolate", to_one_topic)
    full, sweeps, value = settle(first + 1)  # the sweep that is left cannot mend it
    assert value >= floor
    assert sweeps == first + 1 + first + 1
    np.testing.assert_allclose(full, settle(2 * first + 1, accelerate=False)[0], rtol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_extrapolation_needs_fewer_sweeps_and_ends_at_a_fixed_point(seed):
    corpus, parameters = problem(seed)
    fast = visit_of(corpus, parameters, settings=LocalSettings(1e-8, 1000))
    plain = visit_of(corpus, parameters, settings=LocalSettings(1e-8, 1000, accelerate=False))
    assert fast.sweeps.sum() < 0.7 * plain.sweeps.sum()
    again = visit_of(corpus, parameters, fast.documents, LocalSettings(1e-8, 1, accelerate=False))
    np.testing.assert_allclose(again.documents.dense(N_TOPICS), fast.documents.dense(N_TOPICS), rtol=0, atol=2e-8)
    np.testing.assert_allclose(fast.documents.dense(N_TOPICS).sum(axis=1), corpus.document_lengths, rtol=1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("max_sweeps", [1, 4, 5, 6, 7, 8, 11, 100])
def test_value_is_never_below_that_before_the_first_extrapolation(seed, max_sweeps):
    corpus, parameters = problem(seed)
    first = ascent_kernels.EARLY_SWEEPS + 2
    floor = visit_of(corpus, parameters, settings=LocalSettings(1e-12, min(first, max_sweeps), accelerate=False))
    found = visit_of(corpus, parameters, settings=LocalSettings(1e-12, max_sweeps))
    assert (found.value >= floor.value - 1e-12 * np.abs(floor.value)).all()
