"""Lists of the topics of each document, with their counts; NumPy twins in tests/topics/reference.py.

A list stands at `head`: the number of its topics, then an entry for each, count << bits | topic, the largest first,
then entries of no count up to a whole number of eights, with room for one further topic. A token knows the head of its
list.
"""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.compiling import njit

EIGHT = 8  # entries of a list that are weighed at once
_ONE, _THREE, _SEVEN = (np.uint64(n) for n in (1, 3, 7))


@njit(cache=True, nogil=True, error_model="numpy")
def fill(first, end, where, z, lists, bits, none):
    """Count the topics of the tokens first[w] to end[w] of each word w; `where` has the head of each of their lists.

    A token with `none` or more has no topic.
    """
    mask, j = (_ONE << bits) - _ONE, np.uint64(0)
    for w in range(first.size):
        for i in range(np.uint64(first[w]), np.uint64(end[w])):
            head, k = np.uint64(where[j]), np.uint64(z[i])
            j += _ONE
            if k >= none:
                continue
            size, s = np.uint64(lists[head]), np.uint64(1)
            while s <= size and (np.uint64(lists[head + s]) & mask) != k:
                s += _ONE
            if s > size:
                lists[head] = s
                lists[head + s] = k
            lists[head + s] = np.uint64(lists[head + s]) + (_ONE << bits)


@njit(cache=True, nogil=True, error_model="numpy")
def spread(first, end, values, found):
    """Put the values of a cell, one after another, at the places first[w] to end[w] of each word w."""
    j = 0
    for w in range(first.size):
        for i in range(first[w], end[w]):
            found[i] = values[j]
            j += 1


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
    """counts[w, k] += amount for each token of word w in topic k; word w has the tokens start[w] to start[w + 1].

    Tokens beyond the last topic have none.
    """
    for w in range(start.size - 1):
        for i in range(start[w], start[w + 1]):
            if z[i] < counts.shape[1]:
                counts[w, z[i]] += amount


@njit(cache=True, nogil=True, error_model="numpy")
def draw(u, size, blocks, value, part):
    """Return the place in the list of a document at which the running sum of its values passes u."""
    c, end = np.uint64(0), blocks - _ONE
    while c < end and u >= part[c]:
        u -= np.float64(part[c])
        c += _ONE
    rest, s = np.float32(u), c << _THREE
    end = min(s + _SEVEN, size - _ONE)
    while s < end and rest >= value[s]:
        rest -= value[s]
        s += _ONE
    return s


@njit(cache=True, nogil=True, error_model="numpy")
def place_of(lists, first, size, mask, k):
    """Return the place of a topic among the entries of a list; the number of these where it has none."""
    s = np.uint64(0)
    while s < size and (np.uint64(lists[first + s]) & mask) != k:
        s += _ONE
    return s


@njit(cache=True, nogil=True, error_model="numpy")
def tokens_of(lists, first, size, bits):
    """Return the tokens of all topics of a list."""
    total = np.uint64(0)
    for s in range(size):
        total += np.uint64(lists[first + s]) >> bits
    return np.float64(total)


@njit(cache=True, nogil=True, error_model="numpy")
def enter(lists, head, bits, new, s):
    """Give a document one more token of a topic, whose place is s."""
    whole, first, size = _ONE << bits, head + _ONE, np.uint64(lists[head])
    if s == size:
        lists[first + s] = new
        lists[head] = size + _ONE
    entry = np.uint64(lists[first + s]) + whole
    lists[first + s] = entry
    if s > np.uint64(0) and entry > np.uint64(lists[first + s - _ONE]):
        lists[first + s] = lists[first + s - _ONE]
        lists[first + s - _ONE] = entry


@njit(cache=True, nogil=True, error_model="numpy")
def leave(lists, head, bits, none, old):
    """Take a token of a topic from a document."""
    mask, whole, first, size = (_ONE << bits) - _ONE, _ONE << bits, head + _ONE, np.uint64(lists[head])
    s = place_of(lists, first, size, mask, old)
    entry = np.uint64(lists[first + s]) - whole
    lists[first + s] = entry
    if entry < whole:
        size -= _ONE
        lists[first + s] = lists[first + size]
        lists[first + size] = none
    lists[head] = size
