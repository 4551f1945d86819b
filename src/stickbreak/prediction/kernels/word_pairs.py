"""Compiled counts of how often pairs of words occur together: in documents, and in windows of texts."""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.compiling import njit


@njit(cache=True, nogil=True)
def joint_frequencies(indptr, document, first, second, joint):
    """Write how many documents have both words of each pair.

    The documents of word w are document[indptr[w] : indptr[w + 1]], ascending. The shorter list is gone through, and
    the longer one is searched in ever larger steps from where the last search ended.
    """
    for i in range(first.size):
        a, b = first[i], second[i]
        if indptr[a + 1] - indptr[a] > indptr[b + 1] - indptr[b]:
            a, b = b, a
        at, end, found = indptr[b], indptr[b + 1], 0
        for j in range(indptr[a], indptr[a + 1]):
            wanted, step = document[j], 1
            while at + step < end and document[at + step] < wanted:
                at += step
                step *= 2
            low, high = at, min(at + step, end)
            while low < high:  # the first place that is not below `wanted`
                middle = (low + high) >> 1
                if document[middle] < wanted:
                    low = middle + 1
                else:
                    high = middle
            at = low
            if at == end:
                break
            if document[at] == wanted:
                found += 1
        joint[i] = found


@njit(cache=True, nogil=True)
def _overlap(begin, end, following, u, v):
    """Return how long two lists of intervals overlap: they begin with the intervals u and v."""
    both = 0
    while u >= 0 and v >= 0:
        both += max(0, min(end[u], end[v]) - max(begin[u], begin[v]))
        if end[u] < end[v]:
            u = following[u]
        else:
            v = following[v]
    return both


@njit(cache=True, nogil=True)
def count_windows(ids, starts, width, listed, topic, place, together, as_gensim):
    """Add to `together`, (K, M, M), how many windows hold both words of each pair; return how many windows there are.

    A window is `width` neighbouring words; a shorter text is one window. ids[i] is the number of the word at place i,
    or -1 for a word that no topic lists. Word r is number place[j] of topic[j], for j from listed[r] to listed[r + 1].
    A word at place p is in the windows that begin at p - width + 1 .. p. The windows of a word are so a few intervals,
    and those of a pair the overlap of two lists of intervals.

    With `as_gensim` a window forgets a word when one of its places leaves it, though the word has another place there,
    until it is met again: the word at p is in windows up to the first of its places that is in the earliest of them.
    """
    n_words, longest = listed.size - 1, 0
    for d in range(starts.size - 1):
        longest = max(longest, starts[d + 1] - starts[d])
    first, last = np.full(n_words, -1, np.int64), np.empty(n_words, np.int64)
    begin, end, following = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest, np.int64)
    again, latest, earliest = np.empty(longest, np.int64), np.empty(n_words, np.int64), np.empty(n_words, np.int64)
    present = np.empty(min(n_words, longest), np.int64)
    n_present_of = np.zeros(together.shape[0], np.int64)
    present_of = np.empty(together.shape[:2], np.int64)
    places_of = np.empty(together.shape[:2], np.int64)
    topics = np.empty(together.shape[0], np.int64)
    n_windows = 0
    for d in range(starts.size - 1):
        length = starts[d + 1] - starts[d]
        if length == 0:
            continue
        windows, n_present, n_intervals, n_topics = max(1, length - width + 1), 0, 0, 0
        n_windows += windows
        for p in range(length):
            r = ids[starts[d] + p]
            if r < 0:
                continue
            low, high = max(0, p - width + 1), min(p, windows - 1) + 1
            if as_gensim:
                if first[r] < 0:
                    earliest[r] = p
                else:
                    again[latest[r]] = p  # the next place of the word
                latest[r] = p
                while earliest[r] < low:
                    earliest[r] = again[earliest[r]]
                high = min(earliest[r], windows - 1) + 1
            if first[r] >= 0 and end[last[r]] >= low:
                end[last[r]] = max(end[last[r]], high)
                continue
            begin[n_intervals], end[n_intervals], following[n_intervals] = low, high, -1
            if first[r] < 0:
                first[r] = n_intervals
                present[n_present] = r
                n_present += 1
            else:
                following[last[r]] = n_intervals
            last[r] = n_intervals
            n_intervals += 1
        for i in range(n_present):
            for j in range(listed[present[i]], listed[present[i] + 1]):
                k = topic[j]
                if n_present_of[k] == 0:
                    topics[n_topics] = k
                    n_topics += 1
                present_of[k, n_present_of[k]] = present[i]
                places_of[k, n_present_of[k]] = place[j]
                n_present_of[k] += 1
        for i in range(n_topics):
            k = topics[i]
            for a in range(n_present_of[k]):
                for b in range(a + 1):
                    both = _overlap(begin, end, following, first[present_of[k, a]], first[present_of[k, b]])
                    together[k, places_of[k, a], places_of[k, b]] += both
                    if a != b:
                        together[k, places_of[k, b], places_of[k, a]] += both
            n_present_of[k] = 0
        for i in range(n_present):
            first[present[i]] = -1
    return n_windows
