"""What people give in place of a table of numbers - texts, a path, a dict - and how they get what is wanted."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from numbers import Number
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Mistake", "first_entry", "is_missing", "mistake_in", "obvious_mistake"]

_COUNT = "count them first: stickbreak.corpus.count_texts"
_TABLE = "give an array, a sparse matrix, a data frame or a Corpus"


class Mistake(NamedTuple):
    """What X is, and how it becomes counts."""

    what: str
    advice: str

    def of_counts(self) -> str:
        """Say it where counts are wanted."""
        return f"X must hold counts of words, but {self.what}; {self.advice}"

    def of_vectors(self, wanted: str) -> str:
        """Say it where vectors are wanted."""
        return f"X must hold vectors, but {self.what}; give {wanted}"


def obvious_mistake(X: Any) -> Mistake | None:
    """Return what X is if it cannot be a table at all; a glance, before anything is converted.

    Parameters
    ----------
    X : object
        As it was given. A generator is not read.
    """
    if hasattr(X, "tocsr"):  # sparse; some kinds are dicts, too
        return None
    if isinstance(X, str):
        advice = (
            "count texts with stickbreak.corpus.count_texts([...]), or read a file with stickbreak.corpus.read(path)"
        )
        return Mistake("X is a single string", advice)
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        advice = "fill them, as in X.filled(0), or leave these rows out"
        return Mistake("X is a masked array, of which the masked values are unknown", advice)
    if isinstance(X, bytes | bytearray):
        return Mistake("X is bytes", "decode them and count the texts with stickbreak.corpus.count_texts([...])")
    if isinstance(X, os.PathLike):
        return Mistake("X is a path", "read the file first: stickbreak.corpus.read(X)")
    name = type(X).__name__
    if X is None or isinstance(X, Mapping | Set | Number):
        what = "None" if X is None else "a single number" if isinstance(X, Number) else f"a {name}"
        return Mistake(f"X is {what}", _TABLE)
    if isinstance(X, Iterator):
        advice = "give an array or a list of rows, or count texts with stickbreak.corpus.count_texts(X)"
        return Mistake(f"X is a {name}", advice)
    if hasattr(X, "offsets") and hasattr(X, "group_sizes"):
        return Mistake("X is GroupedVectors", "fit vectors with GaussianHDP, or give a Corpus")
    if isinstance(X, Sequence) or getattr(X, "ndim", None) == 1:
        if not len(X):
            return Mistake("X is empty", "give at least one document")
        first = first_entry(X)
        if isinstance(first, str):
            return Mistake("X holds texts", f"{_COUNT}(X)")
        if isinstance(first, bytes):
            return Mistake("X holds bytes", f"decode them, then {_COUNT}(texts)")
        if isinstance(first, Mapping):
            advice = "make a table: sklearn.feature_extraction.DictVectorizer().fit_transform(X)"
            return Mistake(f"X holds a {type(first).__name__} for each document", advice)
        if _is_bag(X):
            advice = (
                "make a table: counts = gensim.matutils.corpus2csc(X).T; words = [dictionary[i] for i in "
                "range(len(dictionary))]; then stickbreak.Corpus.from_counts(counts, words)"
            )
            return Mistake("X is a gensim corpus, a list of (word number, count) for each document", advice)
    return None


def _is_bag(X: Any) -> bool:
    """Tell whether entries are lists of pairs of a whole number and a number, some of them perhaps empty."""
    own = next((bag for bag in X if isinstance(bag, list | tuple) and len(bag)), ())
    return bool(own) and all(
        isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(number, Number) for number in pair)
        for pair in own
    )


def mistake_in(X: Any) -> Mistake | None:
    """Return where a table that could not be converted holds texts; None if it is something else that is wrong.

    Parameters
    ----------
    X : object
    """
    found = obvious_mistake(X)
    if found is not None:
        return found
    if hasattr(X, "columns") or hasattr(X, "column_names"):
        return _text_column(X)
    if isinstance(X, np.ndarray):
        return _text_entry(X) if X.dtype.kind in "USO" and X.ndim == 2 else None
    if isinstance(X, Sequence) and isinstance(first_entry(first_entry(X)), str | bytes):
        return Mistake("X holds lists of words", "count them with stickbreak.corpus.count_texts(map(' '.join, X))")
    return None


def _text_column(table: Any) -> Mistake | None:
    """Find the first column of a data frame or a table that holds texts."""
    names = list(getattr(table, "column_names", None) or table.columns)
    for j, name in enumerate(names):
        column = table.iloc[:, j] if hasattr(table, "iloc") else table[name]
        if isinstance(first_entry(np.asarray(column)), str | bytes):
            advice = f"fit them with fit(X, text={name!r}), or {_COUNT}(X, text={name!r}), or leave that column out"
            return Mistake(f"column {name!r} of X holds texts", advice)
    return None


def _text_entry(array: np.ndarray) -> Mistake | None:
    """Find the first text in an array of two dimensions."""
    for row, entries in enumerate(array):
        for column, entry in enumerate(entries):
            if isinstance(entry, str | bytes):
                return Mistake(
                    f"row {row}, column {column} of X holds a text", "give numbers, or count texts with count_texts"
                )
    return None


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
