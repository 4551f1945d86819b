"""Texts in JSON: an object, a string or a list of words on each line, or one array of them, also inside an object.

PyArrow reads blocks of lines that are all of one form; Python's json reads all others, and says which line is wrong.
"""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from stickbreak.corpus.reading.blocks import Block, arrow_texts, named
from stickbreak.corpus.reading.decoding import Dirt, Span, count_line_ends, line_blocks
from stickbreak.corpus.reading.fields import Asked, Fields, getter, listed
from stickbreak.corpus.reading.files import ReadLimits
from stickbreak.exceptions import ReadError
from stickbreak.storage.urls import Location

_LOG = logging.getLogger("stickbreak")
_SAMPLE_LINES = 1000
_FILLING_LINES = 100  # that may have what is null in the first object
_ROWS, _BYTES = 1 << 12, 1 << 20  # that are put together where they are read one by one
_KINDS = {list: "array", int: "number", float: "number", bool: "true or false", type(None): "null", dict: "object"}
_BLANKS = re.compile(r"[\s,]*")
_NEAR = 16  # characters from the end of a text that is cut off
_REPAIR = "repair or remove this line"

_Value = tuple[str, Any]  # where it stands, and the value


class JsonTexts:
    """A file of JSON; the first object decides which fields are read, the next ones where it holds null."""

    def __init__(self, path: Location, asked: Asked, encoding: str, limits: ReadLimits) -> None:
        self.path, self.asked, self.encoding, self.limits = path, asked, encoding, limits

    def blocks(self, dirt: Dirt, span: Span | None = None, sample: Mapping[str, Any] | None = None) -> Iterator[Block]:
        """Read the documents."""
        if span is None:
            values = self._inside(dirt)
            if values is not None:
                yield from self._together(values, dirt, None)
                return
            sample = self._first_object()
        fields = None if sample is None else self.asked.fields(sample, f"{self.path}")
        schema = None if sample is None or fields is None else _schema(sample, fields)
        for number, lines in line_blocks(self.path, self.encoding, self.limits, dirt, span):
            block = None if schema is None or fields is None else _parsed(lines, fields, schema)
            if block is not None:
                yield block
            else:
                yield from self._together(self._values(number, lines, dirt), dirt, fields)

    def sample(self) -> dict[str, Any] | None:
        """Return the first object of a file of lines; None where there is none, or the file is one array or object."""
        return self._first_object() if self._inside(Dirt(True, True)) is None else None

    def _first_object(self) -> dict[str, Any] | None:
        """Return the first object on a line, with what others have where it holds null."""
        values = (value for _, value in self._lines(Dirt(skip_rows=True, replace_bytes=True)))
        objects = (value for value in islice(values, _SAMPLE_LINES) if isinstance(value, dict))
        first = next(objects, None)
        return None if first is None else _filled(first, islice(objects, _FILLING_LINES))

    def _lines(self, dirt: Dirt) -> Iterator[_Value]:
        blocks = line_blocks(self.path, self.encoding, self.limits, dirt)
        return (value for number, lines in blocks for value in self._values(number, lines, dirt))

    def _whole(self, dirt: Dirt) -> str:
        """Return the text of the file."""
        blocks = line_blocks(self.path, self.encoding, self.limits, dirt)
        return "".join(lines.decode() for _, lines in blocks).lstrip()

    def _inside(self, dirt: Dirt) -> Iterator[_Value] | None:
        """Return the values of one array, or of the list of objects inside one object; None for a file of lines."""
        blocks = line_blocks(self.path, self.encoding, self.limits, Dirt(replace_bytes=True))
        begin = next((text[0] for _, lines in blocks if (text := lines.decode().lstrip())), "")
        if begin == "[":
            return self._elements(self._whole(dirt), dirt)
        known = Dirt(skip_rows=True, replace_bytes=True)
        first = list(islice(self._lines(known), 2)) if begin == "{" else []
        if len(first) == 1 and not known.n_rows:
            return self._documents_of(first[0][1])
        if first or not known.n_rows:
            return None
        text = self._whole(Dirt(replace_bytes=True))  # an object on several lines
        try:
            value, end = json.JSONDecoder().raw_decode(text)
        except (ValueError, RecursionError):
            return None
        found = self._documents_of(value) if "\n" in text[:end] else None
        if found is None and "\n" in text[:end]:
            raise ReadError(
                f"{self.path}, line 1 begins a JSON object that ends on a later line; write each object on one line, "
                "or all objects as one array"
            )
        return found

    def _documents_of(self, value: Any) -> Iterator[_Value] | None:
        """Return the documents inside of {"data": [...]}; None for one document; refuse other forms of pandas."""
        asked = self.asked.text
        if not isinstance(value, dict) or (asked is not None and asked.partition(".")[0] in value):
            return None
        lists = {key: own for key, own in value.items() if isinstance(own, list)}
        objects = [key for key, own in lists.items() if own and all(isinstance(one, dict) for one in own)]
        of_columns = value and all(isinstance(own, dict) and "0" in own for own in value.values())
        is_text = asked is None and any(isinstance(own, str) or key == "text" for key, own in value.items())
        if of_columns or (lists and asked is None and not objects and not is_text):
            raise ReadError(
                f"{self.path} holds one object of columns or lists; write an object for each document (in pandas: "
                'frame.to_json(path, orient="records", lines=True))'
            )
        if is_text or not objects:
            return None
        key = "data" if "data" in objects else max(objects, key=lambda name: len(lists[name]))
        _LOG.warning("%s is one object: the documents are the objects of its list %.40r", self.path, key)
        return ((f"{self.path}, element {n} of {key!r:.40}", one) for n, one in enumerate(lists[key], start=1))

    def _values(self, number: int, lines: bytes, dirt: Dirt) -> Iterator[_Value]:
        """Give the value of each line; empty lines are passed over."""
        for at, line in enumerate(io.BytesIO(lines), start=number):
            text = line.decode()
            try:
                value = json.loads(text)
            except (ValueError, RecursionError) as error:
                if text.strip():
                    dirt.row(f"{self.path}, line {at} {_fault(error)}", _REPAIR)
                continue
            yield f"{self.path}, line {at}", value

    def _elements(self, text: str, dirt: Dirt) -> Iterator[_Value]:
        """Give the elements of one array, one at a time."""
        decoder, at, number = json.JSONDecoder(), 1, 0
        while True:
            number += 1
            where = f"{self.path}, element {number}"
            found = _BLANKS.match(text, at)
            at = at if found is None else found.end()
            if text[at : at + 1] == "]":
                if text[at + 1 :].strip():
                    raise ReadError(
                        f"{self.path}: more text follows the end of the JSON array; give one array per file"
                    )
                return
            try:
                value, end = decoder.raw_decode(text, at)
            except json.JSONDecodeError as error:
                cut_off = error.pos >= len(text) - _NEAR or error.msg.startswith("Unterminated string")
                said = "the file ends too early" if cut_off else _fault(error)
                dirt.row(f"{where} is not valid JSON ({said})", "repair or fetch the file again")
                return
            except (ValueError, RecursionError) as error:
                raise ReadError(f"{where} {_fault(error)}; repair or remove it") from error
            if end - at > self.limits.document_bytes:
                raise self.limits.too_long(where)
            yield where, value
            at = end

    def _together(self, values: Iterator[_Value], dirt: Dirt, fields: Fields | None) -> Iterator[Block]:
        """Put values together to blocks of documents."""
        texts: list[Any] = []
        names: list[str | None] = []
        kept: list[Mapping[str, Any]] = []
        size, cut = 0, False
        for where, value in values:
            if isinstance(value, dict) and fields is None:
                fields = self.asked.fields(value, where)
            try:
                name, text, beside = _document(value, fields, where)
            except ReadError as error:
                dirt.row(f"{error}".rpartition("; ")[0], f"{error}".rpartition("; ")[2])
                continue
            if len(texts) >= _ROWS or size >= _BYTES or (texts and isinstance(text, list) != cut):
                yield _block(texts, names, kept, fields)
                texts, names, kept, size = [], [], [], 0
            cut = isinstance(text, list)
            texts.append(text)
            names.append(name)
            kept.append(beside)
            size += len(text)
        if texts:
            yield _block(texts, names, kept, fields)


def _block(texts: list[Any], names: list[str | None], kept: list[Mapping[str, Any]], fields: Fields | None) -> Block:
    columns = list(fields.keep) if fields is not None else []
    if fields is not None and fields.more:
        columns = list(dict.fromkeys([*columns, *(name for row in kept for name in row)]))
    beside = {name: [row.get(name) for row in kept] for name in columns}
    return Block(arrow_texts(texts), named(names), beside)


def _document(value: Any, fields: Fields | None, where: str) -> tuple[str | None, Any, Mapping[str, Any]]:
    """Return the name, the text and what is kept of a value."""
    if isinstance(value, str):
        return None, value, {}
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        return None, value, {}
    if not isinstance(value, dict) or fields is None:
        kind = _KINDS.get(type(value), "value")
        raise ReadError(f"{where} holds a JSON {kind}; each line or element must be one object or string")
    text = getter(fields.text)(value)
    if text is None:
        if fields.text not in value and "." not in fields.text:
            raise ReadError(f"{where} has no field {fields.text!r}; name another with --text: {listed(value)}")
        text = ""
    elif not isinstance(text, str) and not (isinstance(text, list) and all(isinstance(word, str) for word in text)):
        kind = _KINDS.get(type(text), "value")
        raise ReadError(
            f"{where}: the field {fields.text!r} holds a JSON {kind}, not a string; name the field of the text"
        )
    named = None if fields.name is None else getter(fields.name)(value)
    name = None if named is None or named == "" else str(named)
    if fields.more:
        return name, text, {field: own for field, own in value.items() if field not in (fields.text, fields.name)}
    return name, text, {as_: getter(field)(value) for as_, field in fields.keep.items()}


def _filled(sample: Mapping[str, Any], others: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return an object with what other objects have where it holds null, also inside its objects."""
    filled = dict(sample)
    for other in others:
        for field, value in filled.items():
            more = other.get(field)
            if value is None:
                filled[field] = more
            elif isinstance(value, dict) and isinstance(more, dict):
                filled[field] = {**value, **more, **{name: own for name, own in value.items() if own is not None}}
    return filled


def _schema(sample: Mapping[str, Any], fields: Fields) -> Any:
    """Return the types that pyarrow is to read, as the first object has them; None where it has others."""
    import pyarrow as pa

    kinds: dict[type, Any] = {str: pa.large_string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    types = {name: kinds.get(type(sample.get(name))) for name in fields.columns}
    if fields.more or None in types.values() or not isinstance(sample.get(fields.text), str):
        return None
    if fields.name is not None and type(sample[fields.name]) not in (str, int):
        return None
    return pa.schema(list(types.items()))


def _parsed(lines: bytes, fields: Fields, schema: Any) -> Block | None:
    """Read lines by pyarrow; None where they are not all objects of this form."""
    import pyarrow as pa
    from pyarrow import json as arrow_json

    try:
        table = arrow_json.read_json(
            pa.BufferReader(lines),
            read_options=arrow_json.ReadOptions(use_threads=False, block_size=len(lines) + 1),
            parse_options=arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
        )
    except pa.ArrowInvalid:
        return None  # Python's json reads these lines, and says which of them is wrong
    arrays = {name: pa.concat_arrays(table.column(name).chunks) for name in fields.columns if table.num_rows}
    if not arrays or arrays[fields.text].null_count or not _is_whole(lines, table.num_rows):
        return None
    names = None if fields.name is None else named(arrays[fields.name])
    return Block(arrays[fields.text], names, {name: arrays[field] for name, field in fields.keep.items()})


def _is_whole(lines: bytes, n_rows: int) -> bool:
    """Tell whether there is one row for each line that is not empty."""
    n_lines = count_line_ends(lines) + (not lines.endswith(b"\n"))
    return n_lines == n_rows or n_rows == sum(bool(line.strip()) for line in io.BytesIO(lines))


def _fault(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"is not valid JSON ({error.msg.removesuffix(' at')} at column {error.colno})"
    if isinstance(error, RecursionError):
        return "is nested too deeply to be a document"
    return "holds a number of too many digits"  # Python refuses to convert it
