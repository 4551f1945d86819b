"""Texts in JSON: an object or string on each line, an array of them, or the columns that pandas writes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, count, islice
from typing import Any

from stickbreak.corpus.reading.fields import Asked, Fields, choose_fields
from stickbreak.corpus.reading.json_text import JsonText, parsed_json
from stickbreak.corpus.reading.limits import DEFAULT_LIMITS, ReadLimits
from stickbreak.corpus.reading.lines import Span, decoded_blocks, decoded_chunks
from stickbreak.corpus.reading.records import Records, name_of
from stickbreak.exceptions import ReadError
from stickbreak.storage.urls import Location

__all__ = ["json_line_fields", "json_records", "records_of_lines"]

_SCAN: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
_EMPTY = object()  # the value of an empty line
_SAMPLE_LINES = 1000
_NOTHING: Mapping[str, object] = {}
_KINDS = {list: "array", int: "number", float: "number", bool: "true or false", type(None): "null", dict: "object"}


def json_records(
    path: Location,
    asked: Asked,
    encoding: str,
    limits: ReadLimits = DEFAULT_LIMITS,
    span: Span | None = None,
    fields: Fields | None = None,
) -> Records:
    """Read JSON: an object with a text field, or a bare string, on each line or as elements of one array.

    Also {column: {row: value}}, as `DataFrame.to_json` writes it. Values are read one at a time.

    Parameters
    ----------
    path : Location
        The file, perhaps gzipped.
    asked : Asked
        See `stickbreak.corpus.reading.fields.choose_fields`; the first object decides for all.
    encoding : str
        Of the file.
    limits : ReadLimits
        How long a line or an element may be.
    span : Span, optional
        The lines to read of a file for which `json_line_fields` returns fields.
    fields : Fields, optional
        With `span`: those fields.

    Yields
    ------
    tuple of (str or None, str, mapping)
        A null text is an empty document.

    Raises
    ------
    ReadError
        For a malformed line or element (its number is named), a missing field, a text that is not a string.
    """
    opened = _Opened(path, encoding, limits, span)
    if span is None:
        first = opened.text().peek()
        columns = _sample_of_columns(opened) if first == "{" else None
        if columns is not None:
            return _column_records(opened, asked.fields(columns, f"{path}"))
        if first == "[":
            return _value_records(_elements(opened), asked)
    return _value_records(_lines(opened), asked, fields)


def json_line_fields(path: Location, asked: Asked, encoding: str, limits: ReadLimits = DEFAULT_LIMITS) -> Fields | None:
    """Return the fields that are read of a file of JSON lines, as its first object decides.

    Parameters
    ----------
    path, asked, encoding, limits
        As of `json_records`.

    Returns
    -------
    Fields or None
        None for an array, for columns, and where the first lines hold no object.
    """
    opened = _Opened(path, encoding, limits)
    first = opened.text().peek()
    if first == "[" or (first == "{" and _sample_of_columns(opened) is not None):
        return None
    for where, value in islice(_lines(opened), _SAMPLE_LINES):
        if isinstance(value, dict):
            return asked.fields(value, str(where))
    return None


def records_of_lines(
    path: Location,
    asked: Asked,
    encoding: str,
    limits: ReadLimits,
    lines: tuple[int, str],
    fields: Fields,
    *,
    first: bool,
) -> Records:
    """Read some lines of a file of JSON lines.

    Parameters
    ----------
    path, asked, encoding, limits
        As of `json_records`.
    lines : tuple of (int, str)
        The number of the first one, and their text.
    fields : Fields
        Those that `json_line_fields` returns.
    first : bool
        Whether they are the first of the file that are read.

    Yields
    ------
    tuple of (str or None, str, mapping)
    """
    return _value_records(_lines(_Opened(path, encoding, limits), [lines], first=first), asked, fields)


class _Opened:
    """A file that is read from its start as often as needed."""

    def __init__(self, path: Location, encoding: str, limits: ReadLimits, span: Span | None = None) -> None:
        self.path, self.encoding, self.limits, self.span = path, encoding, limits, span

    def text(self) -> JsonText:
        return JsonText(decoded_chunks(self.path, self.encoding, self.limits), self.path, self.limits)


@dataclass(slots=True)
class _Line:
    """Where a line stands; it is put into words where something is wrong."""

    path: Location
    number: int

    def __str__(self) -> str:
        return f"{self.path}, line {self.number}"


Blocks = Iterable[tuple[int, str]]  # the number of the first line, and the lines
Values = Iterator[tuple[object, Any]]  # where it stands, and the value


def _lines(opened: _Opened, blocks: Blocks | None = None, *, first: bool = True) -> Values:
    """Give the value of each line, of the file or of some blocks of it; empty lines are skipped."""
    path = opened.path
    if blocks is None:
        blocks = decoded_blocks(path, opened.encoding, opened.limits, opened.span)
    for number, block in blocks:
        begin = 0
        while begin < len(block):
            end = block.find("\n", begin)
            end = len(block) if end < 0 else end
            where = _Line(path, number)
            try:
                value, stop = _SCAN(block, begin)
                if stop != end and (stop > end or block[stop:end].strip(" \t\r")):
                    raise ValueError  # more follows, or the value goes on in the next line
            except (ValueError, StopIteration, RecursionError):
                line = block[begin:end]
                value = _line_value(line, where, opened, first=first) if line.strip() else _EMPTY
            if value is not _EMPTY:
                yield where, value
                first = False
            begin, number = end + 1, number + 1


def _line_value(line: str, where: _Line, opened: _Opened, *, first: bool) -> Any:
    """Parse a line that is not written as most are; say what is wrong with it."""
    try:
        return parsed_json(line, str(where))
    except ReadError:
        if first and line.lstrip().startswith("{") and _is_spread(opened):
            raise ReadError(
                f"{where} begins a JSON object that ends on a later line; write each object on one line, or all "
                "objects as one array"
            ) from None
        raise


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


def _value_records(values: Values, asked: Asked, known: Fields | None = None) -> Records:
    fields: Fields | None = None
    start = list(islice(values, 2)) if asked.text is None and known is None else []
    if len(start) == 1:
        _refuse_wrapped(start[0][1], str(start[0][0]))
    for where, value in chain(start, values):
        if isinstance(value, str):
            yield None, value, _NOTHING
            continue
        if not isinstance(value, dict):
            raise ReadError(
                f"{where} holds a JSON {_KINDS.get(type(value), 'value')}; each line or element must be one object or "
                "string"
            )
        if fields is None:
            fields = asked.fields(value, str(where)) if known is None else known
            text_key, name_key = fields.text, fields.name
            keeps = bool(fields.keep or fields.more)
        if text_key not in value:
            choose_fields(value, text_key, None, str(where))  # raises: the field is missing here
        text = value[text_key]
        if text.__class__ is not str:
            text = _text(text, text_key, where)
        name = value.get(name_key)
        yield name if name.__class__ is str and name else name_of(name), text, fields.kept(value) if keeps else _NOTHING


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


def _text(value: object, field: str, where: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        kind = _KINDS.get(type(value), "value")
        raise ReadError(f"{where}: the field {field!r} holds a JSON {kind}, not a string; name the field of the text")
    return value


def _columns(text: JsonText, path: Location) -> Iterator[tuple[str, Iterator[tuple[str, Any]]]]:
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


def _column_records(opened: _Opened, fields: Fields) -> Records:
    beside: dict[str, dict[str, Any]] = {}
    for column, rows in _columns(opened.text(), opened.path):
        if column == fields.name or column in fields.keep:
            beside[column] = dict(rows)
    names = {} if fields.name is None else beside[fields.name]
    for column, rows in _columns(opened.text(), opened.path):
        if column == fields.text:
            for key, value in rows:
                where = f"{opened.path}, row {key!r:.40}"
                values = {column: beside[column].get(key) for column in fields.keep}
                yield name_of(names.get(key)), _text(value, fields.text, where), values
