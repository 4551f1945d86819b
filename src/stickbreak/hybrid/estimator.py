"""`HybridHDP`: the face of the hybrid of variational inference and Gibbs sampling."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from stickbreak.corpus import Corpus
from stickbreak.fitting.all_or_nothing import all_or_nothing
from stickbreak.fitting.checkpoint import identity_of, seed_of_fit
from stickbreak.fitting.constraints import CONCENTRATION, OFFSET, sweeps, whole
from stickbreak.fitting.executor import ThreadExecutor, one_blas_thread
from stickbreak.fitting.loop import Callback, Interruption, Trace
from stickbreak.fitting.requirements import check_tokens, check_total
from stickbreak.fitting.run import at_work, run_fit
from stickbreak.hybrid.document_sampler import SAMPLERS, Sweeps
from stickbreak.hybrid.fitted import FittedHybrid
from stickbreak.hybrid.laps import HybridCourse, Room, Rules, Steps, row_of
from stickbreak.hybrid.requirements import check_parameters, check_sizes
from stickbreak.hybrid.starts import RANDOM, begin, offset_after
from stickbreak.hybrid.state import TRUNCATED, UNBOUNDED, Priors
from stickbreak.hybrid.word_weights import G_WEIGHTS, WEIGHTS
from stickbreak.numerics.streams import seed_from

# a fit that goes on may change these
_FREE = ("n_laps", "n_jobs", "verbose", "total_documents", "grow_vocabulary")


class HybridHDP(FittedHybrid):
    """Topics of a stream, or of a collection: sampled inside documents, variational above them.

    The model is that of `VariationalHDP`. The corpus keeps Dirichlet distributions of the topics and of their weights;
    inside each document topics and tables are sampled, which is less biased than mean field; after every minibatch the
    corpus moves a step towards it (Burkhardt and Kramer 2017). What a token costs follows the topics of its document,
    not `n_topics`. Counts have to be whole numbers.

    Parameters
    ----------
    n_topics : int or None, default=None
        Most topics (the truncation K); those that find no tokens are not shown. From topics that are found first nearly
        all of them are kept, more than there are groups of documents. Unbounded: topics at the start. None: 100, or
        where topics are found first in documents of fewer tokens than that, a quarter of their tokens.
    top_level : {"truncated", "unbounded"}, default="truncated"
        Whether `n_topics` share gamma, or gamma is for topics that are not there yet: then every minibatch may open a
        new topic, and topics that vanish are dropped. From few topics growth takes many steps; larger ones
        (learning_decay=0.3), gamma=5 or more and g_weight="ratio" speed it up.
    alpha : float, default=5.0
        Document-level concentration (b1 in the paper).
    gamma : float, default=1.0
        Corpus-level concentration (b0).
    eta : float, default=0.02
        Pseudo-count of every word in every topic.
    learn : sequence of {"alpha", "gamma", "eta"}, default=()
        Hyperparameters that are learned from the samples, after each step (eta after some), under Gamma(1, 1) priors;
        `alpha`, `gamma` and `eta` are then where they start. Over many laps of the same documents alpha falls and eta
        grows, and that predicts worse. A gamma that is learned from one or two topics stays too small for more to come.
    sampler : {"sparse", "dense"}, default="sparse"
        Topics outside the document by tables of the words and rejection, or all one by one: the same law.
    g_weight : {"mean_field", "ratio", "printed"}, default="mean_field"
        What the corpus weights are to a document: exp(E log G0), E G0, or the paper's approximation of the first.
    phi_weight : {"ratio", "mean_field"}, default="ratio"
        What a topic's words are to a document: E phi, or exp(E log phi), which is hard on words that a topic has little
        of: from a random start it stays with poor topics. Over many laps of the same documents it holds better.
    init : str or array-like of shape (K, W), default="collapsed"
        Where the topics start: topics that are found first ("collapsed", "near-uniform", "documents", "anchors", see
        `VariationalHDP`) or given (word distributions or expected counts); or tokens in topics at random ("random", the
        paper's), which costs nothing and takes more laps: for very many topics.
    init_sweeps : int, default=50
        Sweeps of the collapsed start.
    n_laps : int, default=5
        Passes of `fit` over the documents.
    batch_size : int, default=100
        Documents of a minibatch of `fit`.
    burn_in_sweeps : int, default=5
        Sweeps of a document before the first that counts, at most 1e6.
    saved_sweeps : int, default=5
        Sweeps that count, at most 1e6.
    learning_decay : float, default=0.6
        Step t has the size (t + learning_offset) ** -learning_decay.
    learning_offset : float or None, default=None
        See there: larger makes the first steps smaller. None: 1 from a random start, which is worth nothing; in `fit`
        from topics that are found or given as much as makes the first step the minibatch's share of the documents.
    total_documents : int or None, default=None
        Documents of the whole stream, for `partial_fit`. None: those seen so far.
    grow_vocabulary : bool, default=False
        Whether words that a later minibatch of `partial_fit` is the first to name join the model, at the end of
        `vocabulary_`, with eta in every topic. Words are then found by their names: they may come in any order, and not
        all of them; `transform` and `score` leave out those that the model does not know.
    random_state : int, RandomState or None, default=None
        The same seed gives the same result for any `n_jobs`.
    n_jobs : int or None, default=None
        Threads, which work on documents of a minibatch; None means 1, -1 all cores.
    verbose : bool, default=False
        Show a progress bar on standard error.

    Attributes
    ----------
    n_topics_ : int
        Number of topics with at least half an expected token.
    topic_word_ : ndarray of shape (n_topics_, W)
        Expected word distribution of each topic, the largest topic first.
    topic_weights_ : ndarray of shape (n_topics_,)
        Expected corpus weights M_k / (M + gamma); what they lack to one belongs to topics that are not shown or not
        seen yet.
    components_ : ndarray of shape (n_topics_, W)
        Expected tokens of each word in each topic, plus eta.
    tables_ : ndarray of shape (n_topics_,)
        Expected tables of each topic.
    alpha_, gamma_, eta_ : float
        The hyperparameters at the end: learned, or those that were given.
    learning_offset_ : float
        The offset of the steps.
    objective_ : float
        Last entry of the trace's "objective".
    trace_ : dict of ndarray of shape (n_laps_,)
        A row for each lap, or for each call of `partial_fit`: "lap", "objective", "n_topics", "seconds", "moved" (0),
        "step_size" (of the last step), "n_steps", "alpha", "gamma", "eta". The objective is predictive, in nats per
        token: the documents of a minibatch before their step, each word given those before it in its document. (In
        later laps of a fit the model has seen these documents.)
    n_laps_ : int
        Rows of the trace.
    n_steps_ : int
        Steps taken.
    n_documents_seen_ : int
        Documents of the fit, or of the stream so far.
    start_seconds_ : float
        Seconds that the start took.
    converged_ : bool
        False: there is no test of convergence.
    stop_reason_ : str
    vocabulary_ : tuple of str
        The words, those that joined last at the end.

    References
    ----------
    S. Burkhardt, S. Kramer. Online Sparse Collapsed Hybrid Variational-Gibbs Algorithm for Hierarchical Dirichlet
    Process Topic Models. ECML PKDD 2017.

    Examples
    --------
    >>> from stickbreak import HybridHDP
    >>> from stickbreak.corpus import toy_bars
    >>> corpus, truth = toy_bars(n_documents=50, seed=0)
    >>> model = HybridHDP(n_topics=20, n_laps=3, batch_size=10, random_state=0).fit(corpus)
    >>> model.transform(corpus).shape[0]
    50
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_topics": [None, whole(1)],
        "top_level": [StrOptions({TRUNCATED, UNBOUNDED})],
        "alpha": CONCENTRATION,
        "gamma": CONCENTRATION,
        "eta": CONCENTRATION,
        "learn": [list, tuple],
        "sampler": [StrOptions(set(SAMPLERS))],
        "g_weight": [StrOptions(set(G_WEIGHTS))],
        "phi_weight": [StrOptions(set(WEIGHTS))],
        "init": [str, "array-like"],
        "init_sweeps": [whole(1)],
        "n_laps": [whole(1)],
        "batch_size": [whole(1)],
        "burn_in_sweeps": [sweeps(0)],
        "saved_sweeps": [sweeps(1)],
        "learning_decay": [Interval(Real, 0, 1, closed="right")],
        "learning_offset": [None, OFFSET],
        "total_documents": [None, whole(1)],
        "grow_vocabulary": ["boolean"],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
        "verbose": ["boolean"],
    }

    def __init__(
        self,
        *,
        n_topics: int | None = None,
        top_level: str = TRUNCATED,
        alpha: float = 5.0,
        gamma: float = 1.0,
        eta: float = 0.02,
        learn: Sequence[str] = (),
        sampler: str = "sparse",
        g_weight: str = "mean_field",
        phi_weight: str = "ratio",
        init: str | NDArray = "collapsed",
        init_sweeps: int = 50,
        n_laps: int = 5,
        batch_size: int = 100,
        burn_in_sweeps: int = 5,
        saved_sweeps: int = 5,
        learning_decay: float = 0.6,
        learning_offset: float | None = None,
        total_documents: int | None = None,
        grow_vocabulary: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_topics = n_topics
        self.top_level = top_level
        self.alpha = alpha
        self.gamma = gamma
        self.eta = eta
        self.learn = learn
        self.sampler = sampler
        self.g_weight = g_weight
        self.phi_weight = phi_weight
        self.init = init
        self.init_sweeps = init_sweeps
        self.n_laps = n_laps
        self.batch_size = batch_size
        self.burn_in_sweeps = burn_in_sweeps
        self.saved_sweeps = saved_sweeps
        self.learning_decay = learning_decay
        self.learning_offset = learning_offset
        self.total_documents = total_documents
        self.grow_vocabulary = grow_vocabulary
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_parameters(self)

    @property
    def _finds_topics(self) -> bool:
        return isinstance(self.init, str) and self.init != RANDOM

    def _checked_topics(self, corpus: Corpus, batch_size: int, *, stream: bool = False) -> int:
        """Return the number of topics to start with; refuse what does not fit the documents or the memory."""
        check_tokens(corpus)
        n_topics = self.starting_topics(corpus) if isinstance(self.init, str) else len(self.init)
        check_sizes(self, corpus, n_topics, batch_size)
        return self._settled_topics(corpus, stream=stream)

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
        """Learn topics from counts, in laps over shuffled minibatches.

        Parameters
        ----------
        X : Corpus, sparse matrix or array of shape (D, W)
            Whole numbers of words in documents.
        y : ignored
        callback : callable, optional
            Called with a dict after each sweep of a start that finds topics ({"stage": "init", "done", "total"}) and
            after each lap (the row of `trace_`, "n_laps" and "noun": "lap").
        checkpoint : path-like, optional
            A folder that is replaced after every lap by all that the next laps depend on.
        resume : bool, default=False
            Continue from `checkpoint` if it exists: the result equals that of an uncut fit. `n_laps` may be larger.

        Returns
        -------
        self

        Raises
        ------
        InvalidCorpus
            If the counts are negative or no whole numbers, or hold no token at all.
        InputError
            If a parameter does not fit the documents, or the checkpoint is of another fit.
        """
        corpus = self._corpus(X, reset=True)
        n_topics = self._checked_topics(corpus, int(self.batch_size))
        seed = seed_of_fit(self.random_state, checkpoint, resume=resume)
        with at_work(self, callback) as (report, executor):
            priors, offset = self._given_priors(), offset_after(self, min(1.0, self.batch_size / corpus.n_documents))
            steps = Steps(self._rules(priors, offset, seed), executor, Room())
            course = HybridCourse(steps, corpus, int(self.batch_size))
            run = run_fit(
                course,
                lambda stop: course.begin(begin(self, corpus, n_topics, seed, 1.0, report, stop)),
                n_laps=self.n_laps,
                report=report,
                identity=identity_of(self, corpus, seed, free=_FREE, n_topics=n_topics),
                checkpoint=checkpoint,
                resume=resume,
            )
        self.vocabulary_, self.start_seconds_ = corpus.words, run.start_seconds
        self._take(course.state, course.priors, run.trace, seed)
        self.learning_offset_ = offset
        self.n_documents_seen_ = corpus.n_documents
        self.converged_, self.stop_reason_ = run.outcome
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Take one step on a minibatch of a stream.

        The first call makes the start from its documents, as `fit` does, scaled up to `total_documents`. After a `fit`
        the call goes on from the fitted topics, as step n_steps_ + 1. The memory grows with the stream by a row of
        `trace_` a call, and by the new words if they may join. A model that was saved and loaded goes on to the same
        bits. The first call (or the fit) also fixes the offset, and those of `alpha`, `gamma` and `eta` that are not
        learned.

        Parameters
        ----------
        X : Corpus, sparse matrix or array of shape (D, W)
            Counts in the words of the first call, or with `grow_vocabulary` a Corpus or data frame that names its
            words. Documents without words count as seen; if there is no other, no step is taken.
        y : ignored

        Returns
        -------
        self
            After a Ctrl-C, too, the step is taken to its end before it is passed on. A start is given up: the model
            is as it was.

        Raises
        ------
        InvalidCorpus
            If the words are not those of the first call and may not or cannot join, or the first minibatch holds no
            token.
        InputError
            If a parameter does not fit the documents, or more of them were seen than `total_documents`.
        """
        with Interruption() as interruption:
            self._learn(X, interruption)
        if interruption.requested:
            signal.raise_signal(signal.SIGINT)
        return self

    @all_or_nothing
    def _learn(self, X: Any, interruption: Interruption) -> None:
        """Do what `partial_fit` says."""
        first = not hasattr(self, "_state")
        if not first:
            self._check_whole()
        corpus = self._corpus(X, reset=True) if first else self._minibatch(X)
        seen = corpus.n_documents + (0 if first else self.n_documents_seen_)
        total = seen if self.total_documents is None else int(self.total_documents)
        check_total(total, seen)
        n_topics = self._checked_topics(corpus, corpus.n_documents, stream=self.top_level == TRUNCATED) if first else 0
        if not first:
            self._learn_words(corpus)
        if corpus.n_tokens == 0:
            self.n_documents_seen_ = seen
            return
        with ThreadExecutor(self.n_jobs) as executor, one_blas_thread():
            if first:
                self._start(corpus, n_topics, total, interruption)
            self._step(corpus, total, executor)
        self.n_documents_seen_ = seen
        self.converged_, self.stop_reason_ = False, f"partial_fit took step {self.n_steps_}."

    def _start(self, corpus: Corpus, n_topics: int, total: int, interruption: Interruption) -> None:
        """Make the start of a stream from its first minibatch."""
        began = time.perf_counter()
        seed, share = seed_from(self.random_state), total / corpus.n_documents
        self._state = begin(self, corpus, n_topics, seed, share, lambda event: None, interruption.give_up_start)
        self._seed, self._trace = seed, Trace()
        self.alpha_, self.gamma_, self.eta_ = float(self.alpha), float(self.gamma), float(self.eta)
        self.learning_offset_ = offset_after(self, 1.0)
        self.vocabulary_, self.start_seconds_ = corpus.words, time.perf_counter() - began

    def _step(self, corpus: Corpus, total: int, executor: ThreadExecutor) -> None:
        """Take a step of `partial_fit` and add its row to the trace."""
        began, state, trace = time.perf_counter(), self._state, self._trace
        priors = Priors(self.alpha_, self.gamma_, self.eta_, self.g_weight, self.phi_weight)
        room, self._room = self._room or Room(), None  # what a step breaks off in is not used again
        steps = Steps(self._rules(priors, self.learning_offset_, self._seed), executor, room)
        log_p, n_tokens = steps.learn(state, corpus, total)
        trace.append(
            {
                "lap": len(trace) + 1,
                "objective": log_p / n_tokens,
                "n_topics": state.alive().size,
                "seconds": time.perf_counter() - began,
                "moved": 0,
                **row_of(state, steps),
            }
        )
        self._take(state, steps.rules.priors_of(state), trace, self._seed)
        self._room = room if room.small else None

    def _given_priors(self) -> Priors:
        """Return the hyperparameters that were given."""
        return Priors(float(self.alpha), float(self.gamma), float(self.eta), self.g_weight, self.phi_weight)

    def _rules(self, priors: Priors, offset: float, seed: int) -> Rules:
        """Return what the steps have in common."""
        sweeps = Sweeps(int(self.burn_in_sweeps), int(self.saved_sweeps), self.sampler)
        return Rules(priors, sweeps, float(self.learning_decay), offset, seed, tuple(self.learn))
