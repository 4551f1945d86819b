"""What both estimators of Pachinko allocation share: parameters, checks, laps, and what a fitted model offers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import refuse_fractions
from stickbreak.fitting.checkpoint import check_learned, is_table, require
from stickbreak.fitting.checks import check_names
from stickbreak.fitting.constraints import CONCENTRATION, TOLERANCES, TOPIC_PRIORS, one_of, whole
from stickbreak.fitting.engine import Engine, threads_and_workers
from stickbreak.model.estimator import cached
from stickbreak.model.seeds import Seeds, base_of, in_order, plain_seeds
from stickbreak.model.topic_estimator import TopicEstimator, on_workers
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.pseudo_counts import Eta
from stickbreak.numerics.ranges import are_sums
from stickbreak.prediction.topics import shares_of
from stickbreak_baselines.nodes import TreeData, TreeNode
from stickbreak_baselines.pachinko.checks import check_sizes
from stickbreak_baselines.pachinko.documents import PathRule, weights_of
from stickbreak_baselines.pachinko.gibbs import ESTIMATES, Gibbs
from stickbreak_baselines.pachinko.laps import PachinkoLaps, check_priors
from stickbreak_baselines.pachinko.state import LEARNABLE, Paths, Priors, path_weights
from stickbreak_baselines.word_prior import check_room

MOST_SUPER, MOST_TOPICS = 1 << 12, 1 << 16


class PachinkoEstimator(TopicEstimator):
    """Base of both estimators: S super-topics, K topics."""

    _fitted_arrays: ClassVar[tuple[str, ...]] = ("components_", "super_prior_", "sub_prior_", "path_tokens_")
    _fitted_values: ClassVar[tuple[str, ...]] = (*TopicEstimator._fitted_values, "eta_")
    _learnable: ClassVar[tuple[str, ...]] = LEARNABLE
    _nodes_have_words: ClassVar[bool]  # whether the root and the super-topics are topics, too
    objective_name: ClassVar[str] = "log-likelihood"

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TopicEstimator._parameter_constraints,
        "n_super": [whole(1, MOST_SUPER)],
        "n_topics": [None, whole(1, MOST_TOPICS)],
        "alpha": CONCENTRATION,
        "sub_alpha": CONCENTRATION,
        **TOPIC_PRIORS,
        "learn": [list, tuple],
        "estimate": [one_of(ESTIMATES)],
        "tolerance": [None, *TOLERANCES],
    }

    n_super: int
    components_: Float
    super_prior_: Float
    sub_prior_: Float
    path_tokens_: Float
    eta_: Eta

    def __init__(
        self,
        *,
        n_super: int = 20,
        n_topics: int | None = None,
        alpha: float = 5.0,
        sub_alpha: float = 5.0,
        eta: Any = 0.05,
        learn: Sequence[str] = ("alpha", "sub_alpha"),
        seeds: Seeds | None = None,
        seed_tokens: float = 100.0,
        estimate: str = "average",
        n_laps: int = 500,
        tolerance: float | None = 1e-4,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_super = n_super
        self.n_topics = n_topics
        self.alpha = alpha
        self.sub_alpha = sub_alpha
        self.eta = eta
        self.learn = learn
        self.seeds = plain_seeds(seeds)
        self.seed_tokens = seed_tokens
        self.estimate = estimate
        self.n_laps = n_laps
        self.tolerance = tolerance
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_names("learn", self.learn, LEARNABLE)

    def _check_documents(self, documents: Corpus) -> None:
        super()._check_documents(documents)
        refuse_fractions(documents)
        self._check_words_of_eta(documents.n_words)
        n_topics = self._settled_topics(documents)
        check_room(self._n_seeded, n_topics, "seeds" if self.seeds is not None else "rows of eta")
        check_sizes(documents, self._paths(n_topics))

    def _laps(self, documents: Corpus, seed: int, engine: Engine) -> PachinkoLaps:
        paths = self._paths(self.starting_topics(documents))
        known = self._word_prior(documents.words)
        pseudo = known.pseudo
        if pseudo is not None and paths.n_above:
            pseudo = in_order(pseudo, [-1] * paths.n_above + list(range(known.n_kept)), documents.n_words)
        priors = Priors.even(paths, float(self.alpha), float(self.sub_alpha), base_of(self.eta), pseudo)
        if "sub_alpha" in self.learn:
            priors = priors.with_uneven_b(seed)
        return PachinkoLaps(Gibbs(documents, paths, seed, self.estimate, pseudo), priors, tuple(self.learn))

    def _take(self, laps: PachinkoLaps, documents: Corpus) -> None:
        self._take_topics(*laps.chain.counts(), laps.priors)

    # A fitted model.

    @property
    def alpha_(self) -> float:
        """Concentration of the super-topics in a document: the sum of `super_prior_`."""
        check_is_fitted(self)
        return self._priors().alpha

    @property
    def sub_alpha_(self) -> float:
        """Mean concentration of the topics of a super-topic."""
        check_is_fitted(self)
        return self._priors().sub_alpha

    def _priors(self) -> Priors:
        return Priors(self.super_prior_, self.sub_prior_, self.eta_)

    @property
    def topic_weights_(self) -> Float:
        """Expected weights of the topics in a document, (K,)."""
        check_is_fitted(self)
        return np.asarray(path_weights(self.super_prior_, self.sub_prior_).sum(axis=0))

    @property
    def topic_shares_(self) -> Float:
        """Share of the tokens that each topic has, (K,)."""
        check_is_fitted(self)
        return shares_of(self.path_tokens_.sum(axis=0))

    @property
    def super_weights_(self) -> Float:
        """Expected weights of the super-topics in a document, (S,)."""
        check_is_fitted(self)
        return self.super_prior_ / self.super_prior_.sum()

    @property
    def super_topics_(self) -> Float:
        """Expected weights of the topics under each super-topic, (S, K); rows sum to one."""
        check_is_fitted(self)
        return self.sub_prior_ / self.sub_prior_.sum(axis=1, keepdims=True)

    @on_workers
    def expected_weights(self, X: Any) -> Float:
        """Return the expected topic weights of documents; a last column is 0, since there are no further topics.

        The topics are fixed. The weights are those of the paths at the fixed point of zero-order collapsed inference,
        summed over the super-topics (docs/math (P5)).

        Parameters
        ----------
        X : texts, Corpus, sparse matrix or array of shape (D, W)

        Returns
        -------
        ndarray of shape (D, K + 1)
            Rows sum to one.
        """
        check_is_fitted(self)
        return np.pad(self._weights(X)[1], ((0, 0), (0, 1)))

    @on_workers
    def expected_super_weights(self, X: Any) -> Float:
        """Return the expected weights of the super-topics in documents.                               docs/math (P5)

        Parameters
        ----------
        X : texts, Corpus, sparse matrix or array of shape (D, W)

        Returns
        -------
        ndarray of shape (D, S)
            Rows sum to one.
        """
        check_is_fitted(self)
        return self._weights(X)[0]

    def _weights(self, X: Any) -> tuple[Float, Float]:
        """Return the weights of super-topics and of topics in documents."""
        with threads_and_workers(self.n_jobs) as engine:
            return weights_of(self._corpus(X), self.topic_word_, self.super_prior_, self.sub_prior_, engine)

    def _predictive_rule(self) -> PathRule:
        return PathRule(self.topic_word_, self.super_prior_, self.sub_prior_)

    def _paths(self, n_sub: int) -> Paths:
        """Return which paths there are."""
        make = Paths.hierarchical if self._nodes_have_words else Paths.pachinko
        return make(int(self.n_super), n_sub)

    @property
    def tree_(self) -> TreeNode:
        """The root of a tree: its children are the super-topics, theirs the topics that have tokens below them.

        A topic is a leaf below each super-topic that it has tokens of.
        """
        check_is_fitted(self)
        return TreeNode(self._ground(), 0)

    @cached
    def _ground(self) -> TreeData:
        tokens, first = self.path_tokens_, int(self._nodes_have_words)
        rows = range(first, len(tokens))
        parent, topic, at = [-1], [0 if first else -1], [float(tokens[0, 0]) if first else 0.0]
        parent += [0] * len(rows)
        topic += [s if first else -1 for s in rows]
        at += [float(tokens[s, s]) if first else 0.0 for s in rows]
        for node, s in enumerate(rows, start=1):
            here = [int(k) for k in np.argsort(-tokens[s], kind="stable") if tokens[s, k] > 0 and k != topic[node]]
            parent += [node] * len(here)
            topic += here
            at += tokens[s, here].tolist()
        of_nodes = np.array(parent), np.array(topic), np.array(at)
        return TreeData(*of_nodes, self.topic_word_, tokens.sum(axis=0), self.vocabulary_)

    def _seed_numbers(self) -> Sequence[int]:
        n_above = self._paths(0).n_topics
        return range(n_above, n_above + len(self._fitted_seeds))

    def _keeps_number(self, k: int) -> bool:
        return self._paths(0).n_topics <= k < self._n_kept

    def _order(self, path_tokens: Float) -> tuple[Int, Int]:
        """Return super-topics and topics in the order in which they are shown: the largest first, the root's before.

        Sub-topics with pseudo-counts stay where they are, before the others.
        """
        first = int(self._nodes_have_words)
        n_above = len(path_tokens) if first else 0  # topics of the root and of super-topics
        rows = np.append(np.arange(first), first + np.argsort(-path_tokens[first:].sum(axis=1), kind="stable"))
        first_free = max(n_above, self._n_kept)
        free = first_free + np.argsort(-path_tokens[:, first_free:].sum(axis=0), kind="stable")
        below = np.append(np.arange(n_above, first_free), free)
        return rows, np.append(rows[:n_above], below)

    def _take_topics(self, S: Float, path_tokens: Float, priors: Priors) -> None:
        """Copy counts (W, K), paths and priors into the fitted attributes, the largest first."""
        self._pseudo = priors.pseudo
        rows, columns = self._order(path_tokens)
        self.components_ = np.ascontiguousarray(S[:, columns].T) + priors.eta
        if priors.pseudo is not None:
            self.components_[: self._n_kept] += priors.pseudo.T.toarray()
        self.super_prior_, self.sub_prior_ = priors.a[rows], priors.b[np.ix_(rows, columns)]
        self.path_tokens_, self.eta_ = path_tokens[np.ix_(rows, columns)], priors.eta

    def _check_fitted_state(self) -> None:
        """Refuse a loaded state that no fit can have left."""
        super()._check_fitted_state()
        require(are_sums(self.components_), "its topics hold a number that is negative or too large")
        n_sub = len(self.components_) - self._paths(0).n_topics
        require(n_sub >= 1, "it has fewer topics than super-topics ask for")
        is_open = self._paths(n_sub).is_open
        check_priors(self.super_prior_, self.sub_prior_, is_open)
        tokens = self.path_tokens_
        require(is_table(tokens, *is_open.shape) and are_sums(tokens), "the tokens of its paths are not those of paths")
        check_learned(self, ("eta",))
