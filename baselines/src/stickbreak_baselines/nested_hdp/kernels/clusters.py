"""Compiled k-means of documents by L1 distance (docs/math (F7)); twin in baselines/tests/nested_hdp/reference.py."""

from __future__ import annotations

import numpy as np

from stickbreak.numerics.compiling import njit


@njit(cache=True, nogil=True, error_model="numpy")
def assign(indptr, word, x, rows, centre, cluster):
    """Put documents into the nearest clusters.  Returns how many changed.                               docs/math (F7)

    Parameters
    ----------
    indptr, word, x : of all documents
        Their rows of shares of words, with zeros left out.
    rows : (n,)
        The documents.
    centre : (k, W)
    cluster : (n,)
        Changed in place.
    """
    mass, changed = np.empty(centre.shape[0]), 0
    for j in range(mass.size):
        mass[j] = centre[j].sum()
    for r in range(rows.size):
        best, nearest = 0, np.inf
        for j in range(mass.size):
            distance = mass[j]
            for i in range(indptr[rows[r]], indptr[rows[r] + 1]):
                c = centre[j, word[i]]
                distance += abs(x[i] - c) - c
            if distance < nearest:
                best, nearest = j, distance
        changed += cluster[r] != best
        cluster[r] = best
    return changed


@njit(cache=True, nogil=True, error_model="numpy")
def centres(indptr, word, x, rows, cluster, centre, size):
    """Set centre (k, W) to the means of the documents of the clusters, and size (k,) to how many these are."""
    for j in range(size.size):
        size[j] = 0
        for w in range(centre.shape[1]):
            centre[j, w] = 0.0
    for r in range(rows.size):
        size[cluster[r]] += 1
    for r in range(rows.size):
        for i in range(indptr[rows[r]], indptr[rows[r] + 1]):
            centre[cluster[r], word[i]] += x[i] / size[cluster[r]]


@njit(cache=True, nogil=True, error_model="numpy")
def take_away(indptr, word, x, rows, cluster, centre):
    """Take the centre of its cluster from each document: no share below zero, and a sum of one again.

    A document of which nothing would be left stays as it is.
    """
    for r in range(rows.size):
        low, high, total = indptr[rows[r]], indptr[rows[r] + 1], 0.0
        for i in range(low, high):
            total += max(x[i] - centre[cluster[r], word[i]], 0.0)
        if total > 0.0:
            for i in range(low, high):
                x[i] = max(x[i] - centre[cluster[r], word[i]], 0.0) / total
