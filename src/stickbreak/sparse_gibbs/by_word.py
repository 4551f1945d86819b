"""The tokens of a corpus word by word, and the topics of its documents in lists."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import whole_counts
from stickbreak.numerics.arrays import Int, Int32
from stickbreak.sparse_gibbs.kernels import lists as list_kernels
from stickbreak.sparse_gibbs.kernels.lists import EIGHT

Lists = NDArray[np.unsignedinteger]


class ByDocument(NamedTuple):
    """Tokens document by document, each (N,)."""

    order: Int  # the place of each token word by word
    word: Int32
    document: Int32


class ByWord:
    """Tokens in the order of their words, then of their documents.

    Parameters
    ----------
    corpus : Corpus
        D documents over W words, N tokens.
    n_topics : int
        K: topics that a document may have.
    none : int, optional
        A number beyond those of all topics. The default is K: topics are numbered from 0 on.
    n_parts : int
        P: neighbouring words, and neighbouring documents, are in one of P parts, of as many tokens each as whole words
        or documents allow.
    """

    def __init__(self, corpus: Corpus, n_topics: int, none: int | None = None, n_parts: int = 1) -> None:
        none = n_topics if none is None else none
        whole = corpus.counts.copy()
        whole.data = whole_counts(corpus)
        columns = whole.tocsc()
        self.lengths = np.asarray(whole.sum(axis=1)).ravel().astype(np.int64)  # (D,)
        self.start = np.concatenate(([0], np.cumsum(columns.data)))[columns.indptr].astype(np.int64)  # (W + 1,)
        self.word_cuts = _cuts(self.start[1:], n_parts)  # (P + 1,)  the first word of each part, and W
        self.document_cuts = _cuts(np.cumsum(self.lengths), n_parts)  # (P + 1,)
        self.begin = self._begins(columns)  # (P + 1, W)  word w has the tokens begin[p, w] to begin[p + 1, w] in part p
        self.bits = np.uint64(none.bit_length())
        room = EIGHT * -(-np.minimum(self.lengths + 1, n_topics) // EIGHT)
        ends = np.cumsum(room + 1)
        self.heads: Int = ends - room - 1  # (D,)  of the lists
        self.where: Int = np.repeat(self.heads[columns.indices], columns.data)  # (N,)  head of each token's list
        narrow = int(self.lengths.max(initial=0)) < 1 << (32 - int(self.bits))
        self._empty: Lists = np.full(int(ends[-1]), none, np.uint32 if narrow else np.uint64)
        self._empty[self.heads] = 0

    def _begins(self, columns: sp.csc_matrix) -> Int:
        """Return where the tokens of the words begin in each part, and where they end in the last, (P + 1, W)."""
        n_parts, n_words = self.document_cuts.size - 1, self.start.size - 1
        if n_parts == 1:
            return np.stack([self.start[:-1], self.start[1:]])
        part = np.searchsorted(self.document_cuts[1:], columns.indices, side="right")
        word = np.repeat(np.arange(n_words), np.diff(columns.indptr))
        tokens = np.bincount(part * n_words + word, columns.data, n_parts * n_words).reshape(n_parts, n_words)
        before = np.vstack([np.zeros(n_words), np.cumsum(tokens, axis=0)])
        begins: Int = self.start[:-1] + before.astype(np.int64)
        return begins

    def by_document(self) -> ByDocument:
        """Return the tokens in the order of their documents, then of their words."""
        document = np.searchsorted(self.heads, self.where).astype(np.int32)
        order = np.argsort(document, kind="stable")
        word = np.repeat(np.arange(self.start.size - 1, dtype=np.int32), np.diff(self.start))
        return ByDocument(order, word[order], document[order])

    @property
    def n_tokens(self) -> int:
        """Number of tokens N."""
        return self.where.size

    def lists(self, z: NDArray[np.unsignedinteger]) -> Lists:
        """Return the lists that topics of the tokens make."""
        lists: Lists = self._empty.copy()
        list_kernels.fill(self.where, z, lists, self.bits)
        list_kernels.sort(self.heads, lists)
        return lists

    def pairs(self, lists: Lists, heads: Int | None = None) -> tuple[Int, Int, Int]:
        """Return the topics, the counts, and how many documents have them, of the different entries of lists.

        Parameters
        ----------
        lists : ndarray
        heads : ndarray of int, optional
            Of the lists that are looked at; all by default.
        """
        found, times = np.unique(self._entries(lists, self.heads if heads is None else heads)[1], return_counts=True)
        return *self._apart(found), times

    def documents(self, lists: Lists) -> tuple[Int, Int, Int]:
        """Return where the entries of each document begin, (D + 1,), and the topics and the counts of all."""
        size, entries = self._entries(lists, self.heads)
        return np.concatenate(([0], np.cumsum(size))), *self._apart(entries)

    @staticmethod
    def _entries(lists: Lists, heads: Int) -> tuple[Int, Lists]:
        """Return how many entries each list has, and all of them."""
        size = lists[heads].astype(np.int64)
        before = np.cumsum(size) - size
        return size, lists[np.repeat(heads + 1 - before, size) + np.arange(int(size.sum()))]

    def _apart(self, entries: Lists) -> tuple[Int, Int]:
        """Return the topics and the counts of entries."""
        bits = entries.dtype.type(self.bits)
        topic = (entries & entries.dtype.type((1 << int(bits)) - 1)).astype(np.int64)
        return topic, (entries >> bits).astype(np.int64)


def _cuts(tokens: Int, n_parts: int) -> Int:
    """Return where parts of neighbours begin, and the last one ends, (P + 1,); `tokens` are running sums."""
    wanted, before = tokens[-1] * np.arange(1, n_parts) / n_parts, np.append(0, tokens)
    place = np.searchsorted(before, wanted)  # where the running sum passes what is wanted, or one place earlier
    ends = place - (wanted - before[place - 1] < before[place] - wanted)
    return np.concatenate(([0], ends, [tokens.size]))
