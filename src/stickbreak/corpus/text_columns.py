"""Texts in memory: lists, arrays, columns of pandas, polars and Arrow, and columns of their data frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from stickbreak.corpus.metadata import Gatherer, Layout
from stickbreak.corpus.mistakes import first_entry, is_missing
from stickbreak.corpus.reading.fields import ALL, checked_keep, listed
from stickbreak.exceptions import InputError, InvalidCorpus

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["column_of", "columns_of", "is_frame", "kept_columns", "texts_in", "texts_of"]


def is_frame(X: Any) -> bool:
    """Tell whether X is a data frame or table, with named columns.

    Parameters
    ----------
    X : object
    """
    return hasattr(X, "columns") or hasattr(X, "column_names")


def columns_of(frame: Any) -> list[str]:
    """Return the names of the columns of a data frame.

    Parameters
    ----------
    frame : pandas or polars DataFrame, pyarrow.Table
    """
    return [str(name) for name in (getattr(frame, "column_names", None) or list(frame.columns))]


def texts_in(X: Any) -> list[Any] | None:
    """Return the texts that X holds, with an empty text for each that is missing; None if it holds something else.

    Parameters
    ----------
    X : object
        Texts are a list, a tuple, an array of one dimension, or a column of pandas, polars or Arrow, whose first entry
        that is not missing is a string; no entry at all, or none but missing ones, are texts, too. Any other object
        with a stream of Arrow data counts as a column.

    Returns
    -------
    list or None

    Examples
    --------
    >>> texts_in(("bread", None)), texts_in([1, 2])
    (['bread', ''], None)
    """
    values = _entries(X)
    if values is None or not isinstance(first_entry(values), str | None):
        return None
    return ["" if is_missing(text) else text for text in values]


def _entries(X: Any) -> Sequence[Any] | None:
    """Return the entries of what has one dimension; None for anything else."""
    if isinstance(X, str | bytes | bytearray | Mapping) or is_frame(X):
        return None
    if hasattr(X, "to_pylist"):
        entries: Sequence[Any] = X.to_pylist()
        return entries
    if isinstance(X, Sequence) or (getattr(X, "ndim", None) == 1 and hasattr(X, "tolist")):
        return cast(Sequence[Any], X)
    if hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__"):
        return _from_arrow(X)
    return None


def _from_arrow(X: Any) -> list[Any] | None:
    """Read a column through the interface that all libraries of data frames share."""
    import pyarrow as pa

    try:
        column = pa.chunked_array(X) if hasattr(X, "__arrow_c_stream__") else pa.array(X)
    except (pa.ArrowException, TypeError, ValueError):
        return None
    values: list[Any] = column.to_pylist()
    return values


def column_of(frame: Any, name: Any) -> Any:
    """Return a column of a data frame.

    Parameters
    ----------
    frame : pandas or polars DataFrame, pyarrow.Table
    name : object
        Names are compared as text: 0 and "0" are the same.

    Raises
    ------
    InputError
        If there is no such column.
    """
    names, name = columns_of(frame), str(name)
    if names.count(name) != 1:
        what = "no column" if name not in names else "several columns"
        raise InputError(f"the data frame has {what} {name!r:.40}; name one of {listed(names)}")
    return frame.iloc[:, names.index(name)] if hasattr(frame, "iloc") else frame[name]


def texts_of(frame: Any, name: Any) -> list[Any] | None:
    """Return the texts of a column of a data frame, as `texts_in` does.

    Parameters
    ----------
    frame : pandas or polars DataFrame, pyarrow.Table
    name : object

    Raises
    ------
    InputError
        If there is no such column.
    """
    return texts_in(column_of(frame, name))


def kept_columns(frame: Any, keep: Any, text: str) -> pa.Table | None:
    """Return columns of a data frame as `Corpus.metadata`; dates that are written as text are recognised.

    Parameters
    ----------
    frame : pandas or polars DataFrame, pyarrow.Table
    keep : sequence of str, "all" or None
        Names of columns; "all": all but that of the texts.
    text : str
        The column of the texts.
    """
    import pyarrow as pa

    asked = checked_keep(keep)
    names = [name for name in columns_of(frame) if name != text] if asked == ALL else list(asked)
    if not names:
        return None
    columns = {}
    for name in names:
        values = column_of(frame, name)
        entries = _entries(values)
        if entries is not None and isinstance(first_entry(entries), str):
            columns[name] = _typed(name, entries)
        else:
            columns[name] = _array(values, name)
    return pa.table(columns)


def _array(values: Any, name: str) -> Any:
    import pyarrow as pa

    try:
        stream = hasattr(values, "__arrow_c_stream__")
        return (
            values if isinstance(values, pa.ChunkedArray) else pa.chunked_array(values) if stream else pa.array(values)
        )
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InvalidCorpus(
            f"column {name!r:.40} cannot be kept ({error!s:.80}); leave it out of keep, or give it one type"
        ) from error


def _typed(name: str, values: Sequence[Any]) -> Any:
    gatherer = Gatherer((name,))
    for value in values:
        gatherer.add({name: value if isinstance(value, str) else None})
    gathered = gatherer.gathered()
    return Layout.of([gathered.forms()]).typed(gathered)[name]
