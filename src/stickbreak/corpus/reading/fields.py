"""Which field of a table or of JSON objects holds the text, and which the name of a document."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from stickbreak.exceptions import ReadError

__all__ = ["choose_fields"]

_TEXT = "text"
_MOST_SHOWN = 12
_NAMES = ("id", "name", "title")


def choose_fields(
    record: Mapping[str, object], text_field: str | None, name_field: str | None, where: str
) -> tuple[str, str | None]:
    """Choose the fields of the text and of the name, by a sample record.

    Parameters
    ----------
    record : mapping of str to object
        The first record, or columns with a sample value: a str marks a field that could be the text.
    text_field : str or None
        The field asked for. None: "text" if there is one, else the only string field (not counting those that
        serve as names, if there are several).
    name_field : str or None
        The field asked for. None: the first of "id", "name", "title" that exists, if any.
    where : str
        File and line, for the message.

    Returns
    -------
    text_field : str
    name_field : str or None

    Raises
    ------
    ReadError
        If a field asked for is missing, or none can be chosen; the message names those that exist.

    Examples
    --------
    >>> choose_fields({"id": 7, "body": "Once upon a time"}, None, None, "tales.jsonl")
    ('body', 'id')
    """
    exist = _listed(record)
    for asked, option in ((text_field, "--text-field"), (name_field, "--name-field")):
        if asked is not None and asked not in record:
            raise ReadError(f"{where} has no field {asked!r}; name another with {option}: {exist}")
    text = text_field if text_field is not None else _only_text(record)
    if text is None:
        raise ReadError(f"{where}: it is not clear which field holds the text; name one with --text-field: {exist}")
    if name_field is None:
        name_field = next((field for field in _NAMES if field in record and field != text), None)
    return text, name_field


def _listed(record: Mapping[str, object]) -> str:
    """Write the fields for a message, however many and long they are."""
    shown = ", ".join(f"{field!r:.40}" for field in islice(record, _MOST_SHOWN)) or "none"
    return shown if len(record) <= _MOST_SHOWN else f"{shown} and {len(record) - _MOST_SHOWN} more"


def _only_text(record: Mapping[str, object]) -> str | None:
    if _TEXT in record:
        return _TEXT
    strings = [field for field, value in record.items() if isinstance(value, str)]
    if len(strings) > 1:
        strings = [field for field in strings if field not in _NAMES]
    return strings[0] if len(strings) == 1 else None
