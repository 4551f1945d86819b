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
_NEAR = 16  # characters: an error farther from the end of what is there does not go away with more text
_REPAIR = "repair or remove this line"

_Value = tuple[str, Any]  # where it stands, and the value


class JsonTexts:
    """A file of JSON.

    Parameters
    ----------
    path : Location
    asked : Asked
        The fields to read; the first object decides for all, the next ones where it holds null.
    encoding : str
    limits : ReadLimits
    """

    def __init__(self, path: Location, asked: Asked, encoding: str, limits: ReadLimits) -> None:
        self.path, self.asked, self.encoding, self.limits = path, asked, encoding, limits
        self._inside: list[_Value] | None = None  # the documents, where the file is one object with a list of them

    def blocks(self, dirt: Dirt, span: Span | None = None, sample: Mapping[str, Any] | None = None) -> Iterator[Block]:
        """Read the documents."""
        if span is None:
            if self._begin() == "[":
                yield from self._together(self._elements(dirt), dirt, None)
                return
            sample = self.sample()
            if self._inside is not None:
                yield from self._together(iter(self._inside), dirt, None)
                return
        fields = None if sample is None else self.asked.fields(sample, f"{self.path}")
        schema = None if sample is None or fields is None else _schema(sample, fields)
        for number, lines in line_blocks(self.path, self.encoding, self.limits, dirt, span):
            block = None if schema is None or fields is None else _parsed(lines, fields, schema)
            if block is not None:
                yield block
            else:
                yield from self._together(self._values(number, lines, dirt), dirt, fields)

    def sample(self) -> dict[str, Any] | None:
        """Return the first object of a file of lines; None for an array, and where the first lines hold none.

        None, too, where the file is one object, and the documents are in a list inside it.
        """
        if self._begin() == "[":
            return None
        known = Dirt(skip_rows=True, replace_bytes=True)
        blocks = line_blocks(self.path, self.encoding, self.limits, known)
        values = (value for number, lines in blocks for value in self._values(number, lines, known))
        first = list(islice(values, 2))
        if len(first) == 1 and known.n_rows == 0 and self._is_wrapped(first[0][1]):
            return None
        if not first and known.n_rows and self._begin() == "{" and self._is_spread():
            return None
        found = [*first, *islice(values, _SAMPLE_LINES)] if first and not isinstance(first[0][1], dict) else first
        objects = [value for _, value in found if isinstance(value, dict)]
        if not objects:
            return None
        others = [*objects[1:], *(value for _, value in islice(values, _FILLING_LINES) if isinstance(value, dict))]
        return _filled(objects[0], others)

    def _begin(self) -> str:
        for _, lines in line_blocks(self.path, self.encoding, self.limits, Dirt(replace_bytes=True)):
            text = lines.decode().lstrip()
            if text:
                return text[0]
        return ""

    def _is_spread(self) -> bool:
        """Tell whether no line is JSON but the whole file is one object with documents inside; refuse other objects."""
        decoder, text = json.JSONDecoder(), ""
        for _, lines in islice(line_blocks(self.path, self.encoding, self.limits, Dirt(replace_bytes=True)), 64):
            text += lines.decode()
        try:
            value, end = decoder.raw_decode(text.lstrip())
        except (ValueError, RecursionError):
            return False
        if "\n" not in text.lstrip()[:end]:
            return False
        if self._is_wrapped(value):
            return True
        raise ReadError(
            f"{self.path}, line 1 begins a JSON object that ends on a later line; write each object on one line, "
            "or all "
            "objects as one array"
        )

    def _is_wrapped(self, value: Any) -> bool:
        """Tell whether a file is {"data": [...]}, with the documents inside; refuse what pandas writes otherwise."""
        asked = self.asked.text
        if not isinstance(value, dict) or (asked is not None and asked.partition(".")[0] in value):
            return False
        columns = [own for own in value.values() if isinstance(own, dict)]
        if columns and len(columns) == len(value) and all("0" in own for own in columns):
            raise ReadError(
                f"{self.path} holds one object of columns, as pandas writes it; write an object for each document: "
                'frame.to_json(path, orient="records", lines=True)'
            )
        if asked is None and any(isinstance(own, str) or key == "text" for key, own in value.items()):
            return False
        lists = {key: own for key, own in value.items() if isinstance(own, list)}
        objects = [key for key, own in lists.items() if own and all(isinstance(one, dict) for one in own)]
        if objects:
            key = "data" if "data" in objects else max(objects, key=lambda name: len(lists[name]))
            where = f"{self.path}, element"
            self._inside = [(f"{where} {n} of {key!r:.40}", one) for n, one in enumerate(lists[key], start=1)]
            _LOG.warning("%s is one object: the documents are the objects of its list %.40r", self.path, key)
            return True
        if lists and asked is None:
            raise ReadError(
                f"{self.path} holds one object with the list {min(lists)!r:.40} inside; write an object for each "
                'document (in pandas: orient="records")'
            )
        return False

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

    def _elements(self, dirt: Dirt) -> Iterator[_Value]:
        """Give the elements of one array; one of a large file is in memory at a time."""
        blocks = line_blocks(self.path, self.encoding, self.limits, dirt)
        decoder, text, at, number = json.JSONDecoder(), "", 0, 0
        near, ended = True, False
        while True:
            found = _BLANKS.match(text, at)
            at = at if found is None else found.end()
            if number == 0 and text[at : at + 1] == "[":
                number, at = 1, at + 1
                continue
            where = f"{self.path}, element {number}"
            if text[at : at + 1] == "]":
                rest = text[at + 1 :] + "".join(lines.decode() for _, lines in islice(blocks, 1))
                if rest.strip():
                    raise ReadError(
                        f"{self.path}: more text follows the end of the JSON array; give one array per file"
                    )
                return
            fault: Exception | None = None
            if at < len(text):
                try:
                    value, end = decoder.raw_decode(text, at)
                    if end < len(text) or ended:
                        if end - at > self.limits.document_bytes:
                            raise self.limits.too_long(where)
                        yield where, value
                        number, at = number + 1, end
                        continue
                except json.JSONDecodeError as error:
                    fault = error
                    near = error.pos >= len(text) - _NEAR or error.msg.startswith("Unterminated string")
                    ended = ended or not near
                except (ValueError, RecursionError) as error:
                    raise ReadError(f"{where} {_fault(error)}; repair or remove it") from error
            if len(text) - at > self.limits.document_bytes:
                raise self.limits.too_long(where)
            more = (
                [] if ended else list(islice(blocks, max(1, (len(text) - at) >> 20)))
            )  # twice as much: time is linear
            if not more and not ended:
                ended = True
                continue
            if not more:
                said = "the file ends too early" if fault is None or near else _fault(fault)
                dirt.row(f"{where} is not valid JSON ({said})", "repair or fetch the file again")
                return
            text, at = text[at:] + "".join(lines.decode() for _, lines in more), 0

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
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
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
        return f"is not valid JSON ({error.msg} at column {error.colno})"
    if isinstance(error, RecursionError):
        return "is nested too deeply to be a document"
    return "holds a number of too many digits"  # Python refuses to convert it
