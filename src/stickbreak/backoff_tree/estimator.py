"""`BackoffTreeTopics`: the face of the sparse backoff trees."""

from __future__ import annotations

import os
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from stickbreak.backoff_tree.discounts import MOST
from stickbreak.backoff_tree.fitted import FittedTree
from stickbreak.backoff_tree.laps import TreeCourse
from stickbreak.backoff_tree.requirements import check_parameters, course_settings
from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.all_or_nothing import all_or_nothing
from stickbreak.fitting.checkpoint import identity_of, seed_of_fit
from stickbreak.fitting.constraints import whole
from stickbreak.fitting.executor import ThreadExecutor
from stickbreak.fitting.loop import Callback, Trace
from stickbreak.fitting.requirements import check_tokens, check_whole
from stickbreak.fitting.run import Identity, at_work, run_fit

_FREE = ("n_sweeps", "n_jobs", "verbose")  # a fit that goes on may change these


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
        Leaves of the tree, at least; without effect where `branching` gives the children.
    branching : {"wide", "tall"} or sequence of int, default="wide"
        Shape of the tree: few levels of up to 12 children and more, or many of 2 and 3 (both of the paper); or the
        children of a node at each level from the root down.
    alpha : float or sequence of float, default=0.5
        Discounts of documents: their sum along a path, shared equally, or one for each level from the root down. Where
        they are learned, the first ones.
    eta : float or sequence of float, default=0.5
        The same of words.
    learn : sequence of {"alpha", "eta"}, default=("alpha", "eta")
        Discounts that are set to what makes the leaves of documents, and of words, most probable, leaving a token out.
    learn_every : int, default=5
        Sweeps between two searches.
    n_sweeps : int, default=100
        Passes over all tokens.
    stages : sequence of int, default=()
        Levels of coarser trees to begin with, (3, 5) for example: the fit begins with the first 3 levels, goes on with
        5, and ends with all. Tokens of a leaf go to its new children at random.
    stage_sweeps : int, default=10
        Sweeps of each of these.
    updates : {"parallel", "serial"}, default="parallel"
        Whether the trees of the words stay as they were during a sweep (but for the token that is sampled), or change
        with every draw (one thread, slower).
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
        Tokens of each word at each of them.
    topic_word_ : ndarray of shape (K, W)
        Their word distributions, where that is no more than half a gigabyte (else `word_distributions`).
    alpha_levels_, eta_levels_ : ndarray of shape (levels,)
        Discounts of documents and words.
    alpha_, eta_ : float
        Their sums.
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
    >>> model = BackoffTreeTopics(branching=(3, 4), n_sweeps=10, random_state=0).fit(corpus)
    >>> model.transform(corpus).shape
    (50, 12)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_topics": [whole(1)],
        "branching": [StrOptions({"wide", "tall"}), list, tuple, np.ndarray],
        "alpha": [Real, "array-like"],
        "eta": [Real, "array-like"],
        "learn": [list, tuple],
        "learn_every": [whole(1)],
        "n_sweeps": [whole(1)],
        "stages": [list, tuple],
        "stage_sweeps": [whole(1)],
        "updates": [StrOptions({"parallel", "serial"})],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
        "verbose": ["boolean"],
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
        n_sweeps: int = 100,
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
        self.n_sweeps = n_sweeps
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
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        callback: Callback | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        resume: bool = False,
    ) -> Self:
        """Learn topics from counts.

        Parameters
        ----------
        X : Corpus, sparse matrix or array of shape (D, W)
            Whole numbers of words in documents.
        y : ignored
        callback : callable, optional
            Called with a dict after each sweep (the row of `trace_`, "n_laps", the limit, and "noun": "sweep").
        checkpoint : path-like, optional
            A folder that is replaced after every sweep by all that the next sweeps depend on.
        resume : bool, default=False
            Continue from `checkpoint` if it exists: the result equals that of an uncut fit. `n_sweeps` may be larger.

        Returns
        -------
        self

        Raises
        ------
        InvalidCorpus
            If the counts are negative or no whole numbers, or hold no token at all.
        InputError
            If a parameter does not fit the tree, or the checkpoint is of another fit.
        """
        corpus = self._corpus(X, reset=True)
        check_tokens(corpus)
        seed = seed_of_fit(self.random_state, checkpoint, resume=resume)
        identity = self._identity(corpus, seed)
        with at_work(self, callback) as (report, executor):
            course = self._course(corpus, seed, executor)
            run = run_fit(
                course,
                lambda stop: course.sampler.begin(),
                n_laps=self.n_sweeps,
                report=report,
                identity=identity,
                checkpoint=checkpoint,
                resume=resume,
            )
            self._take(course, run, identity, executor)
        self.vocabulary_ = corpus.words
        self.start_seconds_ = run.start_seconds
        return self

    @all_or_nothing
    def continue_fit(self, X: Any, *, n_sweeps: int, callback: Callback | None = None) -> Self:
        """Go on with this model, which may have been saved and loaded; the result equals that of one longer fit.

        Parameters
        ----------
        X : Corpus, sparse matrix or array of shape (D, W)
            The documents of the fit.
        n_sweeps : int
            Further sweeps.
        callback : callable, optional
            As in `fit`.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If the documents or parameters are not those of the fit, the model has forgotten its tokens, or `n_sweeps`
            is no positive whole number.
        """
        return self._go_on(X, n_sweeps, None, callback)

    @all_or_nothing
    def expand(self, X: Any, k: int, *, n_sweeps: int, callback: Callback | None = None) -> Self:
        """Make every leaf a node with k leaves, and go on: from coarse topics to fine ones.          math.md (T9)

        Tokens go to the children of their leaf at random; the new level has the mean of the discounts of the others.

        Parameters
        ----------
        X : Corpus, sparse matrix or array of shape (D, W)
            The documents of the fit.
        k : int
            Leaves of each former leaf.
        n_sweeps : int
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
        return self._go_on(X, n_sweeps, check_whole("k", k, 2), callback)

    def _go_on(self, X: Any, n_sweeps: int, k: int | None, callback: Callback | None) -> Self:
        """Continue, with a larger tree where k is given."""
        check_is_fitted(self)
        more = check_whole("n_sweeps", n_sweeps, 1)
        corpus = self._corpus(X)
        kept = self._kept_for(corpus)
        with at_work(self, callback) as (report, executor):
            course = self._course(corpus, kept.identity["random_state"], executor)
            self._give_back(kept, course)
            if k is not None:
                sampler = course.sampler
                sampler.expand(k, float(sampler.delta_doc.mean()), float(sampler.delta_word.mean()), MOST)
            run = run_fit(
                course,
                None,
                n_laps=self.n_laps_ + more,
                report=report,
                identity=kept.identity,
                trace=Trace.from_arrays(self.trace_),
            )
            self._take(course, run, kept.identity, executor)
        return self

    def _course(self, corpus: Corpus, seed: int, executor: ThreadExecutor) -> TreeCourse:
        """Put the sampler together with the tokens."""
        return TreeCourse(Tokens.from_corpus(corpus), course_settings(self), seed, executor)

    def _identity(self, corpus: Corpus, seed: int) -> Identity:
        """Return what a checkpoint must agree with."""
        return identity_of(self, corpus, seed, free=_FREE)
