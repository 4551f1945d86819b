"""Topics that trials propose, found in words by Gibbs sampling."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import engine_of
from stickbreak.initialization import MOST_TOKENS, Start, StartSettings, make_start, resampled
from stickbreak.likelihoods import DirichletMultinomial, WordLikelihood
from stickbreak.numerics.arrays import Int
from stickbreak.numerics.pseudo_counts import Eta
from stickbreak.numerics.ranges import MOST_TOPICS
from stickbreak.numerics.streams import stream
from stickbreak.variational.model import Inference, Model, Schedule
from stickbreak.variational.moves import Birth, Proposal, Proposals, Refine
from stickbreak.variational.words.batch import Batch
from stickbreak.variational.words.observed import starting_parameters

EMPTY = 1e-3  # tokens: topics with fewer after the sweeps are left out
REFINE_SWEEPS = 20


class WordBirths(Proposals):
    """All topics found from the start, once; then every topic cut in two.

    The first proposal is a start by Gibbs sampling, whatever the fit itself has started from: the optima of mean field
    that other starts lead to are lower, and far from each other. In later proposals each document gives what it has of
    a topic to one of its two halves, drawn at random, and sampling decides which halves come to differ. Merges in the
    laps of the trial make one of those that do not.

    Parameters
    ----------
    fresh : StartSettings or None
        Settings of the start that is proposed first. None: the first proposal cuts topics, as later ones do.
    """

    merges = True

    def __init__(self, fresh: StartSettings | None) -> None:
        self._fresh = fresh

    def waits(self, seed: int) -> bool:
        """Whether the proposal is not the first: halves of settled topics must beat where further laps would lead."""
        return seed > 0 or self._fresh is None

    def propose(self, state: Inference, schedule: Schedule, tries: int, seed: int) -> Proposal | None:
        """Return topics found from the start, or the halves of the present ones."""
        corpus = sample(state, schedule)
        if corpus.n_tokens == 0:
            return None
        if not self.waits(seed):
            assert self._fresh is not None
            fresh = replace(self._fresh, engine=engine_of(schedule.executor))
            start = scaled(make_start("lda", corpus, fresh), state, corpus)
            names = state.next_id + np.arange(start.weights.size)
            names[: state.model.n_kept] = state.topic_ids[: state.model.n_kept]
            return proposal(schedule.model, start, names, state)
        n_topics, rng = state.topic_ids.size, stream(schedule.seed, f"birth {seed}")
        if 2 * n_topics > MOST_TOPICS:
            return None
        start = refined(state, schedule, corpus, halves=rng)
        used = start.counts.sum(axis=0) > EMPTY
        used[: state.model.n_kept] = True
        if not used.any():
            return None
        names = np.concatenate([state.topic_ids, state.next_id + np.arange(n_topics)])
        start = Start(np.ascontiguousarray(start.counts[:, used]), start.weights[used])
        return proposal(state.model, start, names[used], state)


class Refinement(Proposals):
    """The present topics, found again by Gibbs sampling."""

    def propose(self, state: Inference, schedule: Schedule, tries: int, seed: int) -> Proposal | None:
        """Return the topics after the sweeps."""
        start = refined(state, schedule, sample(state, schedule))
        return proposal(state.model, start, state.topic_ids, state)


def word_proposals(fresh: StartSettings | None) -> dict[str, Proposals]:
    """Return what moves propose topics by; `fresh` are the settings of the start that is tried, if any."""
    return {Birth.name: WordBirths(fresh), Refine.name: Refinement()}


def proposal(model: Model, start: Start, names: Int, state: Inference) -> Proposal:
    """Return the topics of a start."""
    likelihood = cast(WordLikelihood, model.likelihood)
    return Proposal(model, starting_parameters(start, likelihood, model.gamma, state.totals.n_documents), names)


def scaled(start: Start, state: Inference, corpus: Corpus) -> Start:
    """Return the start with counts of all documents in the place of those of a sample."""
    return Start(start.counts * (state.totals.N.sum() / max(corpus.n_tokens, 1e-300)), start.weights)


def _hyperparameters(state: Inference) -> tuple[float, float, Eta]:
    """Return alpha, gamma and eta."""
    values = state.model.hyperparameters
    return values["alpha"], values["gamma"], cast(DirichletMultinomial, state.model.likelihood).eta


def refined(state: Inference, schedule: Schedule, corpus: Corpus, halves: np.random.Generator | None = None) -> Start:
    """Return the topics that `REFINE_SWEEPS` passes of Gibbs sampling lead to, from the present ones or their halves.

    Parameters
    ----------
    state : Inference
    schedule : Schedule
    corpus : Corpus
        All documents or a sample of them.
    halves : Generator, optional
        Draws halves of the topics, from which it begins.
    """
    alpha, gamma, eta = _hyperparameters(state)
    weights, pseudo, engine = state.parameters.expected_beta[:-1], state.model.pseudo, engine_of(schedule.executor)
    given = weights.size, alpha, gamma, eta, schedule.seed, REFINE_SWEEPS
    settings = StartSettings(*given, engine=engine, pseudo=pseudo)
    topics = np.ascontiguousarray(state.model.likelihood.mean(state.parameters.tau).T)
    return scaled(resampled(corpus, topics, alpha * weights, settings, halves), state, corpus)


def sample(state: Inference, schedule: Schedule) -> Corpus:
    """Return the documents, or as many of each batch as topics are found in.

    They are spread evenly over the batch: documents may stand in an order that says what they are about.
    """
    share = MOST_TOKENS / max(float(state.totals.N.sum()), 1.0)
    parts = []
    for load in schedule.batches:
        batch = load()
        assert isinstance(batch, Batch)
        size = batch.n_documents if share >= 1 else max(1, int(share * batch.n_documents))
        rows = np.arange(size) * batch.n_documents // size
        parts.append(batch.selected(rows))
    return as_corpus(Batch.joined(parts), state.totals.S.shape[0])


def as_corpus(batch: Batch, n_words: int) -> Corpus:
    """Return the documents of a batch over all words."""
    shape = (batch.n_documents, n_words)
    return Corpus.from_counts(sparse.csr_matrix((batch.count, batch.words[batch.word], batch.indptr), shape=shape))
