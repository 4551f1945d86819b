"""Compiled loops over rows that are stored without their zeros (`sparse_rows.py`).

Plain arrays in and out: row i holds value[p] in column topic[p], indptr[i] <= p < indptr[i + 1]. The sums are those of
dense arrays, in the same order: zeros are left out of them, and nothing else.
"""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.compiling import njit


@njit(cache=True, nogil=True)
def count_entries(dense, indptr):
    """indptr[i + 1] = entries other than zero in the first i + 1 rows."""
    indptr[0] = 0
    for i in range(dense.shape[0]):
        found = 0
        for k in range(dense.shape[1]):
            if dense[i, k] != 0.0:
                found += 1
        indptr[i + 1] = indptr[i] + found


@njit(cache=True, nogil=True)
def take_entries(dense, indptr, topic, value):
    """Write what `count_entries` has counted."""
    for i in range(dense.shape[0]):
        p = indptr[i]
        for k in range(dense.shape[1]):
            if dense[i, k] != 0.0:
                topic[p] = k
                value[p] = dense[i, k]
                p += 1


@njit(cache=True, nogil=True)
def add_entries(indptr, topic, value, rows, sign, out):
    """out[rows[i], topic[p]] += sign value[p]."""
    for i in range(rows.size):
        row = out[rows[i]]
        for p in range(indptr[i], indptr[i + 1]):
            row[topic[p]] += sign * value[p]


@njit(cache=True, nogil=True)
def relabel_entries(indptr, topic, value, new_index, n_topics, out_indptr, out_topic, out_value):
    """Column k becomes new_index[k]: equal ones are added, in ascending k, those below zero left out.

    Rows keep ascending columns and hold no zeros. Returns the number of entries.
    """
    total, seen = np.empty(n_topics), np.full(n_topics, -1, np.int64)
    size = 0
    out_indptr[0] = 0
    for i in range(indptr.size - 1):
        low, high = n_topics, -1
        for p in range(indptr[i], indptr[i + 1]):
            k = new_index[topic[p]]
            if k < 0:
                continue
            total[k] = total[k] + value[p] if seen[k] == i else value[p]
            seen[k] = i
            low, high = min(low, k), max(high, k)
        for k in range(low, high + 1):
            if seen[k] == i and total[k] != 0.0:
                out_topic[size] = k
                out_value[size] = total[k]
                size += 1
        out_indptr[i + 1] = size
    return size
