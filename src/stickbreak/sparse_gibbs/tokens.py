"""Tokens of a corpus word by word, the topics of its documents in lists, and tokens near seeds (docs/math (L17))."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import whole_counts
from stickbreak.fitting.batch_store import BatchStore
from stickbreak.numerics.arrays import Int, Int32
from stickbreak.sparse_gibbs.kernels import lists as list_kernels
from stickbreak.sparse_gibbs.kernels.lists import EIGHT

Lists = NDArray[np.unsignedinteger]
UInt32 = NDArray[np.uint32]
SEEDED_AT_ONCE = 1 << 20  # tokens, of which there are a dozen numbers each


def _packed(array: NDArray[Any]) -> dict[str, NDArray[Any]]:
    return {"array": array}


def _unpacked(arrays: dict[str, NDArray[Any]]) -> NDArray[Any]:
    return arrays["array"]


def store(scratch: Path | None) -> BatchStore[NDArray[Any]]:
    """Return an empty store of arrays: in memory, or in files that are made there."""
    return BatchStore(_packed, _unpacked, scratch)


def put(arrays: BatchStore[NDArray[Any]], array: NDArray[Any]) -> None:
    """Put one more array into a store."""
    arrays.put(len(arrays), arrays.ref(len(arrays)).save(array))


class TokensByWord:
    """Tokens in the order of their words, then of their documents; the words, and the documents, are in P parts.

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
    scratch : Path, optional
        Where files are made. None: all is in memory.
    """

    def __init__(
        self, corpus: Corpus, n_topics: int, none: int | None = None, n_parts: int = 1, scratch: Path | None = None
    ) -> None:
        none = n_topics if none is None else none
        self.scratch = scratch
        self.lengths: Int = corpus.document_lengths.astype(np.int64)  # (D,)
        self.document_cuts = _cuts(np.cumsum(self.lengths), n_parts)  # (P + 1,)  the first of each part, and D
        parts = [corpus[a:b] for a, b in pairwise(self.document_cuts)]
        of_words = np.stack([np.asarray(part.counts.sum(axis=0)).ravel() for part in parts]).astype(np.int64)
        self.start: Int = np.append(
            0, np.cumsum(of_words.sum(axis=0))
        )  # (W + 1,)  word w has the tokens start[w] to start[w + 1]
        before = np.vstack([np.zeros_like(of_words[0]), np.cumsum(of_words, axis=0)])
        # (P + 1, W)  those of word w in part p are from begin[p, w] to begin[p + 1, w]
        self.begin: Int = self.start[:-1] + before
        self.word_cuts = _cuts(self.start[1:], n_parts)  # (P + 1,)
        self._make_room(n_topics, none)
        self.where = store(scratch)  # P x P cells, part of documents by part of words: head of each token's list
        for p, part in enumerate(parts):
            whole = part.counts.copy()
            whole.data = whole_counts(part)
            columns, heads = whole.tocsc(), self.heads(p)
            for a, b in pairwise(columns.indptr[self.word_cuts]):
                put(self.where, np.repeat(heads[columns.indices[a:b]], columns.data[a:b]))

    def _make_room(self, n_topics: int, none: int) -> None:
        """Lay out the lists of all documents."""
        self._none, self.bits = none, np.uint64(none.bit_length())
        room = EIGHT * -(-np.minimum(self.lengths + 1, n_topics) // EIGHT) + 1
        ends = np.cumsum(room)
        self._list_cuts: Int = np.append(0, ends)[self.document_cuts]  # (P + 1,)  where the lists of each part begin
        self._heads: Int = ends - room  # (D,)  of all lists, one after another
        narrow = int(self.lengths.max(initial=0)) < 1 << (32 - int(self.bits))
        self._dtype = np.uint32 if narrow else np.uint64

    def of_topics(self, n_topics: int) -> TokensByWord:
        """Return the same tokens, with room for another number of topics in the lists."""
        found = copy(self)
        found._make_room(n_topics, n_topics)
        if not np.array_equal(found._heads, self._heads):
            found.where = store(self.scratch)
            for p in range(self.n_parts):
                heads = found.heads(p)
                for group in range(self.n_parts):
                    put(found.where, heads[self.documents(p, group)])
        return found

    @property
    def n_parts(self) -> int:
        """Number of parts P."""
        return self.document_cuts.size - 1

    @property
    def n_words(self) -> int:
        """Number of words W."""
        return self.start.size - 1

    @property
    def n_tokens(self) -> int:
        """Number of tokens N."""
        return int(self.start[-1])

    def heads(self, part: int) -> UInt32:
        """Return where the lists of the documents of a part begin, counted from the first."""
        a, b = self.document_cuts[part : part + 2]
        return (self._heads[a:b] - self._list_cuts[part]).astype(np.uint32)

    def words(self, group: int) -> Int:
        """Return where the tokens of each word of a part begin, counted from the first, and end."""
        a, b = self.word_cuts[group : group + 2]
        return self.start[a : b + 1] - self.start[a]

    def cell(self, part: int, group: int) -> tuple[Int, Int]:
        """Return where the tokens that words of a part have in documents of a part begin and end, as `words` counts."""
        a, b = self.word_cuts[group : group + 2]
        first, end = self.begin[part : part + 2, a:b] - self.start[a]
        return first, end

    def documents(self, part: int, group: int) -> UInt32:
        """Return the documents of the tokens of a cell, counted from the first of their part."""
        size = int(self._list_cuts[part + 1] - self._list_cuts[part])
        return number_of(self.heads(part), size)[self.where[part * self.n_parts + group]]

    def documents_of_words(self, group: int) -> UInt32:
        """Return the documents of all tokens of words of a part, in their order."""
        found = np.empty(int(self.words(group)[-1]), np.uint32)
        for p in range(self.n_parts):
            own = self.documents(p, group) + np.uint32(self.document_cuts[p])
            list_kernels.spread(*self.cell(p, group), own, found)
        return found

    def lists(self, z: Sequence[Lists] | BatchStore[Any], part: int = 0) -> Lists:
        """Return the lists of the documents of a part; z has the topics of the tokens of each part of the words."""
        heads = self.heads(part)
        size = int(self._list_cuts[part + 1] - self._list_cuts[part])
        lists: Lists = np.full(size, self._none, self._dtype)
        lists[heads] = 0
        for group in range(self.n_parts):
            where = self.where[part * self.n_parts + group]
            list_kernels.fill(*self.cell(part, group), where, z[group], lists, self.bits, self._none)
        list_kernels.sort(heads, lists)
        return lists

    def pairs(self, lists: Iterable[Lists], chosen: NDArray[np.bool_] | None = None) -> tuple[Int, Int, Int]:
        """Return the topics, the counts, and how many documents have them, of the different entries of lists.

        Parameters
        ----------
        lists : iterable of ndarray
            Of each part.
        chosen : ndarray of bool, of shape (D,), optional
            The documents that are looked at; all by default.
        """
        found, times = [], []
        for p, of_part in enumerate(lists):
            heads = self.heads(p)
            if chosen is not None:
                heads = heads[chosen[self.document_cuts[p] : self.document_cuts[p + 1]]]
            entries, n = np.unique(_entries(of_part, heads)[1], return_counts=True)
            found.append(entries)
            times.append(n)
        different, place = np.unique(np.concatenate(found), return_inverse=True)
        return *self._apart(different), np.bincount(place, np.concatenate(times), different.size).astype(np.int64)

    def entries(self, lists: Lists, part: int) -> tuple[Int, Int, Int]:
        """Return where the entries of each document of a part begin, and the last end, and the topics and counts."""
        size, entries = _entries(lists, self.heads(part))
        return np.concatenate(([0], np.cumsum(size))), *self._apart(entries)

    def _apart(self, entries: Lists) -> tuple[Int, Int]:
        """Return the topics and the counts of entries."""
        bits = entries.dtype.type(self.bits)
        topic = (entries & entries.dtype.type((1 << int(bits)) - 1)).astype(np.int64)
        return topic, (entries >> bits).astype(np.int64)


def number_of(heads: UInt32, size: int) -> UInt32:
    """Return the number of the document whose list begins at each head, among all `size` places of lists."""
    number = np.zeros(size, np.uint32)
    number[heads] = np.arange(heads.size)
    return number


def _entries(lists: Lists, heads: UInt32) -> tuple[Int, Lists]:
    """Return how many entries each list has, and all of them."""
    size = lists[heads].astype(np.int64)
    before = np.cumsum(size) - size
    return size, lists[np.repeat(heads + 1 - before, size) + np.arange(int(size.sum()))]


def _cuts(tokens: Int, n_parts: int) -> Int:
    """Return where parts of neighbours begin, and the last one ends, (P + 1,); `tokens` are running sums."""
    wanted, before = tokens[-1] * np.arange(1, n_parts) / n_parts, np.append(0, tokens)
    place = np.searchsorted(before, wanted)  # where the running sum passes what is wanted, or one place earlier
    ends = place - (wanted - before[place - 1] < before[place] - wanted)
    return np.concatenate(([0], ends, [tokens.size]))


def words_of_seeds(pseudo: sparse.csr_array) -> sparse.csr_array:
    """Return which words each seed has, as ones, (W, n_seeds)."""
    return sparse.csr_array((np.ones(pseudo.nnz), pseudo.indices, pseudo.indptr), shape=pseudo.shape)


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
        of_documents = sparse.csr_array(sparse.csr_array(corpus.counts) @ seeds)  # tokens of the words of each seed
        self._upto = np.concatenate([[0.0], np.cumsum(of_documents.data)])
        self._before, self._seeds = self._upto[of_documents.indptr], np.append(of_documents.indices, 0)
        self._first, self._of_words = seeds.indptr, np.append(seeds.indices, 0)

    def draw(self, word: NDArray[np.integer], document: NDArray[np.integer], rng: np.random.Generator) -> Int:
        """Draw a seed for each token, or -1: one that has its word, else one whose words its document has.

        docs/math (L17)

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


def seeds_of_tokens(
    corpus: Corpus, tokens: TokensByWord, pseudo: sparse.csr_array, rng: np.random.Generator
) -> Iterator[Int32]:
    """Draw the topic of a seed for each token, or -1; yield those of each part of the words.        docs/math (L17)"""
    near = NearSeeds(corpus, pseudo)
    for group in range(tokens.n_parts):
        start, document = tokens.words(group), tokens.documents_of_words(group)
        found = np.empty(document.size, np.int32)
        for first in range(0, found.size, SEEDED_AT_ONCE):
            last = min(first + SEEDED_AT_ONCE, found.size)
            word = tokens.word_cuts[group] + np.searchsorted(start, np.arange(first, last), side="right") - 1
            found[first:last] = near.draw(word, document[first:last], rng)
        yield found
