"""Fitted topics as what is known before a fit to new documents (math.md (C21))."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from stickbreak.collapsed.steering import Steering, in_units
from stickbreak.collapsed.streaming import Topics
from stickbreak.model.document_labels import DocumentLabels
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.pseudo_counts import Eta


def continued(topics: Topics, n_words: int, n_labels: int, labels: DocumentLabels | None) -> Steering:
    """Return what the topics of a model say of a fit to new documents.

    Parameters
    ----------
    topics : Topics
    n_words : int
        W of the new documents: the words of the model, and then new ones.
    n_labels : int
        Topics that are those of labels.
    labels : DocumentLabels or None
        Of the new documents.
    """
    shown = topics.shown()
    past = np.zeros((n_words, shown.size))
    past[: topics.counts.shape[0]] = in_units(topics.dense(shown).T)
    pseudo = topics.pseudo
    if pseudo is not None:
        indptr = np.append(pseudo.indptr, np.full(n_words - pseudo.shape[0], pseudo.indptr[-1]))
        pseudo = sparse.csr_array((pseudo.data, pseudo.indices, indptr), shape=(n_words, pseudo.shape[1]))
    tables = topics.tables[shown]
    return Steering(shown.size, topics.n_whole, n_labels, pseudo, past, tables, topics.opened, labels)


def start_of(steering: Steering, eta: Eta) -> Float:
    """Return the expected counts of the topics to start from, with eta, (K, W)."""
    assert steering.past is not None
    n_words, K = steering.past.shape
    S, N = np.zeros((n_words, K)), np.zeros(K)
    steering.put_into(S, N)
    return np.ascontiguousarray(S.T) + eta
