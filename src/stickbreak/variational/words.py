"""Words as the core sees them: batches of tokens, where a fit begins, and topics that moves propose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.corpus.batches import Cut, cuts
from stickbreak.corpus.sources import Source
from stickbreak.fitting.engine import Engine, shards
from stickbreak.initialization import MOST_TOKENS, Start, StartSettings, make_start, resampled
from stickbreak.likelihoods import DirichletMultinomial
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.ranges import MOST_TOPICS
from stickbreak.numerics.streams import stream
from stickbreak.variational.documents import DocumentTopics, runs
from stickbreak.variational.global_step import sticks_of
from stickbreak.variational.kernels import statistics as statistics_kernels
from stickbreak.variational.local_step import SHARD_COUNTS, LocalResult
from stickbreak.variational.model import Inference, Model, Schedule
from stickbreak.variational.moves import Birth, Proposal, Proposals, Refine
from stickbreak.variational.state import GlobalParameters

EXPLAINS = 1 / 300  # tau_kw from which exp(E log phi_kw) is no zero of doubles, whatever else multiplies it
EMPTY = 1e-3  # tokens: topics with fewer after the sweeps are left out
REFINE_SWEEPS = 20


@dataclass(frozen=True, slots=True)
class Batch:
    """The counts of a set of documents over the words that occur in it: every token is an observation."""

    likelihood: DirichletMultinomial
    indptr: Int  # (D_b + 1,)
    word: np.ndarray  # int32 (nnz,)   row of `words`
    count: Float  # (nnz,)
    words: np.ndarray  # int32 (W_b,)   ascending word numbers
    lengths: Float  # (D_b,)   tokens of a document

    @classmethod
    def from_corpus(cls, corpus: Corpus, likelihood: DirichletMultinomial) -> Batch:
        """Take the counts of a corpus (the documents of one batch)."""
        counts = corpus.counts
        occurs = np.zeros(corpus.n_words, dtype=bool)
        occurs[counts.indices] = True
        row = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
        return cls(
            likelihood,
            counts.indptr.astype(np.int64),
            row[counts.indices],
            counts.data.astype(np.float64),
            np.flatnonzero(occurs).astype(np.int32),
            np.asarray(counts.sum(axis=1), dtype=np.float64).ravel(),
        )

    @property
    def n_documents(self) -> int:
        """Number of documents in the batch."""
        return self.indptr.size - 1

    def selected(self, rows: Int) -> Batch:
        """Return some of the documents, over the same words."""
        indptr, place = runs(self.indptr, rows)
        return Batch(self.likelihood, indptr, self.word[place], self.count[place], self.words, self.lengths[rows])

    @classmethod
    def joined(cls, parts: Sequence[Batch]) -> Batch:
        """Return the documents of several batches over all their words."""
        words = np.concatenate([part.words[part.word] for part in parts])
        occurring, word = np.unique(words, return_inverse=True)
        sizes = np.concatenate([np.diff(part.indptr) for part in parts])
        return cls(
            parts[0].likelihood,
            np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
            word.astype(np.int32),
            np.concatenate([part.count for part in parts]),
            occurring.astype(np.int32),
            np.concatenate([part.lengths for part in parts]),
        )

    def under(self, likelihood: DirichletMultinomial) -> Batch:
        """Return the same counts under a likelihood whose hyperparameters may have been learned."""
        return self if likelihood is self.likelihood else replace(self, likelihood=likelihood)

    def over_own_rows(self) -> Batch:
        """Return the same counts for a table of topics that has only the rows of these words."""
        return replace(self, words=np.arange(self.words.size, dtype=np.int32))

    def weigh(self, parameters: GlobalParameters, engine: Engine) -> Float:
        """Return exp(E log phi_kw) of the words, (W_b, K).                                    docs/math (V4)"""
        weights = np.empty((self.words.size, parameters.n_topics))

        def weigh(rows: tuple[int, int]) -> None:
            part = slice(*rows)
            self.likelihood.weigh(parameters.tau, parameters.tau_sum, self.words[part], weights[part])

        engine.map(weigh, shards(np.full(self.words.size, parameters.n_topics), SHARD_COUNTS))
        return weights

    def feasible(self, start: DocumentTopics, weights: Float) -> DocumentTopics:
        """Return the start: the prior of the topics gives every word some probability in each."""
        return start

    def reopened(self, start: DocumentTopics, parameters: GlobalParameters) -> DocumentTopics:
        """Return the start without what it says of documents whose topics cannot explain one of their words.

        Under a small eta a topic gives a word that it has never seen probability zero. Where the topic that went was
        the only one of a document that knows the word, the document must begin with all topics.
        """
        able = np.empty(self.n_documents, dtype=bool)
        statistics_kernels.explains_all(
            self.indptr, self.word, start.indptr, start.topic, parameters.tau, EXPLAINS, able
        )
        rows = np.flatnonzero(~able)
        return start.replaced(rows, DocumentTopics.empty(rows.size)) if rows.size else start

    def statistics(self, result: LocalResult, engine: Engine) -> tuple[Float, Float]:
        """Return S (W_b, K) and sum_w S_wk log weights_wk (K,).                               docs/math (V8)

        Word by word, so that the sums do not depend on the number of threads.
        """
        n_topics = result.weights.shape[1]
        by_word = statistics_kernels.group_by_word(self.word, self.words.size)
        _, topics = result.factors()
        document = np.repeat(np.arange(self.n_documents), np.diff(self.indptr))
        S = np.zeros((self.words.size, n_topics))

        def spread(rows: tuple[int, int]) -> Float:
            cross = np.zeros(n_topics)
            statistics_kernels.word_statistics(*rows, by_word, document, result.ratio, topics, result.weights, S, cross)
            return cross

        return S, sum(engine.map(spread, shards(np.diff(by_word[0]), SHARD_COUNTS)), np.zeros(n_topics))

    def gathered_statistics(
        self, documents: DocumentTopics, share_ptr: Int, share: Float, n_topics: int
    ) -> tuple[Float, Float]:
        """Return S (W_b, K) and H (K,) of documents whose responsibilities are stored.                docs/math (V8)"""
        S, H = np.zeros((self.words.size, n_topics)), np.zeros(n_topics)
        statistics_kernels.share_statistics(
            self.indptr, self.word, self.count, documents.indptr, documents.topic, share_ptr, share, S, H
        )
        return S, H


@dataclass(frozen=True, slots=True)
class BatchOfWords:
    """Documents of a batch, which are read when they are visited."""

    documents: Source
    likelihood: DirichletMultinomial
    cut: Cut

    def __call__(self) -> Batch:
        """Read them."""
        return Batch.from_corpus(self.documents.load(self.cut.rows()), self.likelihood)


def batch_loaders(
    documents: Source, n_documents: int, likelihood: DirichletMultinomial, n_batches: int, seed: int
) -> list[BatchOfWords]:
    """Cut documents into batches."""
    return [BatchOfWords(documents, likelihood, cut) for cut in cuts(n_documents, n_batches, seed=seed)]


def starting_parameters(
    start: Start, likelihood: DirichletMultinomial, gamma: float, n_documents: int
) -> GlobalParameters:
    """Return the global parameters of a start."""
    sticks = sticks_of(start.weights, 1.0 + gamma + n_documents)
    return GlobalParameters.of(likelihood, start.counts, start.counts.sum(axis=0), *sticks)


class WordBirths(Proposals):
    """All topics found from the start, once; then every topic cut in two.

    The first proposal is a start by Gibbs sampling, whatever the fit itself has started from: the optima of mean field
    that other starts lead to are lower, and far from each other. In later proposals each document gives what it has of
    a topic to one of its two halves, drawn at random, and sampling decides which halves come to differ. Merges in the
    laps of the trial make one of those that do not.

    `fresh`: settings of the start that is proposed first. None: the first proposal cuts topics, as later ones do.
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
            if self._fresh.n_topics > MOST_TOPICS:
                return None
            fresh = replace(self._fresh, engine=schedule.engine)
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
        if state.topic_ids.size > MOST_TOPICS:
            return None
        start = refined(state, schedule, sample(state, schedule))
        return proposal(state.model, start, state.topic_ids, state)


def word_proposals(fresh: StartSettings | None) -> dict[str, Proposals]:
    """Return what moves propose topics by; `fresh` are the settings of the start that is tried, if any."""
    return {Birth.name: WordBirths(fresh), Refine.name: Refinement()}


def proposal(model: Model, start: Start, names: Int, state: Inference) -> Proposal:
    """Return the topics of a start."""
    likelihood = cast(DirichletMultinomial, model.likelihood)
    return Proposal(model, starting_parameters(start, likelihood, model.gamma, state.totals.n_documents), names)


def scaled(start: Start, state: Inference, corpus: Corpus) -> Start:
    """Return the start with counts of all documents in the place of those of a sample; pseudo-counts stay."""
    n_tokens, pseudo = state.totals.N.sum(), state.model.pseudo
    if pseudo is not None:
        n_tokens -= pseudo.sum()
    scale = n_tokens / max(corpus.n_tokens, 1e-300)
    counts = start.counts * scale
    if pseudo is not None:
        counts[:, : state.model.n_kept] += (1.0 - scale) * pseudo.toarray()
    return Start(counts, start.weights)


def refined(state: Inference, schedule: Schedule, corpus: Corpus, halves: np.random.Generator | None = None) -> Start:
    """Return the topics that Gibbs sampling leads to from the present ones, or from halves of them that are drawn."""
    alpha, gamma = state.model.hyperparameters["alpha"], state.model.gamma
    eta = cast(DirichletMultinomial, state.model.likelihood).eta
    weights, pseudo, engine = state.parameters.expected_beta[:-1], state.model.pseudo, schedule.engine
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
    joined = Batch.joined(parts)
    shape = joined.n_documents, state.totals.S.shape[0]
    return Corpus.from_counts(sparse.csr_matrix((joined.count, joined.words[joined.word], joined.indptr), shape=shape))
