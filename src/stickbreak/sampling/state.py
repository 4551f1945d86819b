"""The state of a chain as plain arrays: N tokens in D documents, W words, K topics numbered 0 .. K - 1; its counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.engine import Engine, shards
from stickbreak.numerics.arrays import Int, Int32
from stickbreak.numerics.pseudo_counts import Eta
from stickbreak.sampling.kernels import counts as kernels
from stickbreak.sampling.kernels.counts import SHIFT, TOPIC

NO_LIMIT = int(np.iinfo(np.int64).max)  # most topics, where there may be any number of them
PART_TOKENS = 20_000  # that a thread takes at a time


class DocumentTopics(NamedTuple):
    """Tokens and tables of each topic in each document: what (z, m) is beside z; a tuple, so that kernels can take it.

    The topics of document d stand at start[d] .. start[d] + size[d] - 1 of the arrays of length N, in any order.
    """

    size: Int32  # (D,)
    topic: Int32  # (N,)
    n: Int32  # (N,)  tokens n_jk >= 1
    m: Int32  # (N,)  tables m_jk, 1 <= m_jk <= n_jk

    @classmethod
    def empty(cls, tokens: Tokens) -> DocumentTopics:
        """Return the arrays for documents without topics."""
        N = tokens.word.size
        return cls(np.zeros(tokens.n_documents, np.int32), *(np.zeros(N, np.int32) for _ in range(3)))


class Seating(NamedTuple):
    """Who sits where in the franchise: the tables of document d are numbered 0 .. n_tables[d] - 1.

    Table t of document d has its entries at start[d] + t of the arrays of length N.
    """

    table: Int32  # (N,)  table of each token
    n_tables: Int32  # (D,)
    topic: Int32  # (N,)  dish of each table
    n: Int32  # (N,)  tokens at each table

    @classmethod
    def empty(cls, tokens: Tokens) -> Seating:
        """Return the arrays for restaurants without tables."""
        table, topic, n = (np.zeros(tokens.word.size, np.int32) for _ in range(3))
        return cls(table, np.zeros(tokens.n_documents, np.int32), topic, n)


class WordTopics(NamedTuple):
    """Tokens of each word in each topic n_kw, without zeros; a tuple, so that kernels can take it.

    The topics of word w stand at start[w] .. start[w] + size[w] - 1, the frequent ones first when just counted.
    """

    start: Int  # (W + 1,)
    size: Int32  # (W,)
    entry: NDArray[np.uint64]  # (N,)  n_kw in the upper 32 bits, k in the lower: one load for both


@dataclass(slots=True)
class TopicCounts:
    """What all documents together have in each topic; arrays may be longer than K."""

    n_topics: int  # K
    n: Int  # (>= K,)  tokens n_k
    m: Int  # (>= K,)  tables M_k
    words: WordTopics


class TableList(NamedTuple):
    """All tables of all documents in one list: what split-merge moves work on (M tables, N tokens)."""

    start: Int  # (M + 1,)  table c has the words word[start[c]] .. word[start[c + 1] - 1]
    word: Int32  # (N,)
    topic: Int32  # (M,)  dishes, numbered 0 .. K - 1


class Concentrations(NamedTuple):
    """Current hyperparameters; a tuple, so that kernels can take it."""

    alpha: float
    gamma: float
    eta: Eta

    def numbers(self) -> dict[str, float]:
        """Return those that are numbers: eta by word, which is not learned, stays what it was."""
        found = {"alpha": self.alpha, "gamma": self.gamma}
        return found if isinstance(self.eta, np.ndarray) else {**found, "eta": self.eta}


def no_words(tokens: Tokens) -> WordTopics:
    """Return the arrays for words without topics."""
    N = tokens.word.size
    return WordTopics(tokens.word_start, np.zeros(tokens.n_words, np.int32), np.zeros(N, np.uint64))


def count_topics(
    tokens: Tokens, z: Int32, documents: DocumentTopics, n_topics: int, engine: Engine | None = None
) -> TopicCounts:
    """Count n_k, M_k and n_kw; equal states give equal arrays, whatever led to them."""
    counts = TopicCounts(n_topics, np.zeros(n_topics, np.int64), np.zeros(n_topics, np.int64), no_words(tokens))

    def part(words: tuple[int, int]) -> None:
        kernels.count_words(*words, tokens.by_word, z, n_topics, counts.words)

    if engine is None:
        part((0, tokens.n_words))
    else:
        engine.map(part, shards(np.diff(tokens.word_start), PART_TOKENS))
    kernels.count_documents(tokens.start, z, documents, counts.n, counts.m)
    return counts


def dense_labels(z: Int32, n_numbers: int, n_kept: int = 0) -> tuple[Int32, Int]:
    """Return new numbers without gaps for topics 0 .. n_numbers - 1, and which of these are alive, ascending."""
    alive = alive_in(np.bincount(z, minlength=n_numbers), n_kept)
    return labels_of(alive, n_numbers), alive


def alive_in(n: Int, n_kept: int) -> Int:
    """Return the topics that have tokens, and the first ones, which are kept, ascending."""
    there = n > 0
    there[:n_kept] = True
    return np.flatnonzero(there)


def labels_of(alive: Int, n_numbers: int) -> Int32:
    """Return new numbers without gaps for the topics that are alive; -1 for those that are not."""
    label = np.full(n_numbers, -1, np.int32)
    label[alive] = np.arange(alive.size)
    return label


def pair_counts(counts: TopicCounts) -> Int:
    """Return all n_kw > 0, word by word."""
    words = counts.words
    return (words.entry[rows_of(words.start[:-1], words.size)] >> SHIFT).astype(np.int64)


def topic_word_table(counts: TopicCounts) -> sparse.csr_array:
    """Return n_kw, (K, W)."""
    words = counts.words
    topic = (words.entry[rows_of(words.start[:-1], words.size)] & TOPIC).astype(np.int64)
    word = np.repeat(np.arange(words.size.size), words.size)
    return sparse.csr_array((pair_counts(counts), (topic, word)), shape=(counts.n_topics, words.size.size))


def rows_of(start: Int, size: Int32) -> Int:
    """Return the places start[r] .. start[r] + size[r] - 1 of all rows r, one after another."""
    ends = np.cumsum(size, dtype=np.int64)
    return np.arange(ends[-1] if ends.size else 0) + np.repeat(start - (ends - size), size)


def packed(start: Int, size: Int32, array: Int32) -> Int32:
    """Return the entries of an array of rows with gaps, without the gaps."""
    return array[rows_of(start[:-1], size)]


def unpacked(start: Int, size: Int32, entries: Int32) -> Int32:
    """Return an array of rows with gaps from its entries: what `packed` undoes."""
    array = np.zeros(int(start[-1]), np.int32)
    array[rows_of(start[:-1], size)] = entries
    return array
