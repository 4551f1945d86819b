"""Direct assignment (Teh, Jordan, Beal and Blei 2006, Sec. 5.3): topics of tokens, and explicit corpus weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.checkpoint import require
from stickbreak.numerics.arrays import Float, Int, Int32
from stickbreak.sampling.kernels import direct as kernels
from stickbreak.sampling.kernels.direct import SMALLEST
from stickbreak.sampling.kernels.labels import NO_LABELS, LabelRows
from stickbreak.sampling.labelled import Labelled, LabelTables, draw_labelled
from stickbreak.sampling.representation import Representation, Sweep
from stickbreak.sampling.shard_jobs import PassState, pass_over, state_of
from stickbreak.sampling.state import Concentrations, DocumentTopics, TopicCounts
from stickbreak.sampling.sweeping import Shard


@dataclass(frozen=True, slots=True)
class TokenRule:
    """Topics of tokens given the corpus weights."""

    now: Concentrations
    key: np.uint64
    labels: LabelRows

    def sample(self, start: Int, word: Int32, state: PassState, first: int, last: int, *given: Any) -> int:
        """Sample some documents; `given` are the topics of words, the topics, and whether numbers are used again."""
        (words, topics, reuse), now = given, self.now
        documents = state.token, DocumentTopics(state.size, *state.rows)
        numbers = now.alpha, now.gamma, now.eta, reuse, self.key
        return int(kernels.sweep(first, last, start, word, *documents, words, topics, self.labels, *numbers))


class DirectAssignment(Representation):
    """State (z, beta, m): tokens given the corpus weights, tables given both, weights given the tables.

    math.md (G4), (G5); with labels of documents (G16).
    """

    def __init__(self, tokens: Tokens, labels: Labelled | None = None) -> None:
        super().__init__(tokens)
        self._labels = labels
        self.beta: Float = np.ones(1)  # (K + 1,)  corpus weights, last that of all topics without tokens

    def sweep(self, counts: TopicCounts, sweep: Sweep) -> TopicCounts:
        """Resample the topic of every token, then the tables."""
        tokens, now, key = self.tokens, sweep.concentrations, sweep.key("tokens")
        labels = self.label_rows(now.alpha, self.beta)
        rule, state = TokenRule(now, key, labels), state_of(self.z, self.documents)
        high, parts = pass_over(tokens, counts, self.beta, rule, state, sweep)
        counts, alive = self._counted(counts, high, parts)
        weights = self._weights(parts, high)[alive]
        prior, rng = np.maximum(now.alpha * weights, SMALLEST), np.zeros(1, np.uint64)
        kernels.draw_tables(0, tokens.sampled, self.documents, prior, labels, rng, sweep.key("tables"))
        counts.m[:] = self.tables(weights.size)
        return counts

    def _weights(self, parts: list[Shard], high: int) -> Float:
        """Return the corpus weights of all numbers: those of several shards are at first the old ones."""
        beta = np.zeros(high)
        for part in parts:
            beta[part.label] = part.beta
        if len(parts) > 1:
            beta[: self.beta.size - 1] = self.beta[:-1]
        return beta

    def finish(self, counts: TopicCounts, concentrations: Concentrations, rng: np.random.Generator) -> None:
        """Draw the corpus weights for the next sweep."""
        self.beta = draw_weights(counts, concentrations.gamma, rng, self.label_tables())

    def label_rows(self, alpha: float, beta: Float) -> LabelRows:
        """Return what kernels are told of the labels of documents, under corpus weights beta (K + 1,)."""
        return NO_LABELS if self._labels is None else self._labels.rows(alpha, beta)

    def label_tables(self) -> LabelTables | None:
        """Return what the tables say of the labels of documents, if these have some."""
        return None if self._labels is None else self._labels.tables(self.tokens, self.documents)

    def arrays(self) -> dict[str, NDArray]:
        """Return what the next sweeps depend on."""
        return {**super().arrays(), "beta": self.beta}

    def restore(self, arrays: Mapping[str, NDArray], n_topics: int) -> None:
        """Take up what `arrays` returned."""
        super().restore(arrays, n_topics)
        self.beta = checked_weights(arrays["beta"], n_topics)


def checked_weights(beta: NDArray, n_topics: int) -> Float:
    """Return a copy of stored corpus weights; a ValueError for what cannot be some."""
    require(beta.shape == (n_topics + 1,) and beta.dtype == np.float64, "its corpus weights do not fit")
    require(bool((beta > 0).all() and np.isclose(beta.sum(), 1.0)), "its corpus weights do not sum to one")
    return beta.copy()


def draw_weights(
    counts: TopicCounts, gamma: float, rng: np.random.Generator, labels: LabelTables | None = None
) -> Float:
    """Return (beta, beta_u) ~ Dirichlet(M_1 .. M_K, gamma), (K + 1,); under labels (G16).              math.md (G5)"""
    if labels is not None:
        return draw_labelled(counts, labels, gamma, rng)
    mass = rng.standard_gamma(np.append(counts.m[: counts.n_topics], gamma))
    mass = np.maximum(mass, SMALLEST)
    return mass / mass.sum()
