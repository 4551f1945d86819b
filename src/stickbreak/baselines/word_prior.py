"""Pseudo-counts of words beside eta, as sparse samplers read them, and where tokens begin under them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.baselines.by_word import ByWord
from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError
from stickbreak.initialization.near_seeds import NearSeeds
from stickbreak.numerics.arrays import Float, Int, Int32
from stickbreak.numerics.pseudo_counts import Eta, total_of

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


def prior_of_words(
    eta: Eta, pseudo: sparse.csr_array | None, n_words: int, n_topics: int
) -> tuple[NDArray[np.float32], Int, Int, Float, Float]:
    """Return the prior of the words as a sweep takes it.                                              math.md (L9)

    Parameters
    ----------
    eta : float or ndarray of shape (W,)
    pseudo : csr_array of shape (W, n), optional
        Pseudo-counts of the first n topics.
    n_words, n_topics : int

    Returns
    -------
    tuple of ndarray
        Eta of each word, (W,); where the pseudo-counts of each word begin, (W + 1,); their topics and these counts; and
        the sum over the words of eta and the pseudo-counts of each topic, (K,).
    """
    of_words, totals = np.full(n_words, eta, np.float32), np.full(n_topics, total_of(eta, n_words))
    if pseudo is None:
        return of_words, np.zeros(n_words + 1, np.int64), np.zeros(0, np.int64), np.zeros(0), totals
    totals[: pseudo.shape[1]] += pseudo.sum(axis=0)
    return of_words, pseudo.indptr.astype(np.int64), pseudo.indices.astype(np.int64), pseudo.data, totals


def seeds_of_tokens(corpus: Corpus, tokens: ByWord, pseudo: sparse.csr_array, rng: np.random.Generator) -> Int32:
    """Draw the topic of a seed for each token, word by word, or -1.                                  math.md (C18)"""
    near, found = NearSeeds(corpus, pseudo), np.empty(tokens.n_tokens, np.int32)
    for first in range(0, found.size, SEEDED_AT_ONCE):
        last = min(first + SEEDED_AT_ONCE, found.size)
        word = np.searchsorted(tokens.start, np.arange(first, last), side="right") - 1
        found[first:last] = near.draw(word, np.searchsorted(tokens.heads, tokens.where[first:last]), rng)
    return found
