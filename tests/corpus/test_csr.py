import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from stickbreak.corpus import csr

TABLES = st.lists(st.lists(st.sampled_from([0, 0, 0, 1, 7]), min_size=4, max_size=4), min_size=1, max_size=12)


@given(TABLES, st.integers(1, 9))
def test_row_blocks_are_all_rows_in_order_and_hold_few_entries(table, n_entries):
    counts = sparse.csr_matrix(np.array(table))
    blocks = list(csr.row_blocks(counts, n_entries))
    assert [row for rows in blocks for row in range(rows.start, rows.stop)] == list(range(len(table)))
    assert all(rows.stop == rows.start + 1 or counts[rows].nnz <= n_entries for rows in blocks)


@pytest.mark.parametrize("dtype", [np.int32, np.float64])
@pytest.mark.parametrize("block", [1, 3, 1000])
def test_row_sums_are_those_of_the_table_in_blocks_of_any_size(monkeypatch, dtype, block, seed):
    monkeypatch.setattr(csr, "_BLOCK", block)
    table = np.random.default_rng(seed).poisson(0.6, size=(40, 6)).astype(dtype)
    table[[0, 1, 20, 38, 39]] = 0
    if dtype == np.float64:
        table *= 0.1
    sums = csr.row_sums(sparse.csr_matrix(table))
    assert sums.dtype == (np.float64 if dtype == np.float64 else np.int64)
    np.testing.assert_allclose(sums, table.sum(axis=1), rtol=1e-14)


def test_row_sums_do_not_overflow_and_are_empty_without_entries():
    large = sparse.csr_matrix(np.full((3, 2), 2**31 - 1, dtype=np.int32))
    assert csr.row_sums(large).tolist() == [2**32 - 2] * 3
    assert csr.row_sums(sparse.csr_matrix((3, 2), dtype=np.int32)).tolist() == [0, 0, 0]
    assert csr.row_sums(sparse.csr_matrix((0, 2), dtype=np.int32)).tolist() == []
