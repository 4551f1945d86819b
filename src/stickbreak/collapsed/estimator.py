"""`CollapsedHDP`: the face of the collapsed family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from stickbreak.collapsed.cvb0 import SMALLEST_SHARE
from stickbreak.collapsed.fitted import FittedCollapsed
from stickbreak.collapsed.laps import CollapsedLaps, Rules, columns_of
from stickbreak.collapsed.requirements import check_tables
from stickbreak.collapsed.state import MOST_TOPICS, Priors
from stickbreak.collapsed.streaming import StepRules, Topics, begin, learned, offset_for, step
from stickbreak.corpus import Corpus
from stickbreak.fitting.alive import alive
from stickbreak.fitting.constraints import CONCENTRATIONS, STEPS, TOLERANCES, one_of, share, sweeps, whole
from stickbreak.fitting.executor import ThreadExecutor
from stickbreak.fitting.laps import Lap
from stickbreak.fitting.loop import Interruption
from stickbreak.fitting.requirements import check_tokens
from stickbreak.fitting.run import Identity
from stickbreak.fitting.steps import step_size
from stickbreak.model.given_topics import check_given, given_counts, number_given
from stickbreak.model.topic_model import TopicModel
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.streams import seed_from


class CollapsedHDP(FittedCollapsed):
    """Topics that predict best: collapsed variational inference (CVB0) for the HDP topic model.

    The model is that of `VariationalHDP`. Topics and weights of documents are integrated out; each token keeps its
    probabilities of the topics, given all other tokens. Only topics with a fair share of a token are kept; smaller ones
    are rounded at random, without bias, so that memory and time do not grow with `n_topics` times the documents. It
    is what `stickbreak fit` does where no other method is named.

    Parameters
    ----------
    n_topics : int or None, default=None
        Topics to start with. There are never more (the truncation K); those that lose their tokens to others are not
        shown. None: 200, or a quarter of the tokens where the documents hold fewer than that.
    alpha : float, default=5.0
        Concentration of the topic weights of a document. If it is learned, its first value.
    gamma : float, default=1.0
        Concentration of the topic weights of the corpus. If it is learned, its first value.
    eta : float, default=0.05
        Pseudo-count of every word in every topic. If it is learned, its first value.
    learn : sequence of {"alpha", "gamma", "eta"}, default=("alpha",)
        Hyperparameters that are learned from the data. They follow the expected tables and counts from lap 20 on: alpha
        and gamma after each lap, eta after every fifth, under Gamma(1, 1) priors.
    init : {"random"}, array-like of shape (K, W) or fitted model, default="random"
        Where the topics start. "random": every stored count in a topic at random. Or given topics: word distributions,
        expected counts, or a fitted model of any family over the same words. With given topics `n_topics` is ignored.
    merge_laps : int, default=50
        Laps, from the first, in which topics are merged. In these laps some of the tokens are held back. Two topics are
        merged where the held-back tokens are predicted as well, to half a standard error and to 0.1 nats for each of
        the smaller topic's. Two topics with less than 10 of these tokens stay, so that few documents, or small weights,
        merge little. Then all tokens join. 0: no merges.
    held_back : float, default=0.1
        Share of the tokens that is held back to decide about merges. It is above 0; of a weight, only its whole part
        counts as tokens.
    smallest_share : float, default=1/15
        Smaller shares of a topic in a token are rounded at random, to this or to nothing. The probabilities keep the
        expectation. 0 keeps all shares (plain CVB0): 6 bytes for each stored count and topic.
    n_laps : int, default=200
        Most passes over the data.
    tolerance : float or None, default=1e-4
        Stop when a lap raises the objective by less than this, in nats per token. The mean of ten laps is compared with
        that of the next ten; they are counted from lap 20 and from `merge_laps` + 1 on. None: never.
    local_sweeps : int, default=10
        `partial_fit`: sweeps over a minibatch, at most 1e6.
    init_sweeps : int, default=50
        `partial_fit`: sweeps over the first minibatch, from the start; at most 1e6.
    learning_decay : float, default=0.7
        `partial_fit`: step t has the size (t + learning_offset) ** -learning_decay.
    learning_offset : float or None, default=None
        `partial_fit`: a larger offset makes the first steps smaller. None: 1, or after a fit as much as makes the first
        step the minibatch's share of the documents.
    total_documents : int or None, default=None
        `partial_fit`: documents of the whole stream. None: those seen so far.
    random_state : int, RandomState or None, default=None
        The same seed gives the same result for any `n_jobs`.
    n_jobs : int or None, default=None
        Threads; None means 1, -1 all cores.
    verbose : bool, default=False
        Show a progress bar on standard error.

    Attributes
    ----------
    n_topics_ : int
        Number of topics with at least half an expected token.
    topic_word_ : ndarray of shape (n_topics_, W)
        Expected word distribution of each topic, the largest topic first.
    topic_weights_ : ndarray of shape (n_topics_,)
        Expected corpus weights M_k / (M + gamma); what they lack to one belongs to topics not seen yet.
    components_ : ndarray of shape (n_topics_, W)
        Expected tokens of each word in each topic, plus eta.
    tables_ : ndarray of shape (n_topics_,)
        Expected tables of each topic.
    alpha_, gamma_, eta_ : float
        The hyperparameters at the end: learned, or those that were given.
    learned_ : list of str
        Names of the hyperparameters that were learned in the fit.
    objective_ : float
        Last entry of the trace's "objective".
    trace_ : dict of ndarray of shape (n_laps_,)
        A row for each lap: "lap", "objective", "n_topics", "seconds", "moved" (1 up to lap
        `merge_laps` + 1, and up to lap 20: too early to stop), "alpha", "gamma", "eta", and the pairs that were tried
        and merged, "merge_tried", "merge_accepted". The objective is predictive, in nats per token: each token given
        all others, whose shares have seen it.
        Of `partial_fit`: the documents of a minibatch before its step, each word given those before it.
    n_laps_ : int
        Laps done, and calls of `partial_fit`.
    n_steps_ : int
        Steps taken by `partial_fit`.
    n_documents_seen_ : int
        Documents of the fit, or of the stream so far.
    learning_offset_ : float or None
        The offset of the steps; None before the first.
    start_seconds_ : float
        Seconds that the start took.
    converged_ : bool
        Whether the fit stopped by `tolerance`; False after `partial_fit`.
    stop_reason_ : str
    vocabulary_ : tuple of str

    References
    ----------
    Y. W. Teh, K. Kurihara, M. Welling. Collapsed Variational Inference for HDP. NIPS 2008.

    J. Foulds, L. Boyles, C. DuBois, P. Smyth, M. Welling. Stochastic Collapsed Variational Bayesian Inference for
    Latent Dirichlet Allocation. KDD 2013.

    A. Asuncion, M. Welling, P. Smyth, Y. W. Teh. On Smoothing and Inference for Topic Models. UAI 2009.

    Examples
    --------
    >>> from stickbreak import CollapsedHDP
    >>> from stickbreak.corpus import toy_bars
    >>> corpus, truth = toy_bars(n_documents=50, seed=0)
    >>> model = CollapsedHDP(n_topics=20, n_laps=10, random_state=0).fit(corpus)
    >>> model.transform(corpus).shape[0]
    50
    """

    _stream_only = ("local_sweeps", "init_sweeps", "learning_decay", "learning_offset", "total_documents")
    _free = _stream_only

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **FittedCollapsed._parameter_constraints,
        **CONCENTRATIONS,
        **STEPS,
        "n_topics": [None, whole(1, MOST_TOPICS)],
        "learn": [list, tuple],
        "init": [one_of(("random",)), "array-like", TopicModel],
        "merge_laps": [whole(0)],
        "held_back": [share(0.5, zero=False)],
        "smallest_share": [share(0.5)],
        "tolerance": [None, *TOLERANCES],
        "local_sweeps": [sweeps(1)],
        "init_sweeps": [sweeps(1)],
    }

    def __init__(
        self,
        *,
        n_topics: int | None = None,
        alpha: float = 5.0,
        gamma: float = 1.0,
        eta: float = 0.05,
        learn: Sequence[str] = ("alpha",),
        init: Any = "random",
        merge_laps: int = 50,
        held_back: float = 0.1,
        smallest_share: float = SMALLEST_SHARE,
        n_laps: int = 200,
        tolerance: float | None = 1e-4,
        local_sweeps: int = 10,
        init_sweeps: int = 50,
        learning_decay: float = 0.7,
        learning_offset: float | None = None,
        total_documents: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_topics = n_topics
        self.alpha = alpha
        self.gamma = gamma
        self.eta = eta
        self.learn = learn
        self.init = init
        self.merge_laps = merge_laps
        self.held_back = held_back
        self.smallest_share = smallest_share
        self.n_laps = n_laps
        self.tolerance = tolerance
        self.local_sweeps = local_sweeps
        self.init_sweeps = init_sweeps
        self.learning_decay = learning_decay
        self.learning_offset = learning_offset
        self.total_documents = total_documents
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.init, str):
            check_given(self.init, "'random'")

    def _check_documents(self, documents: Corpus) -> None:
        super()._check_documents(documents)
        laps = min(self.n_laps, self.merge_laps)
        check_tables(documents, self._settled_topics(documents), float(self.smallest_share), laps)

    def _laps(self, documents: Corpus, seed: int, executor: ThreadExecutor) -> CollapsedLaps:
        moves = int(self.merge_laps), float(self.held_back)
        smallest, given = float(self.smallest_share), self._given(documents)
        n_topics = self.starting_topics(documents)
        rules = Rules(n_topics, self._priors(), smallest, tuple(self.learn), seed, *moves, given)
        return CollapsedLaps(documents, rules, executor)

    def _take(self, laps: CollapsedLaps, documents: Corpus) -> None:
        self._take_topics(laps.finish(), laps.priors, laps.rules.seed)
        if self.n_laps_ < self.merge_laps:
            self.stop_reason_ += f" Topics are merged until pass {self.merge_laps}: more passes may leave fewer."
        self.n_documents_seen_, self.learning_offset_ = documents.n_documents, None

    def _check_minibatch(self, minibatch: Corpus, *, first: bool) -> None:
        if first:
            check_tokens(minibatch)
            check_tables(minibatch, self._settled_topics(minibatch, stream=True), float(self.smallest_share), 0)

    def _open_stream(
        self, minibatch: Corpus, total: int, executor: ThreadExecutor, interruption: Interruption
    ) -> tuple[Topics, float]:
        self._seed = seed_from(self.random_state)
        self.learning_offset_ = offset_for(self.learning_offset, float(self.learning_decay), 1.0)
        sweeps = self.starting_topics(minibatch), int(self.init_sweeps)
        share, given, stop = total / minibatch.n_documents, self._given(minibatch), interruption.give_up_start
        return begin(minibatch, *sweeps, self._priors(), self._step_rules(), share, executor, given, stop)

    def _step(self, minibatch: Corpus, total: int, executor: ThreadExecutor, start: tuple[Topics, float] | None) -> Lap:
        rules = self._step_rules()
        if start is not None:  # the sweeps of the start are the first step
            priors, (topics, log_p) = self._priors(), start
        else:
            priors, topics = Priors(self.alpha_, self.gamma_, self.eta_), self._topics
            if self.learning_offset_ is None:
                of_all = minibatch.n_documents / (self.n_documents_seen_ + minibatch.n_documents)
                self.learning_offset_ = offset_for(self.learning_offset, float(self.learning_decay), of_all)
            size = step_size(topics.n_steps + 1, float(self.learning_decay), self.learning_offset_)
            share = total / minibatch.n_documents
            topics, log_p = step(topics, minibatch, priors, rules, share, size, executor)
        priors = learned(topics, priors, rules.learn)
        self._take_topics(topics, priors, self._seed)
        return Lap(log_p / float(minibatch.n_tokens), alive(topics.N).size, False, columns_of(priors))

    def _identity(self, documents: Corpus, seed: int) -> Identity:
        found = super()._identity(documents, seed)
        if isinstance(self.init, str):  # the start of the fits of before there was a choice
            del found["init"]
        return found

    @property
    def _finds_topics(self) -> bool:
        return isinstance(self.init, str)

    def starting_topics(self, X: Any) -> int:
        """Return the number of topics that a fit to some documents starts with.

        Parameters
        ----------
        X : Corpus, sparse matrix or array of shape (D, W)

        Returns
        -------
        int
            Those that are given as `init`, or `n_topics`. Where that is None: the default, or for a small collection a
            quarter of its tokens.
        """
        return super().starting_topics(X) if isinstance(self.init, str) else number_given(self.init)

    def _given(self, corpus: Corpus) -> Float | None:
        """Return the expected counts of given topics, (K, W)."""
        return None if isinstance(self.init, str) else given_counts(self.init, corpus)

    def _priors(self) -> Priors:
        """Return the hyperparameters that were given."""
        return Priors(float(self.alpha), float(self.gamma), float(self.eta))

    def _step_rules(self) -> StepRules:
        """Return what the steps of a stream have in common."""
        return StepRules(float(self.smallest_share), int(self.local_sweeps), tuple(self.learn), self._seed)
