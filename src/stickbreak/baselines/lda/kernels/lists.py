"""Lists of the topics of each document, with their counts; NumPy twins in tests/baselines/lda/reference.py.

A list stands at `head`: the number of its topics, then an entry for each, count << bits | topic, the largest first,
then entries of no count up to a whole number of eights, with room for one further topic. A token knows the head of its
list.
"""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.compiling import njit

_ONE = np.uint64(1)


@njit(cache=True, nogil=True, error_model="numpy")
def fill(where, z, lists, bits):
    """Count the topics of all tokens; the lists are empty before."""
    mask = (_ONE << bits) - _ONE
    for i in range(z.size):
        head, k = np.uint64(where[i]), np.uint64(z[i])
        size, s = np.uint64(lists[head]), np.uint64(1)
        while s <= size and (np.uint64(lists[head + s]) & mask) != k:
            s += _ONE
        if s > size:
            lists[head] = s
            lists[head + s] = k
        lists[head + s] = np.uint64(lists[head + s]) + (_ONE << bits)


@njit(cache=True, nogil=True, error_model="numpy")
def sort(heads, lists):
    """Put the entries of each list in the one order that they have, the largest first."""
    for d in range(heads.size):
        first = np.uint64(heads[d]) + _ONE
        for s in range(first + _ONE, first + np.uint64(lists[heads[d]])):
            entry, place = lists[s], np.uint64(s)
            while place > first and lists[place - _ONE] < entry:
                lists[place] = lists[place - _ONE]
                place -= _ONE
            lists[place] = entry


@njit(cache=True, nogil=True, error_model="numpy")
def add_words(start, z, amount, counts):
    """counts[w, k] += amount for each token of word w in topic k; word w has the tokens start[w] to start[w + 1]."""
    for w in range(start.size - 1):
        for i in range(start[w], start[w + 1]):
            counts[w, z[i]] += amount
