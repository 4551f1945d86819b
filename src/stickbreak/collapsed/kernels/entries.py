"""Compiled loops over the entries of a table that are not 0; a NumPy twin in tests/collapsed/test_files.py."""

from __future__ import annotations

import math

from stickbreak.collapsed.kernels.shares import UNIT, UNITS
from stickbreak.numerics.compiling import njit


@njit(cache=True, nogil=True)
def where_rows_begin(table, start):
    """Write where the entries of each row begin, from start[0] on."""
    for w in range(table.shape[0]):
        n = 0
        for k in range(table.shape[1]):
            n += table[w, k] != 0.0
        start[w + 1] = start[w] + n


@njit(cache=True, nogil=True)
def list_entries(table, column, units):
    """List the columns and the whole units of all entries, row by row; there is room for one more.

    What is not listed is written over: a branch for each would cost more.
    """
    at = 0
    for w in range(table.shape[0]):
        for k in range(table.shape[1]):
            column[at] = k
            units[at] = math.floor(table[w, k] * UNITS + 0.5)
            at += table[w, k] != 0.0


@njit(cache=True, nogil=True)
def add_entries(row, start, column, units, table):
    """Add the entries start[i] to start[i + 1] to row[i] of a table."""
    for i in range(row.size):
        w = row[i]
        for j in range(start[i], start[i + 1]):
            table[w, column[j]] += units[j] * UNIT
