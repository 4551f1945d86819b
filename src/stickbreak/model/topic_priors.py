"""What an estimator is told of the words of topics before a fit: `eta` by word or topic, `seeds` and `seed_tokens`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.exceptions import InputError
from stickbreak.model.seeded import SeededTopics
from stickbreak.model.seeds import known_words
from stickbreak.model.word_prior import WordPrior, base_of, check_eta, pseudo_of
from stickbreak.numerics.arrays import Float


class TopicPriors(SeededTopics):
    """The side of a model that knows something of the words of its topics beforehand.

    Topics with a prior of their own, those of seeds or of the rows of `eta`, come first and keep their numbers. A fit
    counts their pseudo-counts as if tokens had been seen (math.md (L17)); `components_` holds them.
    """

    eta: Any
    init: Any

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_eta(self.eta)
        by_word = np.ndim(self.eta) > 0
        if by_word and "eta" in (getattr(self, "learn", None) or ()):  # some families learn nothing
            raise InputError("learn names 'eta', but eta is an array, which is not learned; leave it out of learn.")
        if self.seeds is not None and np.ndim(self.eta) == 2:
            raise InputError("seeds and eta of shape (K, W) both say what the first topics are; give one of them.")

    def _check_start_of_seeds(self, *able: str) -> None:
        """Refuse another start than those that begin with seeds."""
        known = "seeds" if self.seeds is not None else "eta of shape (K, W)"
        if self._n_seeded and not (isinstance(self.init, str) and self.init in able):
            raise InputError(f"{known} and init both say where topics start; leave init out.")

    def _refuse_topics(self, of: str) -> None:
        """Refuse topics with a prior of their own, and an eta by word, where only one prior of all topics can be."""
        if self.seeds is not None or np.ndim(self.eta):
            known = "seeds are" if self.seeds is not None else "eta is an array, which is"
            raise InputError(f"{known} not for {of}; leave them out, or choose another.")

    @property
    def _n_kept(self) -> int:
        return 0 if self._pseudo is None else int(self._pseudo.shape[1])

    @property
    def _n_seeded(self) -> int:
        """Number of topics with a prior of their own."""
        if self.seeds is not None:
            return len(self.seeds)
        return len(self.eta) if np.ndim(self.eta) == 2 else 0

    def _check_words_of_eta(self, n_words: int) -> None:
        """Refuse an eta for another number of words."""
        if np.ndim(self.eta) and np.shape(self.eta)[-1] != n_words:
            raise InputError(
                f"eta is an array of shape {np.shape(self.eta)}, but the documents have {n_words} words; give a number "
                "for each word of the vocabulary."
            )

    def _word_prior(self, words: Sequence[str]) -> WordPrior:
        """Return the prior of the words of each topic, for documents with these words."""
        base = base_of(self.eta)
        if self.seeds is not None:
            known = list(known_words(self.seeds, words).values())
            return WordPrior(base, pseudo_of(known, len(words), float(self.seed_tokens)))
        if np.ndim(self.eta) < 2:
            return WordPrior(base)
        rows: NDArray[np.float64] = np.asarray(self.eta, dtype=np.float64) - base
        return WordPrior(base, sparse.csr_array(rows.T))

    def _tokens_of(self, components: Float, eta: Any) -> Float:
        """Return the expected tokens of each topic, without its pseudo-counts, (K,)."""
        tokens = np.maximum(components - eta, 0.0).sum(axis=1)
        if self._pseudo is not None:
            tokens[: self._n_kept] -= self._pseudo.sum(axis=0)
        return np.maximum(tokens, 0.0)
