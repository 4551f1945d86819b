"""Which field of a table or of JSON objects holds the text, which the name of a document, and which are kept."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from numbers import Integral
from typing import Any

from stickbreak.exceptions import InputError, ReadError

_LOG = logging.getLogger("stickbreak")

ALL = ("*",)
"""What `keep="all"` stands for."""

_TEXT = "text"
_MOST_SHOWN = 12
_NAMES = ("id", "name", "title")
_WORDS_OF_A_TEXT = 5


class NoSuchField(ReadError):
    """Records lack a field that was to be kept."""

    field = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """The fields that a caller asks for."""

    text: str | None = None  # None: they are chosen by a sample record
    name: str | None = None  # None: they are chosen by a sample record
    keep: tuple[str, ...] = ()  # those whose values are kept beside the counts; ALL: all but the text and the name
    told: set[str] = field(default_factory=set, compare=False, repr=False)

    def tell(self, where: Any, sentence: str) -> None:
        """Log what was guessed, for the first of several files."""
        if sentence not in self.told:
            self.told.add(sentence)
            _LOG.warning("%s: %s", where, sentence)

    def fields(self, record: Mapping[str, object], where: str, *, hint: str = "") -> Fields:
        """Choose the fields by a sample record."""
        text = name = None
        for asked, option in ((self.text, "--text"), (self.name, "--name-field")):
            if asked is not None and found_in(record, asked) is None:
                raise ReadError(
                    f"{where} has no field {asked!r:.60}; name another with {option}: {listed(record)}{hint}"
                )
        text = found_in(record, self.text) if self.text is not None else self._only_text(record, where)
        if text is None:
            inside = " (a dot stands before a field inside an object)" if any(_inner(record)) else ""
            raise ReadError(
                f"{where}: it is not clear which field holds the text; name one with --text: {listed(record)}"
                f"{inside}{hint}"
            )
        if self.name is not None:
            name = found_in(record, self.name)
        else:
            name = next((found for known in _NAMES if (found := found_in(record, known)) not in (None, text)), None)
        if self.keep == ALL:
            return Fields(text, name, {field: field for field in record if field not in (text, name)}, more=True)
        kept = {field: found_in(record, field) for field in self.keep}
        missing = next((field for field, found in kept.items() if found is None), None)
        if missing is not None:
            error = NoSuchField(f"{where} has no field {missing!r:.60}; name another one: {listed(record)}{hint}")
            error.field = missing
            raise error
        return Fields(text, name, {field: str(found) for field, found in kept.items()})

    def _only_text(self, record: Mapping[str, object], where: str) -> str | None:
        """Return the field of the text: called so, the only string, or the only one of several words."""
        named = found_in(record, _TEXT)
        if named is not None:
            return named
        nested = any(_inner(record))
        values = {name: getter(name)(record) for name in (_with_inner(record) if nested else record)}
        texts = [name for name, value in values.items() if _is_text(value)]
        if len(texts) > 1 or nested:
            texts = [name for name in texts if name.strip().casefold() not in _NAMES]
        if nested:  # a text inside an object is more likely than one word beside it
            texts = [name for name in texts if len(_words(values[name])) > 1]
        if len(texts) > 1:
            texts = [name for name in texts if len(_words(values[name])) >= _WORDS_OF_A_TEXT]
        if len(texts) == 1 and sum(map(_is_text, values.values())) > 1:
            self.tell(where, f"the text is taken from {texts[0]!r:.40}, the only field of several words (--text)")
        return texts[0] if len(texts) == 1 else None


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields that are read."""

    text: str
    name: str | None
    keep: Mapping[str, str]  # what kept values are called, and the field that they are in
    more: bool = False  # keep other fields as well that only some records have

    @property
    def columns(self) -> list[str]:
        """All of them, each once."""
        return list(dict.fromkeys([self.text, *self.keep.values(), *([] if self.name is None else [self.name])]))


def found_in(record: Mapping[str, object], name: str) -> str | None:
    """Return the field that is meant: of this name, inside others (post.body), or but for its case and blanks."""
    if name in record or getter(name)(record) is not None:
        return name
    alike = [field for field in record if field.strip().casefold() == name.strip().casefold()]
    return alike[0] if len(alike) == 1 else None


def getter(name: str) -> Callable[[Mapping[str, Any]], Any]:
    """Return what gives the value of a field of a record, None where there is none; post.body is that inside post."""
    if "." not in name:
        return lambda record: record.get(name)
    parts = name.split(".")

    def inside(record: Mapping[str, Any]) -> Any:
        if name in record:
            return record[name]
        value: Any = record
        for part in parts:
            value = value.get(part) if isinstance(value, Mapping) else None
        return value

    return inside


def checked_keep(keep: object) -> tuple[str, ...]:
    """Return the fields to keep: of None, "all" or names."""
    if keep is None:
        return ()
    if isinstance(keep, str) and keep == "all":
        return ALL
    names = tuple(keep) if isinstance(keep, Iterable) and not isinstance(keep, (str, bytes)) else ("",)
    names = tuple(str(name) if isinstance(name, Integral) else name for name in names)
    if not all(isinstance(name, str) and name for name in names):
        raise InputError(f"keep is {keep!r:.40}; give 'all' or a list of fields")
    return tuple(dict.fromkeys(names))


def listed(record: Collection[str]) -> str:
    """Write the fields for a message, however many and long they are; those of text inside others, too."""
    names = list(_with_inner(record)) if isinstance(record, Mapping) else list(record)
    shown = ", ".join(f"{field!r:.40}" for field in islice(names, _MOST_SHOWN)) or "none"
    return shown if len(names) <= _MOST_SHOWN else f"{shown} and {len(names) - _MOST_SHOWN} more"


def _inner(record: Mapping[str, object]) -> Iterator[bool]:
    return (isinstance(value, Mapping) for value in record.values())


def _with_inner(record: Mapping[str, object]) -> Iterator[str]:
    for outer, value in record.items():
        inner = [name for name, own in value.items() if _is_text(own)] if isinstance(value, Mapping) else []
        yield from [f"{outer}.{name}" for name in inner] or [outer]


def _is_text(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and bool(value) and isinstance(value[0], str))


def _words(value: Any) -> list[str]:
    return value.split() if isinstance(value, str) else list(value)
