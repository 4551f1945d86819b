"""What every file of texts gives: documents with their names, one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

__all__ = ["Records", "Written", "name_of"]

Records = Iterator[tuple[str | None, str, Mapping[str, object]]]
"""Documents: a name, or None where the row number serves, a text, and the values of the fields that are kept."""


class Written(str):
    """A value as it is written in a table, whatever it stands for: a number, a date, a text."""

    __slots__ = ()


def name_of(value: object) -> str | None:
    """Return the name of a document.

    Parameters
    ----------
    value : object
        What stands in the field of the names.

    Returns
    -------
    str or None
        None for nothing.
    """
    return None if value is None or value == "" else str(value)
