"""`BackoffTreeTopics`: the face of the sparse backoff trees."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from stickbreak.backoff_tree.fitted import FittedTree
from stickbreak.backoff_tree.laps import TreeLaps
from stickbreak.backoff_tree.requirements import check_parameters, tree_settings
from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.all_or_nothing import all_or_nothing
from stickbreak.fitting.constraints import one_of, whole
from stickbreak.fitting.executor import ThreadExecutor
from stickbreak.fitting.laps import Callback
from stickbreak.fitting.requirements import check_whole


class BackoffTreeTopics(FittedTree):
    """Up to millions of topics, as the leaves of a tree: sparse backoff trees (Downey, Bhagavatula and Yang 2015).

    Documents and words share the shape of one tree. Each node takes a discount from every leaf below it that has tokens
    and spreads it over all leaves below it, so that a leaf is smoothed toward its relatives and related topics come to
    stand side by side. A draw multiplies the tree of a document and that of a word, and touches only nodes where both
    have tokens. The conditionals are not those of one joint distribution: this is a pseudo-Gibbs procedure, whose
    long-run law depends on the order of the tokens.

    Parameters
    ----------
    n_topics : int, default=972
        Leaves of the tree, at least. Without effect where `branching` gives the children.
    branching : {"wide", "tall"} or sequence of int, default="wide"
        Shape of the tree. "wide": few levels of up to 12 children and more; "tall": many levels of 2 and 3 (both of the
        paper); numbers: the children of a node at each level from the root down.
    alpha : float or sequence of float, default=0.5
        Sum of the discounts of documents along a path, shared equally by its levels. A sequence: one for each level
        from the root down. Where they are learned, the first ones.
    eta : float or sequence of float, default=0.5
        Sum of the discounts of words along a path, shared equally by its levels. A sequence: one for each level from
        the root down. Where they are learned, the first ones.
    learn : sequence of {"alpha", "eta"}, default=("alpha", "eta")
        Hyperparameters that are learned from the data. Their discounts are set to what makes the leaves of documents,
        and of words, most probable, leaving a token out.
    learn_every : int, default=5
        Sweeps between two searches for the discounts that are learned.
    n_laps : int, default=100
        Most passes over the data. All are done unless you interrupt them.
    stages : sequence of int, default=()
        Levels of coarser trees to begin with. With (3, 5), for example, the fit begins with the first 3 levels, goes on
        with 5, and ends with all. Tokens of a leaf go to its new children at random.
    stage_sweeps : int, default=10
        Sweeps of each coarser tree.
    updates : {"parallel", "serial"}, default="parallel"
        Whether the trees of the words change during a sweep. "parallel": they stay as they were (but for the token that
        is sampled); "serial": they change with every draw (one thread, slower).
    random_state : int, RandomState or None, default=None
        The same seed gives the same result for any `n_jobs`.
    n_jobs : int or None, default=None
        Threads; None means 1, -1 all cores.
    verbose : bool, default=False
        Show a progress bar on standard error.

    Attributes
    ----------
    n_topics_ : int
        Number of leaves with tokens, K.
    n_leaves_ : int
        Number of leaves of the tree, L.
    branching_ : list of int
        Children of a node at each level.
    tree_ : TopicNode
        The root of the tree, to walk from: `children`, `parent`, `top_words` of every node; `node_of` gives leaves.
    leaves_ : ndarray of shape (K,)
        The leaves with tokens. The node of a leaf at level h is ``leaf // (leaves below a node of level h)``.
    leaf_tokens_ : ndarray of shape (K,)
        Tokens of each of them.
    topic_weights_ : ndarray of shape (K,)
        Their shares of all tokens.
    leaf_word_ : scipy.sparse.csr_array of shape (K, W)
        Tokens of each word at each of them. It stands for `components_`, which other families have and a tree has not:
        a dense table of topics times words is what a tree of a million leaves avoids.
    topic_word_ : ndarray of shape (K, W)
        Their word distributions, where that is no more than half a gigabyte (else `word_distributions`).
    alpha_levels_, eta_levels_ : ndarray of shape (levels,)
        Discounts of documents and words.
    alpha_, eta_ : float
        Their sums.
    learned_ : list of str
        Names of the hyperparameters that were learned in the fit: whose discounts.
    word_start_, word_leaf_, word_count_ : ndarray
        Leaves of each word and its tokens there: those of word w stand at word_start_[w] .. word_start_[w + 1] - 1.
    objective_ : float
        Mean log probability of a word given all other tokens and their leaves, in the last sweep, in nats.
    trace_ : dict of ndarray of shape (n_laps_,)
        "lap" (the sweep), "objective", "n_topics", "seconds", "moved" (whether the tree grew), "n_leaves", "alpha",
        "eta" (sums of the discounts), "alpha_last", "eta_last" (those of the last level), and of what is learned
        "alpha_likelihood", "eta_likelihood": of leaves leaving one token out, nats per token of a sample, when
        discounts were last looked at. They are searched for every `learn_every` sweeps, but not while leaves are at
        random: before the first sweep, and before the first with a new level.
    n_laps_ : int
        Sweeps done.
    start_seconds_ : float
        Seconds that the start took.
    converged_ : bool
        False: there is no test of convergence.
    stop_reason_ : str
        Why the fit ended.
    vocabulary_ : tuple of str

    References
    ----------
    D. Downey, C. S. Bhagavatula, Y. Yang. Efficient Methods for Inferring Large Sparse Topic Hierarchies. ACL 2015.

    Examples
    --------
    >>> from stickbreak import BackoffTreeTopics
    >>> from stickbreak.corpus import toy_bars
    >>> corpus, truth = toy_bars(n_documents=50, seed=0)
    >>> model = BackoffTreeTopics(branching=(3, 4), n_laps=10, random_state=0).fit(corpus)
    >>> model.transform(corpus).shape
    (50, 12)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **FittedTree._parameter_constraints,
        "n_topics": [whole(1)],
        "branching": [one_of(("wide", "tall")), list, tuple, np.ndarray],
        "alpha": [Real, "array-like"],
        "eta": [Real, "array-like"],
        "learn": [list, tuple],
        "learn_every": [whole(1)],
        "stages": [list, tuple],
        "stage_sweeps": [whole(1)],
        "updates": [one_of(("parallel", "serial"))],
    }

    def __init__(
        self,
        *,
        n_topics: int = 972,
        branching: str | Sequence[int] | NDArray = "wide",
        alpha: float | Sequence[float] = 0.5,
        eta: float | Sequence[float] = 0.5,
        learn: Sequence[str] = ("alpha", "eta"),
        learn_every: int = 5,
        n_laps: int = 100,
        stages: Sequence[int] = (),
        stage_sweeps: int = 10,
        updates: str = "parallel",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_topics = n_topics
        self.branching = branching
        self.alpha = alpha
        self.eta = eta
        self.learn = learn
        self.learn_every = learn_every
        self.n_laps = n_laps
        self.stages = stages
        self.stage_sweeps = stage_sweeps
        self.updates = updates
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_parameters(self)

    @all_or_nothing
    def expand(self, X: Any, k: int, *, n_laps: int, callback: Callback | None = None) -> Self:
        """Make every leaf a node with k leaves, and go on: from coarse topics to fine ones.          math.md (T9)

        Tokens go to the children of their leaf at random; the new level has the mean of the discounts of the others.

        Parameters
        ----------
        X : Corpus, sparse matrix or array of shape (D, W)
            The documents of the fit.
        k : int
            Leaves of each former leaf.
        n_laps : int
            Further sweeps, with the larger tree.
        callback : callable, optional
            As in `fit`.

        Returns
        -------
        self

        Raises
        ------
        InputError
            As `continue_fit`; if k is less than 2, or the tree grows too large.
        """
        leaves = check_whole("k", k, 2)
        return self._go_on(X, n_laps, callback, lambda laps: laps.expand(leaves))

    def _laps(self, documents: Corpus, seed: int, executor: ThreadExecutor) -> TreeLaps:
        return TreeLaps(Tokens.from_corpus(documents), tree_settings(self), seed, executor)

    def _settled(self, documents: Corpus) -> dict[str, Any]:
        return {}
