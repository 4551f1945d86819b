"""`VariationalHDP`: the face of the variational family."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from stickbreak.corpus import Corpus, make_batches
from stickbreak.exceptions import InputError, InvalidCorpus
from stickbreak.inference.estimator import TopicModel
from stickbreak.inference.executor import ThreadExecutor
from stickbreak.inference.loop import Callback, Interruption, Lap, Trace, drive
from stickbreak.inference.memory import memory_installed
from stickbreak.inference.progress import progress_bar
from stickbreak.inference.streams import seed_from
from stickbreak.initialization import StartSettings, make_start, start_from_topics
from stickbreak.likelihoods import DirichletMultinomial
from stickbreak.variational.bound import BOUNDS, SURROGATE
from stickbreak.variational.checkpoint import check_place, fingerprint, read_checkpoint, seed_of, write_checkpoint
from stickbreak.variational.hyperparameters import LEARNABLE
from stickbreak.variational.local_step import Batch, LocalSettings, local_step
from stickbreak.variational.memoized import LapInfo, first_lap, laps
from stickbreak.variational.model import HDP, Inference, Schedule
from stickbreak.variational.moves import MOVES
from stickbreak.variational.state import Float, GlobalParameters, expected_beta

DOCUMENTS_PER_BATCH = 10_000
STORED_BYTES = 10.0  # of an entry of the stored S
STORED_SHARE = 0.1  # of the pairs (word of a batch, topic) that are stored: 0.03 to 0.1 measured after the first laps
TRANSFORM_BLOCK = 4096  # documents whose local steps are held at once
_NOT_IDENTITY = (
    "n_jobs",
    "verbose",
    "n_laps",
    "tolerance",
    "document_weights",
)  # a resumed fit may change these


class VariationalHDP(TopicModel):
    """Topics of a collection and their number, by memoized variational inference for the HDP.

    Model (SPEC 1.1): u_k ~ Beta(1, gamma), beta_k = u_k prod_{l<k} (1 - u_l); pi_d ~ Dir(alpha beta);
    z_dn ~ Cat(pi_d); words w_dn ~ Cat(phi_{z_dn}); phi_k ~ Dir(eta, ..., eta). The surrogate objective of Hughes, Kim
    and Sudderth (2015) is raised by exact coordinate steps, batch by batch, and by moves that remove topics; it
    never falls after the first lap.

    Parameters
    ----------
    n_topics : int, default=100
        Topics to start with; moves remove those that the data do not need. (Paper: 50 to 200.)
    alpha : float, default=0.5
        Document-level concentration. (Paper: 0.5. The surrogate bound is loose for alpha much above 1.)
    gamma : float, default=10.0
        Corpus-level concentration. (Paper: 10.)
    eta : float, default=0.1
        Pseudo-count of every word in every topic. (Paper: tau-bar = 0.1.)
    learn : sequence of {"alpha", "gamma", "eta"}, default=()
        Hyperparameters that are set after each lap to the maximum of the objective, from the values given. Learned
        values stay within [0.001, 1000] for alpha, [0.01, 1000] for gamma and [0.0001, 100] for eta; a given
        value outside widens these limits. Under the surrogate bound the learned alpha is too small, by more the
        larger it is. eta is learned in laps that leave the set of topics as it is.
    bound : {"surrogate", "quadratic"}, default="surrogate"
        The lower bound of the expected log normaliser of document weights in the objective: that of the paper, tight
        for alpha well below 1; or one that is never below it and nearly tight unless one topic dominates.
    init : {"collapsed", "near-uniform", "documents", "anchors"} or array-like of shape (K, W), default="collapsed"
        Where the topics start: a short collapsed run (CVB0), nearly uniform topics, K random documents (the paper's
        start), K anchor words (Arora et al. 2013), or given topics (then `n_topics` is ignored).
    init_sweeps : int, default=50
        Sweeps of the collapsed start.
    moves : sequence of {"merge", "reorder"}, default=("merge", "reorder")
        Tried after each lap, in this order. An empty sequence keeps the number of topics.
    n_laps : int, default=50
        Most laps through the documents.
    tolerance : float, default=1e-5
        Stop when a lap without an accepted merge raises the objective by less than this, in nats per token.
    n_batches : int or None, default=None
        Batches of a lap; None: one for every 10,000 documents. (Paper: 20 and more.)
    local_tolerance : float, default=1e-4
        The local step of a document stops when no expected count N_dk changes by more. (Paper: 1e-4.)
    local_sweeps : int, default=100
        Most sweeps of a document's local step. (Paper: 100.)
    restarts : int, default=5
        Topics, the smallest first, that each document is tried without after its local step. (Paper: 5.)
    document_weights : {"mean_field", "collapsed"}, default="mean_field"
        How `transform` and `score` infer the weights of a document from the fitted topics: by the local step of
        the fit (sparse weights), or with means in place of exp(E log .), as collapsed inference has them (smoother
        weights that predict better).
    random_state : int, RandomState or None, default=None
        Seeds the start and the batches. The same seed gives the same result for any `n_jobs`.
    n_jobs : int or None, default=None
        Threads; None means 1, -1 all cores.
    verbose : bool, default=False
        Show a progress bar on standard error.

    Attributes
    ----------
    n_topics_ : int
        Number of topics K that were kept.
    topic_word_ : ndarray of shape (K, W)
        Expected word distribution of each topic.
    topic_weights_ : ndarray of shape (K,)
        Expected corpus weights E[beta_k]; what they lack to one belongs to topics not seen yet.
    components_ : ndarray of shape (K, W)
        Dirichlet parameters tau of the topics.
    trace_ : dict of ndarray of shape (n_laps_,)
        "lap", "objective" (nats per token), "n_topics", "seconds", "moved" (whether the set of topics changed),
        "sweeps" (mean local sweeps of a document), for each move how often it was tried and accepted, and the
        hyperparameters that were learned.
    objective_ : float
        The objective in nats per token, with all its constants.
    alpha_, gamma_, eta_ : float
        The hyperparameters at the end: learned, or the parameters of these names.
    start_seconds_ : float
        Seconds that the start took, before the first lap.
    n_laps_ : int
    converged_ : bool
    stop_reason_ : str
    rho_, omega_ : ndarray of shape (K,)
        Beta factors of the sticks: u_k ~ Beta(rho_k omega_k, (1 - rho_k) omega_k).
    vocabulary_ : tuple of str

    References
    ----------
    M. C. Hughes, D. I. Kim, E. B. Sudderth. Reliable and Scalable Variational Inference for the Hierarchical
    Dirichlet Process. AISTATS 2015.

    Examples
    --------
    >>> from stickbreak import VariationalHDP
    >>> from stickbreak.corpus import toy_bars
    >>> corpus, truth = toy_bars(n_documents=100, seed=0)
    >>> model = VariationalHDP(n_topics=15, n_laps=3, random_state=0).fit(corpus)
    >>> model.transform(corpus).shape[0]
    100
    """

    _fitted_arrays: ClassVar[tuple[str, ...]] = ("components_", "rho_", "omega_")
    _fitted_values: ClassVar[tuple[str, ...]] = (
        "objective_",
        "n_laps_",
        "converged_",
        "stop_reason_",
        "start_seconds_",
        "alpha_",
        "gamma_",
        "eta_",
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_topics": [Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, 1e6, closed="right")],  # above, the objective is rounding
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "eta": [Interval(Real, 0, None, closed="neither")],
        "learn": [list, tuple],
        "bound": [StrOptions(set(BOUNDS))],
        "init": [str, "array-like"],
        "init_sweeps": [Interval(Integral, 1, None, closed="left")],
        "moves": [list, tuple],
        "n_laps": [Interval(Integral, 1, None, closed="left")],
        "tolerance": [Interval(Real, 0, None, closed="left")],
        "n_batches": [None, Interval(Integral, 1, None, closed="left")],
        "local_tolerance": [Interval(Real, 0, None, closed="neither")],
        "local_sweeps": [Interval(Integral, 1, None, closed="left")],
        "restarts": [Interval(Integral, 0, None, closed="left")],
        "document_weights": [StrOptions({"mean_field", "collapsed"})],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
        "verbose": ["boolean"],
    }

    def __init__(
        self,
        *,
        n_topics: int = 100,
        alpha: float = 0.5,
        gamma: float = 10.0,
        eta: float = 0.1,
        learn: Sequence[str] = (),
        bound: str = SURROGATE,
        init: str | NDArray = "collapsed",
        init_sweeps: int = 50,
        moves: Sequence[str] = ("merge", "reorder"),
        n_laps: int = 50,
        tolerance: float = 1e-5,
        n_batches: int | None = None,
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
        self.bound = bound
        self.init = init
        self.init_sweeps = init_sweeps
        self.moves = moves
        self.n_laps = n_laps
        self.tolerance = tolerance
        self.n_batches = n_batches
        self.local_tolerance = local_tolerance
        self.local_sweeps = local_sweeps
        self.restarts = restarts
        self.document_weights = document_weights
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
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
            Counts of words in documents; non-negative weights are taken as they are.
        y : ignored
        callback : callable, optional
            Called with a dict after each sweep of the start ({"stage": "init", "done", "total"}) and after each lap
            (the lap's row of `trace_` and "n_laps").
        checkpoint : path-like, optional
            A folder that is replaced after every lap by all that the next laps depend on.
        resume : bool, default=False
            Continue from `checkpoint` if it exists: the result equals that of an uncut fit.

        Returns
        -------
        self

        Raises
        ------
        InvalidCorpus
            If the counts are negative, not finite, or hold no token at all.
        InputError
            If a parameter does not fit the documents, or the checkpoint is of another fit.
        """
        corpus = self._corpus(X, reset=True)
        self._check(corpus)
        if checkpoint is not None and not (resume and os.path.lexists(checkpoint)):
            check_place(checkpoint)
        seed = seed_from(self.random_state)
        if resume and checkpoint is not None and not isinstance(self.random_state, Integral):
            seed = seed_of(checkpoint, otherwise=seed)
        with (
            progress_bar(self.verbose, callback) as report,
            ThreadExecutor(self.n_jobs) as executor,
            threadpool_limits(1, user_api="blas"),  # the threads are ours: BLAS must not add its own to them
        ):
            self._fit(corpus, seed, executor, report, checkpoint, resume)
        return self

    def expected_weights(self, X: Any) -> Float:
        """Return the expected topic weights of documents with the inactive rest last.

        Parameters
        ----------
        X : Corpus, sparse matrix or array of shape (D, W)

        Returns
        -------
        ndarray of shape (D, K + 1)
            E[pi_d] = theta_d / (alpha + N_d) with the topics fixed; rows sum to one.
        """
        check_is_fitted(self)
        corpus = self._corpus(X)
        parameters = self._parameters()
        settings = LocalSettings(self.local_tolerance, self.local_sweeps, self.document_weights == "collapsed")
        weights = np.empty((corpus.n_documents, parameters.n_topics + 1))
        with ThreadExecutor(self.n_jobs) as executor:
            for begin in range(0, corpus.n_documents, TRANSFORM_BLOCK):
                rows = slice(begin, begin + TRANSFORM_BLOCK)
                visit = local_step(Batch.from_corpus(corpus[rows]), parameters, self.alpha_, None, settings, executor)
                theta = np.zeros((visit.documents.n_documents, visit.prior.size))
                theta[:, :-1] = visit.documents.dense(parameters.n_topics)
                theta += visit.prior
                weights[rows] = theta / theta.sum(axis=1, keepdims=True)
        return weights

    def _check(self, corpus: Corpus) -> None:
        """Refuse what no fit could make sense of."""
        if corpus.n_tokens == 0:
            raise InvalidCorpus("all documents are empty, so there is nothing to learn; give documents with words.")
        for parameter, named, known in (("moves", self.moves, MOVES), ("learn", self.learn, LEARNABLE)):
            _check_names(parameter, named, known)
        needed, installed = self._bytes_needed(corpus), memory_installed()
        if needed > installed:
            has = f"it needs about {needed / 2**30:.3g} GiB, more than the {installed / 2**30:.3g} GiB of this machine"
            raise InputError(
                f"n_topics is {self.n_topics}: with {corpus.n_words} words {has}; give fewer topics or fewer words."
            )
        if isinstance(self.init, str) and self.n_topics > corpus.n_tokens:
            advice = " (100 is a good start)" if corpus.n_tokens > 1000 else ""
            raise InputError(
                f"n_topics is {self.n_topics}, but the documents hold only {corpus.n_tokens:.12g} tokens; "
                f"give fewer topics than tokens{advice}."
            )

    def _bytes_needed(self, corpus: Corpus) -> float:
        """Estimate the memory of a fit: S in total, tau and scratch, a visit, and the S of every batch."""
        n_topics = float(self.n_topics if isinstance(self.init, str) else np.shape(self.init)[0])
        n_batches = self._n_batches(corpus)
        of_batch = min(corpus.n_words, corpus.counts.nnz / n_batches)  # words: more than there are where they repeat
        rows = 4.0 * corpus.n_words + 2.0 * of_batch
        return n_topics * (8.0 * rows + STORED_BYTES * STORED_SHARE * n_batches * of_batch)

    def _n_batches(self, corpus: Corpus) -> int:
        """Return the number of batches of a lap."""
        return min(self.n_batches or -(-corpus.n_documents // DOCUMENTS_PER_BATCH), corpus.n_documents)

    def _fit(
        self,
        corpus: Corpus,
        seed: int,
        executor: ThreadExecutor,
        report: Callback,
        checkpoint: str | os.PathLike[str] | None,
        resume: bool,
    ) -> None:
        """Run the laps and copy the result."""
        n_tokens = float(corpus.n_tokens)
        schedule = self._schedule(corpus, seed, executor)
        moves = [MOVES[name]() for name in self.moves]
        kept = {k: v for k, v in self.get_params(deep=False).items() if k not in _NOT_IDENTITY}
        init = self.init if isinstance(self.init, str) else np.asarray(self.init)
        identity = fingerprint(
            corpus, {**kept, "init": init, "moves": list(self.moves), "learn": list(self.learn), "random_state": seed}
        )
        found = read_checkpoint(checkpoint, schedule.model, moves, identity) if checkpoint and resume else None
        trace = found[1] if found else Trace()
        states: list[Inference] = [found[0]] if found else []

        def learned(state: Inference) -> dict[str, float]:
            return {name: state.model.hyperparameters[name] for name in self.learn}

        def run(start: GlobalParameters | None) -> Iterator[Lap]:
            if start is not None:
                state, info = first_lap(schedule, start)
                states.append(state)
                yield _lap(info, n_tokens, self.moves, learned(state))
            for state, info in laps(schedule, states[0], moves, lap=len(trace)):
                yield _lap(info, n_tokens, self.moves, learned(state))

        def after_lap() -> None:
            if checkpoint is not None:
                write_checkpoint(checkpoint, states[0], moves, trace, identity)

        with Interruption() as interruption:
            begin = time.perf_counter()
            start = None if found else self._begin(corpus, seed, report, lambda: interruption.requested)
            self.start_seconds_ = time.perf_counter() - begin
            outcome = drive(
                run(start),
                trace,
                n_laps=self.n_laps,
                tolerance=self.tolerance,
                interruption=interruption,
                callback=report,
                after_lap=after_lap,
            )
        self._take(states[0], corpus, trace, n_tokens)
        self.converged_, self.stop_reason_ = outcome

    def _schedule(self, corpus: Corpus, seed: int, executor: ThreadExecutor) -> Schedule:
        """Cut the corpus into batches and put together what stays the same from lap to lap."""
        rows = make_batches(corpus, self._n_batches(corpus), seed=seed)

        def loader(selection: NDArray[np.int64]) -> Callable[[], Batch]:
            return lambda: Batch.from_corpus(corpus[selection])

        settings = LocalSettings(self.local_tolerance, self.local_sweeps, restarts=self.restarts)
        batches = [loader(selection) for selection in rows]
        return Schedule(self._model(), batches, settings, executor, tuple(self.learn), seed)

    def _begin(self, corpus: Corpus, seed: int, report: Callback, stop: Callable[[], bool]) -> GlobalParameters:
        """Return the global parameters at the start."""
        settings = StartSettings(
            int(self.n_topics),
            self.alpha,
            self.gamma,
            self.eta,
            seed,
            self.init_sweeps,
            lambda done, total: report({"stage": "init", "done": done, "total": total}),
            stop,
        )
        if isinstance(self.init, str):
            start = make_start(self.init, corpus, settings)
        else:
            start = start_from_topics(self.init, corpus)
        return self._model().parameters(start, corpus.n_documents)

    def _model(self) -> HDP:
        """Return the model with its hyperparameters."""
        return HDP(DirichletMultinomial(self.eta, self.n_features_in_), self.alpha, self.gamma, self.bound)

    def _take(self, state: Inference, corpus: Corpus, trace: Trace, n_tokens: float) -> None:
        """Copy the result into the fitted attributes."""
        self.components_ = np.ascontiguousarray(state.parameters.tau.T)
        self.rho_, self.omega_ = state.parameters.rho, state.parameters.omega
        for name, value in state.model.hyperparameters.items():
            setattr(self, f"{name}_", float(value))
        self.vocabulary_ = corpus.words
        self.trace_ = trace.arrays()
        self.objective_ = state.objective / n_tokens
        self.n_laps_ = len(trace)

    @property
    def topic_word_(self) -> Float:
        """Expected word distributions, (K, W)."""
        check_is_fitted(self)
        return DirichletMultinomial(self.eta_, self.n_features_in_).mean(self.components_.T).T

    @property
    def topic_weights_(self) -> Float:
        """Expected corpus weights E[beta_k], (K,)."""
        check_is_fitted(self)
        return expected_beta(self.rho_)[:-1]

    def _parameters(self) -> GlobalParameters:
        """Return the global parameters of the fitted model."""
        tau = np.ascontiguousarray(self.components_.T)
        return GlobalParameters(tau, tau.sum(axis=0), self.rho_, self.omega_)

    def _check_fitted_state(self) -> None:
        """Refuse a loaded state that no fit can have left."""
        super()._check_fitted_state()
        K = self.components_.shape[0]
        for name in ("rho_", "omega_"):
            sticks = getattr(self, name)
            if sticks.shape != (K,) or sticks.dtype != np.float64 or not np.isfinite(sticks).all():
                raise ValueError(f"{name} does not hold a finite number for each of {K} topics")
        if not (self.components_ > 0).all():
            raise ValueError("components_ holds a number that is not positive")
        if not ((self.rho_ > 0) & (self.rho_ < 1) & (self.omega_ > 0)).all():
            raise ValueError("rho_ or omega_ is out of range")
        for name in ("alpha_", "gamma_", "eta_"):
            value = getattr(self, name)
            if not isinstance(value, float) or not 0 < value < np.inf:
                raise ValueError(f"{name} is {value!r}, not a positive number")


def _check_names(parameter: str, named: Sequence[str], known: Collection[str]) -> None:
    """Refuse names that a parameter does not know, or that it is given twice."""
    for name in named:
        if name not in known:
            raise InputError(f"{parameter} names {name!r}; give names out of {', '.join(map(repr, known))}.")
        if list(named).count(name) > 1:
            raise InputError(f"{parameter} names {name!r} more than once; give each name once.")


def _lap(info: LapInfo, n_tokens: float, moves: Sequence[str], learned: dict[str, float]) -> Lap:
    """Translate what the schedule did into a row of the trace."""
    columns: dict[str, float] = {"sweeps": info.sweeps, **learned}
    columns["restarts_tried"], columns["restarts_accepted"] = info.restarts
    for name in moves:
        columns[f"{name}_tried"], columns[f"{name}_accepted"] = info.moves.get(name, (0, 0))
    changed = any(info.moves.get(name, (0, 0))[1] > 0 for name in moves if MOVES[name].changes_topics)
    return Lap(info.objective / n_tokens, info.n_topics, changed, columns)
