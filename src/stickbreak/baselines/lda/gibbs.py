"""Gibbs sampling for LDA: the chain of `sparse_gibbs/` with its start, seeds and what it learns. math.md (L2), (L9)."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.baselines.lda.learning import with_eta_of
from stickbreak.baselines.word_prior import seeds_of_tokens
from stickbreak.corpus import Corpus
from stickbreak.initialization.companions import beside_words
from stickbreak.numerics.streams import stream
from stickbreak.sparse_gibbs.chain import Chain
from stickbreak.sparse_gibbs.dirichlet import is_due
from stickbreak.sparse_gibbs.priors import Priors

ESTIMATES = ("average", "last")


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
        self, corpus: Corpus, n_topics: int, seed: int, estimate: str, pseudo: sparse.csr_array | None = None
    ) -> None:
        super().__init__(corpus, n_topics, seed, averages=estimate == "average")
        self._corpus, self._pseudo = corpus, pseudo

    def begin(self) -> None:
        """Draw a topic for each token: near seeds, else near the words beside a word, else at random.

        math.md (C18), (L9), (L2)
        """
        K, topics = self._n_topics, None
        if self._pseudo is None:
            topics = beside_words(self._corpus, K, self._seed)
        if topics is not None:
            self.begin_near(topics)
            return
        self.take(self.near_seeds())

    def near_seeds(self) -> NDArray[np.uint16]:
        """Draw the topic of each token near seeds, else at random."""
        K = self._n_topics
        rng, n_kept = stream(self._seed, "start of LDA"), 0 if self._pseudo is None else int(self._pseudo.shape[1])
        free = rng.integers(n_kept if n_kept < K else 0, K, size=self._tokens.n_tokens)  # all are known: any is free
        if self._pseudo is not None:
            seed = seeds_of_tokens(self._corpus, self._tokens, self._pseudo, rng)
            free = np.where(seed >= 0, seed, free)
        return free.astype(np.uint16)

    def learned(self, priors: Priors, names: Collection[str], number: int) -> Priors:
        """Return the priors after a lap.                                                      math.md (L4), (C7)"""
        if "alpha" in names:
            priors = self.with_weights(priors, number)
        return with_eta_of(priors, self.last()) if "eta" in names and is_due(number) else priors
