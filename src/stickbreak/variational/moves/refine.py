"""Refine: the same topics, found again by collapsed inference (a trial)."""

from __future__ import annotations

from itertools import islice
from typing import ClassVar

import numpy as np
from scipy import sparse

from stickbreak.collapsed import COUNT_BYTES
from stickbreak.corpus import Corpus
from stickbreak.initialization import RESPONSIBILITY_BYTES, Start, smoothed_cvb0
from stickbreak.numerics.arrays import Float, Int
from stickbreak.variational.local_step import Batch
from stickbreak.variational.model import HDP, Inference, Schedule
from stickbreak.variational.moves.trial import Trial
from stickbreak.variational.state import DocumentTopics, GlobalParameters

SWEEPS = 20


class Refine(Trial):
    """Run collapsed inference (CVB0, 20 sweeps, 3 x eta) from the present topics, then mean field from what it finds.

    Mean field leaves a document only the topics that it has chosen, and so keeps topics as they once formed. Collapsed
    inference does not: it mends topics that share or lack words. Needs the memory of the collapsed start (a sample of
    the documents above 1 GiB).
    """

    name: ClassVar[str] = "refine"

    def propose(self, state: Inference, schedule: Schedule) -> tuple[GlobalParameters, Int] | None:
        """Return the topics after the sweeps."""
        if not isinstance(state.model, HDP) or "eta" not in state.model.hyperparameters:
            return None  # collapsed inference is for words
        corpus, documents = sample(state, schedule)
        weights, n_topics = state.parameters.expected_beta[:-1], state.topic_ids.size
        start = refined(state, corpus, state.parameters.tau, weights, documents.dense(n_topics))
        return state.model.parameters(start, state.totals.n_documents), state.topic_ids


def refined(state: Inference, corpus: Corpus, tau: Float, weights: Float, n_dk: Float) -> Start:
    """Return the topics that `SWEEPS` sweeps of collapsed inference lead to.

    Parameters
    ----------
    state : Inference
    corpus : Corpus
        All documents or a sample of them.
    tau : ndarray of shape (W, K)
    weights : ndarray of shape (K,)
        Corpus weights.
    n_dk : ndarray of shape (D', K)
        Expected counts of the documents of `corpus`.
    """
    alpha, gamma, eta = (state.model.hyperparameters[name] for name in ("alpha", "gamma", "eta"))
    start = state.model.likelihood.mean(tau), n_dk + alpha * weights, weights
    states = smoothed_cvb0(corpus, weights.size, alpha=alpha, gamma=gamma, eta=eta, start=start)
    *_, found = islice(states, SWEEPS)
    scale = state.totals.N.sum() / max(corpus.n_tokens, 1e-300)
    return Start(np.maximum(found.S, 0.0) * scale, found.beta)


def sample(state: Inference, schedule: Schedule) -> tuple[Corpus, DocumentTopics]:
    """Return the documents, or as many of each batch as fit in the memory set aside, with their expected counts.

    They are spread evenly over the batch: documents may stand in an order that says what they are about.
    """
    most = RESPONSIBILITY_BYTES // COUNT_BYTES
    share = most / max(sum(load().word.size for load in schedule.batches), 1)
    parts, documents = [], []
    for load, found in zip(schedule.batches, state.documents, strict=True):
        batch = load()
        assert isinstance(batch, Batch)
        assert isinstance(found, DocumentTopics)
        size = batch.n_documents if share >= 1 else max(1, int(share * batch.n_documents))
        rows = np.arange(size) * batch.n_documents // size
        parts.append(batch.selected(rows))
        documents.append(found.selected(rows))
    return as_corpus(Batch.joined(parts), state.totals.S.shape[0]), DocumentTopics.joined(documents)


def as_corpus(batch: Batch, n_words: int) -> Corpus:
    """Return the documents of a batch over all words."""
    shape = (batch.n_documents, n_words)
    return Corpus.from_counts(sparse.csr_matrix((batch.count, batch.words[batch.word], batch.indptr), shape=shape))
