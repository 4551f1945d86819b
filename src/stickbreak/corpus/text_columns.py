"""Texts in memory: lists, arrays, columns of pandas, polars and Arrow, and columns of their data frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stickbreak.corpus.metadata import Gatherer, Layout
from stickbreak.corpus.mistakes import first_entry
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
    """Return the texts that X holds; None if it holds something else, or nothing.

    Parameters
    ----------
    X : object
        Texts are a list, a tuple, an array of one dimension, or a column of pandas, polars or Arrow, whose first entry
        that is not missing is a string. Any other object with a stream of Arrow data counts as a column, too.

    Returns
    -------
    list or None
        Strings, and None or NaN where a text is missing.

    Examples
    --------
    >>> texts_in(("bread", "butter")), texts_in([1, 2])
    (['bread', 'butter'], None)
    """
    if isinstance(X, str | bytes | bytearray | Mapping) or is_frame(X):
        return None
    if hasattr(X, "to_pylist"):
        values = X.to_pylist()
    elif isinstance(X, Sequence) or (getattr(X, "ndim", None) == 1 and hasattr(X, "tolist")):
        values = X
    elif hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__"):
        values = _from_arrow(X)
    else:
        return None
    if not isinstance(first_entry(values), str):
        return None
    return list(values)


def _from_arrow(X: Any) -> list[Any]:
    """Read a column through the interface that all libraries of data frames share."""
    import pyarrow as pa

    try:
        column = pa.chunked_array(X) if hasattr(X, "__arrow_c_stream__") else pa.array(X)
    except (pa.ArrowException, TypeError, ValueError):
        return []
    values: list[Any] = column.to_pylist()
    return values


def column_of(frame: Any, name: Any) -> Any:
    """Return a column of a data frame.

    Parameters
    ----------
    frame : pandas or polars DataFrame, pyarrow.Table
    name : str

    Raises
    ------
    InputError
        If there is no such column.
    """
    names = columns_of(frame)
    if names.count(name) != 1:
        what = "no column" if name not in names else "several columns"
        raise InputError(f"the data frame has {what} {name!r:.40}; name one of {listed(names)}")
    return frame[name]


def texts_of(frame: Any, name: Any) -> list[Any] | None:
    """Return the texts of a column of a data frame, with an empty text for each empty cell; None if it holds no texts.

    Parameters
    ----------
    frame : pandas or polars DataFrame, pyarrow.Table
    name : str

    Raises
    ------
    InputError
        If there is no such column.
    """
    texts = texts_in(column_of(frame, name))
    return None if texts is None else ["" if _is_missing(text) else text for text in texts]


def _is_missing(cell: Any) -> bool:
    """Tell whether a cell is empty: None, NaN, or what pandas has for missing strings."""
    return cell is None or (isinstance(cell, float) and cell != cell) or type(cell).__name__ == "NAType"


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
        texts = texts_in(values)
        columns[name] = _array(values, name) if texts is None else _typed(name, texts)
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


def _typed(name: str, values: list[Any]) -> Any:
    gatherer = Gatherer((name,))
    for value in values:
        gatherer.add({name: value if isinstance(value, str) else None})
    gathered = gatherer.gathered()
    return Layout.of([gathered.forms()]).typed(gathered)[name]
