"""Rows without their zeros: the numbers of the dense table, to the last bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickbreak.variational.state import NARROW, SparseRows, topic_type


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


@pytest.mark.parametrize("density", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("n_topics", [2, 300, NARROW, NARROW + 1])
def test_dense_gives_back_the_compressed_table(n_topics, density):
    table = table_of(1, n_rows=4, n_topics=n_topics, density=density)
    rows = SparseRows.from_dense(table)
    assert_sound(rows)
    assert (rows.n_rows, rows.n_topics) == table.shape
    np.testing.assert_array_equal(rows.dense(), table)


@pytest.mark.parametrize("sign", [1.0, -1.0, 0.3])
def test_add_to_equals_dense_addition_to_the_last_bit(sign):
    rng = np.random.default_rng(0)
    words = rng.permutation(12)[:7].astype(np.int32)
    table, target = table_of(2), rng.lognormal(0.0, 4.0, (12, 5))
    expected = target.copy()
    expected[words] += sign * table
    SparseRows.from_dense(table).add_to(target, words, sign)
    np.testing.assert_array_equal(target, expected)


def test_what_is_added_and_taken_away_leaves_exact_zeros():
    rows, target = SparseRows.from_dense(table_of(3)), np.zeros((7, 5))
    rows.add_to(target, np.arange(7, dtype=np.int32))
    rows.add_to(target, np.arange(7, dtype=np.int32), -1.0)
    np.testing.assert_array_equal(target, 0.0)


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


def test_relabelled_drops_what_cancels():
    """A row keeps no zeros, or the next compression would not be the same."""
    rows = SparseRows.from_dense(np.array([[2.0, -2.0, 1.0]]))
    out = rows.relabelled(np.array([0, 0, 1]), 2)
    assert_sound(out)
    np.testing.assert_array_equal(out.dense(), [[0.0, 1.0]])


def test_nbytes_is_ten_for_an_entry_and_eight_for_a_row():
    rows = SparseRows.from_dense(table_of(6, n_rows=100, n_topics=40))
    assert rows.nbytes == 10 * np.count_nonzero(rows.dense()) + 8 * 101
