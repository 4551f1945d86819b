"""What every file of texts gives: documents with their names, one at a time."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["Records", "name_of"]

Records = Iterator[tuple[str | None, str]]
"""Documents: a name, or None where the row number serves, and a text."""


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
