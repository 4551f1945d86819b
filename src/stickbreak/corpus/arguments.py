"""What functions were given instead of what they take - texts, dates, a path, a dict - and what to do then."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from numbers import Number
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from stickbreak.corpus.reading.files import DEFAULT_LIMITS, ReadLimits
from stickbreak.exceptions import InputError
from stickbreak.storage.places import is_url
from stickbreak.storage.urls import Location, UrlPath, location_of

_COUNT_THEM = "count them first: stickbreak.corpus.count_texts"
_TABLE = "give an array, a sparse matrix, a data frame or a Corpus"


class WrongInput(NamedTuple):
    """What X is, and how it becomes counts."""

    what: str
    advice: str

    def of_counts(self) -> str:
        """Say it where counts are wanted."""
        return f"X must hold counts of words, but {self.what}; {self.advice}"

    def of_vectors(self, wanted: str) -> str:
        """Say it where vectors are wanted."""
        return f"X must hold vectors, but {self.what}; give {wanted}"


def wrong_input(X: Any) -> WrongInput | None:
    """Return what X is, or where it holds texts, dates or durations; None if it may be a table of numbers."""
    if hasattr(X, "columns") or hasattr(X, "column_names"):
        return _wrong_column(X)
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "USOMm":
        return _wrong_entry(X)
    if hasattr(X, "tocsr"):  # sparse; some kinds are dicts, too
        return None
    if isinstance(X, str):
        advice = (
            "count texts with stickbreak.corpus.count_texts([...]), or read a file with stickbreak.corpus.read(path)"
        )
        return WrongInput("X is a single string", advice)
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        advice = "fill them, as in X.filled(0), or leave these rows out"
        return WrongInput("X is a masked array, of which the masked values are unknown", advice)
    if isinstance(X, bytes | bytearray):
        return WrongInput("X is bytes", "decode them and count the texts with stickbreak.corpus.count_texts([...])")
    if isinstance(X, os.PathLike):
        return WrongInput("X is a path", "read the file first: stickbreak.corpus.read(X)")
    name = type(X).__name__
    if X is None or isinstance(X, Mapping | Set | Number):
        what = "None" if X is None else "a single number" if isinstance(X, Number) else f"a {name}"
        return WrongInput(f"X is {what}", _TABLE)
    if isinstance(X, Iterator):
        advice = "give an array or a list of rows, or count texts with stickbreak.corpus.count_texts(X)"
        return WrongInput(f"X is a {name}", advice)
    if hasattr(X, "offsets") and hasattr(X, "group_sizes"):
        return WrongInput("X is GroupedVectors", "fit vectors with GaussianHDP, or give a Corpus")
    if isinstance(X, Sequence) or getattr(X, "ndim", None) == 1:
        if not len(X):
            return WrongInput("X is empty", "give at least one document")
        first = first_entry(X)
        if isinstance(first, str):
            return WrongInput("X holds texts", f"{_COUNT_THEM}(X)")
        if isinstance(first, bytes):
            return WrongInput("X holds bytes", f"decode them, then {_COUNT_THEM}(texts)")
        if isinstance(first, Mapping):
            advice = "make a table: sklearn.feature_extraction.DictVectorizer().fit_transform(X)"
            return WrongInput(f"X holds a {type(first).__name__} for each document", advice)
        if _is_bag(X):
            advice = (
                "make a table: counts = gensim.matutils.corpus2csc(X).T; words = [dictionary[i] for i in "
                "range(len(dictionary))]; then stickbreak.Corpus.from_counts(counts, words)"
            )
            return WrongInput("X is a gensim corpus, a list of (word number, count) for each document", advice)
        if isinstance(X, Sequence) and isinstance(first_entry(first), str | bytes):
            return WrongInput(
                "X holds lists of words", "count them with stickbreak.corpus.count_texts(map(' '.join, X))"
            )
    return None


def _is_bag(X: Any) -> bool:
    """Tell whether entries are lists of pairs of a whole number and a number, some of them perhaps empty."""
    own = next((bag for bag in X if isinstance(bag, list | tuple) and len(bag)), ())
    return bool(own) and all(
        isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(number, Number) for number in pair)
        for pair in own
    )


def _wrong_column(table: Any) -> WrongInput | None:
    """Find the first column of a data frame or a table that holds no numbers."""
    names = list(table.column_names if hasattr(table, "column_names") else table.columns)
    for j, kind in enumerate([dtype.kind for dtype in table.dtypes] if hasattr(table, "iloc") else ["O"] * len(names)):
        if kind in "biufc":
            continue
        name = names[j]
        if hasattr(table, "iloc"):
            column = table.iloc[:, j]
        else:  # Arrow may have a name twice
            column = table.column(j) if hasattr(table, "column_names") and hasattr(table, "column") else table[name]
        what = _kind_of(first_entry(column.to_pylist() if hasattr(column, "to_pylist") else column))
        if what == "text":
            advice = (
                f"fit them with fit(X, text={name!r}), or {_COUNT_THEM}(X, text={name!r}), or leave that column out"
            )
            return WrongInput(f"column {name!r} of X holds texts", advice)
        if what is not None:
            return WrongInput(f"column {name!r} of X holds {what}s", "leave that column out")
    return None


def _wrong_entry(array: np.ndarray) -> WrongInput | None:
    """Say what is wrong with the first entry of a table that is not a number."""
    if array.dtype.kind in "Mm":
        return WrongInput(f"X holds {'dates' if array.dtype.kind == 'M' else 'durations'}", "give numbers")
    for row, entries in enumerate(array):
        for column, entry in enumerate(entries):
            kind = None if is_missing(entry) else _kind_of(entry)
            if kind is not None:
                advice = "give numbers" + (", or count texts with count_texts" if kind == "text" else "")
                return WrongInput(f"row {row}, column {column} of X holds a {kind}", advice)
    return None


def _kind_of(entry: Any) -> str | None:
    """Return whether an entry is a text, a date or a duration; None for anything else."""
    if isinstance(entry, str | bytes):
        return "text"
    if isinstance(entry, datetime.date | datetime.time | np.datetime64) or type(entry).__name__ == "Period":
        return "date"
    return "duration" if isinstance(entry, datetime.timedelta | np.timedelta64) else None


def first_entry(values: Any) -> Any:
    """Return the first entry that is not missing; None where there is none."""
    if not isinstance(values, Iterable) or isinstance(values, str | bytes):
        return None
    return next((value for value in values if not is_missing(value)), None)


def is_missing(value: Any) -> bool:
    """Tell None, NaN, and the NaT and NA of pandas; NA is not even equal to itself."""
    return (
        value is None or (isinstance(value, Number) and value != value) or type(value).__name__ in ("NAType", "NaTType")
    )


_COUNT = "stickbreak.corpus.count_texts"
_LONGEST_NAME = 4096  # of a path; a text is longer


def checked_location(path: object, function: str) -> Location:
    """Return the path, or the URL, of an input; the arguments and errors are those of `checked_path`."""
    if isinstance(path, UrlPath) or is_url(path):
        return location_of(path)
    return location_of(checked_path(path, function))


def checked_path(path: object, function: str) -> Path:
    """Return the path of an input."""
    if isinstance(path, str) and (len(path) > _LONGEST_NAME or "\n" in path or "\0" in path) and not _exists(path):
        raise InputError(
            f"{function} takes a path, not a text ({path[:30]!r}...); count texts with {_COUNT}([text, ...])"
        )
    if isinstance(path, UrlPath) or is_url(path):
        raise InputError(f"{location_of(path)!s:.100} is a URL, but {function} reads files; fetch it first")
    if isinstance(path, (str, os.PathLike)) and os.fspath(path):
        found = os.fspath(path)
        return Path(found if isinstance(found, str) else os.fsdecode(found))
    if isinstance(path, str):
        raise InputError(f"{function} takes a path, but it is empty; name a file or a folder ('.' for this one)")
    raise InputError(f"{function} takes a path, not {kind_of(path)}; {advice_for(path)}")


def _exists(path: str) -> bool:
    try:
        return os.path.exists(path)
    except (OSError, ValueError):
        return False


def kind_of(value: object) -> str:
    """Return what a value is, for a message.

    Examples
    --------
    >>> kind_of([]), kind_of(3), kind_of(None)
    ('a list', 'an int', 'None')
    """
    name = type(value).__name__
    article = "an" if name.lower().startswith(("a", "e", "i", "o", "nd")) else "a"
    return "None" if value is None else f"{article} {name}"


def advice_for(value: Any) -> str:
    """Say what to do with data in memory that are not what was asked for."""
    if hasattr(value, "counts") and hasattr(value, "vocabulary"):
        return "it is a Corpus already: fit it as it is"
    if hasattr(value, "columns") or hasattr(value, "column_names"):  # pandas, polars; pyarrow
        columns = list(getattr(value, "column_names", getattr(value, "columns", ())))
        column = "text" if "text" in columns or len(columns) != 1 else columns[0]
        return f"count its text column with {_COUNT}(frame, text={column!r})"
    if getattr(getattr(value, "dtype", None), "kind", "") in "biufc" and hasattr(value, "dtype"):
        return "counts become a corpus by stickbreak.corpus.Corpus.from_counts(counts, words)"
    return f"name a file or a folder, or count texts with {_COUNT}(texts)"


def checked_optional_name(value: object, argument: str) -> str | None:
    """Return the name of a field or column that was asked for."""
    if value is None or isinstance(value, str):
        return value
    raise InputError(f"{argument} is {value!r:.40}; give the name of a field or column")


def checked_limits(limits: object) -> ReadLimits:
    """Return the limits of a call; the default for None."""
    if limits is None:
        return DEFAULT_LIMITS
    if not isinstance(limits, ReadLimits):
        raise InputError(f"limits is {limits!r:.40}; give stickbreak.corpus.ReadLimits(...) or None")
    return limits
