"""Texts in a column of a Parquet file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stickbreak.corpus.reading.fields import choose_fields
from stickbreak.corpus.reading.files import too_long
from stickbreak.corpus.reading.limits import DEFAULT_LIMITS, ReadLimits
from stickbreak.corpus.reading.parquet_file import declared, opened, readable, types_of
from stickbreak.corpus.reading.records import Records, name_of
from stickbreak.exceptions import ReadError

__all__ = ["parquet_records"]

_BATCH_BYTES = 1 << 28  # of text in memory at once, about


def parquet_records(
    path: Path,
    text_field: str | None,
    name_field: str | None,
    chunk_size: int,
    limits: ReadLimits = DEFAULT_LIMITS,
) -> Records:
    """Read a text column of a Parquet file.

    Parameters
    ----------
    path : Path
        The file.
    text_field, name_field : str or None
        See `stickbreak.corpus.reading.fields.choose_fields`.
    chunk_size : int
        The most rows that are in memory at once.
    limits : ReadLimits
        How long a text may be, how much the columns may unpack to, and how many rows may be declared.

    Yields
    ------
    tuple of (str or None, str)
        A null text is an empty document.

    Raises
    ------
    ReadError
        If the file is not a Parquet file, is damaged, or its column is missing or holds no strings.
    """
    import pyarrow.parquet as pq

    with opened(path, limits) as file:
        with readable(path):
            types = types_of(file.schema_arrow)
        text_key, name_key = _chosen(types, text_field, name_field, path)
        rows, n_bytes = declared(file, path)
    batch = max(1, min(chunk_size, _BATCH_BYTES * max(rows, 1) // max(n_bytes, 1)))
    with readable(path):  # as a dictionary: a text that is repeated a million times is held once
        file = pq.ParquetFile(path, read_dictionary=[text_key])
    with file:
        yield from _documents(file, batch, text_key, name_key, path, limits)


def _documents(
    file: Any, batch_size: int, text_key: str, name_key: str | None, path: Path, limits: ReadLimits
) -> Records:
    columns = [text_key] if name_key is None else [text_key, name_key]
    number = 0
    with readable(path):
        batches = file.iter_batches(batch_size=batch_size, columns=columns)
    while True:
        with readable(path):
            batch = next(batches, None)
        if batch is None:
            return
        with readable(path, text_key):
            texts = batch.column(batch.schema.get_field_index(text_key))
            lengths = _lengths(texts)
        with readable(path, name_key):
            names = [None] * len(texts) if name_key is None else batch.column(name_key).to_pylist()
        for row, name in enumerate(names):
            length = lengths[row].as_py()
            if length is not None and length > limits.document_bytes:
                raise too_long(f"the text in row {number + row} of {path}", limits)
            with readable(path, text_key):
                text = texts[row].as_py()
            yield name_of(name), text or ""
        number += len(texts)


def _chosen(
    types: dict[str, Any], text_field: str | None, name_field: str | None, path: Path
) -> tuple[str, str | None]:
    """Choose the columns, and refuse those that cannot be read."""
    sample = {column: "" if _holds_strings(kind) else 0 for column, kind in types.items()}
    text_key, name_key = choose_fields(sample, text_field, name_field, f"{path}")
    for column in (text_key, name_key):
        if column is not None and types[column] is None:
            raise ReadError(
                f"{path} has several columns {column!r:.40}; give each a different name, or name another column"
            )
    if sample[text_key] != "":
        raise ReadError(
            f"{path}: the column {text_key!r} holds {types[text_key]!s:.60}, not strings; name a column of strings"
        )
    return text_key, name_key


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
