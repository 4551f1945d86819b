"""What the comparisons of the hybrid run: systems that learn a unit of work at a time, by the clock.

All have the hyperparameters of Burkhardt and Kramer (2017): alpha = gamma = 1, an eta that is given. Reading the
documents into the form that a system takes is not on its clock; its start is.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from chains import make_chain, sweeps
from fits import after_each_lap
from stickbreak import HybridHDP, VariationalHDP
from stickbreak.collapsed import cvb0
from stickbreak.corpus import Corpus

ALPHA, GAMMA = 1.0, 1.0
DECAY, OFFSET = 0.6, 1.0  # step t has the size (t + 1) ** -0.6
BURN_IN, SAVED = 5, 5
ENDLESS = 10**9

Float = NDArray[np.float64]
Topics = tuple[Float, Float]  # word distributions (K, W); weights (K,), of any sum


class Contender(Protocol):
    """A system that learns from documents."""

    passes: float  # documents visited, in units of the collection

    def work(self) -> Iterator[float]:
        """Learn a unit at a time; yield its processor seconds, after it."""

    def topics(self) -> Topics:
        """Return the topics of now."""


def processor_seconds(work: Callable[[], Any]) -> float:
    """Return the processor seconds of all threads of this process."""
    began = time.process_time()
    work()
    return time.process_time() - began


def minibatches(n_documents: int, size: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Yield the rows of minibatches without end, all of one size, out of shuffled passes one after another."""
    rng, size = np.random.default_rng(seed), min(size, n_documents)
    order = np.zeros(0, dtype=np.int64)
    while True:
        if order.size < size:
            order = np.concatenate([order, rng.permutation(n_documents)])
        yield order[:size]
        order = order[size:]


class Hybrid:
    """`HybridHDP` on a stream of minibatches; found topics are those of the first one."""

    def __init__(
        self,
        corpus: Corpus,
        n_topics: int,
        *,
        batch_size: int,
        eta: float,
        seed: int,
        sampler: str = "sparse",
        init: str = "random",
        alpha: float = ALPHA,
    ) -> None:
        self.passes = 0.0
        self._corpus, self._batch_size, self._seed = corpus, batch_size, seed
        self._model = HybridHDP(
            n_topics=n_topics,
            alpha=alpha,
            gamma=GAMMA,
            eta=eta,
            learn=(),
            top_level="truncated",
            sampler=sampler,
            g_weight="mean_field",
            phi_weight="ratio",
            init=init,
            init_sweeps=50,
            n_laps=1,
            batch_size=batch_size,
            burn_in_sweeps=BURN_IN,
            saved_sweeps=SAVED,
            learning_decay=DECAY,
            learning_offset=OFFSET if init == "random" else None,
            total_documents=corpus.n_documents,
            random_state=seed,
            n_jobs=1,
        )

    def work(self) -> Iterator[float]:
        model, n_documents = self._model, self._corpus.n_documents
        for rows in minibatches(n_documents, self._batch_size, self._seed):
            if getattr(model, "n_documents_seen_", 0) + rows.size > n_documents:
                model.n_documents_seen_ = 0  # a further pass: no stream may be longer than `total_documents`
            seconds = processor_seconds(partial(model.partial_fit, self._corpus[rows]))
            self.passes += rows.size / n_documents
            yield seconds

    def topics(self) -> Topics:
        return self._model.topic_word_, self._model.topic_weights_


class FoundHybrid(Hybrid):
    """`HybridHDP.fit` from topics that are found in the collection first, in a first lap; then as a stream."""

    def work(self) -> Iterator[float]:
        seconds = processor_seconds(partial(self._model.fit, self._corpus))
        self.passes = 1.0
        yield seconds
        yield from super().work()


def gensim_hdp() -> Any:
    """Return gensim's class of HDP models."""
    try:
        from gensim.models import HdpModel
    except ImportError:
        sys.exit("gensim is not installed: pip install gensim, or leave it out (--systems stickbreak).")
    return HdpModel


class Gensim:
    """gensim's HdpModel (Wang, Paisley and Blei 2011) on the same minibatches; its second level is as by default.

    `update_chunk` takes the steps: a second call of `update` would stop after one chunk.
    """

    def __init__(self, corpus: Corpus, n_topics: int, *, batch_size: int, eta: float, seed: int) -> None:
        self.passes = 0.0
        self._documents, self._n_words = bags(corpus), corpus.n_words
        self._batch_size, self._seed = min(batch_size, corpus.n_documents), seed
        self._settings = {"T": n_topics, "alpha": ALPHA, "gamma": GAMMA, "eta": eta, "kappa": DECAY, "tau": OFFSET}
        self._hdp = gensim_hdp()
        self._model: Any = None

    def work(self) -> Iterator[float]:
        n_documents = len(self._documents)
        for rows in minibatches(n_documents, self._batch_size, self._seed):
            chunk = [self._documents[row] for row in rows]
            step = partial(self._begin, chunk) if self._model is None else partial(self._model.update_chunk, chunk)
            seconds = processor_seconds(step)
            self.passes += rows.size / n_documents
            yield seconds

    def _begin(self, chunk: list[list[tuple[int, int]]]) -> None:
        """Make the model, which learns from its first chunk at once.

        It takes the number of documents from the list that it is given; what comes after the first chunk is not read.
        """
        documents = chunk + self._documents[len(chunk) :]
        names = {w: str(w) for w in range(self._n_words)}
        self._model = self._hdp(
            documents, names, max_chunks=1, chunksize=len(chunk), random_state=self._seed, **self._settings
        )

    def topics(self) -> Topics:
        self._model.update_expectations()  # words are brought up to date when they occur
        return self._model.get_topics(), self._model.hdp_to_lda()[0]


class Gibbs:
    """A chain of table indicators, sparse, from random topics; hyperparameters stay as they are."""

    def __init__(self, corpus: Corpus, n_topics: int, *, eta: float, seed: int) -> None:
        self.passes = 0.0
        self._eta = eta
        self._make = partial(
            make_chain, corpus, seed=seed, concentrations=(ALPHA, GAMMA, eta), init="random", n_topics=n_topics
        )

    def work(self) -> Iterator[float]:
        began = time.process_time()
        self._chain = self._make()
        start = time.process_time() - began
        further = sweeps(self._chain, ENDLESS)
        while True:
            seconds = processor_seconds(partial(next, further)) + start
            start = 0.0
            self.passes += 1
            yield seconds

    def topics(self) -> Topics:
        return distributions(self._chain.topic_word_counts().toarray(), self._eta), self._chain.tables.astype(float)


def tomotopy_model(corpus: Corpus, n_topics: int, *, eta: float, seed: int, fixed: bool) -> Any:
    """Return tomotopy's HDPModel with its documents; `fixed` keeps alpha and gamma as they are."""
    import tomotopy

    model = tomotopy.HDPModel(initial_k=max(n_topics, 2), alpha=ALPHA, gamma=GAMMA, eta=eta, seed=seed)
    if fixed:
        model.optim_interval, model.burn_in = 0, 0
    add_documents(model, corpus)
    return model


def add_documents(model: Any, corpus: Corpus) -> None:
    """Put the documents that are not empty into a model of tomotopy; words are named by their columns."""
    names = np.array([str(w) for w in range(corpus.n_words)])
    for document in bags(corpus):
        if document:
            words, counts = zip(*document, strict=True)
            model.add_doc(np.repeat(names[list(words)], counts).tolist())


class Tomotopy:
    """tomotopy's HDPModel, one thread: table by table, and dense over all topics."""

    def __init__(self, corpus: Corpus, n_topics: int, *, eta: float, seed: int, fixed: bool = False) -> None:
        self.passes = 0.0
        self._n_words = corpus.n_words
        self._model = tomotopy_model(corpus, n_topics, eta=eta, seed=seed, fixed=fixed)

    def work(self) -> Iterator[float]:
        while True:
            seconds = processor_seconds(partial(self._model.train, 1, workers=1))
            self.passes += 1
            yield seconds

    def topics(self) -> Topics:
        """Return the topics in use; its weights are shares of tokens, and words that it never saw have no probability.

        It holds single precision.
        """
        alive = [k for k in range(self._model.k) if self._model.is_live_topic(k)]
        topics = np.zeros((len(alive), self._n_words))
        topics[:, np.array(self._model.used_vocabs, dtype=np.int64)] = [
            self._model.get_topic_word_dist(k) for k in alive
        ]
        tokens = np.asarray(self._model.get_count_by_topics(), dtype=np.float64)[alive]
        return topics / topics.sum(axis=1, keepdims=True), tokens


class _TimeIsUp(Exception):
    """The clock of a fit has run out."""


class Variational:
    """`VariationalHDP` from its collapsed start, with its own moves.

    Its laps cannot be looked at while they run, so there are two fits of the same seed: one without a stop, by the
    clock, then one that is looked at after each lap.
    """

    def __init__(self, corpus: Corpus, n_topics: int, *, eta: float, seed: int, init_sweeps: int, limit: float) -> None:
        self.passes = 0.0
        self._corpus, self._limit = corpus, limit
        self._model = VariationalHDP(
            n_topics=n_topics,
            learn=(),
            alpha=ALPHA,
            gamma=GAMMA,
            eta=eta,
            init_sweeps=init_sweeps,
            n_laps=1000,
            random_state=seed,
            n_jobs=1,
        )

    def work(self) -> Iterator[float]:
        before = 0.0
        for end, _ in zip(self._ends_of_laps(), after_each_lap(self._model, self._corpus), strict=False):
            self.passes += 1
            yield end - before
            before = end

    def _ends_of_laps(self) -> list[float]:
        """Return the processor seconds from the beginning of the fit to the end of each lap, until the limit."""
        ends: list[float] = []
        began = time.process_time()

        def note(event: dict[str, Any]) -> None:
            if "lap" in event:
                ends.append(time.process_time() - began)
                if ends[-1] >= self._limit:
                    raise _TimeIsUp

        try:
            self._model.fit(self._corpus, callback=note)
        except _TimeIsUp:
            pass
        return ends

    def topics(self) -> Topics:
        return self._model.topic_word_, self._model.topic_weights_


class Collapsed:
    """CVB0 of all documents from random topics."""

    def __init__(self, corpus: Corpus, n_topics: int, *, eta: float, seed: int) -> None:
        self.passes = 0.0
        self._eta = eta
        self._states = cvb0(corpus, n_topics, alpha=ALPHA, gamma=GAMMA, eta=eta, seed=seed)

    def work(self) -> Iterator[float]:
        while True:
            began = time.process_time()
            self._state = next(self._states)
            seconds = time.process_time() - began
            self.passes += 1
            yield seconds

    def topics(self) -> Topics:
        return distributions(self._state.S.T, self._eta), self._state.beta


def distributions(counts: Float, eta: float) -> Float:
    """Return the expected word distributions of topics with these counts, (K, W)."""
    smoothed = np.maximum(counts, 0.0) + eta
    return smoothed / smoothed.sum(axis=1, keepdims=True)


def bags(corpus: Corpus) -> list[list[tuple[int, int]]]:
    """Return the documents as lists of pairs (word, count)."""
    counts = corpus.counts
    pairs = list(zip(counts.indices.tolist(), counts.data.astype(np.int64).tolist(), strict=True))
    return [pairs[first:last] for first, last in zip(counts.indptr[:-1], counts.indptr[1:], strict=True)]
