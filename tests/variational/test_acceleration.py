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
