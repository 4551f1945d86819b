"""What fitted topics of one chain offer: topics with their weights, and weights of documents."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from stickbreak.fitting.checkpoint import check_learned, is_table, require, whole_number
from stickbreak.model.estimator import cached
from stickbreak.model.topic_estimator import TopicEstimator
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.pseudo_counts import Eta
from stickbreak.numerics.ranges import are_sums
from stickbreak.path.joined_models import pooled
from stickbreak.sparse_gibbs.priors import SUM_TOLERANCE, Priors

LEARNABLE = ("alpha", "eta")


class FittedTopics(TopicEstimator):
    """The side of `TopicModel` and `LDA` that needs no fit of its own: it reads the fitted attributes."""

    _fitted_arrays: ClassVar[tuple[str, ...]] = ("components_", "topic_prior_")
    _fitted_values: ClassVar[tuple[str, ...]] = (
        *TopicEstimator._fitted_values,
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

    @cached
    def _prior(self) -> Float:
        """Return a, and 0 for further topics, (K + 1,)."""
        return np.append(self.topic_prior_, 0.0)

    def _join_topics(self, to: Int) -> None:
        """Make topic k a part of topic to[k]."""
        self.components_ = pooled(self._expected_counts()[0], to) + self.eta_
        self.topic_prior_ = pooled(self.topic_prior_, to)
        if (to < 0).any():
            self.alpha_ = float(self.topic_prior_.sum())
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
        whole_number("n_documents_seen_", self.n_documents_seen_)
        require(
            math.isclose(a.sum(), self.alpha_, rel_tol=SUM_TOLERANCE), "the priors of its topics do not sum to alpha_"
        )
