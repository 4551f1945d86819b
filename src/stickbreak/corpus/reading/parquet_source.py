"""Texts in a column of a Parquet file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import repeat
from typing import Any

from stickbreak.corpus.reading.fields import Asked, Fields
from stickbreak.corpus.reading.files import too_long
from stickbreak.corpus.reading.limits import DEFAULT_LIMITS, ReadLimits
from stickbreak.corpus.reading.parquet_file import (
    check_decoded,
    declared,
    decoded_bytes,
    opened,
    parquet_file,
    readable,
    types_of,
)
from stickbreak.corpus.reading.records import Records, name_of
from stickbreak.exceptions import ReadError
from stickbreak.storage.urls import Location

__all__ = ["parquet_records"]

_BATCH_BYTES = 1 << 28  # of text in memory at once, about
_NOTHING: Mapping[str, object] = {}


def parquet_records(
    path: Location,
    asked: Asked,
    chunk_size: int,
    limits: ReadLimits = DEFAULT_LIMITS,
    groups: range | None = None,
) -> Records:
    """Read a text column of a Parquet file.

    Parameters
    ----------
    path : Location
        The file.
    asked : Asked
        The columns to read, see `stickbreak.corpus.reading.fields.choose_fields`.
    chunk_size : int
        The most rows that are in memory at once.
    limits : ReadLimits
        How long a text may be, how much the columns may unpack to, and how many rows may be declared.
    groups : range, optional
        The row groups to read; default: all.

    Yields
    ------
    tuple of (str or None, str, mapping)
        A null text is an empty document.

    Raises
    ------
    ReadError
        If the file is not a Parquet file, is damaged, or its column is missing or holds no strings.
    """
    with opened(path, limits) as file:
        with readable(path):
            types = types_of(file.schema_arrow)
        fields = _chosen(types, asked, path)
        rows, n_bytes = declared(file, path)
    batch = max(1, min(chunk_size, _BATCH_BYTES * max(rows, 1) // max(n_bytes, 1)))
    with readable(path):  # as a dictionary: a text that is repeated a million times is held once
        file = parquet_file(path, read_dictionary=[name for name in fields.columns if _holds_strings(types[name])])
    with file:
        yield from _documents(file, batch, fields, path, limits, groups)


def _documents(
    file: Any, batch_size: int, fields: Fields, path: Location, limits: ReadLimits, groups: range | None
) -> Records:
    text_key, name_key, columns = fields.text, fields.name, fields.columns
    number = n_bytes = 0
    with readable(path):
        if groups is None:
            batches = file.iter_batches(batch_size=batch_size, columns=columns)
        else:
            batches = file.iter_batches(batch_size=batch_size, columns=columns, row_groups=list(groups))
            number = sum(file.metadata.row_group(group).num_rows for group in range(groups.start))
    while True:
        with readable(path):
            batch = next(batches, None)
        if batch is None:
            return
        with readable(path):
            n_bytes += decoded_bytes(batch)
        check_decoded(path, n_bytes, limits)
        with readable(path, text_key):
            texts = batch.column(batch.schema.get_field_index(text_key))
            lengths = _lengths(texts)
        with readable(path, name_key):
            names = [None] * len(texts) if name_key is None else batch.column(name_key).to_pylist()
        kept = _kept(batch, fields.keep, path)
        for row, (name, values) in enumerate(zip(names, kept, strict=True)):
            length = lengths[row].as_py()
            if length is not None and length > limits.document_bytes:
                raise too_long(f"the text in row {number + row} of {path}", limits)
            with readable(path, text_key):
                text = texts[row].as_py()
            yield name_of(name), text or "", values
        number += len(texts)


def _kept(batch: Any, columns: tuple[str, ...], path: Location) -> Iterable[Mapping[str, object]]:
    """Give the values of the columns that are kept, row by row."""
    if not columns:
        return repeat(_NOTHING, len(batch))
    values = []
    for column in columns:
        with readable(path, column):
            values.append(_plain(batch.column(column)).to_pylist())
    return (dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True))


def _plain(values: Any) -> Any:
    """Return times without nanoseconds, which Python's do not have."""
    import pyarrow as pa

    kind = values.type
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return values.cast(pa.timestamp("us", kind.tz), safe=False)
    return values


def _chosen(types: dict[str, Any], asked: Asked, path: Location) -> Fields:
    """Choose the columns, and refuse those that cannot be read."""
    sample = {column: "" if _holds_strings(kind) else 0 for column, kind in types.items()}
    fields = asked.fields(sample, f"{path}")
    text_key = fields.text
    for column in (text_key, fields.name, *fields.keep):
        if column is not None and types[column] is None:
            raise ReadError(
                f"{path} has several columns {column!r:.40}; give each a different name, or name another column"
            )
    if sample[text_key] != "":
        raise ReadError(
            f"{path}: the column {text_key!r} holds {types[text_key]!s:.60}, not strings; name a column of strings"
        )
    return fields


def _holds_strings(kind: Any) -> bool:
    import pyarrow as pa

    if kind is None:  # one of several columns of this name
        return False
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or _is_view(kind))


def _is_view(kind: Any) -> bool:
    import pyarrow as pa

    return hasattr(pa.types, "is_string_view") and bool(pa.types.is_string_view(kind))


def _lengths(texts: Any) -> Any:
    """Return the bytes of each text, an array with nulls; no text is copied."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(texts.type):
        return pc.binary_length(texts)
    return pc.take(pc.binary_length(texts.dictionary), texts.indices)
