"""Topics that trials propose, found in words by collapsed inference (CVB0)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import cast

import numpy as np
from scipy import sparse

from stickbreak.collapsed import COUNT_BYTES
from stickbreak.corpus import Corpus
from stickbreak.initialization import RESPONSIBILITY_BYTES, Start, smoothed_cvb0
from stickbreak.likelihoods import WordLikelihood
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.streams import stream
from stickbreak.variational.documents import DocumentTopics
from stickbreak.variational.model import Inference, Schedule
from stickbreak.variational.moves import Birth, Proposals, Refine
from stickbreak.variational.observations import Visit
from stickbreak.variational.state import GlobalParameters
from stickbreak.variational.words.batch import Batch
from stickbreak.variational.words.observed import starting_parameters

DOCUMENTS = 500  # of the target of a birth
EMPTY = 1e-3  # tokens: topics with fewer after the sweeps are left out
TOPICS = 10  # that are born at once
BIRTH_SWEEPS = 30
REFINE_SWEEPS = 20


class WordBirths(Proposals):
    """The present topics and up to ten found by collapsed inference in the documents that lose most under them.

    Then all topics go through the collapsed sweeps of a refinement, so that every document can choose among them. A
    document's loss is what its words would gain, in nats, if it had a topic of its own.
    """

    def __init__(self) -> None:
        self._worst: list[Batch] = []

    def begin(self, state: Inference) -> None:
        """Forget the documents of the last lap."""
        self._worst = []
        self.share = DOCUMENTS / max(state.totals.n_documents, 1)

    def observe(self, visit: Visit, tries: int) -> None:
        """Keep the documents of the batch that lose most."""
        n = max(1, round(self.share * visit.batch.n_documents))
        order = np.argsort(-losses(visit), kind="stable")
        first = n * tries % max(order.size, 1)
        assert isinstance(visit.batch, Batch)
        self._worst.append(visit.batch.selected(np.sort(order[first : first + n])))

    def propose(
        self, state: Inference, schedule: Schedule, tries: int, seed: int
    ) -> tuple[GlobalParameters, Int] | None:
        """Return the present topics and those of the target."""
        model, parameters = state.model, state.parameters
        corpus = as_corpus(Batch.joined(self._worst), state.totals.S.shape[0])
        if corpus.n_tokens == 0:
            return None
        alpha, gamma, eta = _hyperparameters(state)
        drawn = int(stream(schedule.seed, f"birth {seed}").integers(2**31))
        states = smoothed_cvb0(corpus, TOPICS, alpha=alpha, gamma=gamma, eta=eta, seed=drawn)
        *_, found = islice(states, BIRTH_SWEEPS)
        born = found.N > corpus.n_tokens / TOPICS**2  # the others are leftovers
        share = found.N[born] / state.totals.N.sum()
        tau = np.concatenate([parameters.tau, model.likelihood.table(np.maximum(found.S[:, born], 0.0))], axis=1)
        weights = np.concatenate([parameters.expected_beta[:-1], share]) / (1.0 + share.sum())
        names = np.concatenate([state.topic_ids, state.next_id + np.arange(share.size)])
        everything, documents = sample(state, schedule)
        nowhere = np.zeros((documents.n_documents, names.size))  # every document may choose a new topic
        start = refined(state, everything, tau, weights, nowhere)
        used = start.counts.sum(axis=0) > EMPTY
        start = Start(np.ascontiguousarray(start.counts[:, used]), start.weights[used])
        likelihood = cast(WordLikelihood, model.likelihood)
        return starting_parameters(start, likelihood, model.gamma, state.totals.n_documents), names[used]


class Refinement(Proposals):
    """The present topics, found again by collapsed inference."""

    def propose(
        self, state: Inference, schedule: Schedule, tries: int, seed: int
    ) -> tuple[GlobalParameters, Int] | None:
        """Return the topics after the sweeps."""
        corpus, documents = sample(state, schedule)
        weights, n_topics = state.parameters.expected_beta[:-1], state.topic_ids.size
        start = refined(state, corpus, state.parameters.tau, weights, documents.dense(n_topics))
        likelihood = cast(WordLikelihood, state.model.likelihood)
        return starting_parameters(start, likelihood, state.model.gamma, state.totals.n_documents), state.topic_ids


WORD_PROPOSALS: Mapping[str, type[Proposals]] = {Birth.name: WordBirths, Refine.name: Refinement}


def _hyperparameters(state: Inference) -> tuple[float, float, float]:
    """Return alpha, gamma and eta."""
    values = state.model.hyperparameters
    return values["alpha"], values["gamma"], values["eta"]


def refined(state: Inference, corpus: Corpus, tau: Float, weights: Float, n_dk: Float) -> Start:
    """Return the topics that `REFINE_SWEEPS` sweeps of collapsed inference lead to.

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
    alpha, gamma, eta = _hyperparameters(state)
    start = state.model.likelihood.mean(tau), n_dk + alpha * weights, weights
    states = smoothed_cvb0(corpus, weights.size, alpha=alpha, gamma=gamma, eta=eta, start=start)
    *_, found = islice(states, REFINE_SWEEPS)
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


def losses(visit: Visit) -> Float:
    """Return sum_w c_dw (log c_dw - log Z_dw) of each document, in nats, (D_b,); Z_dw is about n_d p(w | d)."""
    batch = visit.batch
    document = np.repeat(np.arange(batch.n_documents), np.diff(batch.indptr))
    normaliser = batch.count / visit.ratio
    return np.bincount(
        document,
        weights=batch.count * (np.log(batch.count) - np.log(normaliser)),
        minlength=batch.n_documents,
    ).astype(np.float64)
