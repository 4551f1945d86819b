"""The state of a chain as plain arrays: N tokens in D documents, W words, K topics numbered 0 .. K - 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus.tokens import Tokens
from stickbreak.numerics.arrays import Int, Int32
from stickbreak.numerics.pseudo_counts import Eta

NO_LIMIT = int(np.iinfo(np.int64).max)  # most topics, where there may be any number of them
SHIFT, TOPIC = np.uint64(32), np.uint64(2**32 - 1)  # of the entries of `WordTopics`


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


@dataclass(slots=True)
class TableList:
    """All tables of all documents in one list: what split-merge moves work on (M tables, N tokens)."""

    start: Int  # (M + 1,)  table c has the words word[start[c]] .. word[start[c + 1] - 1]
    word: Int32  # (N,)
    topic: Int32  # (M,)  dishes, numbered 0 .. K - 1


@dataclass(slots=True)
class Concentrations:
    """Current hyperparameters."""

    alpha: float
    gamma: float
    eta: Eta

    def numbers(self) -> dict[str, float]:
        """Return those that are numbers: eta by word, which is not learned, stays what it was."""
        found = {"alpha": self.alpha, "gamma": self.gamma}
        return found if isinstance(self.eta, np.ndarray) else {**found, "eta": self.eta}
