"""Compiled loops over the entries of a table that are not 0; a NumPy twin in tests/collapsed/test_files.py."""

from __future__ import annotations

import math

from stickbreak.collapsed.kernels.shares import UNIT, UNITS
from stickbreak.numerics.compiling import njit


@njit(cache=True, nogil=True)
def where_rows_begin(table, rows, start):
    """Write where the entries of each row begin; rows that are not among `rows` have none."""
    start[:] = 0
    for w in rows:
        n = 0
        for k in range(table.shape[1]):
            if table[w, k] != 0.0:
                n += 1
        start[w + 1] = n
    for w in range(table.shape[0]):
        start[w + 1] += start[w]


@njit(cache=True, nogil=True)
def list_entries(table, rows, start, column, units):
    """List the columns and the whole units of the entries of these rows."""
    for w in rows:
        at = start[w]
        for k in range(table.shape[1]):
            if table[w, k] != 0.0:
                column[at] = k
                units[at] = math.floor(table[w, k] * UNITS + 0.5)
                at += 1


@njit(cache=True, nogil=True)
def add_entries(start, column, units, table):
    """Add entries to a table."""
    for w in range(table.shape[0]):
        for j in range(start[w], start[w + 1]):
            table[w, column[j]] += units[j] * UNIT
