"""What the estimators of real vectors share: how they are fitted, their components, and a state to be saved."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from stickbreak.corpus.batches import cuts
from stickbreak.exceptions import InputError
from stickbreak.fitting.batch_store import scratch_folder
from stickbreak.fitting.checkpoint import FREE, check_end, check_learned, check_moves, identity_of, whole_number
from stickbreak.fitting.checks import check_many, check_names, check_whole
from stickbreak.fitting.constraints import one_of, whole
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.loop import Callback, Interruption, Laps, Stop
from stickbreak.fitting.run import Identity, Run
from stickbreak.initialization import SAMPLE, SAMPLE_PER_COMPONENT, start_of_components, weights_of
from stickbreak.likelihoods import DiagonalGaussian, Gaussian, VectorLikelihood, ZeroMeanGaussian
from stickbreak.likelihoods.gaussian import FLOOR
from stickbreak.likelihoods.quadratic_forms import whole as whole_blocks
from stickbreak.model.estimator import all_or_nothing
from stickbreak.model.pictures import Pictures
from stickbreak.model.saved_values import described_likelihoods, likelihood_from, name_of_likelihood
from stickbreak.numerics.arrays import Float
from stickbreak.numerics.ranges import LARGEST_STATISTIC, are_sticks, are_sums
from stickbreak.numerics.streams import source_of, stream
from stickbreak.storage.checksums import checksum
from stickbreak.storage.places import PathLike
from stickbreak.variational.global_step import sticks_of
from stickbreak.variational.local_step import LocalSettings
from stickbreak.variational.memoized import MemoizedLaps, VariationalLaps
from stickbreak.variational.model import Model, Schedule
from stickbreak.variational.moves import Move, MoveSettings, Reorder, make_moves, names_of
from stickbreak.variational.state import GlobalParameters, expected_beta
from stickbreak.variational.stochastic import StepRule, StochasticLaps, StreamingVariational
from stickbreak.variational.vectors import VECTOR_PROPOSALS, BatchOfVectors, VectorBatch, Vectors, reachable

LIKELIHOODS: dict[str, type[VectorLikelihood]] = {
    "zero_mean": ZeroMeanGaussian,
    "full": Gaussian,
    "diagonal": DiagonalGaussian,
}
BLOCK = 8192  # vectors whose densities are computed together
VECTORS_PER_BATCH = 50_000
LARGEST_ERROR = 1e-3  # of a vector in float32, in standard deviations of its coordinates
FIRST_MOVES = 4  # lap: in those before it components are still broad, and merges would join what laps tell apart


@dataclass(frozen=True, slots=True)
class ShownComponent:
    """A component as it is told and drawn.

    Attributes
    ----------
    number : int
        Its row in `means_`.
    weight : float
        Its expected weight.
    count : float
        Vectors that it has in the fit.
    mean, spread : ndarray of shape (dim,)
        Mean and standard deviation of each coordinate.
    directions : ndarray of shape (m, dim)
        The leading eigenvectors of its covariance, of length one; the largest entry of each is positive.
    shares : ndarray of shape (m,)
        The share of the variance along each.
    """

    number: int
    weight: float
    count: float
    mean: Float
    spread: Float
    directions: Float
    shares: Float

    def telling(self, n: int, centre: Float) -> list[int]:
        """Return the n coordinates whose mean is farthest from a centre, in standard deviations of this component.

        Among those that are equally far, as in components of mean zero, the ones that spread most come first.

        Parameters
        ----------
        n : int
        centre : ndarray of shape (dim,)
        """
        far = np.abs(self.mean - centre) / np.maximum(self.spread, np.finfo(float).tiny)
        return [int(j) for j in np.lexsort((-self.spread, -far))[:n]]


def shown_components(
    likelihood: VectorLikelihood, S: Float, N: Float, weights: Float, n_directions: int
) -> list[ShownComponent]:
    """Describe components, the largest first; one at a time, so that no table (K, dim, dim) is held.

    `S`, `N` (rows, K) and (K,): Their statistics. `weights` (K,). `n_directions`: eigenvectors of each, at most.
    """
    order = np.argsort(-weights, kind="stable")
    return [_shown(likelihood, S[:, [k]], N[[k]], int(k), float(weights[k]), n_directions) for k in order]


def _shown(likelihood: VectorLikelihood, S: Float, N: Float, k: int, weight: float, n: int) -> ShownComponent:
    posterior = likelihood.posterior(S, N)
    covariance = likelihood.covariance(posterior)[0]
    values, vectors = np.linalg.eigh(covariance)
    values, directions = np.maximum(values[::-1], 0.0), vectors.T[::-1][:n]
    at_largest = directions[np.arange(len(directions)), np.abs(directions).argmax(axis=1)]
    return ShownComponent(
        k,
        weight,
        float(N[0]),
        np.asarray(likelihood.mean(posterior)[0], dtype=np.float64),
        np.sqrt(np.maximum(np.diagonal(covariance), 0.0)),
        directions * np.where(at_largest < 0, -1.0, 1.0)[:, None],
        values[:n] / max(float(values.sum()), np.finfo(float).tiny),
    )


class VectorModel(StreamingVariational):
    """Base of the estimators of real vectors: K components of dimension dim; each says what allocates its vectors."""

    _fitted_arrays: ClassVar[tuple[str, ...]] = ("statistics_", "counts_", "rho_", "omega_")
    _fitted_values: ClassVar[tuple[str, ...]] = (
        *StreamingVariational._fitted_values,
        "gamma_",
        "n_features_in_",
        "n_steps_",
        "n_documents_seen_",
        "moves_",
    )
    unit: ClassVar[str] = "vector"
    grouped: ClassVar[bool] = False  # whether vectors come in groups, with weights of their own

    statistics_: Float
    counts_: Float
    rho_: Float
    omega_: Float
    gamma_: float
    n_features_in_: int
    likelihood: str | VectorLikelihood
    likelihood_: VectorLikelihood

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **StreamingVariational._parameter_constraints,
        "n_components": [whole(1)],
        "likelihood": [str, VectorLikelihood],
        "init": "no_validation",
        "delete_vectors": [None, whole(1)],
        "dtype": [one_of(("float32", "float64"))],
    }
    _stream_only: ClassVar[tuple[str, ...]] = ("total_documents",)
    _free: ClassVar[tuple[str, ...]] = _stream_only
    _moves_of_documents: ClassVar[bool]  # whether `delete_vectors` counts groups' vectors, not documents

    n_components: int
    gamma: float
    init: Any
    moves: Sequence[str]
    delete_vectors: int | None
    schedule: str
    learning_decay: float
    learning_offset: float
    n_batches: int | None
    batches_at_once: int
    scratch: PathLike | None
    dtype: str

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_names("moves", self.moves, names_of(VECTOR_PROPOSALS))
        if isinstance(self.likelihood, str) and self.likelihood not in LIKELIHOODS:
            known = ", ".join(map(repr, LIKELIHOODS))
            raise InputError(f"likelihood is {self.likelihood!r}; give one of {known}, or a likelihood object.")
        if isinstance(self.init, str) and self.init != "seeding":
            raise InputError(f"init is {self.init!r}; give 'seeding', a fitted model or an array of vectors (K, dim).")
        if not isinstance(self.init, str | VectorModel):
            _given_seeds(self.init)

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        callback: Callback | None = None,
        checkpoint: PathLike | None = None,
        resume: bool = False,
    ) -> Self:
        """Learn from vectors, pass by pass.

        Ctrl-C, callback, checkpoint and resume are as in `TopicModel.fit`.

        Parameters
        ----------
        X : array, VectorTable or GroupedVectors
            See the class.
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
            If a parameter does not suit the vectors, or the checkpoint belongs to another fit.
        """
        return self._fit(X, callback, checkpoint, resume=resume)

    def _check_documents(self, documents: Vectors) -> None:
        """All is checked where the likelihood is known."""

    def _check_minibatch(self, minibatch: Vectors, *, first: bool) -> None:
        if not first and self.dtype == "float32" and minibatch.n_tokens:
            _check_digits(minibatch.values, self.likelihood_.origin)

    def _settings(self) -> LocalSettings:
        """Return when local steps stop."""
        return LocalSettings()

    def _rule(self) -> StepRule:
        """Return how far stochastic steps go."""
        return StepRule(float(self.learning_decay), float(self.learning_offset))

    def _laps(self, documents: Vectors, seed: int, engine: Engine) -> VariationalLaps:
        """Put a schedule to work."""
        self._take_likelihood(documents)
        likelihood, dtype, learned = self.likelihood_, self._dtype(), self._to_learn()

        def start(report: Callback, stop: Stop) -> GlobalParameters:
            return self._begin(documents, seed, engine, report, stop)

        vectors, n_batches = reachable(documents, engine.workers), self._n_batches(documents)
        batches = [
            BatchOfVectors(vectors, likelihood, dtype, cut) for cut in cuts(documents.n_documents, n_batches, seed=seed)
        ]
        folder, at_once = scratch_folder(self.scratch, engine.workers), self.batches_at_once
        schedule = Schedule(
            self._model(), batches, self._settings(), engine, learned, seed, FIRST_MOVES, at_once, folder
        )
        shape, n_vectors = (documents.n_documents, likelihood.n_rows), float(documents.n_tokens)
        if self.schedule == "memoized":
            return MemoizedLaps(schedule, shape, n_vectors, self._make_moves(), start)
        reorder = Reorder.name in self.moves
        return StochasticLaps(schedule, shape, n_vectors, self._rule(), start, reorder=reorder)

    def _run(self, laps: Laps, report: Callback, identity: Identity, n_laps: int, **options: Any) -> Run:
        def of_vectors(event: dict[str, Any]) -> None:
            report({**event, "n_components": event["n_topics"], "unit": "vector"})

        return super()._run(laps, of_vectors, identity, n_laps, **options)

    def _take(self, laps: VariationalLaps, documents: Vectors) -> None:
        self._take_parameters(laps.parameters, laps.model)
        self.n_steps_, self.n_documents_seen_ = laps.n_steps, documents.n_documents
        self._take_moves(laps.accepted, ())

    def _take_parameters(self, parameters: GlobalParameters, model: Model) -> None:
        self.statistics_, self.counts_ = parameters.tau, np.maximum(parameters.tau_sum, 0.0)  # of rounding
        self.rho_, self.omega_ = parameters.rho, parameters.omega
        self.likelihood_ = self.likelihood_.with_hyperparameters(model.likelihood.hyperparameters)
        self.gamma_ = float(model.gamma)

    def _open_stream(
        self, minibatch: Vectors, total: int, engine: Engine, interruption: Interruption
    ) -> GlobalParameters:
        self._take_likelihood(minibatch)
        return super()._open_stream(minibatch, total, engine, interruption)

    def _observations(self, minibatch: Vectors) -> VectorBatch:
        return minibatch.batch(np.arange(minibatch.n_documents), self.likelihood_, self._dtype())

    def _dtype(self) -> type[np.floating]:
        return np.float32 if self.dtype == "float32" else np.float64

    def _to_learn(self) -> tuple[str, ...]:
        """Return the hyperparameters that are learned."""
        return ()

    def _take_likelihood(self, vectors: Vectors) -> None:
        """Settle the likelihood of a fit, with its prior."""
        self.likelihood_ = self._prior(vectors)
        self._check_likelihood(vectors, self._to_learn())

    def _prior(self, vectors: Vectors) -> VectorLikelihood:
        """Return the likelihood with its prior."""
        if isinstance(self.likelihood, str):
            return LIKELIHOODS[self.likelihood].from_data(vectors.values)
        if self.likelihood.dim != vectors.values.shape[1]:
            raise InputError(
                f"the likelihood has {self.likelihood.dim} dimensions, but the vectors have "
                f"{vectors.values.shape[1]}; give a likelihood with as many."
            )
        return self.likelihood

    def _check_likelihood(self, vectors: Vectors, learned: Sequence[str]) -> None:
        """Refuse to learn what the likelihood has not, and a precision that cannot tell the vectors apart."""
        if "scale" in learned and "scale" not in self.likelihood_.hyperparameters:
            raise InputError(
                f"learn names 'scale', which a {type(self.likelihood_).__name__} does not have; leave it out."
            )
        if self.dtype == "float32":
            _check_digits(vectors.values, self.likelihood_.origin)

    def _n_batches(self, vectors: Vectors) -> int:
        """Return the number of batches of a lap."""
        return min(self.n_batches or -(-len(vectors.values) // VECTORS_PER_BATCH), vectors.n_documents)

    def _make_moves(self) -> list[Move]:
        """Return the named moves."""
        proposals = {name: proposal() for name, proposal in VECTOR_PROPOSALS.items()}
        settings = MoveSettings(merges_first=True, every_pair=True, proposals=proposals)
        if self._moves_of_documents:
            most = None if self.delete_vectors is None else float(self.delete_vectors)
            return make_moves(self.moves, replace(settings, delete_documents=None, delete_tokens=most))
        return make_moves(self.moves, replace(settings, delete_documents=self.delete_vectors))

    def _begin(self, vectors: Vectors, seed: int, engine: Engine, report: Callback, stop: Stop) -> GlobalParameters:
        """Return the globals of the start: statistics on the scale of all vectors, the largest component first."""
        omega = 1.0 + self.gamma + vectors.n_documents
        if isinstance(self.init, VectorModel):
            S, N = self._moved(self.init)
        else:
            S, N = self._seeded(vectors, seed)
        scale = len(vectors.values) / max(float(N.sum()), 1e-300)
        return GlobalParameters(S * scale, N * scale, *sticks_of(weights_of(N), omega))

    def _moved(self, init: VectorModel) -> tuple[Float, Float]:
        """Return the statistics of a fitted model as they are under the current prior."""
        check_is_fitted(init)
        here, there = self.likelihood_, init.likelihood_
        if type(here) is not type(there) or (here.dim, here.n_rows) != (there.dim, there.n_rows):
            raise InputError(
                f"init is a model of another likelihood or dimension: {type(there).__name__} of dimension {there.dim}, "
                f"not {type(here).__name__} of dimension {here.dim}; give a model with the same ones."
            )
        return here.moved_from(there, init.statistics_, init.counts_), init.counts_

    def _seeded(self, vectors: Vectors, seed: int) -> tuple[Float, Float]:
        """Return the statistics of a seeded start, on the scale of its sample."""
        rng, n = stream(seed, "seeded start"), len(vectors.values)
        given = None if isinstance(self.init, str) else _given_seeds(self.init, vectors.values.shape[1])
        n_components = self.n_components if given is None else len(given)
        size = min(n, max(SAMPLE, SAMPLE_PER_COMPONENT * n_components))
        rows = np.sort(rng.choice(n, size, replace=False)) if size < n else np.arange(n)
        sample = np.ascontiguousarray(vectors.values[rows], dtype=np.float64)
        return start_of_components(self.likelihood_, sample, n_components, rng, seeds=given)

    def _identity(self, vectors: Vectors, seed: int) -> Identity:
        """Return what a checkpoint must agree with: estimator, vectors, and parameters that change the numbers."""
        init: Any = self.init
        if isinstance(init, VectorModel):
            sums = f"{checksum(init.statistics_)} {checksum(init.counts_)}"
            init = f"{type(init).__name__} {sums} {name_of_likelihood(init.likelihood_)}"
        elif not isinstance(init, str):
            init = _given_seeds(init, vectors.values.shape[1])  # lists of arrays, too
        documents = {
            "shape": [vectors.n_documents, self.likelihood_.n_rows],
            "vectors": checksum(vectors.values),
            "offsets": 0 if vectors.offsets is None else checksum(vectors.offsets),
        }
        likelihood, free = name_of_likelihood(self.likelihood), (*FREE, *self._free)
        return identity_of(self, documents, seed, free=free, init=init, likelihood=likelihood)

    @property
    def plot(self) -> Pictures:
        """Pictures: ``plot.trace()``."""
        return Pictures(self)

    @property
    def n_components_(self) -> int:
        """Number of components K of the fitted model."""
        check_is_fitted(self)
        return int(self.rho_.size)

    @property
    def weights_(self) -> Float:
        """Expected weights of the components, (K,). The unused rest is left out, so they sum to one."""
        check_is_fitted(self)
        weights = expected_beta(self.rho_)[:-1]
        return weights / weights.sum()

    @property
    def posterior_(self) -> Any:
        """q(phi) of the components, as the likelihood has it."""
        check_is_fitted(self)
        return self.likelihood_.posterior(self.statistics_, self.counts_)

    @property
    def means_(self) -> Float:
        """Means of the components, (K, dim)."""
        return self.likelihood_.mean(self.posterior_)

    @property
    def covariances_(self) -> Float:
        """Covariances of the components, (K, dim, dim): the inverses of the expected precisions."""
        return self.likelihood_.covariance(self.posterior_)

    @property
    def precisions_(self) -> Float:
        """Inverses of `covariances_`, (K, dim, dim)."""
        return np.asarray(np.linalg.inv(self.covariances_), dtype=np.float64)

    @property
    def trace_(self) -> dict[str, NDArray]:
        """Arrays of equal length with one entry for each pass. They are made again at each access."""
        check_is_fitted(self)
        return {name.replace("n_topics", "n_components"): column for name, column in self._trace.arrays().items()}

    @abstractmethod
    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the most probable component of each vector, (N,)."""

    def component_log(self, values: NDArray) -> Iterator[tuple[slice, Float]]:
        """Yield log p(x | component), with the parameters integrated out, block by block: (rows, (n, K)).

        Parameters
        ----------
        values : ndarray of shape (N, dim)
        """
        posterior = self.posterior_
        for begin in range(0, len(values), BLOCK):
            rows = slice(begin, begin + BLOCK)
            part = np.asarray(values[rows])
            yield rows, self.likelihood_.predictive_log(posterior, whole_blocks(part))[: len(part)]

    def _draw(
        self, n: int, weights: Float, random_state: int | np.random.RandomState | None
    ) -> tuple[Float, NDArray[np.int64]]:
        """Draw n vectors and their components, those of a component together."""
        check_many("n_samples", n, 24.0 * self.n_features_in_)
        rng = np.random.default_rng(source_of(random_state).randint(np.iinfo(np.int32).max))
        sizes, posterior = rng.multinomial(n, weights), self.posterior_
        drawn = [self.likelihood_.sample(posterior, k, int(size), rng) for k, size in enumerate(sizes) if size]
        return np.concatenate(drawn), np.repeat(np.arange(sizes.size), sizes)

    def _parameters(self) -> GlobalParameters:
        """Return the global parameters of the fitted model; the arrays are copies."""
        return GlobalParameters(self.statistics_.copy(), self.counts_.copy(), self.rho_.copy(), self.omega_.copy())

    def _saved_parameters(self) -> dict[str, Any]:
        """Return the parameters; a likelihood that was given as an object is described apart."""
        given = super()._saved_parameters()
        if isinstance(given["init"], VectorModel):
            given["init"] = "seeding"
        if not isinstance(given["likelihood"], str):
            given["likelihood"] = None
        return given

    def _agrees(self, name: str, kept: Any, now: Any) -> bool:
        """Whether a fit can go on: its start is over."""
        return name == "init" or super()._agrees(name, kept, now)

    def _description(self, arrays: dict[str, NDArray]) -> dict[str, Any]:
        return described_likelihoods(self.likelihood, self.likelihood_, LIKELIHOODS, arrays)

    @classmethod
    def _from_description(cls, parameters: dict[str, Any], arrays: dict[str, NDArray], meta: dict[str, Any]) -> Self:
        likelihood: VectorLikelihood = likelihood_from(meta["likelihood"], LIKELIHOODS, arrays)
        if parameters["likelihood"] is None:
            parameters["likelihood"] = likelihood_from(meta["given"], LIKELIHOODS, arrays)
        model = cls(**parameters)
        model.likelihood_ = likelihood
        return model

    def _check_fitted_state(self) -> None:
        """Refuse a loaded state whose parts do not fit together.

        Raises ValueError if an array or a parameter cannot be of a fitted model; the text says which.
        """
        check_moves(self.moves_)
        K = self.rho_.size
        shapes = {"statistics_": (self.likelihood_.n_rows, K), "counts_": (K,), "rho_": (K,), "omega_": (K,)}
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array.shape != shape or array.dtype != np.float64 or not np.isfinite(array).all():
                raise ValueError(f"{name} is not a finite table of shape {shape}")
        if np.abs(self.statistics_).max(initial=0.0) > LARGEST_STATISTIC:
            raise ValueError("statistics_ holds a number out of its range")
        if K == 0 or not are_sticks(self.rho_, self.omega_) or not are_sums(self.counts_):
            raise ValueError("rho_, omega_ or counts_ is out of range")
        if self.likelihood_.dim != self.n_features_in_:
            raise ValueError(f"its likelihood has {self.likelihood_.dim} dimensions, not {self.n_features_in_}")
        self.likelihood_.check_statistics(self.statistics_, self.counts_)
        check_end(self)
        check_learned(self, [name for name in ("alpha", "gamma") if f"{name}_" in self._fitted_values])
        for name in ("n_steps_", "n_documents_seen_"):
            whole_number(name, getattr(self, name))
        self._check_parameters()

    @property
    def tree_(self) -> None:
        """The root of the tree of the components: None, as they form none."""
        return None

    def shown_components(self, n_directions: int = 3) -> list[ShownComponent]:
        """Describe the components, the largest first: mean, spread, leading eigenvectors of the covariance.

        Parameters
        ----------
        n_directions : int, default=3
            Eigenvectors of each.

        Returns
        -------
        list of ShownComponent
        """
        check_is_fitted(self)
        check_whole("n_directions", n_directions, 0)
        return shown_components(self.likelihood_, self.statistics_, self.counts_, self.weights_, n_directions)


def _given_seeds(init: Any, dim: int | None = None) -> Float:
    """Return the seeds that the user gives; their dimension is checked where it is known."""
    try:
        seeds = np.asarray(init, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            "init is not a table of numbers; give 'seeding', a fitted model or vectors (K, dim)."
        ) from None
    if seeds.ndim != 2 or 0 in seeds.shape or dim not in (None, seeds.shape[1]) or not np.isfinite(seeds).all():
        wanted = "" if dim is None else f"{dim} "
        raise InputError(f"init has shape {seeds.shape}; give a row of {wanted}finite numbers for each component.")
    return seeds


def _check_digits(values: NDArray, origin: Float) -> None:
    """Refuse vectors whose spread is lost in the rounding of float32, so far are they from where they are counted from.

    A look at some 10,000 of them is enough. Spreads below the least that a prior from the data has count as that.
    """
    some = np.asarray(values[:: -(-len(values) // SAMPLE)], dtype=np.float64) - origin
    mean, spread = some.mean(axis=0), some.std(axis=0)
    error = np.abs(mean) * np.finfo(np.float32).eps
    if ((spread > 0) & (error > LARGEST_ERROR * np.maximum(spread, np.sqrt(FLOOR) * spread.max()))).any():
        raise InputError(
            "the vectors are so far from zero (or from the prior mean), compared with their spread, that float32 does "
            'not have enough digits to tell them apart; subtract the mean, or give dtype="float64".'
        )
