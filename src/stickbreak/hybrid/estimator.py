"""`HybridHDP`: the face of the hybrid of variational inference and Gibbs sampling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import refuse_fractions
from stickbreak.fitting.constraints import CONCENTRATIONS, STEPS, one_of, sweeps, whole
from stickbreak.fitting.executor import ThreadExecutor
from stickbreak.fitting.laps import Lap
from stickbreak.fitting.loop import Interruption
from stickbreak.fitting.requirements import check_tokens
from stickbreak.hybrid.document_sampler import SAMPLERS, Sweeps
from stickbreak.hybrid.fitted import FittedHybrid
from stickbreak.hybrid.laps import HybridLaps, Room, Rules, Steps, row_of
from stickbreak.hybrid.requirements import check_parameters, check_sizes
from stickbreak.hybrid.starts import RANDOM, begin, offset_after
from stickbreak.hybrid.state import TRUNCATED, UNBOUNDED, Priors
from stickbreak.hybrid.word_weights import G_WEIGHTS, WEIGHTS
from stickbreak.model.given_topics import number_given
from stickbreak.model.topic_model import TopicModel
from stickbreak.numerics.streams import seed_from


class HybridHDP(FittedHybrid):
    """Topics of a stream, or of a collection: sampled inside documents, variational above them.

    The model is that of `VariationalHDP`. The corpus keeps Dirichlet distributions of the topics and of their weights;
    inside each document topics and tables are sampled, which is less biased than mean field; after every minibatch the
    corpus moves a step towards it (Burkhardt and Kramer 2017). What a token costs follows the topics of its document,
    not `n_topics`. Counts have to be whole numbers.

    Parameters
    ----------
    n_topics : int or None, default=None
        Topics to start with. If the top level is truncated, there are never more (the truncation K), and those that
        find no tokens are not shown. From topics that are found first nearly all of them are kept, more than there are
        groups of documents. None: 100, or where topics are found first in documents of fewer tokens than that, a
        quarter of their tokens.
    top_level : {"truncated", "unbounded"}, default="truncated"
        Whether new topics can open during the fit. "truncated": no, `n_topics` topics share gamma. "unbounded": gamma
        is for topics that are not there yet; every minibatch may open a new topic, and topics that vanish are dropped.
        From few topics growth takes many steps; larger ones (learning_decay=0.3), gamma=5 or more and g_weight="ratio"
        speed it up.
    alpha : float, default=5.0
        Concentration of the topic weights of a document. (b1 in the paper.)
    gamma : float, default=1.0
        Concentration of the topic weights of the corpus. (b0 in the paper.)
    eta : float, default=0.02
        Pseudo-count of every word in every topic.
    learn : sequence of {"alpha", "gamma", "eta"}, default=()
        Hyperparameters that are learned from the data. They are learned from the samples, after each step (eta after
        some), under Gamma(1, 1) priors; `alpha`, `gamma` and `eta` are then where they start. Over many laps of the
        same documents alpha falls and eta grows, and that predicts worse. A gamma that is learned from one or two
        topics stays too small for more to come.
    sampler : {"sparse", "dense"}, default="sparse"
        How topics outside the document are drawn. "sparse": by tables of the words and rejection; "dense": all one by
        one. Both have the same law.
    g_weight : {"mean_field", "ratio", "printed"}, default="mean_field"
        What the corpus weights are to a document. "mean_field": exp(E log G0); "ratio": E G0; "printed": the paper's
        approximation of the first.
    phi_weight : {"ratio", "mean_field"}, default="ratio"
        How a document weighs the words of a topic. "ratio": by E phi; "mean_field": by exp(E log phi), which gives
        little weight to the rare words of a topic. From a random start it stays with poor topics; over many laps of
        the same documents it holds better.
    init : {"random", "collapsed", "near-uniform", "documents", "anchors"} or given topics, default="collapsed"
        Where the topics start. Topics that are found first ("collapsed", "near-uniform", "documents", "anchors", see
        `VariationalHDP`) or given (word distributions, expected counts, or a fitted model of topics over the same
        words); or tokens in topics at random ("random", the paper's), which costs nothing and takes more laps: for very
        many topics.
    init_sweeps : int, default=50
        Sweeps of the collapsed start.
    n_laps : int, default=5
        Most passes over the data. All are done unless you interrupt them.
    batch_size : int, default=100
        Documents of a minibatch in `fit`.
    burn_in_sweeps : int, default=5
        Sweeps of a document before the first that counts, at most 1e6.
    saved_sweeps : int, default=5
        Sweeps of a document that count, at most 1e6.
    learning_decay : float, default=0.6
        Step t of a stochastic fit has the size (t + learning_offset) ** -learning_decay.
    learning_offset : float or None, default=None
        A larger offset makes the first steps smaller. None: chosen by the start; 1 from a random one, which is worth
        nothing, and in `fit` from topics that are found or given as much as makes the first step the minibatch's share
        of the documents.
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
    learned_ : list of str
        Names of the hyperparameters that were learned in the fit.
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

    _stream_only = ("total_documents", "grow_vocabulary")
    _free = _stream_only

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **FittedHybrid._parameter_constraints,
        **CONCENTRATIONS,
        **STEPS,
        "n_topics": [None, whole(1)],
        "top_level": [one_of((TRUNCATED, UNBOUNDED))],
        "learn": [list, tuple],
        "sampler": [one_of(SAMPLERS)],
        "g_weight": [one_of(G_WEIGHTS)],
        "phi_weight": [one_of(WEIGHTS)],
        "init": [str, "array-like", TopicModel],
        "init_sweeps": [whole(1)],
        "batch_size": [whole(1)],
        "burn_in_sweeps": [sweeps(0)],
        "saved_sweeps": [sweeps(1)],
        "grow_vocabulary": ["boolean"],
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

    def _check_start(self, corpus: Corpus, batch_size: int, *, stream: bool = False) -> None:
        """Refuse what does not fit the documents or the memory."""
        check_tokens(corpus)
        check_sizes(self, corpus, self._starting_columns(corpus), batch_size)
        self._settled_topics(corpus, stream=stream)

    def _starting_columns(self, corpus: Corpus) -> int:
        """Return the number of topics that a start has."""
        return self.starting_topics(corpus) if isinstance(self.init, str) else number_given(self.init)

    def _check_documents(self, documents: Corpus) -> None:
        refuse_fractions(documents)  # before the first minibatch: rows have their numbers here
        self._check_start(documents, int(self.batch_size))

    def _laps(self, documents: Corpus, seed: int, executor: ThreadExecutor) -> HybridLaps:
        offset = offset_after(self, min(1.0, self.batch_size / documents.n_documents))
        steps = Steps(self._rules(self._given_priors(), offset, seed), executor, Room())
        n_topics = self._starting_columns(documents)
        return HybridLaps(
            steps,
            documents,
            int(self.batch_size),
            lambda report, stop: begin(self, documents, n_topics, seed, 1.0, report, stop),
        )

    def _take(self, laps: HybridLaps, documents: Corpus) -> None:
        self._take_state(laps.state, laps.priors, laps.rules.seed)
        self.learning_offset_, self.n_documents_seen_ = laps.rules.offset, documents.n_documents

    def _minibatch(self, X: Any, *, first: bool) -> Corpus:
        return super()._minibatch(X, first=True) if first else self._joining(X)

    def _check_minibatch(self, minibatch: Corpus, *, first: bool) -> None:
        refuse_fractions(minibatch)
        if first:
            self._check_start(minibatch, minibatch.n_documents, stream=self.top_level == TRUNCATED)
        else:
            self._learn_words(minibatch)

    def _open_stream(self, minibatch: Corpus, total: int, executor: ThreadExecutor, interruption: Interruption) -> None:
        seed, share, n_topics = (
            seed_from(self.random_state),
            total / minibatch.n_documents,
            self._starting_columns(minibatch),
        )
        state = begin(self, minibatch, n_topics, seed, share, lambda event: None, interruption.give_up_start)
        self._take_state(state, self._given_priors(), seed)
        self.learning_offset_ = offset_after(self, 1.0)

    def _step(self, minibatch: Corpus, total: int, executor: ThreadExecutor, start: None) -> Lap:
        state, priors = self._state, Priors(self.alpha_, self.gamma_, self.eta_, self.g_weight, self.phi_weight)
        room, self._room = self._room or Room(), None  # what a step breaks off in is not used again
        steps = Steps(self._rules(priors, self.learning_offset_, self._seed), executor, room)
        log_p, n_tokens = steps.learn(state, minibatch, total)
        self._take_state(state, steps.rules.priors_of(state), self._seed)
        self._room = room if room.small else None
        return Lap(log_p / n_tokens, state.alive().size, False, row_of(state, steps))

    def _given_priors(self) -> Priors:
        """Return the hyperparameters that were given."""
        return Priors(float(self.alpha), float(self.gamma), float(self.eta), self.g_weight, self.phi_weight)

    def _rules(self, priors: Priors, offset: float, seed: int) -> Rules:
        """Return what the steps have in common."""
        sweeps = Sweeps(int(self.burn_in_sweeps), int(self.saved_sweeps), self.sampler)
        return Rules(priors, sweeps, float(self.learning_decay), offset, seed, tuple(self.learn))
