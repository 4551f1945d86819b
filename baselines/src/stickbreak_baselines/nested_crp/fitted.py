"""What a fitted tree of the nested Chinese restaurant process offers: nodes, their words, weights of documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from stickbreak.fitting.checkpoint import is_table, require
from stickbreak.fitting.engine import threads_and_workers
from stickbreak.model.estimator import cached
from stickbreak.model.topic_estimator import TopicEstimator, on_workers
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.pseudo_counts import prior_mean
from stickbreak.numerics.ranges import are_sums, is_concentration
from stickbreak.prediction.topics import shares_of
from stickbreak_baselines.nested_crp.documents import Levels, RouteRule, Routes, weights_of
from stickbreak_baselines.nested_crp.kernels.sweeps import stick_weights
from stickbreak_baselines.nested_crp.state import LEARNABLE
from stickbreak_baselines.nodes import TreeData, TreeNode

_ROUNDING = 1e-9


class FittedNestedCRP(TopicEstimator):
    """The side of `NestedCRP` that needs no fit of its own: it reads the fitted attributes. K nodes, L levels."""

    _fitted_arrays: ClassVar[tuple[str, ...]] = (
        "components_",
        "topic_parents_",
        "topic_levels_",
        "topic_documents_",
        "eta_levels_",
    )
    _fitted_values: ClassVar[tuple[str, ...]] = (*TopicEstimator._fitted_values, "gamma_", "eta_words_")
    _learnable: ClassVar[tuple[str, ...]] = LEARNABLE
    objective_name: ClassVar[str] = "log-likelihood"
    default_topics: ClassVar[int] = 1  # the root: others come as documents ask
    n_topics: int | None = None
    _eta_is_of_words = False

    n_levels: int
    level_mean: float
    level_scale: float
    components_: Float
    topic_parents_: Int
    topic_levels_: Int
    topic_documents_: Int
    eta_levels_: Float
    eta_words_: Float | None
    gamma_: float

    @property
    def _finds_topics(self) -> bool:
        """Whether a fit finds a given number of topics: it does not."""
        return False

    def _seed_numbers(self) -> Sequence[int]:
        return range(1, 1 + len(self._fitted_seeds))

    def _keeps_number(self, k: int) -> bool:
        return 1 <= k <= self._n_kept

    def _of_words(self) -> Float | float:
        """Return what eta of a level is multiplied by for each word, (W,) or 1."""
        return 1.0 if self.eta_words_ is None else self.eta_words_

    @property
    def rest_word_(self) -> Float:
        """Word distribution of new nodes: the prior mean, uniform unless eta differs by word, (W,)."""
        check_is_fitted(self)
        return prior_mean(self._of_words(), self.n_features_in_)

    @property
    def topic_tokens_(self) -> Float:
        """Tokens at each node itself, (K,)."""
        check_is_fitted(self)
        prior = self.eta_levels_[self.topic_levels_] * self.n_features_in_
        if self._pseudo is not None:
            prior[1 : 1 + self._n_kept] += self._pseudo.sum(axis=0)
        return np.maximum(np.rint(self.components_.sum(axis=1) - prior), 0.0)

    @property
    def topic_weights_(self) -> Float:
        """Expected weights of the nodes in a new document, (K,); the rest to one belongs to new nodes."""
        check_is_fitted(self)
        weight, routes = np.empty(self.n_levels), self._routes()
        stick_weights(np.zeros(self.n_levels), *self._levels(), weight)
        of_nodes = np.zeros(len(self.components_) + 1)
        np.add.at(of_nodes, routes.nodes, np.exp(routes.log_prior)[:, None] * weight)
        return of_nodes[:-1]

    @property
    def topic_shares_(self) -> Float:
        """Share of the tokens that each node has itself, (K,)."""
        return shares_of(self.topic_tokens_)

    @cached
    def _routes(self) -> Routes:
        of_nodes = self.topic_parents_, self.topic_levels_, self.topic_documents_
        return Routes.of(*of_nodes, int(self.n_levels), float(self.gamma_), self._n_kept)

    def _levels(self) -> tuple[float, float]:
        return float(self.level_mean), float(self.level_scale)

    def _topics(self) -> Float:
        """Return the word distributions of the nodes, and of new nodes, (K + 1, W)."""
        return np.vstack([self.topic_word_, self.rest_word_])

    @on_workers
    def expected_weights(self, X: Any) -> Float:
        """Return the expected weights of the nodes in documents, those of nodes that are not there last.

        The tree is fixed. The weights are those of every path, by variational inference of the levels, weighted by the
        probability of the path (docs/math (R4)).

        Parameters
        ----------
        X : texts, Corpus, sparse matrix or array of shape (D, W)

        Returns
        -------
        ndarray of shape (D, K + 1)
            Rows sum to one.
        """
        check_is_fitted(self)
        with threads_and_workers(self.n_jobs) as engine:
            return weights_of(self._corpus(X), self._topics(), self._routes(), Levels(*self._levels()), engine)

    def _predictive_rule(self) -> RouteRule:
        return RouteRule(self._topics(), self._routes(), Levels(*self._levels()))

    @property
    def tree_(self) -> TreeNode:
        """The root of the tree. Every node is a topic, and has `children`, `parent` and `top_words`."""
        check_is_fitted(self)
        return TreeNode(self._ground(), 0)

    @cached
    def _ground(self) -> TreeData:
        tokens = self.topic_tokens_
        return TreeData(self.topic_parents_, np.arange(tokens.size), tokens, self.topic_word_, tokens, self.vocabulary_)

    def _check_fitted_state(self) -> None:
        """Refuse a loaded state that no fit can have left."""
        super()._check_fitted_state()
        require(are_sums(self.components_), "its topics hold a number that is negative or too large")
        require(is_concentration(self.gamma_), f"gamma_ is {self.gamma_!r}, and out of its range")
        parent, level, n = self.topic_parents_, self.topic_levels_, self.topic_documents_
        K, L = len(self.components_), int(self.n_levels)
        whole = all(array.shape == (K,) and array.dtype == np.int64 for array in (parent, level, n))
        require(whole, "its nodes are not those of its topics")
        require(parent[0] == -1 and level[0] == 0 and bool((parent[1:] >= 0).all()), "its nodes have no root")
        require(bool((parent < np.arange(K)).all()), "a node is above its parent")
        require(
            bool((level[1:] == level[parent[1:]] + 1).all()) and level.max() < L, "its levels are not those of nodes"
        )
        below = np.bincount(parent[1:], n[1:], K)
        inner = level < L - 1
        few = np.ones(K, np.int64)
        few[1 : 1 + self._n_kept] = 0  # a seed may have no document
        require(bool((n >= few).all() and (below[inner] == n[inner]).all()), "its documents are not those of its nodes")
        eta = self.eta_levels_
        require(is_table(eta, L) and all(map(is_concentration, eta.tolist())), "its levels have no pseudo-counts")
        words = self.eta_words_
        if words is not None:
            sound = isinstance(words, np.ndarray) and is_table(words, self.n_features_in_) and bool((words > 0).all())
            require(sound and abs(float(words.mean()) - 1.0) < _ROUNDING, "its words have no pseudo-counts")
