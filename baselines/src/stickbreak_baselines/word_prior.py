"""Topics with pseudo-counts of their own: how many there may be, and how many tokens begin near them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.numerics.arrays import Float
from stickbreak.sparse_gibbs.tokens import words_of_seeds


def check_room(n_known: int, n_topics: int, known: str) -> None:
    """Refuse fewer topics than those that seeds, or rows of eta, say something of.

    Raises
    ------
    InputError
    """
    if n_known > n_topics:
        raise InputError(
            f"{known} are {n_known}, but the fit has {n_topics} topic{'s' * (n_topics != 1)}, with theirs; give "
            f"n_topics (--topics) of {n_known} or more."
        )


def nearness(counts: Any, pseudo: sparse.csr_array) -> sparse.csr_array:
    """Return how near documents are to seeds, (D, n_seeds): the share of each in tokens of no seed.     docs/math (L17)

    Such a token begins at a seed in proportion to the tokens of its words in the document, and at none in proportion
    to 1, so that rows sum to less than 1.

    Parameters
    ----------
    counts : sparse matrix of shape (D, W)
        Of the documents.
    pseudo : csr_array of shape (W, n_seeds)
        Pseudo-counts of the seeds: positive for their words.
    """
    near = sparse.csr_array(sparse.csr_array(counts) @ words_of_seeds(pseudo))
    near.data /= np.repeat(1.0 + near.sum(axis=1), np.diff(near.indptr))
    return near


def expected_near_seeds(corpus: Corpus, pseudo: sparse.csr_array) -> Float:
    """Return the expected tokens of the topics of seeds where tokens begin near them, (W, n_kept).    docs/math (L17)

    Tokens of a word of seeds are theirs alike. Others begin as near to seeds as their document is.
    """
    counts, seeds = sparse.csr_array(corpus.counts).astype(np.float64), words_of_seeds(pseudo)
    found, n_seeds = np.asarray((counts.T @ nearness(counts, pseudo)).toarray()), np.diff(seeds.indptr)
    known = np.flatnonzero(n_seeds)
    of_words = np.asarray(counts.sum(axis=0)).ravel()[known] / n_seeds[known]
    found[known] = seeds[known].toarray() * of_words[:, None]
    return found
