"""Texts in JSON: an object or string on each line, an array of them, or the columns that pandas writes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, count, islice
from pathlib import Path
from typing import Any

from stickbreak.corpus.reading.fields import choose_fields
from stickbreak.corpus.reading.files import decoded_chunks, decoded_lines
from stickbreak.corpus.reading.json_text import JsonText, parsed_json
from stickbreak.corpus.reading.limits import DEFAULT_LIMITS, ReadLimits
from stickbreak.corpus.reading.records import Records, name_of
from stickbreak.exceptions import ReadError

__all__ = ["json_records"]

_KINDS = {list: "array", int: "number", float: "number", bool: "true or false", type(None): "null", dict: "object"}


def json_records(
    path: Path,
    text_field: str | None,
    name_field: str | None,
    encoding: str,
    limits: ReadLimits = DEFAULT_LIMITS,
) -> Records:
    """Read JSON: an object with a text field, or a bare string, on each line or as elements of one array.

    Also {column: {row: value}}, as `DataFrame.to_json` writes it. Values are read one at a time.

    Parameters
    ----------
    path : Path
        The file, perhaps gzipped.
    text_field, name_field : str or None
        See `stickbreak.corpus.reading.fields.choose_fields`; the first object decides for all.
    encoding : str
        Of the file.
    limits : ReadLimits
        How long a line or an element may be.

    Yields
    ------
    tuple of (str or None, str)
        A null text is an empty document.

    Raises
    ------
    ReadError
        For a malformed line or element (its number is named), a missing field, a text that is not a string.
    """
    opened = _Opened(path, encoding, limits)
    first = opened.text().peek()
    columns = _sample_of_columns(opened) if first == "{" else None
    if columns is not None:
        text_key, name_key = choose_fields(columns, text_field, name_field, f"{path}")
        return _column_records(opened, text_key, name_key)
    values = _elements(opened) if first == "[" else _lines(opened)
    return _value_records(values, text_field, name_field)


class _Opened:
    """A file that is read from its start as often as needed."""

    def __init__(self, path: Path, encoding: str, limits: ReadLimits) -> None:
        self.path, self.encoding, self.limits = path, encoding, limits

    def text(self) -> JsonText:
        return JsonText(decoded_chunks(self.path, self.encoding, self.limits), self.path, self.limits)


Values = Iterator[tuple[str, Any]]  # where it stands, and the value


def _lines(opened: _Opened) -> Values:
    """Give the value of each line; empty lines are skipped."""
    first = True
    for number, line in enumerate(decoded_lines(opened.path, opened.encoding, opened.limits), start=1):
        if not line.strip():
            continue
        where = f"{opened.path}, line {number}"
        try:
            value = parsed_json(line, where)
        except ReadError:
            if first and line.lstrip().startswith("{") and _is_spread(opened):
                raise ReadError(
                    f"{where} begins a JSON object that ends on a later line; write each object on one line, or all "
                    "objects as one array"
                ) from None
            raise
        yield where, value
        first = False


def _is_spread(opened: _Opened) -> bool:
    try:
        opened.text().value(f"{opened.path}")
    except ReadError:
        return False
    return True


def _elements(opened: _Opened) -> Values:
    """Give the elements of one array."""
    text, path = opened.text(), opened.path
    text.take("[", f"{path}")
    for number in count(1):
        if number == 1 and text.peek() == "]":
            break
        text.peek()
        where = f"{path}, element {number} (line {text.line})"
        yield where, text.value(where)
        if text.peek() == "]":
            break
        text.take(",", f"{path}, after element {number},")
    text.take("]", f"{path}")
    if text.peek():
        raise ReadError(
            f"{path}, line {text.line}: more text follows the end of the JSON array; give one array per file"
        )


def _value_records(values: Values, text_field: str | None, name_field: str | None) -> Records:
    fields: tuple[str, str | None] | None = None
    start = list(islice(values, 2))
    if text_field is None and len(start) == 1:
        _refuse_wrapped(start[0][1], start[0][0])
    for where, value in chain(start, values):
        if isinstance(value, str):
            yield None, value
            continue
        if not isinstance(value, dict):
            raise ReadError(
                f"{where} holds a JSON {_KINDS.get(type(value), 'value')}; each line or element must be one object or "
                "string"
            )
        if fields is None:
            fields = choose_fields(value, text_field, name_field, where)
        elif fields[0] not in value:
            choose_fields(value, fields[0], None, where)  # raises: the field is missing here
        text_key, name_key = fields
        yield name_of(value.get(name_key) if name_key else None), _text(value[text_key], text_key, where)


def _refuse_wrapped(value: Any, where: str) -> None:
    """Refuse {"data": [...]} alone and pandas' "split" and "table": the documents are in a list inside."""
    if not isinstance(value, dict):
        return
    inside = next((key for key in ("data", *value) if isinstance(value.get(key), list)), None)
    if inside is not None and not any(isinstance(field, str) or key == "text" for key, field in value.items()):
        raise ReadError(
            f"{where} holds one object with the list {inside!r:.40} inside; write that list alone as a JSON array of "
            'objects (in pandas: orient="records")'
        )


def _text(value: object, field: str, where: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        kind = _KINDS.get(type(value), "value")
        raise ReadError(f"{where}: the field {field!r} holds a JSON {kind}, not a string; name the field of the text")
    return value


def _columns(text: JsonText, path: Path) -> Iterator[tuple[str, Iterator[tuple[str, Any]]]]:
    """Give the columns of {column: {row: value}}, each with its rows; stop where something else stands."""
    text.take("{", f"{path}")
    while text.peek() == '"':
        column = text.value(f"{path}")
        text.take(":", f"{path}, column {column!r:.40}")
        if text.peek() != "{":
            return
        rows = _rows(text, f"{path}, column {column!r:.40}")
        yield column, rows
        for _ in rows:  # those that were not asked for
            pass
        if text.peek() != ",":
            break
        text.take(",", f"{path}")
    text.take("}", f"{path}")


def _rows(text: JsonText, where: str) -> Iterator[tuple[str, Any]]:
    text.take("{", where)
    while text.peek() == '"':
        key = text.value(where)
        text.take(":", f"{where}, row {key!r:.40}")
        yield key, text.value(f"{where}, row {key!r:.40}")
        if text.peek() != ",":
            break
        text.take(",", where)
    text.take("}", where)


def _sample_of_columns(opened: _Opened) -> dict[str, object] | None:
    """Return the columns with a value of each, where the file is one object of columns; None for anything else."""
    text = opened.text()
    sample: dict[str, object] = {}
    try:
        for column, rows in _columns(text, opened.path):
            if column in sample:
                return None
            sample[column] = next((value for _, value in rows if value is not None), None)
        whole = text.peek() == ""
    except ReadError:  # something else, or broken: read as lines, which says what is wrong
        return None
    return sample if whole and any(isinstance(value, str) for value in sample.values()) else None


def _column_records(opened: _Opened, text_key: str, name_key: str | None) -> Records:
    names: dict[str, Any] = {}
    if name_key is not None:
        names = next(dict(rows) for column, rows in _columns(opened.text(), opened.path) if column == name_key)
    for column, rows in _columns(opened.text(), opened.path):
        if column == text_key:
            for key, value in rows:
                where = f"{opened.path}, row {key!r:.40}"
                yield name_of(names.get(key)), _text(value, text_key, where)
