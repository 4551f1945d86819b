"""Where the topics of tokens begin that seeds say something of (math.md (C18))."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.numerics.arrays import Int


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
        seeds = sparse.csr_array((np.ones(pseudo.nnz), pseudo.indices, pseudo.indptr), shape=pseudo.shape)
        # tokens of the words of each seed in each document, (D, n_seeds)
        of_documents = sparse.csr_array(sparse.csr_array(corpus.counts) @ seeds)
        self._upto = np.concatenate([[0.0], np.cumsum(of_documents.data)])
        self._before, self._seeds = self._upto[of_documents.indptr], np.append(of_documents.indices, 0)
        self._first, self._of_words = seeds.indptr, np.append(seeds.indices, 0)

    def draw(self, word: NDArray[np.integer], document: NDArray[np.integer], rng: np.random.Generator) -> Int:
        """Draw a seed for each token, or -1: one that has its word, else one whose words its document has.

        math.md (C18)

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
