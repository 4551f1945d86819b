"""Summaries as they are stored: what their dense twins give, to the last bit, in less memory."""

import tracemalloc

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stickbreak.variational.state import (
    PER_TOPIC,
    SparseRows,
    Summary,
    topic_type,
)


def summary_with(words, n_topics=5, seed=0, density=0.4):
    """A summary of no particular documents."""
    rng = np.random.default_rng(seed)
    S = np.where(rng.random((words.size, n_topics)) < density, rng.gamma(0.5, 3.0, (words.size, n_topics)), 0.0)
    vectors = {name: rng.normal(size=n_topics + (name in "TGQ")) for name in PER_TOPIC}
    return Summary(n_documents=4, words=words, S=S, Q0=float(rng.normal()), **vectors)


def test_stored_summaries_keep_no_dense_table_alive():
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
    assert stored.S.value.size < 0.05 * dense / 8
    assert kept < 0.05 * dense


def table_of(seed, n_rows=7, n_topics=5, density=0.4):
    """A table with zeros, an empty first and last row, an empty column 1 and entries of very different size."""
    rng = np.random.default_rng(seed)
    table = np.where(rng.random((n_rows, n_topics)) < density, rng.lognormal(0.0, 8.0, (n_rows, n_topics)), 0.0)
    table[[0, -1]] = 0.0
    table[:, 1] = 0.0
    return table


def assert_sound(rows):
    """Ascending topics in each row, no zeros, nothing beyond the end."""
    assert rows.indptr[0] == 0
    assert rows.indptr[-1] == rows.topic.size == rows.value.size
    assert rows.topic.dtype == topic_type(rows.n_topics)
    assert (rows.value != 0).all()
    for i in range(rows.n_rows):
        assert (np.diff(rows.topic[rows.indptr[i] : rows.indptr[i + 1]].astype(int)) > 0).all()


def relabelled_twin(table, new_index, n_topics):
    """Columns added one after the other, in ascending order of the old topic."""
    out = np.zeros((table.shape[0], n_topics))
    for k, new in enumerate(new_index):
        if new >= 0:
            out[:, new] += table[:, k]
    return out


@given(
    seed=st.integers(0, 50),
    density=st.sampled_from([0.1, 0.5, 1.0]),
    new_index=st.lists(st.integers(-1, 7), min_size=6, max_size=6),
    room=st.integers(0, 2),
)
def test_relabelled_equals_the_dense_twin_to_the_last_bit(seed, density, new_index, room):
    """Permutations, pools, drops, and new topics that have no entries yet."""
    n_topics = max(max(new_index), 0) + 1 + room
    table = table_of(seed, n_topics=6, density=density)
    out = SparseRows.from_dense(table).relabelled(np.array(new_index), n_topics)
    assert_sound(out)
    np.testing.assert_array_equal(out.dense(), relabelled_twin(table, new_index, n_topics))
