"""Fitted topics that are expected counts and tables, which streams move: those with tokens are shown."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from stickbreak.fitting.checkpoint import check_learned, whole_number
from stickbreak.fitting.engine import engine
from stickbreak.fitting.hyperparameters import LEARNABLE
from stickbreak.model.prepared import once
from stickbreak.model.spreading import spread
from stickbreak.model.streaming import StreamingEstimator
from stickbreak.model.topic_model import TopicModel
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.pseudo_counts import Eta, by_word
from stickbreak.prediction.document_weights import prior_and_rest, weights_and_rest
from stickbreak.prediction.left_to_right import TopicRule


class ExpectedCounts(TopicModel, StreamingEstimator):
    """Base of the fitted side of the families that keep expected counts of words and expected tables of topics."""

    _fitted_arrays: ClassVar[tuple[str, ...]] = ()
    _fitted_values: ClassVar[tuple[str, ...]] = (
        *TopicModel._fitted_values,
        "alpha_",
        "gamma_",
        "eta_",
        "learning_offset_",
        "n_documents_seen_",
    )
    _learnable: ClassVar[tuple[str, ...]] = LEARNABLE

    alpha_: float
    gamma_: float
    eta_: Eta

    @property
    @abstractmethod
    def components_(self) -> Float:
        """Expected tokens of each word in each topic, plus eta, (K, W)."""

    @spread
    def expected_weights(self, X: Any) -> Float:
        """Return the expected topic weights of documents with the inactive rest last.

        The topics are fixed. The weights are (N_dk + alpha M_k / (M + gamma)) / (N_d + alpha) at the fixed point of
        zero-order collapsed inference over the topics that are shown; the rest takes no tokens.

        Parameters
        ----------
        X : texts, Corpus, sparse matrix or array of shape (D, W)
            With `grow_vocabulary`, which the hybrid has, words are found by name where they have names, and those that
            the model does not know are left out, as if they were not in the documents.

        Returns
        -------
        ndarray of shape (D, K + 1)
            Rows sum to one.
        """
        check_is_fitted(self)
        with engine(self.n_jobs) as executor:
            return weights_and_rest(self._corpus(X), self._word_rows, self._prior(), executor)

    def _predictive_rule(self) -> TopicRule:
        return TopicRule(np.vstack([self.topic_word_, self.rest_word_]), self._prior())

    @abstractmethod
    def _counts_of(self, words: NDArray[np.integer] | slice) -> Float:
        """Return the expected tokens of words in the topics that are shown, without eta, (n, K)."""

    def _word_rows(self, words: NDArray[np.integer] | slice) -> Float:
        """Return the probabilities of words in the topics, (n, K)."""
        return (self._counts_of(words) + by_word(self.eta_, words)) / self._totals()

    @once
    def _totals(self) -> Float:
        """Return what the expected counts of each topic, with eta, sum to, (K,)."""
        return np.asarray(self.components_.sum(axis=1))

    @once
    def _prior(self) -> Float:
        """Return alpha times the expected corpus weights, the rest last, (K + 1,)."""
        return prior_and_rest(self.alpha_, self.topic_weights_)

    @property
    def joins_topics(self) -> bool:
        """Whether the topics are expected counts of tokens, and so can be joined: they are."""
        return True

    def _expected_counts(self) -> tuple[Float, Eta]:
        return np.maximum(self.components_ - self.eta_, 0.0), self.eta_

    @property
    def topic_word_(self) -> Float:
        """Expected word distributions, (K, W)."""
        topics = self.components_
        return topics / topics.sum(axis=1, keepdims=True)

    def _check_fitted_state(self) -> None:
        """Refuse a loaded state that no fit can have left."""
        super()._check_fitted_state()
        check_learned(self, LEARNABLE)
        whole_number("n_documents_seen_", self.n_documents_seen_)
