"""Columns that are kept beside the counts: values of any reader, gathered as text, typed once all are known.

What type a column has depends on all of its values. So they are held as they were written until the last one is read,
and parts that were read apart give the same column as all of them together.
"""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from stickbreak.corpus.reading.blocks import Block, Written
from stickbreak.corpus.reading.fields import ALL
from stickbreak.exceptions import InvalidCorpus

if TYPE_CHECKING:
    import pyarrow as pa


def in_tables(texts: Sequence[str]) -> tuple[str, ...]:
    """Return texts as tables hold them: halves of surrogate pairs, which no UTF-8 can hold, become question marks.

    Examples
    --------
    >>> in_tables(["bread", chr(0xD800)])
    ('bread', '?')
    """
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return tuple(text.encode("utf-8", "replace").decode() for text in texts)
    return tuple(texts)


_TEXT, _WRITTEN, _JSON = "s", "w", "j"  # the first character of a value that is held as text
_WHOLE = re.compile(r"-?(?:0|[1-9]\d{0,18})")
_NUMBER = re.compile(r"[-+]?(?:0|[1-9]\d*)?(?:\.\d*)?(?:[eE][-+]?\d{1,3})?")
_DATE = re.compile(r"(\d{4})([-/])(\d{1,2})\2(\d{1,2})")
_MONTH = re.compile(r"(\d{4})-(\d{2})")
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?( ?Z|[+-]\d{2}:?\d{2})?")
_LONGEST_TIME = 40  # characters


def _raw(value: object) -> str | None:
    """Hold a value as text; None for nothing."""
    if value is None or (value.__class__ is Written and value == ""):
        return None
    if isinstance(value, str):
        return (_WRITTEN if isinstance(value, Written) else _TEXT) + value
    if isinstance(value, (bool, int, float)):
        return _JSON + json.dumps(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return _TEXT + value.isoformat()
    if isinstance(value, (dict, list)):
        return _TEXT + json.dumps(value, ensure_ascii=False, default=str)
    return _TEXT + (value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value))


def _form(raw: str) -> str:
    """Say what a value is: text, bool, int, float, day, time (without a zone) or moment (with one)."""
    kind, text = raw[0], raw[1:]
    if kind != _TEXT:
        if text.lower() in ("true", "false"):
            return "bool"
        if _WHOLE.fullmatch(text) and -(2**63) <= int(text) < 2**63:
            return "int"
        if kind == _JSON or (_NUMBER.fullmatch(text) and any(map(str.isdigit, text))):
            return "text" if _WHOLE.fullmatch(text) else "float"
    if kind == _JSON or len(text) > _LONGEST_TIME or not text[:4].isdigit():
        return "text"
    try:
        if _DATE.fullmatch(text) or _MONTH.fullmatch(text):
            _day(text)
            return "day"
        found = _TIME.fullmatch(text)
        if found:
            _time(text)
            return "moment" if found[1] else "time"
    except (ValueError, OverflowError):  # there is no such day, or not in Greenwich
        pass
    return "text"


def _day(text: str) -> datetime.date:
    """Read a day; a month is its first day."""
    found = _DATE.fullmatch(text)
    if found:
        return datetime.date(int(found[1]), int(found[3]), int(found[4]))
    return datetime.date(int(text[:4]), int(text[5:7]), 1)


def _time(text: str) -> datetime.datetime:
    """Read a time; one with a zone becomes that of Greenwich."""
    if len(text) <= 10:  # a day
        day = _day(text)
        return datetime.datetime(day.year, day.month, day.day)
    found = datetime.datetime.fromisoformat(text.replace(" Z", "Z"))
    return found if found.tzinfo is None else found.astimezone(datetime.UTC)


_TYPES: tuple[tuple[set[str], str, Callable[[str], Any]], ...] = (  # the forms of a column; its type
    ({"bool"}, "bool", lambda text: text.lower() == "true"),
    ({"int"}, "int64", int),
    ({"int", "float"}, "double", float),
    ({"day"}, "date32", _day),
    ({"day", "time"}, "timestamp[us]", _time),
    ({"moment"}, "UTC", _time),
)


@dataclass(frozen=True, slots=True)
class Gathered:
    """Columns as they were written."""

    table: pa.Table  # text with a sign of its origin, dictionary-encoded
    n_rows: int  # also where there is no column

    def forms(self) -> dict[str, frozenset[str]]:
        """Return what the values of each column are."""
        return {
            name: frozenset(_form(value) for chunk in self.table[name].chunks for value in chunk.dictionary.to_pylist())
            for name in self.table.column_names
        }


class Gatherer:
    """Takes columns of values, part after part."""

    def __init__(self, columns: Iterable[str] = ()) -> None:
        self._chunks: dict[str, list[Any]] = {name: [] for name in columns}
        self._n_rows = 0

    def add(self, columns: Mapping[str, Any], n_rows: int, *, written: bool = False) -> None:
        """Add the values of some documents."""
        for name in columns:
            self._chunks.setdefault(name, [_nothing(self._n_rows)])
        for name, chunks in self._chunks.items():
            chunks.append(_encoded_values(columns[name], written=written) if name in columns else _nothing(n_rows))
        self._n_rows += n_rows

    def gathered(self) -> Gathered:
        """Return all columns."""
        import pyarrow as pa

        columns = [pa.chunked_array(chunks, _encoded()) for chunks in self._chunks.values()]
        return Gathered(pa.Table.from_arrays(columns, names=list(self._chunks)), self._n_rows)

    def typed(self) -> pa.Table | None:
        """Return all columns in their types; None where there is none."""
        gathered = self.gathered()
        layout = Layout.of([gathered.forms()])
        return layout.typed(gathered) if layout.forms else None


class Portion:
    """Documents that are counted together, about `most_bytes` of text; keeps their names and columns meanwhile."""

    def __init__(
        self, first: Block, rest: Iterator[Block], keep: tuple[str, ...], most_bytes: float = math.inf
    ) -> None:
        self._first, self._rest, self._keep, self._most_bytes = first, rest, keep, most_bytes
        self.names: list[tuple[Any, int]] = []
        self.gatherer = Gatherer(() if keep == ALL else keep)

    def __iter__(self) -> Iterator[Block]:
        size, block = 0, self._first
        while True:
            self.names.append((block.names, len(block)))
            if self._keep:
                self.gatherer.add(block.kept, len(block), written=block.written)
            yield block
            size += block.texts.nbytes
            found = next(self._rest, None) if size < self._most_bytes else None
            if found is None:
                return
            block = found


def _encoded_values(values: Any, *, written: bool) -> Any:
    """Return a column of values as text with a sign of its origin; each different value of an Arrow array once."""
    import pyarrow as pa

    if not isinstance(values, pa.Array):
        return _strings([_raw(value) for value in values])
    encoded = values.dictionary_encode()
    kind: Any = Written if written else (lambda value: value)
    different = _strings([None if value is None else _raw(kind(value)) for value in encoded.dictionary.to_pylist()])
    indices = different.indices.take(encoded.indices)
    return pa.DictionaryArray.from_arrays(indices, different.dictionary)


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns that all parts of a collection have together."""

    forms: dict[str, frozenset[str]]  # of each column, what its values are

    @classmethod
    def of(cls, parts: Iterable[Mapping[str, frozenset[str]]]) -> Self:
        """Join the `forms` of parts, in their order."""
        forms: dict[str, frozenset[str]] = {}
        for part in parts:
            for name, found in part.items():
                forms[name] = forms.get(name, frozenset()) | found
        return cls(forms)

    def typed(self, part: Gathered) -> pa.Table:
        """Return the columns of a part in the types of the whole; one that it lacks holds nothing.

        A column of days (ISO 8601: 2026-11-23, also 2026/11/23, or 2026-11 for a month) is of dates, one of days and
        times of time stamps; those with a zone become times of Greenwich. Numbers and true or false are recognised in
        tables of text. All else is text.
        """
        import pyarrow as pa

        columns = {}
        for name, forms in self.forms.items():
            kind, read = _type_of(forms)
            if name not in part.table.column_names:
                columns[name] = pa.nulls(part.n_rows, kind)
                continue
            chunks = part.table[name].chunks
            columns[name] = pa.chunked_array(
                [
                    pa.array([read(raw[1:]) for raw in chunk.dictionary.to_pylist()], kind).take(chunk.indices)
                    for chunk in chunks
                ],
                kind,
            )
        return pa.table(columns)


def _type_of(forms: frozenset[str]) -> tuple[Any, Callable[[str], Any]]:
    import pyarrow as pa

    name, read = next(((name, read) for those, name, read in _TYPES if forms and forms <= those), ("string", str))
    return pa.timestamp("us", "UTC") if name == "UTC" else pa.type_for_alias(name), read


def _encoded() -> Any:
    import pyarrow as pa

    return pa.dictionary(pa.int32(), pa.string())


def _nothing(n_rows: int) -> Any:
    import pyarrow as pa

    return pa.nulls(n_rows, _encoded())


def _strings(values: list[str | None]) -> Any:
    """Return texts as Arrow holds them; halves of surrogate pairs, which no UTF-8 can hold, become question marks."""
    import pyarrow as pa

    try:
        array = pa.array(values, pa.string())
    except UnicodeEncodeError:
        array = pa.array([None if value is None else in_tables([value])[0] for value in values], pa.string())
    return array.dictionary_encode()


def checked_metadata(metadata: Any, n_documents: int) -> pa.Table | None:
    """Return columns beside the documents of a corpus."""
    import pyarrow as pa

    if metadata is None or isinstance(metadata, pa.Table):
        table = metadata
    else:
        try:
            if hasattr(metadata, "to_arrow"):
                table = metadata.to_arrow()
            elif hasattr(metadata, "to_numpy"):
                table = pa.Table.from_pandas(metadata, preserve_index=False)
            else:
                table = pa.table(dict(metadata))
        except (pa.ArrowException, TypeError, ValueError, AttributeError) as error:
            raise InvalidCorpus(
                f"metadata is {type(metadata).__name__} ({error!s:.80}); give an Arrow table, a data frame or a "
                "mapping of columns"
            ) from error
    if table is None:
        return None
    if table.num_rows != n_documents:
        raise InvalidCorpus(
            f"metadata has {table.num_rows} rows for {n_documents} documents; give one row for each document"
        )
    if twice := [name for name in table.column_names if table.column_names.count(name) > 1]:
        raise InvalidCorpus(f"metadata has several columns {twice[0]!r:.40}; give each a different name")
    return table
