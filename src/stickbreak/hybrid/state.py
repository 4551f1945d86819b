"""The globals of the hybrid, and the expected counts of pairs (word, topic), of which most are zero."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.fitting.active_topics import alive
from stickbreak.fitting.checkpoint import is_table
from stickbreak.hybrid.kernels import words as word_kernels
from stickbreak.numerics.arrays import Float, Int, Int32
from stickbreak.numerics.decaying_counts import decayed
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
class LearnedPriors:
    """The current hyperparameters where some are learned, and what alpha is learned from."""

    alpha: float
    gamma: float
    eta: float
    closed: float  # expected sum_d N_d / (N_d + alpha)
    digamma_gain: float  # expected sum_d psi(alpha + 1 + N_d) - psi(alpha + 1)

    def check(self) -> None:
        """Raise a ValueError if the parts cannot be of one state."""
        if not all(map(is_concentration, (self.alpha, self.gamma, self.eta))):
            raise ValueError("its hyperparameters are out of their range")
        if not are_sums([self.closed, self.digamma_gain]):
            raise ValueError("what its alpha was learned from cannot be")


@dataclass(frozen=True, slots=True)
class KnownTopics:
    """What is known of the first topics before: pseudo-counts, and a table for each (docs/math (L17), (G15))."""

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
    def unpacked(cls, arrays: Mapping[str, NDArray], n_topics: int, n_words: int) -> KnownTopics:
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
    learned: LearnedPriors | None = None
    known: KnownTopics | None = None
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


@dataclass(slots=True)
class WordTopics:
    """S_wk = scale * count, for W words and K topics.

    Word w has the pairs first[w] .. first[w] + size[w] - 1 of a common store, in the order in which they came. To scale
    all of S down is one multiplication. A list that outgrows its room moves to the end of the store.
    """

    first: Int  # (W,)
    size: Int  # (W,)  pairs
    room: Int  # (W,)  pairs that have room
    topic: Int32  # (P,)
    count: Float  # (P,)
    holders: Int  # (K,)  words that have a topic
    scale: float
    end: int  # of what is used of the store

    @classmethod
    def from_pairs(cls, size: Int, topic: Int32, count: Float, n_topics: int, scale: float = 1.0) -> WordTopics:
        """Take lists that stand one after another."""
        first, holders = np.cumsum(size) - size, np.bincount(topic, minlength=n_topics)
        size = size.astype(np.int64)
        return cls(first.astype(np.int64), size, size.copy(), topic, count, holders, scale, int(size.sum()))

    @classmethod
    def from_dense(cls, counts: Float) -> WordTopics:
        """Take the pairs of a table (W, K) that are not zero."""
        words, topics = np.nonzero(counts)
        size = np.bincount(words, minlength=counts.shape[0])
        found = np.asarray(counts[words, topics], dtype=np.float64)
        return cls.from_pairs(size, topics.astype(np.int32), found, counts.shape[1])

    @property
    def lists(self) -> word_kernels.Lists:
        """The lists as kernels take them."""
        return word_kernels.Lists(self.first, self.size, self.room, self.topic, self.count, self.holders)

    @property
    def n_words(self) -> int:
        """Number of words W."""
        return self.size.size

    @property
    def n_topics(self) -> int:
        """Number of topics K."""
        return self.holders.size

    def packed(self) -> dict[str, NDArray]:
        """Return the lists one after another: "size" (W,), "topic" and "count" (pairs,)."""
        used = int(self.size.sum())
        topic, count = (self._one_after_another(store, used) for store in (self.topic, self.count))
        return {"size": self.size.copy(), "topic": topic, "count": count}

    @classmethod
    def unpacked(cls, arrays: Mapping[str, NDArray], n_topics: int, scale: float) -> WordTopics:
        """Return what `packed` took apart.

        Raises ValueError if the lists cannot be.
        """
        size, topic, count = arrays["size"], arrays["topic"], arrays["count"]
        if size.ndim != 1 or size.dtype != np.int64 or (size < 0).any():
            raise ValueError("the sizes of its lists cannot be")
        if topic.dtype != np.int32 or count.dtype != np.float64 or not topic.shape == count.shape == (int(size.sum()),):
            raise ValueError("its lists of topics have other sizes than they say")
        if topic.size and not 0 <= topic.min() <= topic.max() < n_topics:
            raise ValueError(f"a word has a topic that is none of {n_topics}")
        if np.unique(np.repeat(np.arange(size.size), size) * n_topics + topic).size < topic.size:
            raise ValueError("a word has a topic twice")
        return cls.from_pairs(size, topic, count, n_topics, scale)

    def dense(self, topics: Int) -> Float:
        """Return S of some topics, (len(topics), W)."""
        return np.ascontiguousarray(self.of_words(slice(None), topics).T)

    def of_words(self, words: NDArray[np.integer] | slice, topics: Int) -> Float:
        """Return S of some words in some topics, (n, len(topics))."""
        size = self.size[words]
        out = np.zeros((size.size, len(topics)))
        column = np.full(self.n_topics, -1, np.int64)
        column[topics] = np.arange(len(topics))
        places, row = self._places(words), np.repeat(np.arange(size.size), size)
        columns = column[self.topic[places]]
        out[row[columns >= 0], columns[columns >= 0]] = self.scale * self.count[places][columns >= 0]
        return out

    def add_to(self, words: Int, topics: Int, counts: Float) -> None:
        """Add to S of pairs that are there: counts[i] to word words[i] and topic topics[i]."""
        word_kernels.add_to_pairs(words, topics, counts / self.scale, self.first, self.size, self.topic, self.count)

    def sums(self) -> Float:
        """Return S summed over the words, (K,)."""
        places = self._places()
        found = np.bincount(self.topic[places], self.count[places], minlength=self.n_topics).astype(np.float64)
        return self.scale * found

    def expected(self) -> Float:
        """Return S of all pairs, word by word, (pairs,)."""
        return self.scale * self.count[self._places()]

    def topics(self) -> Int32:
        """Return the topics of all pairs, word by word, (pairs,)."""
        return self.topic[self._places()]

    def copy(self) -> WordTopics:
        """Return the same lists in arrays of their own."""
        words = self.first.copy(), self.size.copy(), self.room.copy()
        return WordTopics(*words, self.topic.copy(), self.count.copy(), self.holders.copy(), self.scale, self.end)

    def drop(self, topics: Int) -> None:
        """Forget all pairs of some topics."""
        if self.holders[topics].any():
            gone = np.zeros(self.n_topics, np.bool_)
            gone[topics] = True
            word_kernels.drop_topics(gone, self.first, self.size, self.topic, self.count)
            self.holders[topics] = 0

    def renumber(self, kept: Int, n_topics: int) -> None:
        """Make topic kept[i] topic i of the remaining `n_topics`; the others must have no pairs."""
        number = np.zeros(self.n_topics, np.int32)
        number[kept] = np.arange(kept.size)
        places, holders = self._places(), np.zeros(n_topics, np.int64)
        self.topic[places] = number[self.topic[places]]
        holders[: kept.size] = self.holders[kept]
        self.holders = holders

    def grow(self, n_words: int) -> None:
        """Add words without pairs at the end, up to `n_words`."""
        none = np.zeros(n_words - self.n_words, np.int64)
        self.first, self.size, self.room = (np.concatenate([of, none]) for of in (self.first, self.size, self.room))

    def shrink(self, n_words: int) -> None:
        """Take back words without pairs at the end, down to `n_words`."""
        self.first, self.size, self.room = (of[:n_words] for of in (self.first, self.size, self.room))

    def decay(self, factor: float) -> None:
        """S <- factor S."""
        self.scale = decayed(self.count, self.scale, factor)
        if factor == 0.0:
            self.size[:], self.holders[:] = 0, 0

    def add(
        self, words: Int32, start: Int, tokens: Int32 | Int, z: Int32, amount: float, least: float, key: np.uint64
    ) -> Float:
        """S_wk += amount for each token of word w with topic k; round pairs of the words below `least` at random.

        Such a pair becomes `least` with probability S_wk / least, and otherwise leaves the list.

        `words` (B,). `start` (B + 1,). `tokens` (N,): word words[b] has the tokens tokens[start[b]] .. tokens[start[b +
        1] - 1]. `z` (S, N): topics of the tokens, several times. `key`: of the random numbers: word w has stream w of
        it. Returns (K,): what the topics have lost by that.
        """
        lost, done = np.zeros(self.n_topics), 0
        while True:
            done, self.end = word_kernels.add_tokens(
                done, self.end, (words, start, tokens), z, amount / self.scale, least / self.scale, key, self.lists,
                lost,
            )  # fmt: skip
            if done == words.size:
                return self.scale * lost
            self._make_room(start[done + 1] - start[done], z.shape[0])

    def _make_room(self, n_tokens: int, n_sweeps: int) -> None:
        """Close the gaps, and make room for the next list at least."""
        used = int(self.size.sum())
        free = max(used // 4, 1024, 2 * (int(self.size.max(initial=0)) + n_tokens * n_sweeps))
        self.topic = self._one_after_another(self.topic, used + free)
        self.count = self._one_after_another(self.count, used + free)
        self.first, self.room = np.cumsum(self.size) - self.size, self.size.copy()
        self.end = used

    def _one_after_another(self, store: NDArray[Any], size: int) -> NDArray[Any]:
        """Return a part of the store without gaps, in an array of some size."""
        out = np.zeros(size, store.dtype)
        word_kernels.copy_lists(self.first, self.size, store, out)
        return out

    def _places(self, words: NDArray[np.integer] | slice = slice(None)) -> Int:
        """Return the places of the pairs of all words, or of some, word by word."""
        first, size = self.first[words], self.size[words]
        begins = np.cumsum(size) - size
        return np.repeat(first - begins, size) + np.arange(int(size.sum()))
