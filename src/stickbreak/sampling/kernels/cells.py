"""Counts of words in topics of some documents as a list of cells, and of all documents from such lists.

Twin in tests/sampling/test_in_files.py.
"""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.compiling import njit
from stickbreak.sampling.kernels.counts import _sort
from stickbreak.sampling.state import SHIFT


@njit(cache=True, nogil=True)
def list_cells(word, z, n_words, n_topics, cells):
    """List (word, topic, tokens) of all pairs that have tokens, words ascending; return how many.

    cells (3, N) has room for them.
    """
    end = np.zeros(n_words + 1, np.int64)
    for w in word:
        end[w + 1] += 1
    for w in range(n_words):
        end[w + 1] += end[w]
    sorted_z, at = np.empty(word.size, np.int32), end[:-1].copy()
    for i in range(word.size):
        sorted_z[at[word[i]]] = z[i]
        at[word[i]] += 1
    place, n_cells = np.full(n_topics, -1, np.int64), 0
    for w in range(n_words):
        first = n_cells
        for i in range(end[w], end[w + 1]):
            k = sorted_z[i]
            if place[k] < first:
                place[k] = n_cells
                cells[0, n_cells], cells[1, n_cells], cells[2, n_cells] = w, k, 0
                n_cells += 1
            cells[2, place[k]] += 1
    return n_cells


@njit(cache=True, nogil=True)
def add_cells(cells, table):
    """Add cells to a table (W, K)."""
    for c in range(cells.shape[1]):
        table[cells[0, c], cells[1, c]] += cells[2, c]


@njit(cache=True, nogil=True)
def count_entries(table, size):
    """Fill size (W,) with the topics of each word."""
    for w in range(table.shape[0]):
        for k in range(table.shape[1]):
            size[w] += table[w, k] > 0


@njit(cache=True, nogil=True)
def list_entries(table, label, words):
    """List the topics of each word under their new numbers, as `count_words` does: the frequent ones first."""
    for w in range(table.shape[0]):
        found, n_found = words.entry[words.start[w] : words.start[w] + words.size[w]], 0
        for k in range(table.shape[1]):
            if table[w, k] > 0:
                found[n_found] = ~((np.uint64(table[w, k]) << SHIFT) | np.uint64(label[k]))
                n_found += 1
        _sort(found)
        for s in range(n_found):
            found[s] = ~found[s]
