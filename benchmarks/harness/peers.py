"""The peers as systems of the harness: total alpha 5 and eta 0.1 where they have them, alpha learned where it can be.

A unit of work is a pass, or some of them; "settings" of the key are arguments of their classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from joblib.externals.loky import get_reusable_executor

from contenders import ALPHA, GAMMA, Gensim, add_documents, bags, processor_seconds
from harness.ours import CHUNK, PASSES, TOTAL_ALPHA, Answer
from records import Record
from stickbreak.corpus import Corpus

ETA = 0.1
GENSIM_CHUNK = 256  # gensim's default


class ScikitLearnOnline:
    """scikit-learn's LatentDirichletAllocation, online form in minibatches of 128, a pass at a time."""

    method = "online"

    def __init__(self, corpus: Corpus, key: Record) -> None:
        from sklearn.decomposition import LatentDirichletAllocation

        self.passes = 0.0
        alpha = min(1.0, TOTAL_ALPHA / key["K"])  # it takes no more than 1
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
            if self._model.n_jobs > 1:  # its processes would keep ours from ending for minutes
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
        self._model.optimize_alpha = True  # from the total of above; its "auto" begins at a total of 1
        while self.passes < PASSES:
            self._model.state.numdocs = 0  # a further pass over the same documents, not further documents
            seconds = processor_seconds(partial(self._model.update, self._documents))
            self.passes += 1
            yield seconds

    def answer(self) -> Answer:
        return self._model.get_topics(), np.asarray(self._model.alpha, dtype=np.float64)


class GensimHDP(Gensim):
    """gensim's HdpModel truncated at K topics, in minibatches of its default size."""

    def __init__(self, corpus: Corpus, key: Record) -> None:
        super().__init__(corpus, key["K"], batch_size=GENSIM_CHUNK, eta=ETA, seed=key["seed"])
        self._settings.update(key.get("settings", {}))

    def answer(self) -> Answer:
        return self.topics()


class TomotopyLDA:
    """tomotopy's LDAModel; it learns alpha."""

    def __init__(self, corpus: Corpus, key: Record) -> None:
        self.passes = 0.0
        self._n_words, self._threads = corpus.n_words, key.get("threads", 1)
        self._model = self.model(key["K"], {"eta": ETA, "seed": key["seed"] + 1, **key.get("settings", {})})
        add_documents(self._model, corpus)

    def model(self, n_topics: int, settings: Record) -> Any:
        """Return a model without documents."""
        import tomotopy

        return tomotopy.LDAModel(k=n_topics, **{"alpha": TOTAL_ALPHA / n_topics, **settings})

    def work(self) -> Iterator[float]:
        while True:
            seconds = processor_seconds(partial(self._model.train, CHUNK, workers=self._threads))
            self.passes += CHUNK
            yield seconds

    def answer(self) -> Answer:
        return self._topics(list(range(self._model.k))), np.asarray(self._model.alpha, dtype=np.float64)

    def _topics(self, chosen: list[int]) -> np.ndarray:
        topics = np.zeros((len(chosen), self._n_words))
        columns = np.array([int(word) for word in self._model.used_vocabs])
        topics[:, columns] = [self._model.get_topic_word_dist(k) for k in chosen]
        return topics / topics.sum(axis=1, keepdims=True)


class TomotopyHDP(TomotopyLDA):
    """tomotopy's HDPModel; it learns alpha and gamma."""

    def model(self, n_topics: int, settings: Record) -> Any:
        import tomotopy

        return tomotopy.HDPModel(initial_k=max(n_topics, 2), **{"alpha": ALPHA, "gamma": GAMMA, **settings})

    def answer(self) -> Answer:
        alive = [k for k in range(self._model.k) if self._model.is_live_topic(k)]
        tokens = np.asarray(self._model.get_count_by_topics(), dtype=np.float64)[alive]
        return self._topics(alive), self._model.alpha * tokens / tokens.sum()
