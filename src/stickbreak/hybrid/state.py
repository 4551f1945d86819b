"""The globals of the hybrid, and what a step does to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stickbreak.fitting.alive import alive
from stickbreak.fitting.checkpoint import is_table
from stickbreak.hybrid.word_topics import WordTopics
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.pseudo_counts import Eta
from stickbreak.numerics.ranges import are_sums, are_tables, is_concentration

TRUNCATED, UNBOUNDED = "truncated", "unbounded"


@dataclass(frozen=True, slots=True)
class Priors:
    """The hyperparameters, and how the globals enter the documents."""

    alpha: float  # b1 of BK
    gamma: float  # b0
    eta: Eta  # beta: a number, or one for each word (W,)
    g_weight: str = "mean_field"
    phi_weight: str = "mean_field"


@dataclass(frozen=True, slots=True)
class Learned:
    """The current hyperparameters where some are learned, and what alpha is learned from."""

    alpha: float
    gamma: float
    eta: float
    closed: float  # expected sum_d N_d / (N_d + alpha)
    opened: float  # expected sum_d psi(alpha + 1 + N_d) - psi(alpha + 1)

    def check(self) -> None:
        """Raise a ValueError if the parts cannot be of one state."""
        if not all(map(is_concentration, (self.alpha, self.gamma, self.eta))):
            raise ValueError("its hyperparameters are out of their range")
        if not are_sums([self.closed, self.opened]):
            raise ValueError("what its alpha was learned from cannot be")


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the first topics before: pseudo-counts, and a table for each (math.md (L17), (G15))."""

    word: Int  # (P,)
    topic: Int  # (P,)
    count: Float  # (P,)
    n_topics: int

    @property
    def tokens(self) -> Float:
        """Pseudo-counts of each topic, (n_topics,)."""
        return np.bincount(self.topic, self.count, minlength=self.n_topics).astype(np.float64)

    def pairs(self, n_words: int, n_topics: int) -> WordTopics:
        """Return the pseudo-counts as the counts of a state."""
        order, size = np.lexsort((self.topic, self.word)), np.bincount(self.word, minlength=n_words)
        return WordTopics.from_pairs(size, self.topic[order].astype(np.int32), self.count[order].copy(), n_topics)

    def packed(self) -> dict[str, NDArray]:
        """Return all that as arrays."""
        return {"known.word": self.word, "known.topic": self.topic, "known.count": self.count}

    @classmethod
    def unpacked(cls, arrays: Mapping[str, NDArray], n_topics: int, n_words: int) -> Known:
        """Return what `packed` took apart; a ValueError for what cannot be."""
        word, topic, count = (arrays[f"known.{name}"] for name in ("word", "topic", "count"))
        plain = word.dtype == topic.dtype == np.int64 and word.shape == topic.shape == count.shape
        if not (plain and is_table(count, count.size) and bool((count > 0).all())):
            raise ValueError("what is known of its topics is damaged")
        if count.size and not (0 <= word.min() <= word.max() < n_words and 0 <= topic.min() <= topic.max() < n_topics):
            raise ValueError("what is known of its topics is of other words or topics")
        return cls(word, topic, count, n_topics)


@dataclass(slots=True)
class HybridState:
    """Where the hybrid stands: q(phi_k) = Dir(eta + S_k), q(G0) = Dir(gamma / K + M); K columns, W words.

    Truncated, every column is a topic. Unbounded, those with tables are: q(G0) = Dir(M_1, ..., gamma), gamma for all
    topics that are not there yet. The first column without tables is the slot: what the documents may open a new topic
    in. The other columns without tables weigh nothing.
    """

    pairs: WordTopics  # S, (W, K)
    tokens: Float  # (K,)  S summed over the words
    tables: Float  # (K,)  expected tables M
    n_steps: int
    unbounded: bool = False
    learned: Learned | None = None
    known: Known | None = None
    whole: bool = True  # False from the first change of a step to the last: what breaks off then leaves no model

    @property
    def n_topics(self) -> int:
        """The number of columns K: the truncation, or the room for topics."""
        return self.tables.size

    @property
    def n_kept(self) -> int:
        """Number of topics, the first ones, that keep their numbers."""
        return 0 if self.known is None else self.known.n_topics

    @property
    def n_words(self) -> int:
        """Words W."""
        return self.pairs.n_words

    @property
    def slot(self) -> int | None:
        """The column of the next new topic (`make_room` sees to it); None where the top level is truncated."""
        return int(np.flatnonzero(self.tables == 0)[0]) if self.unbounded else None

    def concentrations(self, gamma: float) -> Float:
        """Return the Dirichlet parameters of q(G0), (K,): gamma / K + M, or M and gamma for the slot."""
        if self.slot is None:
            return self.tables + gamma / self.n_topics
        found = self.tables.copy()
        found[self.slot] = gamma
        return found

    def alive(self) -> Int:
        """Return the topics with expected tokens, the largest first; never none."""
        return alive(self.tokens, self.n_kept)

    def corpus_weights(self, gamma: float) -> Float:
        """Return E[G0], (K,); the slot has the share gamma / (M + gamma)."""
        found = self.concentrations(gamma)
        return found / found.sum()

    def check(self) -> None:
        """Raise a ValueError if the parts cannot be of one state."""
        K, pairs = self.n_topics, self.pairs
        for name, array, shape in (
            ("tokens", self.tokens, (K,)),
            ("tables", self.tables, (K,)),
            ("counts", pairs.count, pairs.count.shape),
        ):
            if not is_table(array, *shape) or not are_sums(array):
                raise ValueError(f"{name} are not finite numbers of {K} topics")
        if self.n_kept > K:
            raise ValueError("topics that are kept are not there")
        if K < 1 or pairs.n_words < 1 or pairs.n_topics != K:
            raise ValueError("it has no words, or another number of topics than its parts")
        if not 0 < pairs.scale <= 1 or self.n_steps < 0:
            raise ValueError("its scale or its number of steps cannot be")
        if not np.allclose(pairs.sums(), self.tokens, rtol=1e-6, atol=1e-6):
            raise ValueError("its counts and its tokens disagree about the size of some topic")
        if self.learned is not None:
            self.learned.check()
        if self.unbounded and self.tokens[self.tables == 0].any():
            raise ValueError("it has topics without tables")
        if not are_tables(self.tables[self.alive()]):
            raise ValueError("its topics have next to no tables, which every document adds to")
