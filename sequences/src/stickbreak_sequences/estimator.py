"""`StickyHDPHMM`: states of sequences, and how many there are."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Sequence
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Options
from sklearn.utils.validation import check_is_fitted

from stickbreak.corpus.batches import cuts
from stickbreak.exceptions import InputError
from stickbreak.fitting.batch_store import scratch_folder
from stickbreak.fitting.checkpoint import FREE, check_end, check_learned, check_moves, identity_of, is_table
from stickbreak.fitting.checks import check_names
from stickbreak.fitting.constraints import CONCENTRATION, TOLERANCES, one_of, whole
from stickbreak.fitting.engine import Engine, one_blas_thread, threads_and_workers
from stickbreak.fitting.loop import Callback, Stop
from stickbreak.fitting.run import Identity
from stickbreak.likelihoods import DiagonalGaussian, DirichletMultinomial, Gaussian, Likelihood, ZeroMeanGaussian
from stickbreak.likelihoods.base import VectorLikelihood
from stickbreak.model.estimator import Estimator, all_or_nothing
from stickbreak.model.saved_values import described_likelihoods, likelihood_from, name_of_likelihood
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.ranges import LARGEST_STATISTIC, are_sticks, are_sums
from stickbreak.numerics.streams import stream
from stickbreak.storage.checksums import checksum
from stickbreak.storage.places import PathLike
from stickbreak.variational.global_step import sticks_of
from stickbreak.variational.local_step import LocalSettings
from stickbreak.variational.memoized import MemoizedLaps
from stickbreak.variational.model import Schedule
from stickbreak.variational.state import GlobalParameters, expected_beta
from stickbreak_sequences.chain import LoadedBatch, SequenceBatch, StickyHMM, pass_through
from stickbreak_sequences.data import Sequences
from stickbreak_sequences.kernels import best_path
from stickbreak_sequences.moves import STEPS, WINDOWS, first_transitions, joined, moves_of_chains, states_of, windows_of
from stickbreak_sequences.pictures import StatePictures

VECTORS: dict[str, type[VectorLikelihood]] = {
    "full": Gaussian,
    "diagonal": DiagonalGaussian,
    "zero_mean": ZeroMeanGaussian,
}
FAMILIES: dict[str, type[Likelihood]] = {**VECTORS, "symbols": DirichletMultinomial}
MOVES = ("merge", "delete", "birth", "reorder")
STEPS_PER_BATCH = 50_000
FIRST_MOVES = 4  # lap: before it states are still broad
STAY = 0.9  # probability of staying where a fit begins
NOT_STICKY = Options(Real, {0})
UNLIKELY = 1e-300  # probability below which a path cannot be


class StickyHDPHMM(Estimator):
    """States of sequences and their number, by memoized variational inference for the sticky HDP-HMM.

    Model (docs/math/sequences.md): a sequence is in one state at each step. It stays or moves by the transition
    probabilities of the state, pi_j ~ Dir(alpha beta + kappa e_j): beta are the weights of the states, and kappa lets
    sequences stay. At each step the state emits a vector (Gaussian) or symbols (categorical).

    Parameters
    ----------
    n_states : int, default=20
        Number of states to start with. Moves remove those that the data do not need, and add others.
    likelihood : {"auto", "symbols", "full", "diagonal", "zero_mean"} or VectorLikelihood, default="auto"
        What a state emits. "symbols": symbols with a Dirichlet prior; "full", "diagonal", "zero_mean": Gaussians, with
        priors set from the data, as in `GaussianDPMixture`. "auto": "symbols" or "full", as the data are. You can also
        give a likelihood with a prior of your own.
    alpha : float, default=1.0
        Concentration of the transitions of a state.
    kappa : float, default=10.0
        Pseudo-count of staying in a state. 0: the HDP-HMM that is not sticky.
    gamma : float, default=5.0
        Concentration of the weights of the states.
    eta : float, default=0.1
        Pseudo-count of every symbol in every state. Vectors do not use it.
    learn : sequence of {"alpha", "kappa", "gamma", "eta", "scale"}, default=()
        Hyperparameters that are set to the maximum of the objective after each pass: "eta" of symbols, "scale" of
        Gaussian priors.
    moves : sequence of {"merge", "delete", "birth", "reorder"}, default=("merge", "delete", "birth", "reorder")
        Moves that are tried after each pass, each kept only if the whole objective rises. They begin at the fourth.
    n_laps : int, default=100
        Maximum number of passes over the data.
    tolerance : float, default=1e-5
        Stop when a pass raises the objective by less than this, in nats per step. A pass that changes a state does not
        stop the fit.
    n_batches : int or None, default=None
        Number of batches in a pass. None: one for every 50,000 steps. A sequence is never cut.
    batches_at_once : int, default=1
        Number of batches that are visited at the same states, before these follow.
    scratch : path-like or None, default=None
        A folder for what is kept of each batch from pass to pass. None: memory.
    random_state : int, RandomState or None, default=None
        Seed of the random numbers. The same seed gives the same result for any `n_jobs`.
    n_jobs : int or None, default=None
        Number of threads. None means 1, and -1 means all cores.
    verbose : bool, default=False
        Show a progress bar on standard error.

    Attributes
    ----------
    n_states_ : int
        Number of states K.
    weights_ : ndarray of shape (K,)
        Share of the steps that each state has in the fit.
    start_, transition_ : ndarray of shape (K,) and (K, K)
        Expected probabilities of the first state, and of the next one.
    means_ : ndarray of shape (K, dim) or (K, W)
        Means of the states; of symbols their probabilities.
    covariances_ : ndarray of shape (K, dim, dim)
        Covariances of the states, of vectors.
    symbols_ : tuple of str or None
        The symbols; None of vectors.
    feature_names_in_ : ndarray of str
        The columns of the vectors, where the fit was to a data frame: those of others are taken by these names.
    objective_ : float
        The objective (ELBO) in nats per step, with all its constants.
    trace_ : dict of ndarray
        One entry for each pass: "objective", "n_states", "seconds", what the moves did, and what was learned.
    moves_ : list of dict
        The accepted moves, in their order: "pass", "move", "gain" (nats) and "n_topics" (states after the move).
    move_counts_ : ndarray of shape (K + 1, K)
        Expected numbers of starts (first row) and of moves from each state.
    statistics_, counts_, rho_, omega_, likelihood_, alpha_, kappa_, gamma_
        What the fitted states follow from.
    n_laps_, converged_, stop_reason_, start_seconds_, learned_
        As in `GaussianHDP`.

    References
    ----------
    M. C. Hughes, W. T. Stephenson, E. B. Sudderth. Scalable Adaptation of State Complexity for Nonparametric Hidden
    Markov Models. NIPS 2015.

    E. B. Fox, E. B. Sudderth, M. I. Jordan, A. S. Willsky. A Sticky HDP-HMM with Application to Speaker Diarization.
    Annals of Applied Statistics 5, 2011.

    Examples
    --------
    >>> from stickbreak_sequences import StickyHDPHMM, planted_states
    >>> sequences, states = planted_states("full", n_states=3, n_sequences=4, seed=0)
    >>> StickyHDPHMM(n_states=8, random_state=0).fit(sequences).n_states_
    3
    """

    _fitted_arrays: ClassVar[tuple[str, ...]] = ("statistics_", "counts_", "rho_", "omega_", "move_counts_")
    _fitted_values: ClassVar[tuple[str, ...]] = (
        *Estimator._fitted_values,
        "alpha_",
        "kappa_",
        "gamma_",
        "symbols_",
        "n_features_in_",
        "moves_",
    )
    _learnable: ClassVar[tuple[str, ...]] = ("alpha", "kappa", "gamma", "eta", "scale")
    unit: ClassVar[str] = "step"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Estimator._parameter_constraints,
        "n_states": [whole(1)],
        "likelihood": [one_of(("auto", *FAMILIES)), Likelihood],
        "alpha": CONCENTRATION,
        "gamma": CONCENTRATION,
        "kappa": [NOT_STICKY, *CONCENTRATION],
        "eta": CONCENTRATION,
        "learn": [list, tuple],
        "moves": [list, tuple],
        "tolerance": [*TOLERANCES],
        "n_batches": [None, whole(1)],
        "batches_at_once": [whole(1)],
        "scratch": [None, str, os.PathLike],
    }

    statistics_: Float
    counts_: Float
    rho_: Float
    omega_: Float
    move_counts_: Float
    likelihood_: Any
    symbols_: Sequence[str] | None

    def __init__(
        self,
        *,
        n_states: int = 20,
        likelihood: str | VectorLikelihood = "auto",
        alpha: float = 1.0,
        kappa: float = 10.0,
        gamma: float = 5.0,
        eta: float = 0.1,
        learn: Sequence[str] = (),
        moves: Sequence[str] = MOVES,
        n_laps: int = 100,
        tolerance: float = 1e-5,
        n_batches: int | None = None,
        batches_at_once: int = 1,
        scratch: PathLike | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_states = n_states
        self.likelihood = likelihood
        self.alpha = alpha
        self.kappa = kappa
        self.gamma = gamma
        self.eta = eta
        self.learn = learn
        self.moves = moves
        self.n_laps = n_laps
        self.tolerance = tolerance
        self.n_batches = n_batches
        self.batches_at_once = batches_at_once
        self.scratch = scratch
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_names("moves", self.moves, MOVES)
        check_names("learn", self.learn, self._learnable)
        if "kappa" in self.learn and self.kappa == 0:
            raise InputError("learn names 'kappa', but kappa is 0, which stays; give a positive kappa to begin with.")

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        lengths: Any = None,
        sequence: Hashable | None = None,
        order: Hashable | None = None,
        callback: Callback | None = None,
        checkpoint: PathLike | None = None,
        resume: bool = False,
    ) -> Self:
        """Learn from sequences, pass by pass.

        Ctrl-C, callback, checkpoint and resume are as in `TopicModel.fit`.

        Parameters
        ----------
        X, lengths, sequence, order
            As in `Sequences.of`.
        y : ignored
        callback : callable, optional
            Called with a dict after each pass.
        checkpoint : path-like, optional
            A folder to which the state of the fit is written after every pass, in place of the one before.
        resume : bool, default=False
            Continue from `checkpoint` if it exists. The result equals that of an uninterrupted fit.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If a parameter does not suit the sequences, or the checkpoint belongs to another fit.
        """
        return self._fit(Sequences.of(X, lengths, sequence, order), callback, checkpoint, resume=resume)

    @all_or_nothing
    def continue_fit(
        self,
        X: Any,
        *,
        n_laps: int,
        lengths: Any = None,
        sequence: Hashable | None = None,
        order: Hashable | None = None,
        callback: Callback | None = None,
    ) -> Self:
        """Continue the fit of this model, which may have been saved and loaded, as if it were one longer fit.

        Parameters
        ----------
        X, lengths, sequence, order
            The sequences of the fit, given as in `fit`.
        n_laps : int
            Maximum number of further passes: `tolerance` may end them sooner.
        callback : callable, optional
            As in `fit`.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If the sequences or parameters are not those of the fit, or the model has forgotten its state.
        """
        return self._go_on(self._checked(X, lengths, sequence, order), n_laps, callback)

    def _documents(self, X: Any, *, reset: bool = False) -> Sequences:
        if not reset:
            return self._checked(X)
        sequences = Sequences.of(X)
        self.symbols_, self.n_features_in_ = sequences.symbols, sequences.steps.shape[1]
        self.__dict__.pop("feature_names_in_", None)
        if sequences.symbols is None and sequences.columns is not None:
            self.feature_names_in_ = np.array(sequences.columns, dtype=object)
        return sequences

    def _checked(self, X: Any, lengths: Any = None, sequence: Any = None, order: Any = None) -> Sequences:
        """Return sequences of the kind of the fit."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        columns = None if names is None else names.tolist()
        sequences = Sequences.of(X, lengths, sequence, order, symbols=self.symbols_, columns=columns)
        if self.symbols_ is None and sequences.symbols is not None:
            raise InputError("the model has states of vectors, but these are sequences of symbols; give vectors.")
        if sequences.steps.shape[1] != self.n_features_in_:
            raise InputError(
                f"the steps have {sequences.steps.shape[1]} numbers, but those of the fit had {self.n_features_in_}; "
                "give sequences of the same kind."
            )
        return sequences

    def _check_documents(self, documents: Sequences) -> None:
        given = self.likelihood
        family = type(given) if isinstance(given, Likelihood) else FAMILIES.get(given)
        if family is not None and (family is DirichletMultinomial) != (documents.symbols is not None):
            kind = "vectors" if documents.symbols is None else "symbols"
            raise InputError(f"likelihood is {given!r:.40}, but the steps are {kind}; give another, or 'auto'.")
        if documents.symbols is not None and not documents.steps.sum():
            raise InputError("no step has a symbol; give at least one.")
        if isinstance(given, VectorLikelihood) and given.dim != documents.steps.shape[1]:
            raise InputError(f"the likelihood has {given.dim} dimensions, not {documents.steps.shape[1]} as the steps.")
        if isinstance(given, DirichletMultinomial) and given.n_rows != documents.steps.shape[1]:
            raise InputError(
                f"the likelihood has {given.n_rows} symbols, but the steps have {documents.steps.shape[1]}; give one "
                "of as many."
            )
        if isinstance(given, Likelihood):
            for name in {"eta", "scale"} & set(self.learn) - given.hyperparameters.keys():
                raise InputError(f"learn names {name!r}, which the likelihood does not have as a number; leave it out.")
        wrong = "eta" if documents.symbols is None else "scale"
        if wrong in self.learn:
            raise InputError(f"learn names {wrong!r}, which these steps do not have; leave it out.")

    def _prior(self, documents: Sequences) -> Any:
        """Return the likelihood with its prior."""
        if isinstance(self.likelihood, Likelihood):
            return self.likelihood
        if documents.symbols is not None:
            return DirichletMultinomial(float(self.eta), documents.steps.shape[1])
        return VECTORS["full" if self.likelihood == "auto" else self.likelihood].from_data(documents.steps)

    def _laps(self, documents: Sequences, seed: int, engine: Engine) -> MemoizedLaps:
        self.likelihood_ = self._prior(documents)
        model = StickyHMM(_at_origin(self.likelihood_), float(self.alpha), float(self.kappa), float(self.gamma))
        n_batches = min(self.n_batches or -(-documents.n_steps // STEPS_PER_BATCH), documents.n_sequences)
        parts = [documents[cut.rows()] for cut in cuts(documents.n_sequences, n_batches, seed=seed)]
        batches: list[Any] = [LoadedBatch(self._moved(part), part.offsets, model.likelihood) for part in parts]
        folder = scratch_folder(self.scratch, engine.workers)
        schedule = Schedule(
            model,
            batches,
            LocalSettings(),
            engine,
            tuple(self.learn),
            seed,
            FIRST_MOVES,
            self.batches_at_once,
            folder,
        )

        def start(report: Callback, stop: Stop) -> GlobalParameters:
            return self._begin(batches, model, seed)

        shape, n = (documents.n_sequences, self.likelihood_.n_rows), float(documents.n_steps)
        return MemoizedLaps(schedule, shape, n, moves_of_chains(self.moves), start)

    def _moved(self, sequences: Sequences) -> Any:
        """Return the steps counted from the origin of the likelihood."""
        return sequences.steps if self.symbols_ is not None else sequences.steps - self.likelihood_.origin

    def _begin(self, batches: Sequence[Callable[[], SequenceBatch]], model: StickyHMM, seed: int) -> GlobalParameters:
        """Return the globals of the start: states of windows, or of as short runs as are needed for their number."""
        parts = [batch() for batch in batches]
        n_steps = sum(float(part.indptr[-1]) for part in parts)
        for length in (WINDOWS[0], WINDOWS[1], 1):
            pool = joined([windows_of(part, length, max(1, int(n_steps / STEPS))) for part in parts])
            if pool.indptr.size > self.n_states:
                break
        S, N = states_of(pool.batch(model.likelihood), self.n_states, stream(seed, "start of states"))
        scale, weights = n_steps / float(pool.indptr[-1]), (N + 1e-3) / (N + 1e-3).sum()
        moves = first_transitions(weights, n_steps, STAY)
        sticks = sticks_of(weights / (1.0 + 1.0 / weights.size), 1.0 + model.gamma + weights.size)
        return GlobalParameters.of(model.likelihood, S * scale, N * scale, *sticks, moves)

    def _take(self, laps: MemoizedLaps, documents: Sequences) -> None:
        parameters, model = laps.parameters, laps.model
        assert parameters.transitions is not None
        assert isinstance(model, StickyHMM)
        S, N = model.likelihood.counts(parameters.tau, parameters.tau_sum)
        self.statistics_, self.counts_ = S, np.maximum(N, 0.0)
        self.rho_, self.omega_ = parameters.rho, parameters.omega
        self.move_counts_ = np.maximum(parameters.transitions, 0.0)
        self.likelihood_ = self.likelihood_.with_hyperparameters(model.likelihood.hyperparameters)
        self.alpha_, self.kappa_, self.gamma_ = float(model.alpha), float(model.kappa), float(model.gamma)
        self.moves_ = [
            {"pass": m.lap, "move": m.move, "gain": m.gain, "n_topics": m.n_topics, "topics": []} for m in laps.accepted
        ]

    def _identity(self, documents: Sequences, seed: int) -> Identity:
        steps = documents.steps
        tables = (steps,) if documents.symbols is None else (steps.indptr, steps.indices, steps.data)
        of_data = {"shape": [documents.n_sequences, *steps.shape], "steps": checksum(*tables)}
        of_data |= {"offsets": checksum(documents.offsets), "symbols": documents.symbols and list(documents.symbols)}
        likelihood = name_of_likelihood(self.likelihood)
        return identity_of(self, of_data, seed, free=FREE, likelihood=likelihood)

    @property
    def n_states_(self) -> int:
        """Number of states K."""
        check_is_fitted(self)
        return int(self.rho_.size)

    @property
    def n_components_(self) -> int:
        """The same as `n_states_`."""
        return self.n_states_

    @property
    def weights_(self) -> Float:
        """Share of the steps of the fit that each state has, (K,)."""
        check_is_fitted(self)
        steps = self.move_counts_.sum(axis=0)
        return steps / steps.sum()

    @property
    def eta_(self) -> float | None:
        """Pseudo-count of symbols, learned or given; None of vectors."""
        check_is_fitted(self)
        return self.likelihood_.hyperparameters.get("eta")

    @property
    def scale_(self) -> float | None:
        """Scale of the prior of Gaussians, learned or given; None where there is none."""
        check_is_fitted(self)
        return self.likelihood_.hyperparameters.get("scale")

    @property
    def _model(self) -> StickyHMM:
        return StickyHMM(self.likelihood_, self.alpha_, self.kappa_, self.gamma_)

    def _expected_moves(self) -> Float:
        check_is_fitted(self)
        theta = self._model.theta(self.move_counts_, expected_beta(self.rho_))[:, :-1]
        return theta / theta.sum(axis=1, keepdims=True)

    @property
    def start_(self) -> Float:
        """Expected probabilities of the first state, (K,)."""
        return self._expected_moves()[0]

    @property
    def transition_(self) -> Float:
        """Expected probabilities of the next state, a row for each present one, (K, K)."""
        return self._expected_moves()[1:]

    @property
    def posterior_(self) -> Any:
        """q(phi) of the states, as the likelihood has it."""
        check_is_fitted(self)
        return self.likelihood_.posterior(self.statistics_, self.counts_)

    @property
    def means_(self) -> Float:
        """Means of the states, (K, dim); of symbols their probabilities, (K, W)."""
        mean = self.likelihood_.mean(self.posterior_)
        return np.ascontiguousarray(mean.T) if self.symbols_ is not None else mean

    @property
    def covariances_(self) -> Float:
        """Covariances of the states, (K, dim, dim)."""
        if self.symbols_ is not None:
            raise AttributeError("states of symbols have no covariances; see means_.")
        return self.likelihood_.covariance(self.posterior_)

    def top_symbols(self, n: int = 10) -> list[list[str]]:
        """Return the n most probable symbols of each state."""
        if self.symbols_ is None:
            raise AttributeError("states of vectors have no symbols; see means_.")
        return [[self.symbols_[w] for w in np.argsort(-row, kind="stable")[:n]] for row in self.means_]

    @property
    def trace_(self) -> dict[str, NDArray]:
        """Arrays of equal length with one entry for each pass. They are made again at each access."""
        check_is_fitted(self)
        return {name.replace("n_topics", "n_states"): column for name, column in self._trace.arrays().items()}

    def _log_steps(self, sequences: Sequences) -> Float:
        """Return log p of each step in each state, the parameters of states integrated out or at their mean, (N, K)."""
        if self.symbols_ is None:
            return np.array(self.likelihood_.predictive_log(self.posterior_, sequences.steps))
        return np.asarray(sequences.steps @ np.log(self.likelihood_.mean(self.posterior_)))

    def _inferred(self, sequences: Sequences) -> tuple[Any, float]:
        moves = np.log(np.maximum(self._expected_moves(), UNLIKELY))
        batch = SequenceBatch(self.likelihood_, sequences.steps, sequences.offsets)
        with threads_and_workers(self.n_jobs) as engine, one_blas_thread():
            return pass_through(batch, self._log_steps(sequences), moves[0], moves[1:], engine)

    def transform(self, X: Any, *, lengths: Any = None, sequence: Any = None, order: Any = None) -> Float:
        """Return the probability of each state at each step, given the whole sequence, (N, K).

        Parameters
        ----------
        X, lengths, sequence, order
            As in `Sequences.of`. The rows are those of a data frame, in its order; else the steps of all sequences, one
            after the other.
        """
        sequences = self._checked(X, lengths, sequence, order)
        return _as_given(X, sequences, self._inferred(sequences)[0].share)

    predict_proba = transform

    def predict(
        self, X: Any, *, lengths: Any = None, sequence: Any = None, order: Any = None, path: str = "viterbi"
    ) -> Int:
        """Return a state for each step, (N,).

        Parameters
        ----------
        X, lengths, sequence, order
            As in `Sequences.of`. The states are in the order of the rows of a data frame, as in `transform`.
        path : {"viterbi", "marginal"}, default="viterbi"
            "viterbi": the most probable path of each sequence. "marginal": the most probable state of each step.
        """
        if path not in ("viterbi", "marginal"):
            raise InputError(f"path is {path!r}; give 'viterbi' or 'marginal'.")
        sequences = self._checked(X, lengths, sequence, order)
        if path == "marginal":
            return _as_given(X, sequences, self._inferred(sequences)[0].share.argmax(axis=1))
        moves, out = np.log(np.maximum(self._expected_moves(), UNLIKELY)), np.empty(sequences.n_steps, np.int64)
        best_path(sequences.offsets, self._log_steps(sequences), moves[0], np.ascontiguousarray(moves[1:]), out)
        return _as_given(X, sequences, out)

    def score(self, X: Any, y: Any = None, *, lengths: Any = None, sequence: Any = None, order: Any = None) -> float:
        """Return the log-likelihood of new sequences in nats per step (larger is better).             docs/math (Z10)

        Steps without an observation, such as symbols that the fit has not seen, do not count.

        Parameters
        ----------
        X, lengths, sequence, order
            As in `Sequences.of`: sequences that the model was not fitted on.
        y : ignored
        """
        sequences = self._checked(X, lengths, sequence, order)
        n = sequences.n_steps if self.symbols_ is None else np.count_nonzero(sequences.steps.sum(axis=1))
        if not n:
            raise InputError("these sequences have no step with an observation that the model knows; give others.")
        return self._inferred(sequences)[1] / n

    @property
    def plot(self) -> StatePictures:
        """Pictures: ``plot.states(X)``, ``plot.trace()``."""
        return StatePictures(self)

    def _description(self, arrays: dict[str, NDArray]) -> dict[str, Any]:
        return described_likelihoods(self.likelihood, self.likelihood_, FAMILIES, arrays)

    def _saved_parameters(self) -> dict[str, Any]:
        given = super()._saved_parameters()
        return given if isinstance(given["likelihood"], str) else {**given, "likelihood": None}

    @classmethod
    def _from_description(cls, parameters: dict[str, Any], arrays: dict[str, NDArray], meta: dict[str, Any]) -> Self:
        if parameters["likelihood"] is None:
            parameters["likelihood"] = likelihood_from(meta["given"], FAMILIES, arrays)
        model = cls(**parameters)
        model.likelihood_ = likelihood_from(meta["likelihood"], FAMILIES, arrays)
        return model

    def _check_fitted_state(self) -> None:
        self.symbols_ = None if self.symbols_ is None else tuple(self.symbols_)
        K, n_rows = self.rho_.size, self.likelihood_.n_rows
        shapes = {"statistics_": (n_rows, K), "counts_": (K,), "rho_": (K,), "omega_": (K,), "move_counts_": (K + 1, K)}
        for name, shape in shapes.items():
            if not is_table(getattr(self, name), *shape):
                raise ValueError(f"{name} is not a finite table of shape {shape}")
        if K == 0 or not are_sticks(self.rho_, self.omega_) or not are_sums(self.counts_):
            raise ValueError("rho_, omega_ or counts_ is out of range")
        if not are_sums(self.move_counts_) or np.abs(self.statistics_).max(initial=0.0) > LARGEST_STATISTIC:
            raise ValueError("move_counts_ or statistics_ holds a number out of its range")
        if self.symbols_ is None:
            if self.likelihood_.dim != self.n_features_in_:
                raise ValueError(f"its likelihood has {self.likelihood_.dim} dimensions, not {self.n_features_in_}")
            self.likelihood_.check_statistics(self.statistics_, self.counts_)
        elif not n_rows == len(self.symbols_) == self.n_features_in_ or not all(
            isinstance(x, str) for x in self.symbols_
        ):
            raise ValueError("its symbols are not those of its statistics")
        elif not are_sums(self.statistics_):
            raise ValueError("statistics_ holds a number out of its range")
        check_moves(self.moves_)
        check_end(self)
        others = ["kappa"] * (self.kappa_ != 0) + ["eta"] * (self.eta_ is not None)
        check_learned(self, ["alpha", "gamma", *others])
        self._check_parameters()


def _as_given(X: Any, sequences: Sequences, found: NDArray) -> Any:
    """Return what was found for steps in the order of the rows of a table that was given."""
    if sequences.rows is None or isinstance(X, Sequences):
        return found
    given = np.empty_like(found)
    given[sequences.rows] = found
    return given


def _at_origin(likelihood: Any) -> Any:
    """Return the likelihood for vectors minus its origin; that of symbols as it is."""
    return likelihood.from_origin() if isinstance(likelihood, VectorLikelihood) else likelihood
