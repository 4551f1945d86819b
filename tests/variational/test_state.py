"""Summaries as they are stored: what their dense twins give, to the last bit, in less memory."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickbreak.corpus import planted_lda
from stickbreak.variational.state import PER_TOPIC, StoredSummary, Summary, UnionStatistics

from .problems import begin, run_laps, schedule


def summary_with(words, n_topics=5, seed=0, density=0.4):
    """A summary of no particular documents."""
    rng = np.random.default_rng(seed)
    S = np.where(rng.random((words.size, n_topics)) < density, rng.gamma(0.5, 3.0, (words.size, n_topics)), 0.0)
    vectors = {name: rng.normal(size=n_topics + (name in "TGQ")) for name in PER_TOPIC}
    return Summary(n_documents=4, words=words, S=S, Q0=float(rng.normal()), **vectors)


WORDS = np.array([0, 2, 3, 7, 8, 11], dtype=np.int32)


def assert_identical(one, other):
    assert one.n_documents == other.n_documents
    assert one.Q0 == other.Q0
    for name in ("words", "S", *PER_TOPIC):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def test_expanded_takes_compressed_back():
    summary = summary_with(WORDS)
    assert_identical(summary.compressed().expanded(), summary)


def test_compressed_summary_of_all_words_names_them():
    summary = summary_with(WORDS)
    summary.words = None
    np.testing.assert_array_equal(summary.compressed().words, np.arange(WORDS.size))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_adding_a_stored_summary_equals_adding_the_dense_one(sign):
    one, other = (summary_with(np.arange(12, dtype=np.int32), seed=9) for _ in range(2))
    summary = summary_with(WORDS, seed=1)
    one.add(summary, sign)
    other.add(summary.compressed(), sign)
    assert_identical(other, one)
    assert one.n_documents == 4 + 4 * sign


UNIONS = [
    (1, 3, UnionStatistics(1.0, 2.0, 3.0, 4.0)),
    (0, 4, UnionStatistics(5.0, 6.0, 7.0, 8.0)),
    (5, 2, UnionStatistics(9.0, 10.0, 11.0, 12.0)),  # the heir need not be the earlier one
]


@pytest.mark.parametrize("n_unions", [0, 1, 2, 3])
def test_pooled_stored_summary_equals_the_dense_one(n_unions):
    summary = summary_with(WORDS, n_topics=6, seed=2, density=0.7)
    pooled = summary.compressed().pooled(UNIONS[:n_unions])
    assert pooled.n_topics == 6 - n_unions
    assert_identical(pooled.expanded(), summary.pooled(UNIONS[:n_unions]))


@given(order=st.permutations(range(6)), seed=st.integers(0, 20))
def test_permuted_stored_summary_equals_the_dense_one(order, seed):
    summary = summary_with(WORDS, n_topics=6, seed=seed)
    order = np.array(order)
    assert_identical(summary.compressed().permuted(order).expanded(), summary.permuted(order))


def test_stored_summaries_keep_no_dense_table_alive():
    """All that remains of a table is what `nbytes` says."""
    words = np.arange(3000, dtype=np.int32)
    summary_with(words).compressed()  # compiles
    tracemalloc.start()
    try:
        summary = summary_with(words, n_topics=100, density=0.02)
        dense = summary.S.nbytes
        stored = summary.compressed()
        del summary
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert stored.nbytes < 0.05 * dense
    assert kept < stored.nbytes + 20_000


def test_batches_of_a_fit_are_stored_without_zeros():
    corpus, _ = planted_lda(60, 2000, n_topics=12, alpha=0.05, eta=0.02, mean_tokens=50, seed=0)
    made, _ = schedule(corpus, 6)
    state, _ = run_laps(made, begin(corpus, 60), [], 1)
    assert all(isinstance(batch, StoredSummary) for batch in state.batches)
    dense = sum(8 * batch.words.size * batch.n_topics for batch in state.batches)
    assert sum(batch.nbytes for batch in state.batches) < 0.4 * dense
