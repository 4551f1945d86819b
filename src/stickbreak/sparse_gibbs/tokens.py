"""The tokens of a corpus word by word, the topics of its documents in lists, and tokens near seeds (math.md (L17))."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import whole_counts
from stickbreak.numerics.arrays import Int, Int32
from stickbreak.sparse_gibbs.kernels import lists as list_kernels
from stickbreak.sparse_gibbs.kernels.lists import EIGHT

Lists = NDArray[np.unsignedinteger]
SEEDED_AT_ONCE = 1 << 20  # tokens, of which there are a dozen numbers each


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

    def _begins(self, columns: sparse.csc_matrix) -> Int:
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


def nearness(counts: Any, pseudo: sparse.csr_array) -> sparse.csr_array:
    """Return how near documents are to seeds, (D, n_seeds): the share of each in tokens of no seed.     math.md (L17)

    Such a token begins at a seed in proportion to the tokens of its words in the document, and at none in proportion
    to 1, so that rows sum to less than 1.

    Parameters
    ----------
    counts : sparse matrix of shape (D, W)
        Of the documents.
    pseudo : csr_array of shape (W, n_seeds)
        Pseudo-counts of the seeds: positive for their words.
    """
    near = _of_documents(counts, words_of_seeds(pseudo))
    near.data /= np.repeat(1.0 + near.sum(axis=1), np.diff(near.indptr))
    return near


def words_of_seeds(pseudo: sparse.csr_array) -> sparse.csr_array:
    """Return which words each seed has, as ones, (W, n_seeds)."""
    return sparse.csr_array((np.ones(pseudo.nnz), pseudo.indices, pseudo.indptr), shape=pseudo.shape)


def _of_documents(counts: Any, seeds: sparse.csr_array) -> sparse.csr_array:
    """Return the tokens of the words of each seed in each document, (D, n_seeds)."""
    return sparse.csr_array(sparse.csr_array(counts) @ seeds)


def typical(pseudo: sparse.csr_array) -> sparse.csr_array:
    """Return the pseudo-counts above the mean of their topic over all words: those of words that tell of it."""
    entries = pseudo.tocoo()
    own = entries.data > np.asarray(pseudo.mean(axis=0)).ravel()[entries.col]
    return sparse.csr_array((entries.data[own], (entries.row[own], entries.col[own])), shape=pseudo.shape)


class NearSeeds:
    """Draws seeds for tokens of documents.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    pseudo : csr_array of shape (W, n_seeds)
        Pseudo-counts of the seeds: positive for their words.
    """

    def __init__(self, corpus: Corpus, pseudo: sparse.csr_array) -> None:
        seeds = words_of_seeds(pseudo)
        of_documents = _of_documents(corpus.counts, seeds)
        self._upto = np.concatenate([[0.0], np.cumsum(of_documents.data)])
        self._before, self._seeds = self._upto[of_documents.indptr], np.append(of_documents.indices, 0)
        self._first, self._of_words = seeds.indptr, np.append(seeds.indices, 0)

    def draw(self, word: NDArray[np.integer], document: NDArray[np.integer], rng: np.random.Generator) -> Int:
        """Draw a seed for each token, or -1: one that has its word, else one whose words its document has.

        math.md (L17)

        Parameters
        ----------
        word, document : ndarray of int, of shape (n,)
        rng : Generator

        Returns
        -------
        ndarray of shape (n,)
        """
        end = self._before[document + 1]
        u = self._before[document] + rng.random(word.size) * (end - self._before[document] + 1.0)
        near = np.where(u < end, self._seeds[np.searchsorted(self._upto[1:], u, side="right")], -1)
        n_seeds = np.diff(self._first)[word]
        place = self._first[word] + (rng.random(word.size) * n_seeds).astype(np.int64)
        return np.where(n_seeds > 0, self._of_words[place], near)


def seeds_of_tokens(corpus: Corpus, tokens: ByWord, pseudo: sparse.csr_array, rng: np.random.Generator) -> Int32:
    """Draw the topic of a seed for each token, word by word, or -1.                                  math.md (L17)"""
    near, found = NearSeeds(corpus, pseudo), np.empty(tokens.n_tokens, np.int32)
    for first in range(0, found.size, SEEDED_AT_ONCE):
        last = min(first + SEEDED_AT_ONCE, found.size)
        word = np.searchsorted(tokens.start, np.arange(first, last), side="right") - 1
        found[first:last] = near.draw(word, np.searchsorted(tokens.heads, tokens.where[first:last]), rng)
    return found
