"""Fitted topics that are expected counts of words: what all have in common, and those whose tables streams move."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from stickbreak.fitting.checkpoint import check_learned, require, whole_number
from stickbreak.fitting.engine import engine
from stickbreak.fitting.hyperparameters import LEARNABLE
from stickbreak.model.prepared import once
from stickbreak.model.spreading import spread
from stickbreak.model.streaming import StreamingEstimator
from stickbreak.model.topic_model import TopicEstimator
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.pseudo_counts import Eta, by_word
from stickbreak.numerics.ranges import LARGEST_OFFSET
from stickbreak.prediction.document_weights import prior_and_rest, weights_and_rest
from stickbreak.prediction.left_to_right import TopicRule
from stickbreak.prediction.topics import shares_of


class CountedTopics(TopicEstimator):
    """Base of the fitted side of the families whose topics are expected counts of words: such topics can be joined."""

    components_: Float  # (K, W)  expected tokens of each word in each topic, plus eta
    eta_: Eta

    @property
    def topic_word_(self) -> Float:
        """Expected word distributions, (K, W)."""
        check_is_fitted(self)
        topics = self.components_
        return topics / topics.sum(axis=1, keepdims=True)

    @property
    def topic_shares_(self) -> Float:
        """Share of the expected tokens that each topic has, (K,)."""
        check_is_fitted(self)
        return shares_of(self._seen_tokens())

    @once
    def word_shares(self) -> Float:
        """Return the share of each word in the tokens of the fit, (W,)."""
        return super().word_shares()

    def _seen_tokens(self) -> Float:
        """Return the expected tokens of each topic, without pseudo-counts, (K,)."""
        return self._topic_tokens()

    def _predictive_rule(self) -> TopicRule:
        return TopicRule(np.vstack([self.topic_word_, self.rest_word_]), self._prior())

    @property
    def joins_topics(self) -> bool:
        """Whether the topics are expected counts of tokens, and so can be joined: they are."""
        return True

    def _expected_counts(self) -> tuple[Float, Eta]:
        return np.maximum(self.components_ - self.eta_, 0.0), self.eta_


class ExpectedCounts(CountedTopics, StreamingEstimator):
    """Base of the fitted side of the families that keep expected counts of words and expected tables of topics.

    They keep topics without tokens too, but show those that have some.
    """

    _fitted_arrays: ClassVar[tuple[str, ...]] = ()
    _fitted_values: ClassVar[tuple[str, ...]] = (
        *TopicEstimator._fitted_values,
        "alpha_",
        "gamma_",
        "eta_",
        "learning_offset_",
        "n_documents_seen_",
    )
    _learnable: ClassVar[tuple[str, ...]] = LEARNABLE

    alpha_: float
    gamma_: float
    learning_offset_: float

    @abstractmethod
    def _shown(self) -> Int:
        """Return the topics that are shown, among all that are kept, in their order, (K,)."""

    @abstractmethod
    def _kept_tables(self) -> Float:
        """Return the expected tables of all topics that are kept."""

    @abstractmethod
    def _shown_counts(self) -> Float:
        """Return the expected tokens of each word in the topics that are shown, without eta, (K, W)."""

    @property
    def components_(self) -> Float:  # type: ignore[override]  # other families store them
        """Expected tokens of each word in each topic, plus eta, (K, W)."""
        check_is_fitted(self)
        return self._shown_counts() + self.eta_

    @property
    def tables_(self) -> Float:
        """Expected number of tables of each topic, (K,)."""
        check_is_fitted(self)
        return self._kept_tables()[self._shown()]

    @property
    def topic_weights_(self) -> Float:
        """Expected corpus weights M_k / (M + gamma), (K,). They follow the tables, so they need not descend."""
        check_is_fitted(self)
        return self.tables_ / (self._kept_tables().sum() + self.gamma_)

    @property
    def n_topics_(self) -> int:
        """Number of topics with at least half an expected token."""
        check_is_fitted(self)
        return int(self._shown().size)

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

    def _check_fitted_state(self) -> None:
        """Refuse a loaded state that no fit can have left."""
        super()._check_fitted_state()
        check_learned(self, LEARNABLE)
        whole_number("n_documents_seen_", self.n_documents_seen_)
        offset = self.learning_offset_
        require(isinstance(offset, float) and 0 <= offset <= LARGEST_OFFSET, "the offset of its steps cannot be")
