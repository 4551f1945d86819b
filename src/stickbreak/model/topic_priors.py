"""What an estimator is told of the words of topics before a fit: `eta` by word or topic, `seeds` and `seed_tokens`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from stickbreak.exceptions import InputError
from stickbreak.fitting.checkpoint import require
from stickbreak.model.seeds import Seeds, check_seeds, known_words, plain_seeds
from stickbreak.model.topic_model import TopicModel
from stickbreak.model.word_prior import WordPrior, base_of, check_eta, pseudo_of
from stickbreak.numerics.arrays import Float


class TopicPriors(TopicModel):
    """The side of a model that knows something of the words of its topics beforehand.

    Topics with a prior of their own, those of seeds or of the rows of `eta`, come first and keep their numbers. A fit
    counts their pseudo-counts as if tokens had been seen (math.md (C18)); `components_` holds them.
    """

    eta: Any
    seeds: Seeds | None
    seed_tokens: float
    init: Any
    _pseudo: sparse.csr_array | None = None  # (W, n_kept)  of the fit, in `components_`

    def set_params(self, **params: Any) -> Self:
        """Set parameters, as in scikit-learn; seeds of any kind of mapping become a dict.

        Returns
        -------
        self
        """
        if "seeds" in params:
            params["seeds"] = plain_seeds(params["seeds"])
        return super().set_params(**params)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_eta(self.eta)
        by_word = np.ndim(self.eta) > 0
        if by_word and "eta" in (self.learn or ()):
            raise InputError("learn names 'eta', but eta is an array, which is not learned; leave it out of learn.")
        if self.seeds is None:
            return
        check_seeds(self.seeds)
        self.seeds = plain_seeds(self.seeds)
        if np.ndim(self.eta) == 2:
            raise InputError("seeds and eta of shape (K, W) both say what the first topics are; give one of them.")

    def _check_start_of_seeds(self, able: str) -> None:
        """Refuse another start than the one that begins with seeds."""
        known = "seeds" if self.seeds is not None else "eta of shape (K, W)"
        if self._n_seeded and not (isinstance(self.init, str) and self.init == able):
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

    def _seed_names(self) -> tuple[str, ...]:
        """Return the names of the seeds; rows of an eta have none."""
        return tuple(self.seeds or ())

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

    def _take_names(self, documents: Any) -> None:
        super()._take_names(documents)
        self._labels = dict(enumerate(self._seed_names())) or None

    def _description(self, arrays: dict[str, NDArray]) -> dict[str, Any]:
        described = super()._description(arrays)
        if self._pseudo is None:
            return described
        arrays |= {f"pseudo.{name}": getattr(self._pseudo, name) for name in ("data", "indices", "indptr")}
        return {**described, "n_seeded": self._n_kept}

    @classmethod
    def _from_description(cls, parameters: dict[str, Any], arrays: dict[str, NDArray], meta: dict[str, Any]) -> Self:
        model = super()._from_description(parameters, arrays, meta)
        if "n_seeded" in meta:
            parts = tuple(arrays[f"pseudo.{name}"] for name in ("data", "indices", "indptr"))
            model._pseudo = sparse.csr_array(parts, shape=(model.n_features_in_, int(meta["n_seeded"])))
            model._pseudo.check_format(full_check=True)
            require(bool((model._pseudo.data > 0).all() and np.isfinite(model._pseudo.data).all()), "a seed is damaged")
        return model
