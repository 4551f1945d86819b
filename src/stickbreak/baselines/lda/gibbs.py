"""Gibbs sampling for LDA: the chain of `sparse_gibbs/` with its start, seeds and what it learns. math.md (L2), (L9)."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.baselines.lda.learning import with_eta_of
from stickbreak.corpus import Corpus
from stickbreak.initialization.companions import beside_words
from stickbreak.initialization.near_seeds import NearSeeds
from stickbreak.numerics.streams import stream
from stickbreak.sparse_gibbs.by_word import ByWord
from stickbreak.sparse_gibbs.chain import Chain
from stickbreak.sparse_gibbs.dirichlet import is_due
from stickbreak.sparse_gibbs.priors import Priors

ESTIMATES = ("average", "last")
SEEDED_AT_ONCE = 1 << 20  # tokens, of which there are a dozen numbers each


class Gibbs(Chain):
    """A chain.

    Parameters
    ----------
    corpus : Corpus
    n_topics : int
    seed : int
    estimate : {"average", "last"}
        Whether the topics are an average over laps, or those of the last.
    pseudo : csr_array of shape (W, n_kept), optional
        Pseudo-counts of the first topics, with which the start begins.
    """

    def __init__(
        self,
        corpus: Corpus,
        n_topics: int,
        seed: int,
        estimate: str,
        pseudo: sparse.csr_array | None = None,
    ) -> None:
        super().__init__(corpus, n_topics, seed, averages=estimate == "average")
        self._corpus, self._pseudo = corpus, pseudo

    def begin(self) -> None:
        """Draw a topic for each token: near the words beside some words, near seeds, or at random.   math.md (C25)"""
        rng = stream(self._seed, "start of LDA")
        if self._pseudo is not None:
            self.take(with_seeds(self._corpus, self._tokens, self._pseudo, self._n_topics, rng))
            return
        topics = beside_words(self._corpus, self._n_topics, self._seed)
        if topics is None:
            self.take(rng.integers(self._n_topics, size=self._tokens.n_tokens).astype(np.uint16))
        else:
            self.begin_near(topics)

    def learned(self, priors: Priors, names: Collection[str], number: int) -> Priors:
        """Return the priors after a lap.                                                      math.md (L4), (C7)"""
        if "alpha" in names:
            priors = self.with_weights(priors, number)
        return with_eta_of(priors, self._last()) if "eta" in names and is_due(number) else priors


def with_seeds(
    corpus: Corpus, tokens: ByWord, pseudo: sparse.csr_array, n_topics: int, rng: np.random.Generator
) -> NDArray[np.uint16]:
    """Draw a topic for each token, word by word: of a seed, or a free one; any is free where all are known.

    math.md (C18), (L9)
    """
    near, n_kept, z = NearSeeds(corpus, pseudo), int(pseudo.shape[1]), np.empty(tokens.n_tokens, np.uint16)
    for first in range(0, z.size, SEEDED_AT_ONCE):
        last = min(first + SEEDED_AT_ONCE, z.size)
        word = np.searchsorted(tokens.start, np.arange(first, last), side="right") - 1
        seed = near.draw(word, np.searchsorted(tokens.heads, tokens.where[first:last]), rng)
        free = rng.integers(n_kept if n_kept < n_topics else 0, n_topics, size=last - first)
        z[first:last] = np.where(seed >= 0, seed, free)
    return z
