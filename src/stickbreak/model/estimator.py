"""The base of all estimators: fitting in passes, continuing a fit, the state kept for that, saving and loading."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from stickbreak.exceptions import InputError, ModelFormatError
from stickbreak.fitting.all_or_nothing import AllOrNothing, all_or_nothing
from stickbreak.fitting.checkpoint import seed_of_fit, whole_number
from stickbreak.fitting.constraints import whole
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.laps import Callback, Laps, Packed
from stickbreak.fitting.loop import Trace
from stickbreak.fitting.requirements import check_whole
from stickbreak.fitting.run import Identity, Run, at_work, run_fit
from stickbreak.model.held_out import Scored
from stickbreak.model.kept_state import KeptState
from stickbreak.model.parameters import names_in, packed, unpacked, value_from, values_of
from stickbreak.prediction.held_out import HeldOutScore
from stickbreak.storage import persistence
from stickbreak.storage.places import PathLike


class Estimator(Scored, AllOrNothing):
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
    }
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
    n_features_in_: int
    feature_names_in_: NDArray
    _trace: Trace
    _kept: KeptState | None = None

    @abstractmethod
    def _documents(self, X: Any, *, reset: bool = False) -> Any:
        """Check what is fitted; `reset` where it says what the words or dimensions are."""

    @abstractmethod
    def _check_documents(self, documents: Any) -> None:
        """Refuse what no fit could make sense of."""

    @abstractmethod
    def _laps(self, documents: Any, seed: int, executor: Engine) -> Laps:
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
        super()._check_parameters()
        init = self.get_params(deep=False).get("init")
        if init is self:
            raise InputError("init is this model itself; give another model or call continue_fit.")
        if isinstance(init, Estimator) and not hasattr(init, "_trace"):
            raise InputError(
                f"init is a {type(init).__name__} that is not fitted (nor is a clone of a fitted model); fit it first, "
                "or give its topics or components as a table."
            )

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
        """Learn from documents, pass by pass.

        Ctrl-C ends the fit after the current pass (the first one, if the start is still running) and leaves a usable
        model. A second Ctrl-C interrupts at once. Callback and checkpoint also come after each pass. A call that fails
        or is interrupted leaves the model as it was.

        Parameters
        ----------
        X : Corpus, sparse matrix or array of shape (D, W)
            Counts of words in documents. Samplers need whole numbers; other methods also take non-negative weights. For
            models of vectors see the class.
        y : ignored
        callback : callable, optional
            Called with a dict after each sweep of the start ({"stage": "init", "done", "total"}) and after each pass
            (its row of `trace_`, with the limit as "n_laps").
        checkpoint : path-like, optional
            A folder to which the state of the fit is written after every pass, in place of the one before.
        resume : bool, default=False
            Continue from `checkpoint` if it exists. The result equals that of an uninterrupted fit. `n_laps` may be
            larger than before.

        Returns
        -------
        self

        Raises
        ------
        InvalidCorpus
            If the counts are negative, not finite, or hold no token at all.
        InputError
            If a parameter does not suit the documents, or the checkpoint belongs to another fit.
        """
        documents = self._documents(X, reset=True)
        self._check_documents(documents)
        seed = seed_of_fit(self.random_state, checkpoint, resume=resume)
        with at_work(self, callback) as (report, executor):
            laps = self._laps(documents, seed, executor)
            identity, limit = self._identity(documents, seed), self.n_laps
            run = self._run(laps, report, identity, limit, checkpoint=checkpoint, resume=resume)
            self.start_seconds_ = run.start_seconds
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

    def _go_on(
        self, X: Any, n_laps: int, callback: Callback | None, change: Callable[[Any], None] | None = None
    ) -> Self:
        """Do further laps, after a change of these."""
        check_is_fitted(self)
        more = check_whole("n_laps", n_laps, 1)
        documents = self._documents(X)
        kept = self._kept_for(documents)
        with at_work(self, callback) as (report, executor):
            laps = self._laps(documents, kept.identity["random_state"], executor)
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
        each token; that of the memoized schedules, the
        statistics of each batch.
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
                "this model has no state to continue from (it was in a scratch folder, forgotten, or ended by "
                "partial_fit or a join of topics); fit it again, or resume its checkpoint."
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
        state, values = self._kept_state()
        if values:
            arrays |= {f"kept.{name}": array for name, array in state.items()}
            meta["kept"] = values
        persistence.write_folder(path, kind=type(self).__name__, arrays=arrays, meta=meta, overwrite=overwrite)

    @classmethod
    def _load(cls, path: PathLike) -> Self:
        """Read what `save` wrote."""
        arrays, meta = persistence.read_folder(path, kind=cls.__name__)
        try:
            parameters = {name: unpacked(value, arrays) for name, value in meta["parameters"].items()}
            model = cls._from_description(parameters, arrays, meta)
            for name in cls._fitted_arrays:
                setattr(model, name, arrays[name])
            for name in cls._fitted_values:
                setattr(model, name, value_from(meta["values"][name], arrays))
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
        except KeyError as error:
            raise ModelFormatError(
                f"{path} lacks {error}, which a {cls.__name__} needs; fit and save it again."
            ) from None
        except (TypeError, ValueError, AttributeError, OverflowError) as error:
            raise ModelFormatError(f"{path} is damaged ({error}); fit and save it again.") from None
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
        """Refuse a loaded state whose parts do not fit together; families add what they know of theirs.

        Raises
        ------
        ValueError
            If an array, a word list or a parameter cannot be of a fitted model; the text says which.
        """
