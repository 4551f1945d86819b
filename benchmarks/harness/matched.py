"""Our families with the hyperparameters of Burkhardt and Kramer (2017), all alike: alpha = gamma = 1, eta of the key.

The comparisons of the hybrid run these. Reading the documents into the form that a system takes is not on its clock;
its start is. `ours.py` has the families with their own defaults, `peers.py` the systems of others.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness.chains import make_chain, sweeps
from benchmarks.harness.fits import after_each_lap
from benchmarks.harness.peers import ALPHA, DECAY, GAMMA, OFFSET
from benchmarks.harness.records import Record
from benchmarks.harness.units import Answer, Float, minibatches, processor_seconds, stream
from stickbreak import HybridHDP, VariationalHDP
from stickbreak.corpus import Corpus
from stickbreak_baselines import OnlineHDP, SplitMergeOnlineHDP

BURN_IN, SAVED = 5, 5
ENDLESS = 10**9


class Streamed:
    """An estimator on a stream of minibatches, from random topics unless the settings say where it starts.

    Parameters
    ----------
    corpus : Corpus
    key : dict
        "K", "seed", "eta", and "batch", the documents of a minibatch.
    settings
        Of the estimator, in place of those that all share.
    """

    kind: Any

    def __init__(self, corpus: Corpus, key: Record, **settings: Any) -> None:
        self.passes = 0.0
        self._corpus, self._batch_size, self._seed = corpus, min(key["batch"], corpus.n_documents), key["seed"]
        random = settings.get("init", "random") == "random"
        shared = {
            "alpha": ALPHA,
            "gamma": GAMMA,
            "eta": key["eta"],
            "learning_decay": DECAY,
            "learning_offset": OFFSET if random else None,
            "total_documents": corpus.n_documents,
            "random_state": key["seed"],
        }
        self._model = self.kind(**{**shared, **self.topics(key), **settings})

    def topics(self, key: Record) -> dict[str, Any]:
        """Return the parameters for the number of topics."""
        return {"n_topics": key["K"]}

    def work(self) -> Iterator[float]:
        for rows in minibatches(self._corpus.n_documents, self._batch_size, self._seed):
            seconds = stream(self._model, self._corpus, rows)
            self.passes += rows.size / self._corpus.n_documents
            yield seconds

    def answer(self) -> Answer:
        return self._model.topic_word_, self._model.topic_weights_


class Hybrid(Streamed):
    """`HybridHDP`; found topics are those of the first minibatch."""

    kind = HybridHDP

    def topics(self, key: Record) -> dict[str, Any]:
        sampled = {"burn_in_sweeps": BURN_IN, "saved_sweeps": SAVED, "g_weight": "mean_field", "phi_weight": "ratio"}
        fitted = {"n_laps": 1, "batch_size": self._batch_size}
        return {"n_topics": key["K"], "init": "random", **sampled, **fitted}


class Online(Streamed):
    """`OnlineHDP`."""

    kind = OnlineHDP


class SplitMerge(Streamed):
    """`SplitMergeOnlineHDP` from one topic to as many as the key says."""

    kind = SplitMergeOnlineHDP

    def topics(self, key: Record) -> dict[str, Any]:
        return {"max_topics": key["K"]}


class Stochastic(Streamed):
    """`VariationalHDP` from nearly uniform topics: it has no other random ones."""

    kind = VariationalHDP

    def topics(self, key: Record) -> dict[str, Any]:
        return {"n_topics": key["K"], "schedule": "stochastic", "init": "near-uniform", "learn": ()}


class Gibbs:
    """A chain of table indicators from random topics; hyperparameters stay as they are. `settings` are of the chain."""

    def __init__(self, corpus: Corpus, key: Record, **settings: Any) -> None:
        self.passes = 0.0
        self._eta = key["eta"]
        concentrations = ALPHA, GAMMA, self._eta
        self._make = partial(
            make_chain,
            corpus,
            seed=key["seed"],
            concentrations=concentrations,
            init="random",
            n_topics=key["K"],
            **settings,
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

    def answer(self) -> Answer:
        return distributions(self._chain.topic_word_counts().toarray(), self._eta), self._chain.tables.astype(float)


class _TimeIsUp(Exception):
    """The clock of a fit has run out."""


class Variational:
    """`VariationalHDP` from its start by Gibbs sampling, with its own moves.

    Its laps cannot be looked at while they run, so there are two fits of the same seed: one without a stop, by the
    clock, then one that is looked at after each lap.
    """

    def __init__(self, corpus: Corpus, key: Record) -> None:
        self.passes = 0.0
        self._corpus, self._limit = corpus, key["limit"]
        self._model = VariationalHDP(
            n_topics=key["K"],
            learn=(),
            alpha=ALPHA,
            gamma=GAMMA,
            eta=key["eta"],
            init_sweeps=key["init sweeps"],
            n_laps=1000,
            random_state=key["seed"],
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

    def answer(self) -> Answer:
        return self._model.topic_word_, self._model.topic_weights_


def distributions(counts: Float, eta: float) -> Float:
    """Return the expected word distributions of topics with these counts, (K, W)."""
    smoothed = np.maximum(counts, 0.0) + eta
    return smoothed / smoothed.sum(axis=1, keepdims=True)
