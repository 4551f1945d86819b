"""Which field of a table or of JSON objects holds the text, which the name of a document, and which are kept."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from numbers import Integral

from stickbreak.exceptions import InputError, ReadError

__all__ = ["ALL", "Asked", "Fields", "checked_keep", "choose_fields", "listed"]

ALL = ("*",)
"""What `keep="all"` stands for."""

_TEXT = "text"
_MOST_SHOWN = 12
_NAMES = ("id", "name", "title")


@dataclass(frozen=True, slots=True)
class Asked:
    """The fields that a caller asks for.

    Attributes
    ----------
    text, name : str or None
        None: they are chosen by a sample record.
    keep : tuple of str
        Those whose values are kept beside the counts; ALL: all but the text and the name.
    """

    text: str | None = None
    name: str | None = None
    keep: tuple[str, ...] = ()

    def fields(self, record: Mapping[str, object], where: str) -> Fields:
        """Choose the fields by a sample record; parameters and errors as of `choose_fields`."""
        text, name = choose_fields(record, self.text, self.name, where)
        if self.keep == ALL:
            return Fields(text, name, tuple(field for field in record if field not in (text, name)), more=True)
        missing = next((field for field in self.keep if field not in record), None)
        if missing is not None:
            raise ReadError(f"{where} has no field {missing!r}; name another one: {listed(record)}")
        return Fields(text, name, self.keep)


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields that are read.

    Attributes
    ----------
    text : str
    name : str or None
    keep : tuple of str
        Those whose values are kept.
    more : bool
        Keep other fields as well that only some records have.
    """

    text: str
    name: str | None
    keep: tuple[str, ...] = ()
    more: bool = False

    @property
    def columns(self) -> list[str]:
        """All of them, each once."""
        return list(dict.fromkeys([self.text, *self.keep, *([] if self.name is None else [self.name])]))

    def kept(self, record: Mapping[str, object]) -> Mapping[str, object]:
        """Return the values of a record that are kept."""
        if self.more:
            return {field: value for field, value in record.items() if field not in (self.text, self.name)}
        return {field: record.get(field) for field in self.keep} if self.keep else _NOTHING


_NOTHING: Mapping[str, object] = {}


def checked_keep(keep: object) -> tuple[str, ...]:
    """Return the fields to keep.

    Parameters
    ----------
    keep : object
        None, "all" or names.

    Raises
    ------
    InputError
        For anything else.
    """
    if keep is None:
        return ()
    if isinstance(keep, str) and keep == "all":
        return ALL
    names = tuple(keep) if isinstance(keep, Iterable) and not isinstance(keep, (str, bytes)) else ("",)
    names = tuple(str(name) if isinstance(name, Integral) else name for name in names)
    if not all(isinstance(name, str) and name for name in names):
        raise InputError(f"keep is {keep!r:.40}; give 'all' or a list of fields")
    return tuple(dict.fromkeys(names))


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
    exist = listed(record)
    for asked, option in ((text_field, "--text-field"), (name_field, "--name-field")):
        if asked is not None and asked not in record:
            raise ReadError(f"{where} has no field {asked!r}; name another with {option}: {exist}")
    text = text_field if text_field is not None else _only_text(record)
    if text is None:
        raise ReadError(f"{where}: it is not clear which field holds the text; name one with --text-field: {exist}")
    if name_field is None:
        name_field = next((field for field in _NAMES if field in record and field != text), None)
    return text, name_field


def listed(record: Collection[str]) -> str:
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
