"""Topics with pseudo-counts of their own: how many there may be, and where tokens begin near them."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.initialization.near_seeds import NearSeeds, nearness, words_of_seeds
from stickbreak.numerics.arrays import Float, Int32
from stickbreak.sparse_gibbs.by_word import ByWord

SEEDED_AT_ONCE = 1 << 20  # tokens, of which there are a dozen numbers each


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


def expected_near_seeds(corpus: Corpus, pseudo: sparse.csr_array) -> Float:
    """Return the expected tokens of the topics of seeds where tokens begin near them, (W, n_kept).    math.md (L17)

    Tokens of a word of seeds are theirs alike. Others begin as near to seeds as their document is.
    """
    counts, seeds = sparse.csr_array(corpus.counts).astype(np.float64), words_of_seeds(pseudo)
    found, n_seeds = np.asarray((counts.T @ nearness(counts, pseudo)).toarray()), np.diff(seeds.indptr)
    known = np.flatnonzero(n_seeds)
    of_words = np.asarray(counts.sum(axis=0)).ravel()[known] / n_seeds[known]
    found[known] = seeds[known].toarray() * of_words[:, None]
    return found


def seeds_of_tokens(corpus: Corpus, tokens: ByWord, pseudo: sparse.csr_array, rng: np.random.Generator) -> Int32:
    """Draw the topic of a seed for each token, word by word, or -1.                                  math.md (L17)"""
    near, found = NearSeeds(corpus, pseudo), np.empty(tokens.n_tokens, np.int32)
    for first in range(0, found.size, SEEDED_AT_ONCE):
        last = min(first + SEEDED_AT_ONCE, found.size)
        word = np.searchsorted(tokens.start, np.arange(first, last), side="right") - 1
        found[first:last] = near.draw(word, np.searchsorted(tokens.heads, tokens.where[first:last]), rng)
    return found
