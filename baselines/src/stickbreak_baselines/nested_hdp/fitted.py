"""What a fitted nested HDP offers: nodes, their words, weights of documents, and a state that can go on."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import psi
from sklearn.utils.validation import check_is_fitted

from stickbreak.fitting.checkpoint import check_learned, require, saved_seed, whole_number
from stickbreak.fitting.engine import threads_and_workers
from stickbreak.fitting.loop import Packed
from stickbreak.model.estimator import KeptState, cached
from stickbreak.model.streaming import partial_fit
from stickbreak.model.topic_estimator import TopicEstimator, on_workers
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.pseudo_counts import Eta
from stickbreak.numerics.ranges import LARGEST_OFFSET
from stickbreak.prediction.topics import shares_of
from stickbreak_baselines.nested_hdp.checks import branching_of
from stickbreak_baselines.nested_hdp.documents import Grown, TreeRule, weights_of
from stickbreak_baselines.nested_hdp.state import TreeState
from stickbreak_baselines.nested_hdp.sticks import expected_log_weights, expected_weights
from stickbreak_baselines.nested_hdp.tree import Tree
from stickbreak_baselines.nodes import TreeData, TreeNode

GIVEN = ("alpha", "gamma", "eta")


class FittedNestedHDP(TopicEstimator):
    """The side of `NestedHDP` that needs no fit of its own: it reads the state. K nodes that are shown."""

    _fitted_arrays: ClassVar[tuple[str, ...]] = ()
    _fitted_values: ClassVar[tuple[str, ...]] = (
        *TopicEstimator._fitted_values,
        "alpha_",
        "gamma_",
        "eta_",
        "learning_offset_",
        "n_documents_seen_",
    )
    objective_name: ClassVar[str] = "lower bound"
    n_topics: int | None = None

    branching: Any
    level_mean: float
    level_scale: float
    document_nodes: int
    alpha_: float
    gamma_: float
    eta_: Eta
    learning_offset_: float
    n_documents_seen_: int
    n_steps_: int
    _state: TreeState
    _seed: int

    partial_fit = partial_fit

    @property
    def _finds_topics(self) -> bool:
        """Whether a fit finds a given number of topics: it does not."""
        return False

    @property
    def default_topics(self) -> int:  # type: ignore[override]  # here the tree says it
        """Nodes that a fit starts with."""
        return int(np.cumprod(branching_of(self.branching)).sum())

    @cached
    def _whole(self) -> Tree:
        """Return the tree with all nodes that there may be."""
        return Tree.truncated(branching_of(self.branching))

    @cached
    def _nodes(self) -> Int:
        """Return the nodes that are shown, in their order."""
        return self._state.shown(self._whole())

    @cached
    def _tree(self) -> Tree:
        """Return the tree of the nodes that are shown."""
        whole, nodes = self._whole(), self._nodes()
        place = np.full(whole.n_nodes + 1, -1)
        place[nodes + 1] = np.arange(nodes.size)
        return Tree.of(place[whole.parent[nodes] + 1], whole.level[nodes], whole.n_levels)

    @cached
    def _grown(self) -> Grown:
        whole, nodes, state = self._whole(), self._nodes(), self._state
        g, log_g = (f(whole, state.picks, self.gamma_)[nodes] for f in (expected_weights, expected_log_weights))
        return Grown(self._tree(), g, log_g, self.alpha_, float(self.level_mean), float(self.level_scale))

    @property
    def components_(self) -> Float:  # type: ignore[override]  # other families store them
        """Expected tokens of each word at each node, plus its pseudo-counts, (K, W)."""
        check_is_fitted(self)
        state = self._state
        return np.ascontiguousarray((state.scale * state.counts[:, self._nodes()]).T) + self.eta_

    @property
    def n_topics_(self) -> int:
        """Number of nodes K with at least half an expected token at or below them."""
        check_is_fitted(self)
        return self._nodes().size

    @property
    def topic_parents_(self) -> Int:
        """The parent of each node, (K,); -1 below the root."""
        check_is_fitted(self)
        return self._tree().parent.copy()

    @property
    def topic_levels_(self) -> Int:
        """The level of each node, (K,); 1 below the root."""
        check_is_fitted(self)
        return self._tree().level.copy()

    @property
    def topic_tokens_(self) -> Float:
        """Expected tokens at each node itself, (K,)."""
        check_is_fitted(self)
        tokens = self._state.tokens[self._nodes()]
        if self._pseudo is not None:
            tokens[: self._n_kept] = np.maximum(tokens[: self._n_kept] - self._pseudo.sum(axis=0), 0.0)
        return tokens

    @property
    def topic_documents_(self) -> Float:
        """Expected number of documents whose subtree has the node, (K,)."""
        check_is_fitted(self)
        return self._state.picks[self._nodes()]

    @property
    def topic_weights_(self) -> Float:
        """Expected weights of the nodes in a new document, (K,); the rest to one belongs to nodes not shown."""
        check_is_fitted(self)
        grown, tree = self._grown(), self._tree()
        arrived, go = np.ones(tree.n_nodes), np.append(1.0, np.where(tree.inner, 1.0 - grown.mean, 0.0))
        for k in range(tree.n_nodes):
            p = tree.parent[k]
            arrived[k] = (1.0 if p < 0 else arrived[p]) * go[p + 1] * grown.g[k]
        return arrived * (1.0 - go[1:])

    @property
    def topic_shares_(self) -> Float:
        """Share of the expected tokens that each node has itself, (K,)."""
        return shares_of(self.topic_tokens_)

    @cached
    def _log_topics(self) -> Float:
        """Return E log phi_kw, (K, W)."""
        topics = self.components_
        found: Float = psi(topics) - psi(topics.sum(axis=1, keepdims=True))
        return found

    @on_workers
    def expected_weights(self, X: Any) -> Float:
        """Return the expected weights of the nodes in documents, those of nodes that are not shown last.

        The tree is fixed. Each document selects its subtree and finds its sticks and switches, as in a fit. What its
        sticks leave goes to all nodes, by their weights in the corpus (docs/math (F8)).

        Parameters
        ----------
        X : texts, Corpus, sparse matrix or array of shape (D, W)

        Returns
        -------
        ndarray of shape (D, K + 1)
            Rows sum to one.
        """
        check_is_fitted(self)
        most = int(self.document_nodes)
        with threads_and_workers(self.n_jobs) as engine:
            return weights_of(self._corpus(X), self._log_topics(), self._grown(), most, engine)

    def _predictive_rule(self) -> TreeRule:
        return TreeRule(np.vstack([self.topic_word_, self.rest_word_]), self._grown())

    @property
    def tree_(self) -> TreeNode:
        """The root of the tree. Every other node is a topic, and has `children`, `parent` and `top_words`."""
        check_is_fitted(self)
        return TreeNode(self._ground(), 0)

    @cached
    def _ground(self) -> TreeData:
        tree, tokens = self._tree(), self.topic_tokens_
        parent = np.append(-1, tree.parent + 1)
        topic = np.arange(-1, tree.n_nodes)
        return TreeData(parent, topic, np.append(0.0, tokens), self.topic_word_, tokens, self.vocabulary_)

    def _take_state(self, state: TreeState, seed: int) -> None:
        """Take a state for that of the model."""
        self._state, self._seed, self.n_steps_ = state, seed, state.n_steps

    def _kept_state(self) -> Packed:
        arrays, values = self._state.packed()
        kept = self._kept
        if kept is not None:
            arrays |= {name: array for name, array in kept.arrays.items() if name not in arrays}
        return arrays, {**values, "seed": self._seed, "identity": None if kept is None else kept.identity}

    def _restore_kept(self, arrays: dict[str, NDArray], values: dict[str, Any]) -> None:
        state = TreeState.unpacked(arrays, values, self.n_features_in_, self._whole())
        self._take_state(state, saved_seed(values["seed"]))
        identity = values["identity"]
        self._kept = None if identity is None else KeptState(dict(arrays), values, identity)

    def _check_fitted_state(self) -> None:
        """Refuse a loaded state that no fit can have left."""
        super()._check_fitted_state()
        check_learned(self, GIVEN)
        whole_number("n_documents_seen_", self.n_documents_seen_)
        offset = self.learning_offset_
        require(isinstance(offset, float) and 0 <= offset <= LARGEST_OFFSET, "the offset of its steps cannot be")
