"""What `read` and `count_texts` were given instead of what they take, and what to call then."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from stickbreak.corpus.reading.limits import DEFAULT_LIMITS, ReadLimits
from stickbreak.exceptions import InputError
from stickbreak.storage.places import is_url
from stickbreak.storage.urls import Location, UrlPath, location_of

__all__ = ["advice_for", "checked_limits", "checked_location", "checked_optional_name", "checked_path", "kind_of"]

_COUNT = "stickbreak.corpus.count_texts"
_LONGEST_NAME = 4096  # of a path; a text is longer


def checked_location(path: object, function: str) -> Location:
    """Return the path, or the URL, of an input; the arguments and errors are those of `checked_path`."""
    if isinstance(path, UrlPath) or is_url(path):
        return location_of(path)
    return location_of(checked_path(path, function))


def checked_path(path: object, function: str) -> Path:
    """Return the path of an input.

    Parameters
    ----------
    path : object
        What was given.
    function : str
        The function that takes it, such as "read".

    Returns
    -------
    Path

    Raises
    ------
    InputError
        If it is not a path. The message says which function takes what was given.
    """
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

    Parameters
    ----------
    value : object
        Anything.

    Returns
    -------
    str

    Examples
    --------
    >>> kind_of([]), kind_of(3), kind_of(None)
    ('a list', 'an int', 'None')
    """
    name = type(value).__name__
    article = "an" if name.lower().startswith(("a", "e", "i", "o", "nd")) else "a"
    return "None" if value is None else f"{article} {name}"


def advice_for(value: Any) -> str:
    """Say what to do with data in memory that are not what was asked for.

    Parameters
    ----------
    value : object
        A data frame, list, array, open file, ...

    Returns
    -------
    str
        "count its text column with ...", say.
    """
    if hasattr(value, "counts") and hasattr(value, "vocabulary"):
        return "it is a Corpus already: fit it as it is"
    if hasattr(value, "columns") or hasattr(value, "column_names"):  # pandas, polars; pyarrow
        columns = list(getattr(value, "column_names", getattr(value, "columns", ())))
        column = "text" if "text" in columns or len(columns) != 1 else columns[0]
        return f"count its text column with {_COUNT}(frame, text={column!r})"
    if callable(getattr(value, "read", None)):
        return "give the path of the file"
    dtype = getattr(value, "dtype", None)
    if dtype is not None and getattr(dtype, "kind", "") in "biufc":
        return "counts become a corpus by stickbreak.corpus.Corpus.from_counts(counts, words)"
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "write the bytes to a file and name it"
    if value is None or isinstance(value, (int, float, complex)):
        return "name a file or a folder"
    if isinstance(value, (list, tuple)) and value and all(isinstance(entry, os.PathLike) for entry in value):
        return "read the files one by one, or name their folder"
    return f"count texts with {_COUNT}(texts)"


def checked_optional_name(value: object, argument: str) -> str | None:
    """Return the name of a field or column that was asked for.

    Parameters
    ----------
    value : object
        A str or None.
    argument : str
        Whose value it is.

    Returns
    -------
    str or None

    Raises
    ------
    InputError
        For anything else.
    """
    if value is None or isinstance(value, str):
        return value
    raise InputError(f"{argument} is {value!r:.40}; give the name of a field or column")


def checked_limits(limits: object) -> ReadLimits:
    """Return the limits of a call; the default for None.

    Parameters
    ----------
    limits : object
        A ReadLimits or None.

    Returns
    -------
    ReadLimits

    Raises
    ------
    InputError
        For anything else.
    """
    if limits is None:
        return DEFAULT_LIMITS
    if not isinstance(limits, ReadLimits):
        raise InputError(f"limits is {limits!r:.40}; give stickbreak.corpus.ReadLimits(...) or None")
    return limits
