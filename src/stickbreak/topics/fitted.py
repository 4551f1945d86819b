"""What fitted topics of one chain offer: topics with their weights, and weights of documents."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from stickbreak.fitting.checkpoint import check_learned, is_table, require, whole_number
from stickbreak.fitting.engine import engine
from stickbreak.model.expected_counts import CountedTopics
from stickbreak.model.labelled import LabelledDocuments
from stickbreak.model.prepared import once
from stickbreak.model.spreading import spread
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.pseudo_counts import Eta
from stickbreak.numerics.ranges import are_sums
from stickbreak.path.pooled import pooled
from stickbreak.prediction.document_weights import weights_and_rest
from stickbreak.prediction.topics import shares_of
from stickbreak.sparse_gibbs.priors import SUM_TOLERANCE, Priors

LEARNABLE = ("alpha", "eta")


class FittedTopics(LabelledDocuments, CountedTopics):
    """The side of `TopicModel` and `LDA` that needs no fit of its own: it reads the fitted attributes."""

    _fitted_arrays: ClassVar[tuple[str, ...]] = ("components_", "topic_prior_")
    _fitted_values: ClassVar[tuple[str, ...]] = (
        *LabelledDocuments._fitted_values,
        *LabelledDocuments._label_values,
        "alpha_",
        "eta_",
        "n_documents_seen_",
    )
    _learnable: ClassVar[tuple[str, ...]] = LEARNABLE
    objective_name: ClassVar[str] = "log-likelihood"

    topic_prior_: Float
    alpha_: float
    eta_: Eta
    n_documents_seen_: int

    @property
    def topic_weights_(self) -> Float:
        """Expected weights of the topics in a document, a_k / alpha, (K,)."""
        check_is_fitted(self)
        return self.topic_prior_ / self.topic_prior_.sum()

    @property
    def topic_shares_(self) -> Float:
        """Share of the expected tokens that each topic has, (K,)."""
        check_is_fitted(self)
        return shares_of(self._tokens_of(self.components_, self.eta_))

    @spread
    def expected_weights(self, X: Any) -> Float:
        """Return the expected topic weights of documents; a last column is 0, since LDA has no further topics.

        The topics are fixed. The weights are (N_dk + a_k) / (N_d + alpha) at the fixed point of zero-order collapsed
        inference.

        Parameters
        ----------
        X : texts, Corpus, sparse matrix or array of shape (D, W)

        Returns
        -------
        ndarray of shape (D, K + 1)
            Rows sum to one.
        """
        check_is_fitted(self)
        with engine(self.n_jobs) as executor:
            return weights_and_rest(self._corpus(X), self.topic_word_, self._prior(), executor)

    @once
    def _prior(self) -> Float:
        """Return a, and 0 for further topics, (K + 1,)."""
        return np.append(self.topic_prior_, 0.0)

    def _join_topics(self, to: Int) -> None:
        """Make topic k a part of topic to[k]."""
        self.components_ = pooled(self._expected_counts()[0], to) + self.eta_
        self.topic_prior_ = pooled(self.topic_prior_, to)
        if (to < 0).any():
            self.alpha_ = float(self.topic_prior_.sum())
        self._pseudo = None  # a joined topic has no prior of its own
        self._forget_labels()

    def _take_topics(self, S: Float, priors: Priors) -> None:
        """Copy counts (W, K) and priors into the fitted attributes: topics that are known, then the largest first."""
        n_kept, sizes = priors.n_kept, S.sum(axis=0)
        order = np.append(np.arange(n_kept), n_kept + np.argsort(-sizes[n_kept:], kind="stable"))
        self.components_ = np.ascontiguousarray(S[:, order].T) + priors.eta
        if priors.pseudo is not None:
            self.components_[:n_kept] += priors.pseudo.T.toarray()
        self.alpha_, self.eta_, self._pseudo = priors.alpha, priors.eta, priors.pseudo
        self.topic_prior_ = priors.a[order]

    def _check_fitted_state(self) -> None:
        """Refuse a loaded state that no fit can have left."""
        super()._check_fitted_state()
        check_learned(self, LEARNABLE)
        a = self.topic_prior_
        require(are_sums(self.components_), "its topics hold a number that is negative or too large")
        require(is_table(a, len(self.components_)) and float(a.min()) > 0.0, "its priors are not those of its topics")
        require(len(self.label_names_) <= a.size, "its labels have no topics")
        whole_number("n_documents_seen_", self.n_documents_seen_)
        require(
            math.isclose(a.sum(), self.alpha_, rel_tol=SUM_TOLERANCE), "the priors of its topics do not sum to alpha_"
        )
