"""Compiled loop over documents with labels; a NumPy twin in tests/collapsed/test_steering.py."""

from __future__ import annotations

import numpy as np

from stickbreak.collapsed.kernels.shares import update_documents
from stickbreak.numerics.compiling import njit
from stickbreak.numerics.kernel_arrays import copy


@njit(cache=True, nogil=True, error_model="numpy")
def label_prior(prior, alpha, label, n_labels, labelled, own):
    """Write the pseudo-counts of a document's topics; return those of the inactive ones.            math.md (C19)"""
    free = alpha
    for k in range(n_labels):
        free -= prior[k]
    own[:n_labels] = 1e-300  # not 0, of which digamma is infinite
    for j in range(label.size):
        own[label[j]] = labelled * alpha / label.size
    scale = (1.0 - labelled) * alpha / max(free, 1e-300)
    rest = free
    for k in range(n_labels, prior.size):
        own[k] = scale * prior[k]
        rest -= prior[k]
    return scale * max(rest, 0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def update_labelled(
    indptr,
    word,
    count,
    start,
    topic,
    share,
    S,
    N,
    prior,
    alpha,
    rest,
    eta,
    total_eta,
    smallest,
    key,
    first,
    counted,
    label_start,
    label,
    n_labels,
    labelled,
    new_start,
    new_topic,
    new_share,
    tables,
):
    """Do as `update_documents`, where documents with labels have the pseudo-counts of (C19)."""
    own, log_p, at = np.empty(prior.size), 0.0, np.int64(0)
    new_start[0] = 0
    for d in range(indptr.size - 1):
        begin, end = indptr[d], indptr[d + 1]
        labels = label[label_start[first + d] : label_start[first + d + 1]]
        left = rest
        copy(prior, own)
        if labels.size > 0:
            left = label_prior(prior, alpha, labels, n_labels, labelled, own) * eta / total_eta
        log_p += update_documents(
            indptr[d : d + 2] - begin,
            word[begin:end],
            count[begin:end],
            start[begin : end + 1],
            topic,
            share,
            S,
            N,
            own,
            left,
            eta,
            total_eta,
            smallest,
            key,
            first + d,
            counted,
            new_start[begin : end + 1],
            new_topic[at:],
            new_share[at:],
            tables,
        )
        new_start[begin : end + 1] += at
        at = new_start[end]
    return log_p
