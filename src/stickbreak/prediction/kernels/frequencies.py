"""Compiled document frequencies of pairs of words."""

from __future__ import annotations

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
