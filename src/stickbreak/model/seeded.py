"""What an estimator is told of topics before a fit: the words of some, under a name each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from stickbreak.fitting.checkpoint import require
from stickbreak.fitting.laps import Laps
from stickbreak.fitting.loop import logger
from stickbreak.fitting.run import Identity, Run
from stickbreak.model.parameters import names_in
from stickbreak.model.seeds import Seeds, check_seeds, columns_of_seeds, plain_seeds
from stickbreak.model.seeds_after import told_of_seeds
from stickbreak.model.topic_model import TopicEstimator
from stickbreak.numerics.pseudo_counts import Eta


class SeededTopics(TopicEstimator):
    """The side of a model whose seeds keep their numbers and names.

    A fit counts pseudo-tokens of the words of a seed as if they had been seen at its topic.
    """

    seeds: Seeds | None
    seed_tokens: float
    _pseudo: sparse.csr_array | None = None  # (W, n_seeded)  pseudo-counts of the fit
    _fitted_seeds: tuple[str, ...] = ()  # names of the seeds of the fit

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
        if self.seeds is not None:
            check_seeds(self.seeds)
            self.seeds = plain_seeds(self.seeds)

    def _seed_names(self) -> tuple[str, ...]:
        """Return the names of the seeds that the next fit has."""
        return tuple(self.seeds or ())

    def _seed_numbers(self) -> Sequence[int]:
        """Return the number of the topic of each seed of the fit."""
        return range(len(self._fitted_seeds))

    @property
    def seed_topics_(self) -> dict[str, int]:
        """The number of the topic of each seed, whatever the topics are called by now; empty after a join of topics."""
        check_is_fitted(self)
        seeds = zip(self._fitted_seeds, self._seed_numbers(), strict=False)
        return {name: k for name, k in seeds if self._keeps_number(k)}

    def _finish(self, laps: Laps, run: Run, identity: Identity, documents: Any) -> None:
        super()._finish(laps, run, identity, documents)
        if self.seeds is None:
            return
        seeds, _ = columns_of_seeds(self.seeds, documents.words)
        given = float(self.seed_tokens), documents.n_tokens, self._eta_of_no_seed(documents.n_words)
        told = told_of_seeds(self, seeds, self._seed_numbers(), *given)
        if told:
            logger.warning("%s", told)
            self.stop_reason_ += f" {told}"

    def _eta_of_no_seed(self, n_words: int) -> Eta:
        """Return the pseudo-count of a word that is in no seed; 0 in families that have none."""
        eta = np.asarray(getattr(self, "eta_", self.get_params(deep=False).get("eta", 0.0)), dtype=np.float64)
        if eta.shape == (n_words,):
            return eta
        of_children = eta.ravel()[min(1, eta.size - 1)]  # one for each level of a tree
        return float(eta.min() if eta.ndim == 2 else of_children)

    def _take_names(self, documents: Any) -> None:
        super()._take_names(documents)
        self._fitted_seeds = self._seed_names()
        self._labels = dict(zip(self._seed_numbers(), self._fitted_seeds, strict=True)) or None

    def _description(self, arrays: dict[str, NDArray]) -> dict[str, Any]:
        described = {**super()._description(arrays), "seeds": list(self._fitted_seeds)}
        if self._pseudo is None:
            return described
        arrays |= {f"pseudo.{name}": getattr(self._pseudo, name) for name in ("data", "indices", "indptr")}
        return {**described, "n_seeded": int(self._pseudo.shape[1])}

    @classmethod
    def _from_description(cls, parameters: dict[str, Any], arrays: dict[str, NDArray], meta: dict[str, Any]) -> Self:
        model = super()._from_description(parameters, arrays, meta)
        model._fitted_seeds = tuple(names_in(meta["seeds"], len(meta["seeds"]), "seeds"))
        if "n_seeded" in meta:
            parts = tuple(arrays[f"pseudo.{name}"] for name in ("data", "indices", "indptr"))
            model._pseudo = sparse.csr_array(parts, shape=(model.n_features_in_, int(meta["n_seeded"])))
            model._pseudo.check_format(full_check=True)
            require(bool((model._pseudo.data > 0).all() and np.isfinite(model._pseudo.data).all()), "a seed is damaged")
        return model
