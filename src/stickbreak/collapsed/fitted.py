"""What a fitted collapsed model offers: weights of documents, topics, and q(z) of the fit that can go on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from stickbreak.collapsed.state import Priors
from stickbreak.collapsed.streaming import Topics
from stickbreak.fitting.alive import alive
from stickbreak.fitting.checkpoint import check_learned, require, saved_seed, whole_number
from stickbreak.fitting.executor import ThreadExecutor
from stickbreak.fitting.hyperparameters import LEARNABLE
from stickbreak.fitting.requirements import check_names
from stickbreak.model.estimator import KeptState
from stickbreak.model.streaming import StreamingEstimator
from stickbreak.model.topic_model import TopicModel
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.ranges import LARGEST_OFFSET
from stickbreak.prediction.document_weights import prior_and_rest, weights_and_rest
from stickbreak.prediction.left_to_right import TopicRule


class FittedCollapsed(TopicModel, StreamingEstimator):
    """The side of `CollapsedHDP` that needs no fit of its own: it reads the fitted attributes."""

    _fitted_arrays: ClassVar[tuple[str, ...]] = ()
    _fitted_values: ClassVar[tuple[str, ...]] = (
        *TopicModel._fitted_values,
        "alpha_",
        "gamma_",
        "eta_",
        "learning_offset_",
        "n_documents_seen_",
    )

    default_topics: ClassVar[int] = 200
    _learnable: ClassVar[tuple[str, ...]] = LEARNABLE
    objective_name: ClassVar[str] = "leave-one-out log-likelihood"

    alpha_: float
    gamma_: float
    eta_: float
    learning_offset_: float | None
    _topics: Topics
    _seed: int

    def expected_weights(self, X: Any) -> Float:
        """Return the expected topic weights of documents with the inactive rest last.

        The topics are fixed. The weights are (N_dk + alpha M_k / (M + gamma)) / (N_d + alpha) at the fixed point of
        zero-order collapsed inference over the topics that are shown; the rest takes no tokens.

        Parameters
        ----------
        X : Corpus, sparse matrix or array of shape (D, W)

        Returns
        -------
        ndarray of shape (D, K + 1)
            Rows sum to one.
        """
        check_is_fitted(self)
        with ThreadExecutor(self.n_jobs) as executor:
            return weights_and_rest(self._corpus(X), self.topic_word_, self._prior(), executor)

    def _predictive_rule(self) -> TopicRule:
        uniform = np.full((1, self.n_features_in_), 1.0 / self.n_features_in_)  # the mean of the prior
        return TopicRule(np.vstack([self.topic_word_, uniform]), self._prior())

    def _prior(self) -> Float:
        """Return alpha times the expected corpus weights, the rest last, (K + 1,)."""
        return prior_and_rest(self.alpha_, self.topic_weights_)

    @property
    def components_(self) -> Float:
        """Expected tokens of each word in each topic, plus eta, (K, W)."""
        check_is_fitted(self)
        return self._topics.dense(alive(self._topics.N)) + self.eta_

    @property
    def tables_(self) -> Float:
        """Expected tables of each topic, (K,)."""
        check_is_fitted(self)
        return self._topics.tables[alive(self._topics.N)]

    @property
    def topic_word_(self) -> Float:
        """Expected word distributions, (K, W)."""
        topics = self.components_
        return topics / topics.sum(axis=1, keepdims=True)

    @property
    def topic_weights_(self) -> Float:
        """Expected corpus weights M_k / (M + gamma), (K,): by tables, so they need not descend."""
        tables = self.tables_
        return tables / (self._topics.tables.sum() + self.gamma_)

    @property
    def n_topics_(self) -> int:
        """Number of topics with at least half an expected token."""
        check_is_fitted(self)
        return int(alive(self._topics.N).size)

    def _take_topics(self, topics: Topics, priors: Priors, seed: int) -> None:
        """Copy topics into the fitted attributes."""
        self._topics, self._seed, self.n_steps_ = topics, seed, topics.n_steps
        self.alpha_, self.gamma_, self.eta_ = priors.alpha, priors.gamma, priors.eta

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_names("learn", self.learn, LEARNABLE)

    def _undoing(self) -> Callable[[], None]:
        """Take back the rows that a step of `partial_fit` has overwritten."""
        undo_others, topics = super()._undoing(), self.__dict__.get("_topics")

        def undo() -> None:
            undo_others()
            if topics is not None:
                topics.take_back()

        return undo

    def _kept_state(self) -> tuple[dict[str, NDArray], dict[str, Any]]:
        arrays, values = self._topics.packed()
        values["seed"], kept = self._seed, self._kept
        if kept is None:
            return arrays, {"topics": values}
        shares = {f"fit.{name}": array for name, array in kept.arrays.items()}
        return {**arrays, **shares}, {"topics": values, "fit": kept.values, "identity": kept.identity}

    def _restore_kept(self, arrays: dict[str, NDArray], values: dict[str, Any]) -> None:
        self._topics = Topics.unpacked(arrays, values["topics"], self.n_features_in_)
        self.n_steps_ = self._topics.n_steps
        self._seed, self._kept = saved_seed(values["topics"]["seed"]), None
        if "fit" in values:
            shares = {name.removeprefix("fit."): a for name, a in arrays.items() if name.startswith("fit.")}
            self._kept = KeptState(shares, values["fit"], values["identity"])

    def _check_fitted_state(self) -> None:
        """Refuse a loaded state that no fit can have left."""
        super()._check_fitted_state()
        check_learned(self, ("alpha", "gamma", "eta"))
        whole_number("n_documents_seen_", self.n_documents_seen_)
        offset = self.learning_offset_
        require(offset is None or 0 <= float(offset) <= LARGEST_OFFSET, "the offset of its steps cannot be")
