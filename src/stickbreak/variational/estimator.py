"""`VariationalHDP`: the face of the variational family for words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from stickbreak.corpus import Corpus
from stickbreak.fitting.batch_store import scratch_folder
from stickbreak.fitting.checkpoint import check_learned as check_learned_values
from stickbreak.fitting.checkpoint import check_moves, whole_number
from stickbreak.fitting.checks import adapted_topics, check_names, check_tokens
from stickbreak.fitting.constraints import CONCENTRATION, POSITIVES, TOPIC_PRIORS, one_of, whole
from stickbreak.fitting.engine import Engine, count_jobs, threads_and_workers, workers_now
from stickbreak.fitting.hyperparameters import LEARNABLE
from stickbreak.fitting.loop import Callback, Interruption, Stop
from stickbreak.initialization import STARTS, StartSettings, check_init, make_start, start_from_topics
from stickbreak.likelihoods import DirichletMultinomial
from stickbreak.model.initial_topics import n_initial_topics
from stickbreak.model.seeds import Seeds, base_of, plain_seeds
from stickbreak.model.topic_estimator import TopicEstimator, on_workers
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.pseudo_counts import Eta, prior_mean
from stickbreak.numerics.ranges import SMALLEST, are_sticks, are_sums
from stickbreak.path.joining_topics import pooled
from stickbreak.prediction.document_weights import weights_and_rest
from stickbreak.prediction.topics import shares_of
from stickbreak.storage.places import PathLike
from stickbreak.variational.checks import MemoryPlan, check_learned, check_sizes, check_stick_rule
from stickbreak.variational.global_step import STICK_RULES, sticks_of
from stickbreak.variational.hdp import HDP
from stickbreak.variational.local_step import LocalSettings, ascend_documents
from stickbreak.variational.memoized import MemoizedLaps, VariationalLaps
from stickbreak.variational.model import Model, Schedule
from stickbreak.variational.moves import MOVES, MoveSettings, make_moves
from stickbreak.variational.objective import BOUNDS, SURROGATE
from stickbreak.variational.state import GlobalParameters, expected_beta
from stickbreak.variational.stochastic import StepRule, StochasticLaps, StreamingVariational
from stickbreak.variational.words import Batch, batch_loaders, starting_parameters, word_proposals

DOCUMENTS_PER_BATCH = 10_000
TRANSFORM_BLOCK = 4096  # documents whose local steps are held at once


class VariationalHDP(TopicEstimator, StreamingVariational):
    """Topics of a collection and their number, by memoized or stochastic variational inference for the HDP.

    Model (docs/math, the model): u_k ~ Beta(1, gamma), beta_k = u_k prod_{l<k} (1 - u_l); pi_d ~ Dir(alpha beta);
    z_dn ~ Cat(pi_d); words w_dn ~ Cat(phi_{z_dn}); phi_k ~ Dir(eta, ..., eta). Exact coordinate steps, batch by batch,
    and moves that change the set of topics raise the surrogate objective of Hughes, Kim and Sudderth (2015); it never
    falls after the first pass. For streams there is a stochastic schedule (Hoffman, Blei, Wang and Paisley 2013), in
    `fit` and, one minibatch at a time, in `partial_fit`.

    Parameters
    ----------
    n_topics : int or None, default=None
        Number of topics to start with. Moves remove those that the data do not need, and births add what is missing, so
        that a fit may end with more. (Paper: 50 to 200.) None: 100, or a quarter of the tokens if the documents hold
        fewer than 100.
    alpha : float, default=0.5
        Concentration of the topic weights of a document. (Paper: 0.5. The surrogate bound is loose for alpha much above
        1.)
    gamma : float, default=10.0
        Concentration of the topic weights of the corpus. (Paper: 10.)
    eta : float or array-like of shape (W,) or (K, W), default=0.1
        Pseudo-count of every word in every topic. (Paper: tau-bar = 0.1.) An array, which is not learned, has one for
        each word, or a row for each of the first K topics: these keep their numbers as those of seeds do, and other
        topics have its smallest number for every word.
    learn : sequence of {"alpha", "gamma", "eta"} or None, default=None
        Hyperparameters that are learned from the data. After each pass they are set to the maximum of the objective,
        beginning with the given values. None: eta in the memoized schedule; the stochastic schedule and `partial_fit`
        cannot learn any. Learned values stay within [0.001, 1000] for alpha, [0.01, 1000] for gamma and [0.0001, 100]
        for eta; a given value outside widens these limits. Under the surrogate bound the learned alpha is too small, by
        more the larger it is. eta is learned in passes that leave the set of topics as it is.
    seeds : dict of str to list of str, optional
        Words of topics that you expect, by the names of these topics. They come first, in this order, and keep their
        numbers and names. The fit starts with them and with `n_topics` others, by Gibbs sampling.
    seed_tokens : float, default=100.0
        How strong seeds are: the pseudo-tokens that each adds to its topic, shared by its words (docs/math (L17)).
    bound : {"surrogate", "quadratic", "point"}, default="surrogate"
        Which lower bound of the expected log normaliser of the weights the objective has. "surrogate", the paper's, is
        tight for alpha well below 1; "quadratic" is never below it, and nearly tight unless one topic dominates.
        "point" keeps only the best value of the corpus weights, as earlier work did. Its objective rewards empty topics
        if gamma is above 1, and cannot be compared with those of the other two (docs/math (V23)).
    init : {"lda", "near-uniform", "documents", "anchors"} or given topics, default="lda"
        Where the topics start. "lda": a short run of LDA by Gibbs sampling; "near-uniform": nearly uniform topics;
        "documents": K random documents (the paper's start); "anchors": K anchor words (Arora et al. 2013). You can also
        give topics: word distributions, expected counts, or a fitted model of any family over the same words.
        `n_topics` is then ignored.
    init_sweeps : int, default=50
        Number of sweeps of the start "lda".
    moves : sequence of {"merge", "delete", "birth", "refine", "reorder"}
        Moves that are tried after each pass, each kept only if the whole objective rises. They are always tried in the
        order above. Default: ("merge", "delete", "birth", "refine", "reorder"). "merge" makes one topic of two;
        "delete" removes a topic and infers its documents again; "birth" tries a whole new set of topics: once a
        start "lda", unless the fit began with one of that size or with given topics, and, where passes gain next to
        nothing, two halves of every topic; "refine" finds the present topics again by Gibbs sampling, once passes
        gain little; "reorder" sorts them by size. Without "birth" there are never more topics than `n_topics`. An empty
        sequence keeps the number of topics. The stochastic schedule tries only "reorder", and `partial_fit` tries no
        moves.
    delete_documents : int or None, default=500
        Deletes are tried for the smallest topics whose documents together are at most this many. None: for every topic,
        with all its documents (thorough, but slow and large in memory). (Paper: 500.)
    n_laps : int, default=50
        Maximum number of passes over the data. A pass ("lap" in names) visits every document once.
    tolerance : float, default=1e-5
        Stop when a pass raises the objective by less than this, in nats per token. The first pass never ends a fit.
        Neither does a pass in which a move other than reorder was accepted: a fit ends where neither passes nor births
        nor merges pay. Untried merges and deletes do not keep it going: a pass tries at most 50 merges, and deletes
        until a few were rejected. In the stochastic schedule only `n_laps` ends a fit.
    n_batches : int or None, default=None
        Number of batches in a pass. None: one for every 10,000 documents. (Paper: 20 and more.)
    batches_at_once : int, default=1
        Number of batches that are visited at the same topics, before these follow. More than one can be visited by
        several threads or workers at a time, and take a little longer to converge. In the stochastic schedule a step is
        towards what all of them ask for.
    scratch : path-like or None, default=None
        A folder for what is kept of each batch from pass to pass, so that memory follows a batch. The numbers are the
        same. None: memory, or the scratch folder of the cluster that is in use.
    local_tolerance : float, default=1e-4
        A local step stops when no expected count changes by more. A local step is that of one document, and the counts
        are its N_dk. (Paper: 1e-4.)
    local_sweeps : int, default=100
        Maximum number of sweeps in a local step. (Paper: 100.)
    schedule : {"memoized", "stochastic"}, default="memoized"
        How `fit` goes through the batches. "memoized" stores statistics of every batch; its objective is exact and
        never falls. "stochastic" stores none: after each batch it takes a step towards the topics that fit this batch,
        scaled up. Each pass draws a new order of the batches.
    learning_decay : float, default=0.5
        Step t of a stochastic fit has the size (t + learning_offset) ** -learning_decay. It is in [0, 1]. Steps
        converge above 0.5. (Paper: kappa = 0.5.)
    learning_offset : float, default=1.0
        A larger offset makes the first steps smaller. (Paper: delay 1.) With 1 the first batches overwrite the start;
        after a good start, such as "lda", 100 is better.
    stick_rule : {"interpolate", "natural"}, default="interpolate"
        How stochastic steps move the corpus weights. "interpolate": towards the optimum for the batch, scaled up;
        "natural": along the natural gradient, which is unbiased, and which bound="point" does not have.
    total_documents : int or None, default=None
        Number of documents in the whole stream, for `partial_fit`. None: those seen so far, with those of the call.
    restarts : int, default=5
        Number of topics, the smallest first, that each document is tried without after its local step. (Paper: 5.)
    document_weights : {"mean_field", "collapsed"}, default="mean_field"
        How a fitted model infers the weights of a document. "mean_field": by the local step of the fit (sparse
        weights); "collapsed": with means in place of exp(E log .), as in collapsed inference (smoother weights that
        predict better). `transform` and `score` use it.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers. The same seed gives the same result for any `n_jobs`.
    n_jobs : int or None, default=None
        Number of threads. None means 1, and -1 means all cores.
    verbose : bool, default=False
        Show a progress bar on standard error.

    Attributes
    ----------
    n_topics_ : int
        Number of topics K that were kept.
    topic_word_ : ndarray of shape (K, W)
        Expected word distribution of each topic.
    topic_shares_ : ndarray of shape (K,)
        Share of the tokens of the fit that each topic has. They sum to one.
    topic_weights_ : ndarray of shape (K,)
        Expected corpus weights E[beta_k]. They sum to less than one; the rest belongs to unseen topics.
    components_ : ndarray of shape (K, W)
        Dirichlet parameters tau of the topics.
    trace_ : dict of ndarray of shape (n_laps_,)
        "lap" (the number of the pass), "objective" (nats per token), "n_topics", "seconds", "moved" (1 if a move other
        than reorder was accepted: the fit does not stop there), "sweeps" (mean local
        sweeps of a document), how often each move was tried and accepted, and the learned hyperparameters.
    moves_ : list of dict
        The accepted moves of the memoized schedule, in their order: "pass", "move", "gain" (rise of the objective in
        nats), "n_topics" (after the move) and "topics", the eight most frequent words of each topic that was merged,
        deleted or born. No moves after a stream.
    objective_ : float
        The objective in nats per token, with all its constants.
    alpha_, gamma_, eta_ : float
        The hyperparameters at the end, learned or given.
    learned_ : list of str
        Names of the hyperparameters that were learned in the fit.
    start_seconds_ : float
        Seconds that the start took, before the first pass.
    n_laps_ : int
        Number of passes or calls of `partial_fit`: the entries of the trace.
    n_steps_ : int
        Number of batches visited so far, or of stochastic steps; the next call of `partial_fit` is step n_steps_ + 1.
    n_documents_seen_ : int
        Number of documents of the fit, and of each call of `partial_fit`.
    converged_ : bool
    stop_reason_ : str
    rho_, omega_ : ndarray of shape (K,)
        Beta factors of the sticks: u_k ~ Beta(rho_k omega_k, (1 - rho_k) omega_k).
    vocabulary_ : tuple of str
    text_options_, text_column_ : how texts of the fit were counted, and their column; None for counts

    References
    ----------
    M. C. Hughes, D. I. Kim, E. B. Sudderth. Reliable and Scalable Variational Inference for the Hierarchical
    Dirichlet Process. AISTATS 2015.

    M. D. Hoffman, D. M. Blei, C. Wang, J. Paisley. Stochastic Variational Inference. JMLR 14, 2013.

    Examples
    --------
    >>> from stickbreak import VariationalHDP
    >>> from stickbreak.corpus import toy_bars
    >>> corpus, truth = toy_bars(n_documents=100, seed=0)
    >>> model = VariationalHDP(n_topics=15, n_laps=3, random_state=0).fit(corpus)
    >>> model.transform(corpus).shape[0]
    100
    """

    _stream_only = ("total_documents",)
    _free = ("document_weights", *_stream_only)
    _learnable: ClassVar[tuple[str, ...]] = LEARNABLE
    _fitted_arrays: ClassVar[tuple[str, ...]] = ("components_", "rho_", "omega_")
    _fitted_values: ClassVar[tuple[str, ...]] = (
        *TopicEstimator._fitted_values,
        "alpha_",
        "gamma_",
        "eta_",
        "n_steps_",
        "n_documents_seen_",
        "moves_",
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **StreamingVariational._parameter_constraints,
        **TOPIC_PRIORS,
        "n_topics": [None, whole(1)],
        "alpha": CONCENTRATION,
        "learn": [None, list, tuple],
        "bound": [one_of(BOUNDS)],
        "init": [str, "array-like", TopicEstimator],
        "init_sweeps": [whole(1)],
        "delete_documents": [None, whole(1)],
        "stick_rule": [one_of(STICK_RULES)],
        "local_tolerance": [*POSITIVES],
        "local_sweeps": [whole(1)],
        "restarts": [whole(0)],
        "document_weights": [one_of(("mean_field", "collapsed"))],
    }

    alpha_: float
    gamma_: float
    eta_: Eta
    rho_: Float
    omega_: Float
    components_: Float

    def __init__(
        self,
        *,
        n_topics: int | None = None,
        alpha: float = 0.5,
        gamma: float = 10.0,
        eta: float | NDArray = 0.1,
        learn: Sequence[str] | None = None,
        seeds: Seeds | None = None,
        seed_tokens: float = 100.0,
        bound: str = SURROGATE,
        init: str | NDArray = "lda",
        init_sweeps: int = 50,
        moves: Sequence[str] = ("merge", "delete", "birth", "refine", "reorder"),
        delete_documents: int | None = 500,
        schedule: str = "memoized",
        learning_decay: float = 0.5,
        learning_offset: float = 1.0,
        stick_rule: str = "interpolate",
        total_documents: int | None = None,
        n_laps: int = 50,
        tolerance: float = 1e-5,
        n_batches: int | None = None,
        batches_at_once: int = 1,
        scratch: PathLike | None = None,
        local_tolerance: float = 1e-4,
        local_sweeps: int = 100,
        restarts: int = 5,
        document_weights: str = "mean_field",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_topics = n_topics
        self.alpha = alpha
        self.gamma = gamma
        self.eta = eta
        self.learn = learn
        self.seeds = plain_seeds(seeds)
        self.seed_tokens = seed_tokens
        self.bound = bound
        self.schedule = schedule
        self.learning_decay = learning_decay
        self.learning_offset = learning_offset
        self.stick_rule = stick_rule
        self.total_documents = total_documents
        self.init = init
        self.init_sweeps = init_sweeps
        self.moves = moves
        self.delete_documents = delete_documents
        self.n_laps = n_laps
        self.tolerance = tolerance
        self.n_batches = n_batches
        self.batches_at_once = batches_at_once
        self.scratch = scratch
        self.local_tolerance = local_tolerance
        self.local_sweeps = local_sweeps
        self.restarts = restarts
        self.document_weights = document_weights
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_names("moves", self.moves, MOVES)
        check_names("learn", self.learn or (), LEARNABLE)
        check_stick_rule(self.stick_rule, self.bound)
        check_init(self.init, STARTS)
        self._check_start_of_seeds("lda")

    def _check_documents(self, documents: Corpus) -> None:
        self._check(documents)

    def _check_minibatch(self, minibatch: Corpus, *, first: bool) -> None:
        if first:
            self._check(minibatch, streaming=True)

    def _check(self, corpus: Corpus, *, streaming: bool = False) -> None:
        """Refuse what no fit could make sense of."""
        check_tokens(corpus)
        memoized = self.schedule == "memoized" and not streaming
        check_learned(self.learn or (), memoized=memoized)
        beside = max((MOVES[name].beside for name in self.moves), default=0) if memoized else 0
        plan = MemoryPlan(
            n_batches=1 if streaming else self._n_batches(corpus),
            kept=memoized,
            on_disk=self.scratch is not None or workers_now() is not None,
            at_once=self.batches_at_once,
            threads=count_jobs(self.n_jobs),
            beside=beside,
            sampled=beside > 0 or (self._finds_topics and self.init == "lda"),
            stream=streaming,
        )
        n_topics = self.starting_topics(corpus) if self._finds_topics else n_initial_topics(self.init)
        check_sizes(corpus, n_topics + self._n_seeded, plan)
        self._settled_topics(corpus, stream=streaming)
        self._check_words_of_eta(corpus.n_words)

    @property
    def _finds_topics(self) -> bool:
        return isinstance(self.init, str)

    def _n_batches(self, corpus: Corpus) -> int:
        """Return the number of batches of a lap."""
        return min(self.n_batches or -(-corpus.n_documents // DOCUMENTS_PER_BATCH), corpus.n_documents)

    def _settings(self) -> LocalSettings:
        return LocalSettings(float(self.local_tolerance), self.local_sweeps, restarts=self.restarts)

    def _rule(self) -> StepRule:
        return StepRule(float(self.learning_decay), float(self.learning_offset), self.stick_rule)

    def _model(self, *, fitted: bool = False) -> HDP:
        alpha, gamma = (self.alpha_, self.gamma_) if fitted else (self.alpha, self.gamma)
        return HDP.of(self._likelihood, alpha, gamma, self.bound, self._pseudo)

    @property
    def _likelihood(self) -> DirichletMultinomial:
        return DirichletMultinomial(self.eta_, self.n_features_in_)

    def _settle(self, documents: Corpus) -> None:
        """Set the prior of the topics, and the pseudo-counts of those that are known, for a first fit."""
        prior = self._word_prior(documents.words)
        self._pseudo, self.eta_ = prior.pseudo, prior.base

    def _to_learn(self) -> tuple[str, ...]:
        """Return the hyperparameters that the laps of the memoized schedule learn."""
        if self.learn is None:
            return ("eta",) if "eta" in self._likelihood.hyperparameters else ()
        return tuple(self.learn)

    def _laps(self, documents: Corpus, seed: int, engine: Engine) -> VariationalLaps:
        """Put the schedule together with the batches of the corpus."""

        def start(report: Callback, stop: Stop) -> GlobalParameters:
            return self._begin(documents, seed, engine, report, stop)

        self._settle(documents)
        n_documents, n_batches = documents.n_documents, self._n_batches(documents)
        schedule = Schedule(
            self._model(),
            batch_loaders(engine.source(documents), n_documents, self._likelihood, n_batches, seed),
            self._settings(),
            engine,
            self._to_learn(),
            seed,
            at_once=self.batches_at_once,
            folder=scratch_folder(self.scratch, engine.workers),
        )
        shape, n_tokens = (n_documents, documents.n_words), float(documents.n_tokens)
        if self.schedule == "stochastic":
            return StochasticLaps(schedule, shape, n_tokens, self._rule(), start, reorder="reorder" in self.moves)
        n_topics, usual = self.starting_topics(documents), adapted_topics(self.default_topics, documents)
        fresh = self._finds_topics and (self.init != "lda" or n_topics < usual)
        proposals = word_proposals(self._start_settings(max(n_topics, usual), seed) if fresh else None)
        moves = make_moves(self.moves, MoveSettings(delete_documents=self.delete_documents, proposals=proposals))
        return MemoizedLaps(schedule, shape, n_tokens, moves, start)

    def _start_settings(self, n_topics: int, seed: int) -> StartSettings:
        priors = self.alpha, self.gamma, base_of(self.eta)
        return StartSettings(n_topics + self._n_kept, *priors, seed, self.init_sweeps, pseudo=self._pseudo)

    def _begin(self, corpus: Corpus, seed: int, engine: Engine, report: Callback, stop: Stop) -> GlobalParameters:
        """Return the global parameters at the start."""
        settings = replace(
            self._start_settings(self.starting_topics(corpus), seed),
            progress=lambda done, total: report({"stage": "init", "done": done, "total": total}),
            engine=engine,
            stop=stop,
        )
        found = isinstance(self.init, str)
        start = make_start(self.init, corpus, settings) if found else start_from_topics(self.init, corpus)
        return starting_parameters(start, self._likelihood, self.gamma, corpus.n_documents)

    def _open_stream(
        self, minibatch: Corpus, total: int, engine: Engine, interruption: Interruption
    ) -> GlobalParameters:
        self._settle(minibatch)
        return super()._open_stream(minibatch, total, engine, interruption)

    def _observations(self, minibatch: Corpus) -> Batch:
        return Batch.from_corpus(minibatch, self._likelihood)

    def _take(self, laps: VariationalLaps, documents: Corpus) -> None:
        self._take_parameters(laps.parameters, laps.model)
        self.n_steps_, self.n_documents_seen_ = laps.n_steps, documents.n_documents
        self._take_moves(laps.accepted, self.vocabulary_ or [str(w) for w in range(documents.n_words)])

    def _take_parameters(self, parameters: GlobalParameters, model: Model) -> None:
        self.components_ = np.ascontiguousarray(parameters.tau.T)
        self.rho_, self.omega_ = parameters.rho, parameters.omega
        values = model.hyperparameters
        self.alpha_, self.gamma_ = float(values["alpha"]), float(values["gamma"])
        if "eta" in values:  # else it stays what the fit, or the first minibatch, was given
            self.eta_ = float(values["eta"])

    def _parameters(self) -> GlobalParameters:
        """Return the global parameters of the fitted model."""
        tau = np.ascontiguousarray(self.components_.T)
        return GlobalParameters(tau, tau.sum(axis=0), self.rho_, self.omega_)

    @property
    def topic_word_(self) -> Float:
        """Expected word distributions, (K, W)."""
        check_is_fitted(self)
        tau = self.components_.T
        return (tau / tau.sum(axis=0)).T

    @property
    def rest_word_(self) -> Float:
        """Word distribution of the inactive topics: the prior mean, (W,)."""
        check_is_fitted(self)
        return prior_mean(self.eta_, self.n_features_in_)

    @property
    def topic_weights_(self) -> Float:
        """Expected corpus weights E[beta_k], (K,)."""
        check_is_fitted(self)
        return expected_beta(self.rho_)[:-1]

    @property
    def topic_shares_(self) -> Float:
        """Share of the expected tokens that each topic has, (K,)."""
        check_is_fitted(self)
        if self._pseudo is not None:
            return super().topic_shares_
        return shares_of(self._likelihood.counts(self.components_.T, np.zeros(0))[1])

    def _document_prior(self) -> Float:
        """Return alpha E[beta], the inactive rest last, (K + 1,)."""
        return self.alpha_ * expected_beta(self.rho_)

    @on_workers
    def expected_weights(self, X: Any) -> Float:
        """Return the expected topic weights of documents with the inactive rest last.

        Parameters
        ----------
        X : texts, Corpus, sparse matrix or array of shape (D, W)

        Returns
        -------
        ndarray of shape (D, K + 1)
            E[pi_d] = theta_d / (alpha + N_d) with fixed topics. Rows sum to one. The inactive rest takes no tokens.
        """
        check_is_fitted(self)
        corpus, prior = self._corpus(X), self._document_prior()
        tolerance, most = float(self.local_tolerance), self.local_sweeps
        if self.document_weights == "collapsed":  # with means in place of exp(E log .)           docs/math (D1)
            with threads_and_workers(self.n_jobs) as engine:
                return weights_and_rest(corpus, self.topic_word_, prior, engine, tolerance=tolerance, max_sweeps=most)
        parameters, settings = self._parameters(), LocalSettings(tolerance, most)
        weights = np.empty((corpus.n_documents, prior.size))
        with threads_and_workers(self.n_jobs) as engine:
            for begin in range(0, corpus.n_documents, TRANSFORM_BLOCK):
                rows = slice(begin, begin + TRANSFORM_BLOCK)
                batch = self._observations(corpus[rows])
                result = ascend_documents(batch, parameters, self.alpha_, None, settings, engine)
                theta = np.zeros((batch.n_documents, prior.size))
                theta[:, :-1] = result.documents.dense(parameters.n_topics)
                theta += prior
                weights[rows] = theta / theta.sum(axis=1, keepdims=True)
        return weights

    def _join_topics(self, to: Int) -> None:
        """Make topic k a part of topic to[k]: counts and expected weights add up, omega is that of the largest."""
        omega = np.zeros(int(to.max()) + 1)
        np.maximum.at(omega, to[to >= 0], self.omega_[to >= 0])
        self.rho_, self.omega_ = sticks_of(pooled(self.topic_weights_, to), omega)
        counts, eta = self._expected_counts()
        self.components_, self._pseudo = pooled(counts, to) + eta, None  # a joined topic has no prior of its own

    def _check_fitted_state(self) -> None:
        """Refuse a loaded state that no fit can have left."""
        super()._check_fitted_state()
        check_moves(self.moves_)
        K = self.components_.shape[0]
        for name in ("rho_", "omega_"):
            sticks = getattr(self, name)
            if sticks.shape != (K,) or sticks.dtype != np.float64 or not np.isfinite(sticks).all():
                raise ValueError(f"{name} does not hold a finite number for each of {K} topics")
        if not (self.components_ >= SMALLEST).all() or not are_sums(self.components_):
            raise ValueError("components_ holds a number that is too small, or too large")
        if not are_sticks(self.rho_, self.omega_):
            raise ValueError("rho_ or omega_ is out of range")
        check_learned_values(self, LEARNABLE)
        for name in ("n_steps_", "n_documents_seen_"):
            whole_number(name, getattr(self, name))
