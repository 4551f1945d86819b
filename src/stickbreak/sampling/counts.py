"""Counts over all documents, derived from a state of the chain, and topics numbered again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.executor import Executor, shards
from stickbreak.numerics.arrays import Int, Int32
from stickbreak.sampling.kernels import counts as kernels
from stickbreak.sampling.state import SHIFT, TOPIC, DocumentTopics, TopicCounts, WordTopics

PART_TOKENS = 20_000  # that a thread takes at a time


def no_words(tokens: Tokens) -> WordTopics:
    """Return the arrays for words without topics."""
    N = tokens.word.size
    return WordTopics(tokens.word_start, np.zeros(tokens.n_words, np.int32), np.zeros(N, np.uint64))


def count_topics(
    tokens: Tokens, z: Int32, documents: DocumentTopics, n_topics: int, executor: Executor | None = None
) -> TopicCounts:
    """Count n_k, M_k and n_kw; equal states give equal arrays, whatever led to them."""
    counts = TopicCounts(n_topics, np.zeros(n_topics, np.int64), np.zeros(n_topics, np.int64), no_words(tokens))

    def part(words: tuple[int, int]) -> None:
        kernels.count_words(*words, tokens.by_word, z, n_topics, counts.words)

    if executor is None:
        part((0, tokens.n_words))
    else:
        executor.map(part, shards(np.diff(tokens.word_start), PART_TOKENS))
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


def packed_words(words: WordTopics) -> NDArray[np.uint64]:
    """Return the entries of the topics of words, without the gaps."""
    return words.entry[rows_of(words.start[:-1], words.size)]


def unpacked_words(start: Int, size: Int32, entries: NDArray[np.uint64]) -> WordTopics:
    """Return the topics of words from their entries: what `packed_words` undoes."""
    entry = np.zeros(int(start[-1]), np.uint64)
    entry[rows_of(start[:-1], size)] = entries
    return WordTopics(start, size.copy(), entry)


def packed(start: Int, size: Int32, array: Int32) -> Int32:
    """Return the entries of an array of rows with gaps, without the gaps."""
    return array[rows_of(start[:-1], size)]


def unpacked(start: Int, size: Int32, entries: Int32) -> Int32:
    """Return an array of rows with gaps from its entries: what `packed` undoes."""
    array = np.zeros(int(start[-1]), np.int32)
    array[rows_of(start[:-1], size)] = entries
    return array
