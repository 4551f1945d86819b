"""Checkpoints and kept states: what they must agree with, and how they are refused; the families fill them."""

from __future__ import annotations

import json
import math
import os
import zlib
from collections.abc import Collection, Mapping
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus import Corpus
from stickbreak.exceptions import InputError, ModelFormatError, WriteError
from stickbreak.fitting.loop import COLUMNS, Laps, Trace
from stickbreak.numerics.ranges import LARGEST, MOST_WHOLE, SMALLEST, are_sums, is_concentration
from stickbreak.numerics.streams import seed_from
from stickbreak.storage import persistence
from stickbreak.storage.atomic import bring_back
from stickbreak.storage.checksums import checksum
from stickbreak.storage.places import PathLike, place_of

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

KIND = "checkpoint"
FREE = ("n_laps", "tolerance", "n_jobs", "scratch", "verbose")
"""Parameters that a fit that goes on may change."""

_LONG = 100  # numbers in a row: more are told by their checksum


def identity_of(
    model: BaseEstimator, documents: Mapping[str, Any], seed: int, *, free: Collection[str], **settled: Any
) -> dict[str, Any]:
    """Return what a fit that goes on must agree with: estimator, documents, and parameters that change the numbers.

    Parameters
    ----------
    model : estimator
    documents : mapping
        What tells the documents from others, as plain values (`identity_of_corpus`).
    seed : int
        Stands for the parameter random_state.
    free : collection of str
        Parameters that may change.
    **settled
        Values that stand for parameters: of those that leave them to the fit, and of objects.
    """
    given = {**model.get_params(deep=False), **settled}
    kept = {name: _plain(value) for name, value in given.items() if name not in free}
    return {"estimator": type(model).__name__, **documents, **kept, "random_state": seed}


def identity_of_corpus(corpus: Corpus) -> dict[str, Any]:
    """Return what tells a corpus from others: its shape, counts and words."""
    counts = corpus.counts
    return {
        "shape": list(counts.shape),
        "counts": checksum(counts.indptr, counts.indices, counts.data),
        "vocabulary": zlib.crc32(json.dumps(corpus.words).encode()),
    }


def _plain(value: Any) -> Any:
    """Return numbers and names in a row as a list, and a table as its checksum, whatever they were given as."""
    if isinstance(value, Mapping):
        return [[key, _plain(entry)] for key, entry in value.items()]
    if not isinstance(value, list | tuple | np.ndarray):
        return value
    array = np.asarray(value)
    long = array.ndim > 1 or (array.dtype.kind == "f" and array.size > _LONG)
    return array.tolist() if not long else f"array {checksum(array)}"


def check_place(path: PathLike) -> None:
    """Refuse a place where no checkpoint can be written, or where something else would be lost.

    Raises
    ------
    WriteError
        If something else than a checkpoint is there, or the place cannot be written to.
    """
    fitting = "give a name that is not taken, or the folder of a checkpoint"
    if os.path.isfile(path):
        raise WriteError(f"{path} is a file, not a checkpoint; {fitting}.")
    if os.path.isdir(path) and os.listdir(path):
        try:
            kind = persistence.read_head(path)["kind"]
        except ModelFormatError:
            raise WriteError(f"{path} already exists and is not a checkpoint; {fitting}.") from None
        if kind != KIND:
            raise WriteError(f"{path} holds a {kind}, not a checkpoint; {fitting}.")
    persistence.check_target(path, overwrite=True)


def seed_of_fit(random_state: int | np.random.RandomState | None, checkpoint: PathLike | None, *, resume: bool) -> int:
    """Return the seed of a fit, that of the checkpoint where it goes on from one and none is given.

    Raises
    ------
    InputError, WriteError
        If a new checkpoint cannot be written.
    """
    if checkpoint is not None:
        bring_back(place_of(checkpoint))  # of a fit that was killed
        if not (resume and os.path.exists(checkpoint)):
            check_place(checkpoint)
    seed = seed_from(random_state)
    if resume and checkpoint is not None and not isinstance(random_state, Integral):
        return seed_of(checkpoint, otherwise=seed)
    return seed


def seed_of(path: PathLike, *, otherwise: int) -> int:
    """Return the seed of the fit whose checkpoint is at `path`; `otherwise` if there is none."""
    if not Path(path).exists():
        return otherwise
    try:
        return saved_seed(persistence.read_head(path)["meta"]["identity"]["random_state"])
    except (KeyError, TypeError, ValueError):
        return otherwise  # reading the whole checkpoint says what is wrong with it


def write_checkpoint(path: PathLike, laps: Laps, trace: Trace, identity: dict[str, Any]) -> None:
    """Replace the checkpoint at `path` by where a fit stands between two laps."""
    arrays, values = laps.snapshot()
    meta = {**values, "identity": identity, "trace": trace.columns}
    persistence.write_folder(path, kind=KIND, arrays=arrays, meta=meta, overwrite=True, sparse=False)


def read_checkpoint(path: PathLike, laps: Laps, identity: dict[str, Any]) -> Trace | None:
    """Let laps take up the checkpoint at `path`, and return its trace; None if there is none.

    Raises
    ------
    InputError
        If the checkpoint is of another estimator, other documents or settings.
    ModelFormatError
        If it is not a checkpoint, or its parts do not fit together.
    """
    if not Path(path).exists():
        return None
    arrays, meta = persistence.read_folder(path, kind=KIND, mapped=True)
    try:
        saved = meta["identity"]
        if saved["estimator"] != identity["estimator"]:
            raise InputError(
                f"the checkpoint {path} belongs to a {saved['estimator']}, but this fit is a {identity['estimator']}; "
                "resume with the same method, or choose another checkpoint."
            )
        different = [name for name in {**saved, **identity} if name not in saved or identity.get(name) != saved[name]]
        if different:
            raise InputError(
                f"the checkpoint {path} belongs to a fit that differs in its {different[0]}; resume with the same "
                "input and settings, or choose another checkpoint."
            )
        with np.errstate(over="ignore", invalid="ignore"):  # sums of what is checked
            check_trace(meta["trace"])
            missing = sorted(set(laps.columns) - meta["trace"].keys())
            require(not missing, f"its trace lacks the column {missing and missing[0]}")
            trace = Trace(meta["trace"])
            laps.restore(arrays, meta, len(trace))
            return trace
    except KeyError as error:
        raise ModelFormatError(f"the checkpoint {path} lacks {error}; start the fit again without it.") from None
    except InputError:
        raise
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ModelFormatError(f"the checkpoint {path} is damaged ({error}); start the fit again without it.") from None


def check_trace(columns: Mapping[str, Any]) -> None:
    """Raise a ValueError unless a trace has equally long columns of numbers in range, its laps numbered from 1."""
    missing = sorted(set(COLUMNS) - columns.keys())
    require(not missing, f"its trace lacks the column {missing and missing[0]}")
    tables = [np.asarray(column) for column in columns.values()]
    plain = all(table.ndim == 1 and table.dtype.kind in "bif" for table in tables)
    require(plain and len({table.size for table in tables}) <= 1, "the columns of its trace are not equally long")
    require(all(are_sums(table, signed=True) for table in tables), "its trace holds a number out of range")
    laps = np.asarray(columns["lap"])
    require(np.array_equal(laps, np.arange(1, laps.size + 1)), "the laps of its trace are not numbered 1, 2, ...")
    require(bool((np.asarray(columns["n_topics"]) >= 0).all()), "its trace has a negative number of topics")


def whole_number(name: str, value: Any) -> int:
    """Return a saved number of steps, laps or documents; a ValueError for what is not a whole number of at least 0."""
    number = not isinstance(value, bool) and isinstance(value, int) and 0 <= value <= MOST_WHOLE
    require(number, f"{name} is {value!r}, not a whole number")
    return int(value)


def saved_seed(value: Any) -> int:
    """Return the saved seed of a fit; a ValueError for what cannot be one."""
    require(whole_number("its seed", value) < 2**32, f"its seed is {value}, not below 2**32")
    return int(value)


def check_end(model: Any) -> None:
    """Raise a ValueError if the trace of a fitted model, or what it says of the end of its fit, cannot be."""
    columns = model._trace.columns
    check_trace(columns)
    n_laps, rows = whole_number("n_laps_", model.n_laps_), len(columns["lap"])
    require(n_laps == rows >= 1, f"n_laps_ is {n_laps}, but its trace has {rows} rows")
    numbers = (model.objective_, model.start_seconds_)
    plain = all(isinstance(number, float) and math.isfinite(number) for number in numbers)
    require(plain, "its objective or the seconds of its start are not a number")
    how = isinstance(model.converged_, bool) and isinstance(model.stop_reason_, str)
    require(how, "it does not say how its fit ended")


def check_learned(model: Any, names: Collection[str]) -> None:
    """Raise a ValueError if a fitted model has a hyperparameter that no fit can have reached."""
    for name in names:
        value = getattr(model, f"{name}_")
        if name == "eta" and isinstance(value, np.ndarray):
            sound = is_table(value, model.n_features_in_) and bool(((value >= SMALLEST) & (value <= LARGEST)).all())
            require(sound, "eta_ is not a number in its range for each word")
            continue
        require(is_concentration(value), f"{name}_ is {value!r}, not a number from {SMALLEST:g} to {LARGEST:g}")


def is_table(array: NDArray, *shape: int) -> bool:
    """Whether an array is a table of finite doubles of this shape."""
    return array.shape == shape and array.dtype == np.float64 and bool(np.isfinite(array).all())


def require(sound: bool, problem: str) -> None:
    """Raise a ValueError, which whoever reads the file tells with its place."""
    if not sound:
        raise ValueError(problem)


def check_moves(moves: Any) -> None:
    """Refuse a loaded list of accepted moves that no fit can have left."""
    kinds = {"pass": int, "move": str, "gain": float, "n_topics": int, "topics": list}
    for change in moves:
        fits = change.keys() == kinds.keys() and all(isinstance(change[name], kinds[name]) for name in kinds)
        if not (fits and all(isinstance(word, str) for words in change["topics"] for word in words)):
            raise ValueError("moves_ holds something else than accepted moves")
