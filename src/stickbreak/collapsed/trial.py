"""Topics that Gibbs sampling forms, in passes of a fit (math.md (C26), (C27))."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stickbreak.collapsed.alike import InTopics
from stickbreak.collapsed.judging import Judged, Judges, words_of
from stickbreak.collapsed.predictive import Drawn, predictive_alpha
from stickbreak.collapsed.sampled import scores
from stickbreak.collapsed.shards import Shard
from stickbreak.collapsed.state import Priors
from stickbreak.corpus import Corpus
from stickbreak.fitting.alive import alive
from stickbreak.fitting.checkpoint import require, whole_number
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.laps import Packed
from stickbreak.numerics.arrays import Float, Int
from stickbreak.sparse_gibbs import priors as chain_priors
from stickbreak.sparse_gibbs.chain import SAMPLE_EVERY, Chain


class Trial:
    """Topics that Gibbs sampling forms.

    Parameters
    ----------
    corpus : Corpus
        The documents that take part.
    n_topics : int
    priors : Priors
        Of the fit. Weights of topics are learned from alike ones on.
    seed : int
    n_parts : int
        Of the documents and of the words, which are swept side by side. math.md (L11)
    engine : Engine, optional
        The default is the present thread.
    keeps_alpha : bool
        Whether alpha stays as it is until it is judged, or follows from the draws.
    """

    def __init__(
        self,
        corpus: Corpus,
        n_topics: int,
        priors: Priors,
        seed: int,
        n_parts: int = 1,
        engine: Engine | None = None,
        *,
        keeps_alpha: bool = False,
    ) -> None:
        self._chain = Chain(corpus, n_topics, seed, averages=True, n_parts=n_parts, executor=engine)
        self._priors = chain_priors.Priors.even(n_topics, priors.alpha, priors.eta)
        self._given, self._n_parts, self.passes, self.objective = priors, n_parts, 0, 0.0
        self._keeps_alpha, self._n_words = keeps_alpha, corpus.n_words

    def begin(self, topics: Float) -> Self:
        """Give each token one of the topics that have its word, (K, W)."""
        self._chain.begin_near(topics)
        return self

    def begin_with(self, other: Trial, part_of: Int) -> Self:
        """Go on where another trial is, whose topic k is part of topic part_of[k] here, or has no tokens: -1."""
        self._chain.begin_with(other._chain, part_of)
        a = np.bincount(part_of[part_of >= 0], other._priors.a[part_of >= 0])
        return self._follow(other, np.asarray(a, dtype=np.float64))

    def begin_among(self, other: Trial, took_part: NDArray[np.bool_]) -> Self:
        """Go on where a trial of some of the documents is; the others begin with draws of its topics."""
        z = self._chain.near(other._topics())
        self._chain.begin_among(other._chain, took_part, z)
        return self._follow(other, other._priors.a)

    def _follow(self, other: Trial, a: Float) -> Self:
        self._priors, self.passes, self.objective = self._priors.with_weights(a), other.passes, other.objective
        if self._keeps_alpha:  # topics without tokens leave their weights
            self._priors = self._priors.with_total(other._priors.alpha)
        return self

    def go_on(self) -> None:
        """Make a pass, whose objective is the mean log p of a token given all others.          math.md (L2), (L4)"""
        self.passes += 1
        self.objective = self._chain.lap(self.passes, self._priors)
        alpha, self._priors = self._priors.alpha, self._chain.with_weights(self._priors, self.passes)
        if self._keeps_alpha:
            self._priors = self._priors.with_total(alpha)

    def judge_alpha(self, judges: Sequence[Shard], seed: int, engine: Engine) -> None:
        """Take the alpha that best predicts the tokens held out of documents that are set apart.      math.md (C24)"""
        counts = self._chain.last()
        topics = Drawn(counts, counts.sum(axis=0), self.weights, self.priors)
        most = max(self._given.alpha, self._priors.alpha)
        self._priors = self._priors.with_total(predictive_alpha(topics, judges, most, seed, engine))

    @property
    def weights(self) -> Float:
        """Expected weights of the topics, a_k / alpha, (K,)."""
        weights: Float = self._priors.a / self._priors.alpha
        return weights

    @property
    def priors(self) -> Priors:
        """Priors of the fit with the alpha that was learned."""
        return replace(self._given, alpha=self._priors.alpha)

    @property
    def n_topics(self) -> int:
        """Number of topics that have tokens in the last pass."""
        return self.in_use.size

    @property
    def in_use(self) -> Int:
        """The topics that have tokens in the last pass."""
        return self._chain.in_use

    def in_topics(self, eta: float) -> InTopics:
        """Return where the tokens are in the last pass, in the topics in use."""
        return InTopics(self._chain.last_in_use(), eta, *self._chain.documents_in_use(), self._priors.a[self.in_use])

    def topics(self) -> Float:
        """Return the mean counts of the topics that have tokens in the mean, and eta, (K, W).          math.md (L3)"""
        return self._topics(only_alive=True)

    def _topics(self, *, only_alive: bool = False) -> Float:
        counts = self._chain.mean()
        if only_alive:
            topics = np.ascontiguousarray(counts.T[alive(counts.sum(axis=0))])
        else:
            topics = np.array(counts.T, order="C")  # of its own: the chain goes on with its mean
        topics += self._given.eta
        return topics

    def counts(self) -> tuple[Float, Float]:
        """Return the mean counts (W, K) and the tables (K,) of the topics of the last pass.    math.md (L3), (L4)

        These have all tokens: what a word has in other topics, in the mean, is shared out as its tokens are.
        """
        k, tables = self.in_use, self._chain.tables(self._priors)
        if k.size == tables.size:
            return self._chain.counts(), tables
        counts = self._chain.mean()
        total, kept = counts.sum(axis=1), counts.take(k, axis=1)  # a row of a word after the other
        kept *= (total / np.maximum(kept.sum(axis=1), np.finfo(np.float64).tiny))[:, None]
        return kept, tables[k]

    def scores(self, judges: Sequence[Shard], seed: int, engine: Engine) -> Float:
        """Return the log probability of the tokens held out of each of some documents, (D',)."""
        return scores(judges, self._chain.mean(), self.weights, self.priors, seed, engine)

    def judged_by(self, documents: Sequence[Sequence[Shard]], engine: Engine) -> Judges:
        """Return documents that judge the topics in use, each halved in several ways.                 math.md (C28)"""
        k, words = self.in_use, words_of(documents)
        counts, sums = self._chain.rows(words, k)
        judged = Judged(words, counts, sums, self.weights[k], self.priors, self._n_words)
        return Judges(documents, judged, engine)

    def packed(self) -> Packed:
        """Return what the next passes depend on, as arrays and plain values."""
        arrays, values = self._chain.snapshot()
        more = {**self._priors.row(), "passes": self.passes, "objective": self.objective, "n_parts": self._n_parts}
        return {**arrays, "a": self._priors.a}, {**values, **more}

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any]) -> Self:
        """Take up what `packed` returned; a ValueError for what cannot be."""
        self.passes, self.objective = whole_number("passes", values["passes"]), values["objective"]
        require(values.get("n_parts", 1) == self._n_parts, "its passes swept the documents in other parts")
        sound = isinstance(self.objective, float) and math.isfinite(self.objective)
        require(sound, "the objective of a trial is not a number")
        require(values["n_samples"] == self.passes // SAMPLE_EVERY, "a trial has other samples than passes")
        self._priors = self._priors.restored(arrays["a"], values)
        self._chain.restore(arrays, values)
        return self
