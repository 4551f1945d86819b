"""The peers as systems of the harness: total alpha 5 and eta 0.1 where they have them, alpha learned where it can be.

A unit of work is a pass, or some of them; "settings" of the key are arguments of their classes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from joblib.externals.loky import get_reusable_executor

from benchmarks.harness.ours import CHUNK, TOTAL_ALPHA
from benchmarks.harness.records import Record
from benchmarks.harness.units import Answer, bags, minibatches, processor_seconds
from stickbreak.corpus import Corpus

PASSES = 100
ETA = 0.1
# Of Burkhardt and Kramer (2017): a step has the size (t + 1) ** -0.6.
ALPHA, GAMMA = 1.0, 1.0
DECAY, OFFSET = 0.6, 1.0
# Gensim's default.
GENSIM_CHUNK = 256


class ScikitLearnOnline:
    """scikit-learn's LatentDirichletAllocation, online form in minibatches of 128, a pass at a time."""

    method = "online"

    def __init__(self, corpus: Corpus, key: Record) -> None:
        from sklearn.decomposition import LatentDirichletAllocation

        self.passes = 0.0
        # It takes no more than 1.
        alpha = min(1.0, TOTAL_ALPHA / key["K"])
        settings = {"doc_topic_prior": alpha, "topic_word_prior": ETA, **key.get("settings", {})}
        self._counts, self._alpha = corpus.counts.astype(np.float64), np.full(key["K"], settings["doc_topic_prior"])
        self._model = LatentDirichletAllocation(
            key["K"], learning_method=self.method, total_samples=corpus.n_documents, random_state=key["seed"],
            n_jobs=key.get("threads", 1), **settings,
        )  # fmt: skip

    def work(self) -> Iterator[float]:
        try:
            while self.passes < PASSES:
                seconds = processor_seconds(self._pass)
                self.passes += 1
                yield seconds
        finally:
            # Its processes would keep ours from ending for minutes.
            if self._model.n_jobs > 1:
                get_reusable_executor().shutdown(wait=True)

    def _pass(self) -> None:
        self._model.partial_fit(self._counts)

    def answer(self) -> Answer:
        topics = self._model.components_
        return topics / topics.sum(axis=1, keepdims=True), self._alpha


class ScikitLearnBatch(ScikitLearnOnline):
    """scikit-learn's LatentDirichletAllocation, batch form.

    It cannot go on from where it was, so a pass is what its `fit` does in one iteration.
    """

    method = "batch"

    def _pass(self) -> None:
        if not hasattr(self._model, "components_"):
            self._model._init_latent_vars(self._counts.shape[1], dtype=np.float64)
        self._model._em_step(self._counts, total_samples=self._counts.shape[0], batch_update=True)


class GensimLDA:
    """gensim's LdaModel in minibatches of its default size; it learns alpha."""

    def __init__(self, corpus: Corpus, key: Record) -> None:
        self.passes = 0.0
        self._documents, self._n_words, self._n_topics = bags(corpus), corpus.n_words, key["K"]
        alpha = np.full(key["K"], TOTAL_ALPHA / key["K"])
        defaults = {"alpha": alpha, "eta": ETA, "eval_every": None, "random_state": key["seed"]}
        self._settings = {**defaults, **key.get("settings", {})}
        self._model: Any = None

    def work(self) -> Iterator[float]:
        from gensim.models import LdaModel

        names = {w: str(w) for w in range(self._n_words)}
        self._model = LdaModel(id2word=names, num_topics=self._n_topics, dtype=np.float64, **self._settings)
        # From the total of above; its "auto" begins at a total of 1.
        self._model.optimize_alpha = True
        while self.passes < PASSES:
            # A further pass over the same documents, not further documents.
            self._model.state.numdocs = 0
            seconds = processor_seconds(partial(self._model.update, self._documents))
            self.passes += 1
            yield seconds

    def answer(self) -> Answer:
        return self._model.get_topics(), np.asarray(self._model.alpha, dtype=np.float64)


def gensim_hdp() -> Any:
    """Return gensim's class of HDP models."""
    try:
        from gensim.models import HdpModel
    except ImportError:
        sys.exit("gensim is not installed: pip install gensim, or leave it out with --systems.")
    return HdpModel


class GensimHDP:
    """gensim's HdpModel (Wang, Paisley and Blei 2011) truncated at K topics; its second level is as by default.

    "eta" and "batch" of the key are the smoothing and the documents of a minibatch. `update_chunk` takes the steps: a
    second call of `update` would stop after one chunk.
    """

    def __init__(self, corpus: Corpus, key: Record) -> None:
        self.passes = 0.0
        self._documents, self._n_words, self._seed = bags(corpus), corpus.n_words, key["seed"]
        self._batch_size = min(key.get("batch", GENSIM_CHUNK), corpus.n_documents)
        shared = {"T": key["K"], "alpha": ALPHA, "gamma": GAMMA, "eta": key.get("eta", ETA)}
        self._settings = {**shared, "kappa": DECAY, "tau": OFFSET, **key.get("settings", {})}
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

    def answer(self) -> Answer:
        # Words are brought up to date only when they occur.
        self._model.update_expectations()
        return self._model.get_topics(), self._model.hdp_to_lda()[0]


def add_documents(model: Any, corpus: Corpus) -> None:
    """Put the documents that are not empty into a model of tomotopy; words are named by their columns."""
    names = np.array([str(w) for w in range(corpus.n_words)])
    for document in bags(corpus):
        if document:
            words, counts = zip(*document, strict=True)
            model.add_doc(np.repeat(names[list(words)], counts).tolist())


class TomotopyLDA:
    """tomotopy's LDAModel; it learns alpha, unless its hyperparameters are to stay as they are ("fixed").

    Parameters
    ----------
    corpus : Corpus
    key : dict
        "K", "seed", and if need be "eta", "threads" and "settings" (arguments of the class).
    unit : int
        Passes of a unit of work.
    fixed : bool
        Whether the hyperparameters stay as they are.
    """

    def __init__(self, corpus: Corpus, key: Record, *, unit: int = CHUNK, fixed: bool = False) -> None:
        self.passes = 0.0
        self._n_words, self._threads, self._unit = corpus.n_words, key.get("threads", 1), unit
        given = {"eta": key.get("eta", ETA), "seed": key["seed"] + 1, **key.get("settings", {})}
        self.model = self._make(key["K"], given)
        if fixed:
            self.model.optim_interval, self.model.burn_in = 0, 0
        add_documents(self.model, corpus)

    def _make(self, n_topics: int, settings: Record) -> Any:
        """Return a model without documents."""
        import tomotopy

        return tomotopy.LDAModel(k=n_topics, **{"alpha": TOTAL_ALPHA / n_topics, **settings})

    def work(self) -> Iterator[float]:
        while True:
            seconds = processor_seconds(partial(self.model.train, self._unit, workers=self._threads))
            self.passes += self._unit
            yield seconds

    def answer(self) -> Answer:
        return self._topics(list(range(self.model.k))), np.asarray(self.model.alpha, dtype=np.float64)

    def _topics(self, chosen: list[int]) -> np.ndarray:
        """Return word distributions; words that it never saw have no probability, and it holds single precision."""
        topics = np.zeros((len(chosen), self._n_words))
        columns = np.array([int(word) for word in self.model.used_vocabs])
        topics[:, columns] = [self.model.get_topic_word_dist(k) for k in chosen]
        return topics / topics.sum(axis=1, keepdims=True)


class TomotopyHDP(TomotopyLDA):
    """tomotopy's HDPModel: table by table, and dense over all topics; it learns alpha and gamma."""

    def _make(self, n_topics: int, settings: Record) -> Any:
        import tomotopy

        return tomotopy.HDPModel(initial_k=max(n_topics, 2), **{"alpha": ALPHA, "gamma": GAMMA, **settings})

    def answer(self) -> Answer:
        """Return the topics in use, weighted by their tokens."""
        alive = [k for k in range(self.model.k) if self.model.is_live_topic(k)]
        tokens = np.asarray(self.model.get_count_by_topics(), dtype=np.float64)[alive]
        return self._topics(alive), self.model.alpha * tokens / tokens.sum()
