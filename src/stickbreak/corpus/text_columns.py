"""Texts in memory: lists, iterators, arrays, columns of pandas, polars and Arrow, and columns of their data frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set, Sized
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from stickbreak.corpus.arguments import first_entry, is_missing
from stickbreak.corpus.metadata import Gatherer
from stickbreak.corpus.reading.fields import ALL, checked_keep, listed
from stickbreak.exceptions import InputError, InvalidCorpus

if TYPE_CHECKING:
    import pyarrow as pa

_LOOKED_AT = 100  # lists of words, to see that they are no texts in lists


def is_frame(X: Any) -> bool:
    """Tell whether X is a data frame or table, with named columns."""
    if hasattr(X, "columns") or hasattr(X, "column_names"):
        return True
    return hasattr(X, "__arrow_c_stream__") and hasattr(getattr(X, "schema", None), "names")  # a reader of Arrow


def names_a_column(value: Any) -> bool:
    """Tell whether a value names a column, and is none itself."""
    return isinstance(value, str) or not (value is None or isinstance(value, Iterable | Sized))


def as_frame(X: Any) -> Any:
    """Return a data frame as it is, and what is only read when asked (a reader of Arrow, a query) as a table."""
    refuse_lazy(X)
    if not is_frame(X) or hasattr(X, "iloc") or isinstance(getattr(X, "shape", None), tuple):
        return X
    if hasattr(X, "__arrow_c_stream__"):
        import pyarrow as pa

        return pa.table(X)
    return X


def refuse_lazy(X: Any) -> None:
    """Refuse what is a plan of a table, not a table."""
    if hasattr(X, "collect_schema") and hasattr(X, "collect"):
        raise InputError(f"X is a {type(X).__name__}, which is not read yet; give X.collect()")
    if hasattr(X, "__dask_graph__") and hasattr(X, "compute"):
        raise InputError(
            f"X is a collection of Dask ({type(X).__name__}), which is not read yet; give X.compute(), or count large "
            "files with stickbreak.count_files"
        )


def columns_of(frame: Any) -> list[str]:
    """Return the names of the columns of a data frame."""
    if hasattr(frame, "column_names"):
        return [str(name) for name in frame.column_names]
    return [str(name) for name in (frame.columns if hasattr(frame, "columns") else frame.schema.names)]


def text_of(given: Any) -> str:
    """Return a text, or the words of one with blanks between them; one that is missing is empty."""
    if isinstance(given, str):
        return given
    return "" if is_missing(given) else " ".join(given)


def texts_in(X: Any) -> list[Any] | None:
    """Return the texts that X holds, with an empty text for each that is missing; None if it holds something else.

    This is where texts and counts are told apart.

    Examples
    --------
    >>> texts_in(("bread", None)), texts_in([["fresh bread", "salt"]]), texts_in([1, 2])
    (['bread', ''], [['fresh bread', 'salt']], None)
    """
    refuse_lazy(X)
    values = _entries(X)
    if values is None:
        return None
    first = first_entry(values)
    if isinstance(first, str | None):
        return ["" if is_missing(text) else text for text in values]
    if _holds_words(values):
        lists = [[] if is_missing(words) else list(words) for words in values]
        some = [words for words in lists[:_LOOKED_AT] if words]
        if all(len(words) == 1 for words in some) and any(" " in words[0].strip() for words in some):
            raise InputError("X holds a list with one text for each document; give the texts themselves")
        return lists
    if isinstance(X, Iterator):
        raise InputError(
            f"X is a {type(X).__name__} that gives {type(first).__name__}, not texts; give an array or a list of "
            "rows of "
            "counts"
        )
    return None


def _holds_words(values: Sequence[Any]) -> bool:
    """Tell whether the entries are lists of words, some of them perhaps empty."""
    kinds = list | tuple | np.ndarray
    some = islice((own for own in values if isinstance(own, kinds) and len(own)), 1)
    own = next(some, None)
    return own is not None and getattr(own, "ndim", 1) == 1 and all(isinstance(word, str) for word in own)


def _entries(X: Any) -> Sequence[Any] | None:
    """Return the entries of what has one dimension; None for anything else."""
    if isinstance(X, str | bytes | bytearray | Mapping | Set) or is_frame(X) or hasattr(X, "tocsr"):
        return None
    if hasattr(X, "to_pylist"):
        return cast(Sequence[Any], X.to_pylist())
    if hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__"):
        return _from_arrow(X)
    if isinstance(X, Sequence) or (getattr(X, "ndim", None) == 1 and hasattr(X, "tolist")):
        return cast(Sequence[Any], X)
    if isinstance(X, Iterable) and not hasattr(X, "shape") and not hasattr(X, "read"):
        return list(X)
    return None


def _from_arrow(X: Any) -> Sequence[Any] | None:
    """Read a column through the interface that all libraries of data frames share."""
    import pyarrow as pa

    try:
        column = pa.chunked_array(X) if hasattr(X, "__arrow_c_stream__") else pa.array(X)
        return cast(Sequence[Any], column.to_pylist())
    except (pa.ArrowException, TypeError, ValueError):
        return cast(Sequence[Any], X) if hasattr(X, "__len__") and hasattr(X, "__getitem__") else None


def column_of(frame: Any, name: Any) -> Any:
    """Return a column of a data frame; names are compared as text: 0 and "0" are the same."""
    frame = as_frame(frame)
    names, name = columns_of(frame), str(name)
    if names.count(name) != 1:
        what = "no column" if name not in names else "several columns"
        raise InputError(f"the data frame has {what} {name!r:.40}; name one of {listed(names)}")
    return frame.iloc[:, names.index(name)] if hasattr(frame, "iloc") else frame[name]


def texts_of(frame: Any, name: Any) -> list[Any] | None:
    """Return the texts of a column of a data frame, as `texts_in` does."""
    return texts_in(column_of(frame, name))


def kept_columns(frame: Any, keep: Any, text: str) -> pa.Table | None:
    """Return columns of a data frame as `Corpus.metadata`; dates that are written as text are recognised."""
    import pyarrow as pa

    asked = checked_keep(keep)
    names = [name for name in columns_of(frame) if name != text] if asked == ALL else list(asked)
    if not names:
        return None
    columns = {}
    for name in names:
        values = column_of(frame, name)
        entries = _entries(values)
        if entries is not None and _holds_text(values, entries):
            columns[name] = _typed(name, entries)
        else:
            columns[name] = _array(values, name)
    return pa.table(columns)


def _holds_text(values: Any, entries: Sequence[Any]) -> bool:
    """Tell whether a column holds text; one of any objects may do so beside others."""
    if isinstance(first_entry(entries), str):
        return True
    kind = getattr(getattr(values, "dtype", None), "kind", "")
    return kind == "O" and any(isinstance(value, str) for value in entries)


def _array(values: Any, name: str) -> Any:
    import pyarrow as pa

    try:
        if isinstance(values, pa.ChunkedArray):
            return values
        return pa.chunked_array(values) if hasattr(values, "__arrow_c_stream__") else pa.array(values)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InvalidCorpus(
            f"column {name!r:.40} cannot be kept ({error!s:.80}); leave it out, or give it one type"
        ) from error


def _typed(name: str, values: Sequence[Any]) -> Any:
    gatherer = Gatherer((name,))
    gatherer.add({name: [None if is_missing(value) else value for value in values]}, len(values))
    table = gatherer.typed()
    return None if table is None else table[name]
