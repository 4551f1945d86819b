"""The tokens of a corpus word by word, and the topics of its documents in lists."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from stickbreak.baselines.lda.kernels import lists as list_kernels
from stickbreak.baselines.lda.kernels.sweeps import EIGHT
from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import whole_counts
from stickbreak.numerics.arrays import Float, Int

Lists = NDArray[np.unsignedinteger]


class ByWord:
    """Tokens in the order of their words; equal tokens of a document stand together.

    Parameters
    ----------
    corpus : Corpus
        D documents over W words, N tokens.
    n_topics : int
        K.
    """

    def __init__(self, corpus: Corpus, n_topics: int) -> None:
        whole = corpus.counts.copy()
        whole.data = whole_counts(corpus)
        columns = whole.tocsc()
        self.lengths = np.asarray(whole.sum(axis=1)).ravel().astype(np.int64)  # (D,)
        self.start = np.concatenate(([0], np.cumsum(columns.data)))[columns.indptr].astype(np.int64)  # (W + 1,)
        self.bits = np.uint64(n_topics.bit_length())
        room = EIGHT * -(-np.minimum(self.lengths + 1, n_topics) // EIGHT)
        ends = np.cumsum(room + 1)
        self.heads: Int = ends - room - 1  # (D,)  of the lists
        self.where: Int = np.repeat(self.heads[columns.indices], columns.data)  # (N,)  head of each token's list
        narrow = int(self.lengths.max(initial=0)) < 1 << (32 - int(self.bits))
        self._empty: Lists = np.full(int(ends[-1]), n_topics, np.uint32 if narrow else np.uint64)
        self._empty[self.heads] = 0

    @property
    def n_tokens(self) -> int:
        """Number of tokens N."""
        return self.where.size

    def lists(self, z: NDArray[np.uint16]) -> Lists:
        """Return the lists that topics of the tokens make."""
        lists: Lists = self._empty.copy()
        list_kernels.fill(self.where, z, lists, self.bits)
        list_kernels.sort(self.heads, lists)
        return lists

    def pairs(self, lists: Lists) -> tuple[Int, Int, Int]:
        """Return the topics, the counts, and how many documents have them, of the different entries of all lists."""
        size = lists[self.heads].astype(np.int64)
        before = np.cumsum(size) - size
        entries = lists[np.repeat(self.heads + 1 - before, size) + np.arange(int(size.sum()))]
        found, times = np.unique(entries, return_counts=True)
        bits = found.dtype.type(self.bits)
        topic = (found & found.dtype.type((1 << int(bits)) - 1)).astype(np.int64)
        return topic, (found >> bits).astype(np.int64), times


def tables_of(pairs: tuple[Int, Int, Int], a: Float) -> Float:
    """Return a_k sum_d psi(n_dk + a_k) - psi(a_k), (K,).                                            math.md (L4)"""
    topic, n, times = pairs
    of_topic = a[topic]
    parts: Float = times * of_topic * (digamma(n + of_topic) - digamma(of_topic))
    return np.bincount(topic, parts, a.size).astype(np.float64)
