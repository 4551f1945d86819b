"""Where the topics of tokens begin that seeds say something of (math.md (L17))."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.numerics.arrays import Int, Int32
from stickbreak.sparse_gibbs.by_word import ByWord

SEEDED_AT_ONCE = 1 << 20  # tokens, of which there are a dozen numbers each


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
