"""The base of all estimators: fitting in passes, continuing a fit, the state kept for that, saving and loading."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from numbers import Integral
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from stickbreak.exceptions import InputError, ModelFormatError
from stickbreak.fitting.checkpoint import saved_seed, seed_of_fit, whole_number
from stickbreak.fitting.checks import check_whole
from stickbreak.fitting.constraints import whole
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.loop import Callback, Laps, Packed, Trace
from stickbreak.fitting.run import Identity, Run, at_work, run_fit
from stickbreak.fitting.sklearn_bases import BaseEstimator
from stickbreak.model.saved_values import names_in, packed, unpacked, value_from, values_of
from stickbreak.prediction.completion import Completion, HeldOutScore
from stickbreak.storage import persistence
from stickbreak.storage.persistence import replace_value
from stickbreak.storage.places import PathLike

Method = TypeVar("Method", bound=Callable[..., Any])
Result = TypeVar("Result")


def all_or_nothing(method: Method) -> Method:
    """Let a method that fits check the parameters first, and change the model only if it comes to its end."""

    @wraps(method)
    def call(model: Estimator, *arguments: Any, **options: Any) -> Any:
        with model._unchanged_by_errors():
            model._check_parameters()
            return method(model, *arguments, **options)

    return cast(Method, call)


def cached(method: Callable[[Any], Result]) -> Callable[[Any], Result]:
    """Let a method of a model alone return what it returned before, until any attribute of the model is set.

    Nobody changes what it returns. It is not in copies, pickles and files. Threads may ask at the same time: at worst
    two make the same.
    """
    name = method.__name__

    @wraps(method)
    def call(model: Any) -> Result:
        results: dict[str, Result] = model._cached  # if the model changes meanwhile, nobody has this one any more
        if name not in results:
            results[name] = method(model)
        return results[name]

    return call


@dataclass(frozen=True, slots=True)
class KeptState:
    """What a fit left behind after its last pass, and what documents and parameters must agree with to go on."""

    arrays: dict[str, NDArray]
    values: dict[str, Any]
    identity: Identity

    def __post_init__(self) -> None:
        """Raise a ValueError where a loaded identity is not one."""
        if not isinstance(self.identity, dict):
            raise ValueError("it does not say of which fit its kept state is")
        saved_seed(self.identity.get("random_state"))


class Estimator(BaseEstimator):
    """Base of the estimators.

    A family says what its documents are (`_documents`, `_check_documents`), what its laps do (`_laps`), what a fit that
    goes on must agree with (`_identity`), and what becomes of the result (`_take`). It names in `_fitted_arrays` what
    of a fitted model is saved, and adds to `_fitted_values` and `_parameter_constraints` what it has beyond all others.
    """

    _fitted_arrays: ClassVar[tuple[str, ...]]
    _fitted_values: ClassVar[tuple[str, ...]] = (
        "objective_",
        "n_laps_",
        "converged_",
        "stop_reason_",
        "start_seconds_",
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_laps": [whole(1)],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
        "verbose": ["boolean"],
        "total_documents": [None, whole(1)],
    }
    _changed_by_steps: ClassVar[tuple[str, ...]] = ("_trace",)  # attributes that a step of a stream changes inside
    _learnable: ClassVar[tuple[str, ...]] = ()  # the names that `learn` may hold
    unit: ClassVar[str] = "token"  # what the objective is counted by
    objective_name: ClassVar[str] = "objective"  # what `objective_` is

    n_laps: int
    tolerance: float | None = 0.0
    learn: Any = ()  # names of hyperparameters, or None for a default of the family
    random_state: int | np.random.RandomState | None
    n_jobs: int | None = None
    verbose: bool = False
    n_laps_: int
    objective_: float
    converged_: bool
    stop_reason_: str
    start_seconds_: float
    moves_: Sequence[dict[str, Any]] = ()  # accepted moves, where a family keeps them
    learned_: list[str]
    left_out_: tuple[str, ...] = ()  # what the reading of the documents left out, in sentences
    n_features_in_: int
    feature_names_in_: NDArray
    _trace: Trace
    _kept: KeptState | None = None
    _held_out: HeldOutScore | None = None
    _reading: dict[str, Any] | None = None  # how the documents of the fit were read, where a command has read them
    _cached: dict[str, Any]

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Make the place of what is `cached` at once: scikit-learn goes through the attributes, which stay as many."""
        model = super().__new__(cls)
        model.__dict__["_cached"] = {}
        return model

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        self.__dict__["_cached"] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_cached"}

    def __copy__(self) -> Self:
        """Return a model that shares arrays with this one, but nothing that a step of either would change in both."""
        twin = type(self).__new__(type(self))
        twin.__setstate__(self.__getstate__())
        for name in self._changed_by_steps:
            if name in twin.__dict__:
                setattr(twin, name, copy.deepcopy(getattr(twin, name)))
        return twin

    @abstractmethod
    def _documents(self, X: Any, *, reset: bool = False) -> Any:
        """Check what is fitted; `reset` where it says what the words or dimensions are."""

    def _minibatch(self, X: Any, *, first: bool) -> Any:
        """Check a minibatch of a stream."""
        return self._documents(X, reset=first)

    @abstractmethod
    def _check_documents(self, documents: Any) -> None:
        """Refuse what no fit could make sense of."""

    def _passes_over_all(self, documents: Any) -> float:
        """Return the work of a fit, in passes over all documents."""
        return float(self.n_laps)

    @abstractmethod
    def _laps(self, documents: Any, seed: int, engine: Engine) -> Laps:
        """Put the algorithm together with the documents."""

    @abstractmethod
    def _identity(self, documents: Any, seed: int) -> Identity:
        """Return what documents and parameters must agree with where a fit goes on."""

    @abstractmethod
    def _take(self, laps: Any, documents: Any) -> None:
        """Copy the result of laps into the fitted attributes of the family; the trace and the end are there."""

    def _take_names(self, documents: Any) -> None:
        """Take the names of words from what is fitted first; vectors have none."""

    def _check_parameters(self) -> None:
        """Refuse parameters that no fit could make sense of, before a fit and when a model is loaded.

        Kernels rely on it, also where scikit-learn is told to skip its validation. Families add their rules.
        """
        self._validate_params()
        init = self.get_params(deep=False).get("init")
        if init is self:
            raise InputError("init is this model itself; give another model or call continue_fit.")
        if isinstance(init, Estimator) and not hasattr(init, "_trace"):
            raise InputError(
                f"init is a {type(init).__name__} that is not fitted (nor is a clone of a fitted model); fit it first, "
                "or give its topics or components as a table."
            )

    def _fit(self, X: Any, callback: Callback | None, checkpoint: PathLike | None, *, resume: bool) -> Self:
        """Do what `fit` says, for words and for vectors."""
        documents = self._documents(X, reset=True)
        self._check_documents(documents)
        seed = seed_of_fit(self.random_state, checkpoint, resume=resume)
        with at_work(self, callback) as (report, engine):
            laps = self._laps(documents, seed, engine)
            identity, limit = self._identity(documents, seed), self.n_laps
            run = self._run(laps, report, identity, limit, checkpoint=checkpoint, resume=resume)
            self.start_seconds_, self._reading = run.start_seconds, None
            self._take_names(documents)
            self._finish(laps, run, identity, documents)
        return self

    @all_or_nothing
    def continue_fit(self, X: Any, *, n_laps: int, callback: Callback | None = None) -> Self:
        """Continue the fit of this model, which may have been saved and loaded, as if it were one longer fit.

        Parameters
        ----------
        X : as in `fit`
            The documents of the fit.
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
            If the documents or parameters are not those of the fit, the model has forgotten its state, or `n_laps` is
            not a positive whole number.
        """
        return self._go_on(X, n_laps, callback)

    def _undoing(self) -> Callable[[], None]:
        """Return what takes back the changes that calls make inside the current attributes, beyond replacing them."""
        trace: Trace | None = self.__dict__.get("_trace")
        n_rows = 0 if trace is None else len(trace)

        def undo() -> None:
            if trace is not None:
                trace.cut_back(n_rows)

        return undo

    @contextmanager
    def _unchanged_by_errors(self) -> Iterator[None]:
        """Leave the model as it was, fitted or not, where what follows breaks off for any reason."""
        before, undo = dict(self.__dict__), self._undoing()
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            undo()
            raise

    def _go_on(
        self, X: Any, n_laps: int, callback: Callback | None, change: Callable[[Any], None] | None = None
    ) -> Self:
        """Do further laps, after a change of these."""
        check_is_fitted(self)
        more = check_whole("n_laps", n_laps, 1)
        documents = self._documents(X)
        kept = self._kept_for(documents)
        with at_work(self, callback) as (report, engine):
            laps = self._laps(documents, kept.identity["random_state"], engine)
            self._give_back(kept, laps)
            if change is not None:
                change(laps)
            trace = Trace.from_arrays(self._trace.arrays())
            run = self._run(laps, report, kept.identity, self.n_laps_ + more, trace=trace)
            self._finish(laps, run, kept.identity, documents)
        return self

    def _run(self, laps: Laps, report: Callback, identity: Identity, n_laps: int, **options: Any) -> Run:
        """Run the laps."""
        return run_fit(
            laps, n_laps=n_laps, report=report, identity=identity, tolerance=self.tolerance, unit=self.unit, **options
        )

    def _finish(self, laps: Laps, run: Run, identity: Identity, documents: Any) -> None:
        """Copy the result of laps into the fitted attributes."""
        self._kept = KeptState(*laps.snapshot(), identity)
        self.converged_, self.stop_reason_ = run.outcome
        self._record(run.trace)
        self._take(laps, documents)
        for name in self._fitted_arrays:  # a file keeps rows together: products with other arrays round by that
            setattr(self, name, np.ascontiguousarray(getattr(self, name)))

    def _record(self, trace: Trace) -> None:
        """Take a trace for that of the model."""
        self._trace, self.n_laps_ = trace, len(trace)
        self._held_out = None  # of the topics before
        self.objective_ = float(trace.columns["objective"][-1])
        self.learned_ = self._names_learned()

    def _names_learned(self) -> list[str]:
        """Return the names of the hyperparameters that were learned."""
        return list(self.learn)

    def forget_state(self) -> None:
        """Drop the state of the fit: the model keeps its topics and its trace, but cannot `continue_fit` any more.

        The model then takes less memory, and less space when saved. The state of samplers and trees is the topic of
        each token. That of the memoized schedules is the statistics of each batch.
        """
        check_is_fitted(self)
        self._kept = None

    def _kept_for(self, documents: Any) -> KeptState:
        """Return what is kept of the fit to these documents.

        Raises
        ------
        InputError
            If nothing is, or documents or parameters are not those of the fit.
        """
        kept = self._kept
        if kept is None:
            raise InputError(
                "this model has no state to continue from (it was forgotten, or ended by update, partial_fit or a join "
                "of topics); fit it again, or resume its checkpoint."
            )
        now = self._identity(documents, kept.identity["random_state"])
        names = {**now, **{name: None for name in self.get_params(deep=False) if name in kept.identity}}
        different = [name for name in names if not self._agrees(name, kept.identity.get(name), now.get(name))]
        if different:
            raise InputError(
                f"the state of this model belongs to a fit that differs in its {different[0]}; give the same documents "
                "and parameters as in that fit."
            )
        return kept

    def _agrees(self, name: str, kept: Any, now: Any) -> bool:
        """Whether a fit can go on where a parameter, or what stands for the documents, was `kept` and is `now`."""
        return name == "vocabulary" or bool(kept == now)  # the columns have been compared with the words of the model

    def _give_back(self, kept: KeptState, laps: Laps) -> None:
        """Put laps where they stood.

        Raises
        ------
        ModelFormatError
            If that cannot be of this fit: the model was loaded from a damaged folder.
        """
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # sums of what is checked
                laps.restore(kept.arrays, kept.values, self.n_laps_)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise ModelFormatError(f"the state of this model is damaged ({error}); fit it again.") from None

    @property
    def held_out_(self) -> HeldOutScore | None:
        """The held-out score that was noted for these topics; None without one."""
        check_is_fitted(self)
        return self._held_out

    def note_held_out(self, score: Completion | float, *, unigram: float | None = None) -> Self:
        """Keep the score on documents or vectors that were held out of the fit. It is saved, and reports show it.

        A call that changes topics drops it.

        Parameters
        ----------
        score : Completion or float
            As from `evaluation.document_completion` or `score`, in nats per token or vector.
        unigram : float, optional
            What word frequencies alone score on the same words (`evaluation.unigram_completion`).

        Returns
        -------
        self

        Raises
        ------
        InputError
            If they are not finite numbers.
        """
        check_is_fitted(self)
        try:
            self._held_out = HeldOutScore(score, unigram)
        except ValueError as error:
            raise InputError(
                f"{error}; give what document_completion or score returns, and what unigram_completion returns."
            ) from None
        return self

    def save(self, path: PathLike, *, overwrite: bool = False) -> None:
        """Write the fitted model to a folder (arrays as safetensors, the rest as JSON), completely or not at all.

        Parameters
        ----------
        path : path-like
            A folder that does not exist yet or, with `overwrite`, holds a saved model.
        overwrite : bool, default=False
            Whether a saved model may be replaced.

        Raises
        ------
        WriteError
            If the folder cannot be written or holds something else.
        InputError
            If a part of the model is an object of your own class: loading it would have to run its code.
        """
        arrays, meta = self._packed()
        persistence.write_folder(path, kind=type(self).__name__, arrays=arrays, meta=meta, overwrite=overwrite)

    def _packed(self) -> Packed:
        """Return a fitted model as arrays and plain values."""
        check_is_fitted(self)
        arrays = {name: getattr(self, name) for name in self._fitted_arrays}
        arrays |= {f"trace.{name}": column for name, column in self._trace.arrays().items()}
        meta = {
            "parameters": {
                name: packed(f"parameter.{name}", value, arrays) for name, value in self._saved_parameters().items()
            },
            "values": values_of(self, (*self._fitted_values, "learned_"), arrays),
            "feature_names": [str(x) for x in getattr(self, "feature_names_in_", [])],
            **self._description(arrays),
        }
        if self._held_out is not None:
            meta["held_out"] = self._held_out.packed()
        if self._reading is not None:
            meta["reading"] = packed("reading", self._reading, arrays)
        state, values = self._kept_state()
        if values:
            arrays |= {f"kept.{name}": array for name, array in state.items()}
            meta["kept"] = values
        return arrays, meta

    @classmethod
    def _load(cls, path: PathLike) -> Self:
        """Read what `save` wrote."""
        arrays, meta = persistence.read_folder(path, kind=cls.__name__)
        try:
            return cls._unpacked(arrays, meta)
        except KeyError as error:
            raise ModelFormatError(
                f"{path} lacks {error}, which a {cls.__name__} needs; fit and save it again."
            ) from None
        except (TypeError, ValueError, AttributeError, OverflowError) as error:
            raise ModelFormatError(f"{path} is damaged ({error}); fit and save it again.") from None

    @classmethod
    def _unpacked(cls, arrays: dict[str, NDArray], meta: dict[str, Any]) -> Self:
        """Return the model of what `_packed` returned; a KeyError, ValueError or the like if it is damaged."""
        parameters = {name: unpacked(value, arrays) for name, value in meta["parameters"].items()}
        model = cls._from_description(parameters, arrays, meta)
        for name in cls._fitted_arrays:
            setattr(model, name, arrays[name])
        for name in cls._fitted_values:
            setattr(model, name, value_from(meta["values"][name], arrays))
        model._reading = dict(unpacked(meta["reading"], arrays)) if "reading" in meta else None
        model._held_out = HeldOutScore.unpacked(meta["held_out"]) if "held_out" in meta else None
        columns = {k.removeprefix("trace."): v for k, v in arrays.items() if k.startswith("trace.")}
        model._trace = Trace.from_arrays(columns)
        model.learned_ = cls._checked_names(meta["values"]["learned_"])
        n_features = whole_number("n_features_in_", model.n_features_in_)
        if meta["feature_names"]:
            names = names_in(meta["feature_names"], n_features, "feature names")
            model.feature_names_in_ = np.array(names, dtype=object)
        kept = {k.removeprefix("kept."): v for k, v in arrays.items() if k.startswith("kept.")}
        with np.errstate(over="ignore", invalid="ignore"):  # sums of what is checked
            model._restore_kept(kept, meta.get("kept", {}))
            model._check_fitted_state()
        return model

    @classmethod
    def _checked_names(cls, names: Any) -> list[str]:
        """Return the names of what was learned; a ValueError for others."""
        if not isinstance(names, list) or any(name not in cls._learnable for name in names):
            raise ValueError(f"learned_ is {names!r}, and names something else than hyperparameters")
        return names

    def _saved_parameters(self) -> dict[str, Any]:
        """Return the parameters of a saved model."""
        return self.get_params(deep=False)

    @abstractmethod
    def _description(self, arrays: dict[str, NDArray]) -> dict[str, Any]:
        """Return plain values that say what the arrays are of; further arrays join `arrays`."""

    @classmethod
    @abstractmethod
    def _from_description(cls, parameters: dict[str, Any], arrays: dict[str, NDArray], meta: dict[str, Any]) -> Self:
        """Return the model of these parameters and of what `_description` returned."""

    def _kept_state(self) -> Packed:
        """Return what is saved beside the fitted attributes, as arrays and plain values."""
        kept = self._kept
        return ({}, {}) if kept is None else (kept.arrays, {"values": kept.values, "identity": kept.identity})

    def _restore_kept(self, arrays: dict[str, NDArray], values: dict[str, Any]) -> None:
        """Take up what `_kept_state` returned."""
        self._kept = KeptState(arrays, values["values"], values["identity"]) if values else None

    @abstractmethod
    def _check_fitted_state(self) -> None:
        """Raise a ValueError if parts of a loaded model do not fit together; families add what they know of theirs."""


def save_held_out(model: Estimator, path: PathLike) -> None:
    """Write the held-out score of a model into the folder that it is saved in; all else there stays as it is."""
    if model.held_out_ is not None:
        replace_value(path, "held_out", model.held_out_.packed())
