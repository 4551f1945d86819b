"""`LDA`: the face of the family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from stickbreak.corpus import Corpus
from stickbreak.fitting.checkpoint import is_table, require, whole_number
from stickbreak.fitting.checks import check_names, check_tokens
from stickbreak.fitting.constraints import (
    CONCENTRATION,
    POSITIVES,
    STEPS,
    TOLERANCES,
    TOPIC_PRIORS,
    sweeps,
    whole,
)
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.loop import Interruption, Lap
from stickbreak.fitting.step_sizes import offset_for, step_size
from stickbreak.initialization import StartSettings, make_start
from stickbreak.model.seeds import Seeds, base_of, plain_seeds
from stickbreak.model.streaming import partial_fit
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.ranges import LARGEST_OFFSET, MOST_TOPICS
from stickbreak.numerics.streams import seed_from
from stickbreak.sparse_gibbs.priors import Priors
from stickbreak.topics.estimator import LEARNABLE, DirichletTopics
from stickbreak_baselines.lda.checks import check_eta, check_sizes
from stickbreak_baselines.lda.laps import LDALaps
from stickbreak_baselines.lda.variational import Local, Online, Variational, even_weights, learned, moved, step, visit
from stickbreak_baselines.word_prior import check_room

START_SWEEPS = 30  # of Gibbs sampling over the first minibatch of a stream


class LDA(DirichletTopics):
    """Latent Dirichlet allocation by variational inference: topics whose number is given.

    The weights of a document have a Dirichlet prior with a parameter for each topic, which is learned, so that some
    topics are more common than others (Wallach, Mimno and McCallum 2009). The topics have a symmetric prior. The
    objective, a lower bound of the log-likelihood, never falls; `partial_fit` and `batch_size` take steps on
    minibatches (Hoffman, Blei and Bach 2010). `TopicModel(n_topics=...)` is LDA by Gibbs sampling.

    Parameters
    ----------
    n_topics : int or None, default=None
        Number of topics, those of seeds among them. None: 100, or a quarter of the tokens if the documents
        hold fewer than 100.
    alpha : float, default=5.0
        Concentration of the topic weights of a document: the sum over all topics, each of which has
        `alpha` / `n_topics` to begin with. If it is learned, this is its initial value.
    eta : float or array-like of shape (W,) or (K, W), default=0.05
        Pseudo-count of every word in every topic. If it is learned, this is its initial value. An array, which is not
        learned, has a pseudo-count for each word, in all topics alike, or a row for each of the first topics, or for
        all: these keep their numbers, and other topics have its smallest number for every word.
    learn : sequence of {"alpha", "eta"}, default=("alpha",)
        Hyperparameters that are learned from the data, from pass 10 on: alpha with a value for each topic, eta as one.
    seeds : dict of str to list of str, optional
        Words of topics that you expect, by the names of these topics. They are the first of the `n_topics`, in this
        order, and each keeps its number and its name, as its label. Words that the documents lack are left out, and a
        warning names them.
    seed_tokens : float, default=100.0
        How strong seeds are: the pseudo-tokens that each adds to its topic, shared by its words (docs/math (L17)).
    n_laps : int, default=300
        Maximum number of passes over the data. A pass ("lap" in names) visits every token once.
    tolerance : float or None, default=1e-4
        Stop when a pass raises the objective by less than this, in nats per token. None: never, and with `batch_size`
        never, either.
    batch_size : int or None, default=None
        Number of documents in a minibatch, after which the topics take a step. None: all documents.
    local_sweeps : int, default=100
        Maximum number of sweeps in the local step of a document.
    local_tolerance : float, default=1e-3
        The local step of a document ends when its topic counts change by less than this in the mean.
    learning_decay : float, default=0.7
        Step t on a minibatch has the size (t + learning_offset) ** -learning_decay.
    learning_offset : float or None, default=None
        A larger offset makes the first steps smaller. None: 1, or for `partial_fit` after a `fit` the value that makes
        the first step equal to the minibatch's share of the documents.
    total_documents : int or None, default=None
        Number of documents in the whole stream, for `partial_fit`. None: those seen so far.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers. The same seed gives the same result for any `n_jobs`.
    n_jobs : int or None, default=None
        Number of threads. None means 1, and -1 means all cores. A pass of Gibbs sampling has one thread.
    verbose : bool, default=False
        Show a progress bar on standard error.

    Attributes
    ----------
    n_topics_ : int
        Number of topics K.
    topic_word_ : ndarray of shape (n_topics_, W)
        Expected word distribution of each topic: those of seeds, or of rows of eta, in their order, then the largest
        first.
    topic_weights_ : ndarray of shape (n_topics_,)
        Expected weights of the topics in a document, a_k / alpha. They sum to one, and are all alike if alpha is not
        learned.
    topic_prior_ : ndarray of shape (n_topics_,)
        a_k, the Dirichlet parameter of each topic in the prior of a document.
    components_ : ndarray of shape (n_topics_, W)
        Expected tokens of each word in each topic, plus eta and the pseudo-tokens of seeds.
    alpha_, eta_ : float
        The hyperparameters at the end, learned or given. `eta_` is an array (W,) where one was given, and the smallest
        number of a table.
    labels_ : dict of int to str
        Labels of topics: those of seeds, and what `label` gave.
    learned_ : list of str
        Names of the hyperparameters that were learned in the fit.
    objective_ : float
        Last entry of "objective" in `trace_`.
    trace_ : dict of ndarray of shape (n_laps_,)
        One entry for each pass: "lap" (its number), "objective", "n_topics", "seconds", "moved" (1 while it is too
        early to stop), "alpha", "eta" (unless it is an array). The objective is the bound, in nats per token. For
        `partial_fit` it is that of the documents of a minibatch.
    n_laps_ : int
        Number of passes done, plus the calls of `partial_fit`.
    n_steps_ : int
        Number of steps taken by `partial_fit`.
    n_documents_seen_ : int
        Number of documents of the fit, or of the stream so far.
    learning_offset_ : float or None
        The offset of the steps; None before the first step.
    start_seconds_ : float
        Seconds that the start took.
    converged_ : bool
        Whether the fit stopped by `tolerance`. False after `partial_fit`.
    stop_reason_ : str
        Why the fit ended.
    vocabulary_ : tuple of str
        The words.
    text_options_, text_column_ : TextOptions or None, str or None
        How the texts of the fit were counted, and their column in its data frame. None where it was given counts.

    References
    ----------
    D. M. Blei, A. Y. Ng, M. I. Jordan. Latent Dirichlet Allocation. JMLR 2003.

    H. M. Wallach, D. Mimno, A. McCallum. Rethinking LDA: Why Priors Matter. NIPS 2009.

    M. D. Hoffman, D. M. Blei, F. Bach. Online Learning for Latent Dirichlet Allocation. NIPS 2010.

    Examples
    --------
    >>> from stickbreak_baselines import LDA
    >>> from stickbreak.corpus import toy_bars
    >>> corpus, truth = toy_bars(n_documents=50, seed=0)
    >>> model = LDA(n_topics=10, n_laps=20, random_state=0).fit(corpus)
    >>> model.transform(corpus).shape
    (50, 10)
    """

    _stream_only = ("total_documents",)
    _free = _stream_only
    _fitted_arrays: ClassVar[tuple[str, ...]] = (*DirichletTopics._fitted_arrays, "_mean_log")
    _fitted_values: ClassVar[tuple[str, ...]] = (*DirichletTopics._fitted_values, "learning_offset_", "n_steps_")

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DirichletTopics._parameter_constraints,
        **STEPS,
        "n_topics": [None, whole(1, MOST_TOPICS)],
        "alpha": CONCENTRATION,
        **TOPIC_PRIORS,
        "learn": [list, tuple],
        "batch_size": [None, whole(1)],
        "local_sweeps": [sweeps(1)],
        "local_tolerance": POSITIVES,
        "tolerance": [None, *TOLERANCES],
    }

    _mean_log: Float  # (K,)  mean E log theta that steps have found; empty before the first
    learning_offset_: float | None
    n_steps_: int

    def __init__(
        self,
        *,
        n_topics: int | None = None,
        alpha: float = 5.0,
        eta: Any = 0.05,
        learn: Sequence[str] = ("alpha",),
        seeds: Seeds | None = None,
        seed_tokens: float = 100.0,
        n_laps: int = 300,
        tolerance: float | None = 1e-4,
        batch_size: int | None = None,
        local_sweeps: int = 100,
        local_tolerance: float = 1e-3,
        learning_decay: float = 0.7,
        learning_offset: float | None = None,
        total_documents: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_topics = n_topics
        self.alpha = alpha
        self.eta = eta
        self.learn = learn
        self.seeds = plain_seeds(seeds)
        self.seed_tokens = seed_tokens
        self.n_laps = n_laps
        self.tolerance = tolerance
        self.batch_size = batch_size
        self.local_sweeps = local_sweeps
        self.local_tolerance = local_tolerance
        self.learning_decay = learning_decay
        self.learning_offset = learning_offset
        self.total_documents = total_documents
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    partial_fit = partial_fit

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_names("learn", self.learn, LEARNABLE)
        check_eta(self.eta)

    def _check_documents(self, documents: Corpus) -> None:
        super()._check_documents(documents)
        self._check_topics(documents, self._settled_topics(documents))

    def _check_topics(self, documents: Corpus, n_topics: int) -> None:
        """Refuse a number of topics that does not suit what is known of them, or the memory."""
        self._check_words_of_eta(documents.n_words)
        check_room(self._n_seeded, n_topics, "seeds" if self.seeds is not None else "rows of eta")
        check_sizes(self.batch_size, documents, n_topics)

    def _laps(self, documents: Corpus, seed: int, engine: Engine) -> LDALaps:
        priors = self._given_priors(documents, self.starting_topics(documents))
        of_fit = priors.a.size, seed, self._local(), self._online(), engine, priors.pseudo
        return LDALaps(Variational(documents, *of_fit), priors, tuple(self.learn), seed)

    def _given_priors(self, documents: Corpus, n_topics: int) -> Priors:
        """Return the priors to begin with."""
        prior = self._word_prior(documents.words)
        return Priors.even(n_topics, float(self.alpha), base_of(self.eta), prior.pseudo)

    def _online(self) -> Online | None:
        """Return the steps of a fit in minibatches."""
        if self.batch_size is None:
            return None
        decay = float(self.learning_decay)
        return Online(int(self.batch_size), decay, self._offset(1.0))

    def _offset(self, share: float) -> float:
        """Return the offset of the steps, where the first minibatch is this share of those so far.    docs/math (B5)"""
        given = self.learning_offset
        return offset_for(share, float(self.learning_decay)) if given is None else float(given)

    def _local(self) -> Local:
        """Return when the local step of a document ends."""
        return Local(int(self.local_sweeps), float(self.local_tolerance))

    def _take(self, laps: LDALaps, documents: Corpus) -> None:
        self._take_topics(laps.inference.counts(), laps.priors)
        self.n_documents_seen_, self.n_steps_, self.learning_offset_ = documents.n_documents, 0, None
        self._take_curve(documents, laps.seed)

    def _check_minibatch(self, minibatch: Corpus, *, first: bool) -> None:
        check_eta(self.eta if first else self.eta_)
        if first:
            check_tokens(minibatch)
            self._check_topics(minibatch, self._settled_topics(minibatch, stream=True))

    def _open_stream(self, minibatch: Corpus, total: int, engine: Engine, interruption: Interruption) -> Lap:
        """Take topics that Gibbs sampling finds in the first minibatch; that is the first step."""
        priors = self._given_priors(minibatch, self._starting_topics(minibatch, stream=True))
        K, share, seed = priors.a.size, total / minibatch.n_documents, seed_from(self.random_state)
        settings = StartSettings(K, priors.alpha, 1.0, priors.eta, seed, START_SWEEPS, pseudo=priors.pseudo)
        found = make_start("lda", minibatch, settings)
        counts = np.maximum(found.counts, 0.0)
        if priors.pseudo is not None:
            counts[:, : priors.n_kept] -= priors.pseudo.toarray()
        self.n_steps_, self.learning_offset_ = 0, self._offset(1.0)
        self._take_topics(counts * share, priors)
        topics, local = self.components_.T, self._local()
        first = visit(minibatch, topics, priors.a, even_weights(minibatch, priors.a), local, engine)
        return Lap(first.bound / float(minibatch.n_tokens), K, False, priors.row())

    def _step(self, minibatch: Corpus, total: int, engine: Engine, start: Lap | None) -> Lap:
        if start is None:
            start = self._moved(minibatch, total, engine)
        self.n_steps_ += 1
        return start

    def _moved(self, minibatch: Corpus, total: int, engine: Engine) -> Lap:
        """Take a variational step.                                                                   docs/math (L7)"""
        priors = Priors(self.topic_prior_, self.alpha_, self.eta_, self._pseudo)
        decay = float(self.learning_decay)
        if self.learning_offset_ is None:
            of_all = minibatch.n_documents / (self.n_documents_seen_ + minibatch.n_documents)
            self.learning_offset_ = self._offset(of_all)
        size = step_size(self.n_steps_ + 1, decay, self.learning_offset_)
        share, topics = total / minibatch.n_documents, self.components_.T
        topics, found = step(minibatch, topics, priors, size, share, self._local(), engine)
        self.components_, self._mean_log = np.ascontiguousarray(topics.T), moved(self._mean_log, found.mean_log, size)
        priors = learned(priors, self.learn, topics, self._mean_log)
        self.topic_prior_, self.alpha_, self.eta_ = priors.a, priors.alpha, priors.eta
        return Lap(found.bound / float(minibatch.n_tokens), priors.a.size, False, priors.row())

    def _join_topics(self, to: Int) -> None:
        """Make topic k a part of topic to[k]."""
        super()._join_topics(to)
        self._mean_log = np.zeros(0)

    def _take_topics(self, S: Float, priors: Priors) -> Int:
        """Copy counts (W, K) and priors into the fitted attributes; return the order of the topics."""
        self._mean_log = np.zeros(0)
        return super()._take_topics(S, priors)

    def _check_fitted_state(self) -> None:
        """Refuse a loaded state that no fit can have left."""
        super()._check_fitted_state()
        offset, mean_log = self.learning_offset_, self._mean_log
        require(offset is None or 0 <= float(offset) <= LARGEST_OFFSET, "the offset of its steps cannot be")
        require(not mean_log.size or is_table(mean_log, self.topic_prior_.size), "its mean weights are of other topics")
        whole_number("n_steps_", self.n_steps_)
