"""Parquet files: texts in a column, and whole tables; what is declared is credible, what is damaged a ReadError."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from stickbreak.corpus.reading.blocks import Block, Written, named
from stickbreak.corpus.reading.fields import Asked, Fields
from stickbreak.corpus.reading.files import DEFAULT_LIMITS, ReadLimits, reading, size_in_words, unpacks_too_far
from stickbreak.exceptions import ReadError
from stickbreak.storage.plain_files import open_file
from stickbreak.storage.urls import Location, UrlPath

_ROWS = 1 << 12  # that are decoded at once
_SAMPLE_ROWS = 100
_BATCH_BYTES = 1 << 28  # of text in memory at once, about


@contextmanager
def open_parquet(path: Location, limits: ReadLimits, **options: Any) -> Iterator[Any]:
    """Open a Parquet file whose declared size is credible, as a pyarrow.parquet.ParquetFile."""
    import pyarrow.parquet as pq

    with reading(path):
        size = path.stat().st_size
        open_file(path).close()
    with readable(path):
        file = pq.ParquetFile(path.source() if isinstance(path, UrlPath) else path, **options)
    with file:
        rows, n_bytes = _declared(file, path)
        if rows > limits.most_declared(size):
            raise ReadError(
                f"{path} declares {rows:,} rows but has only {size:,} bytes; raise the limit with --max-declared (in "
                "Python: limits=ReadLimits(declared_size=...))"
            )
        if n_bytes > limits.most_unpacked(size):
            raise ReadError(
                f"{path} declares columns of {size_in_words(n_bytes)} but has only {size:,} bytes; raise the "
                "limit with "
                "--max-unpacked-bytes (in Python: limits=ReadLimits(unpacked_bytes=...))"
            )
        yield file


def _declared(file: Any, path: Location) -> tuple[int, int]:
    """Return how many rows the file declares, and how many bytes of all columns.

    The columns of a row group are not asked: pyarrow ends the process where what is said of one is damaged.
    """
    with readable(path):
        groups = [file.metadata.row_group(group) for group in range(file.metadata.num_row_groups)]
        rows, n_bytes = [group.num_rows for group in groups], [group.total_byte_size for group in groups]
    if min([*rows, *n_bytes, file.metadata.num_rows], default=0) < 0:
        raise ReadError(f"{path} is damaged: it declares a negative number of rows or bytes; fetch or write it again")
    return max(sum(rows), file.metadata.num_rows), sum(n_bytes)


def row_groups(path: Location, limits: ReadLimits) -> list[int]:
    """Return the bytes of each row group."""
    with open_parquet(path, limits) as file, readable(path):
        return [int(file.metadata.row_group(group).total_byte_size) for group in range(file.metadata.num_row_groups)]


def read_table(file: Any, path: Location, limits: ReadLimits, columns: list[str] | None = None) -> Any:
    """Read columns whole, if what they decode to is credible."""
    import pyarrow as pa

    batches, n_bytes = [], 0
    with readable(path):
        for batch in file.iter_batches(_ROWS, columns=columns):
            batches.append(batch)
            n_bytes += _decoded_bytes(batch)
            _check_decoded(path, n_bytes, limits)
        return pa.Table.from_batches(batches).combine_chunks() if batches else file.read(columns=columns)


def _decoded_bytes(batch: Any) -> int:
    """Return how many bytes the values of a batch have, also those that its dictionaries hold once."""
    import pyarrow as pa
    import pyarrow.compute as pc

    n_bytes = 0
    for column in batch.columns:
        n_bytes += column.nbytes
        if pa.types.is_dictionary(column.type) and not pa.types.is_primitive(column.type.value_type):
            n_bytes += pc.sum(pc.take(pc.binary_length(column.dictionary), column.indices).cast("int64")).as_py() or 0
    return n_bytes


def _check_decoded(path: Location, n_bytes: int, limits: ReadLimits) -> None:
    """Refuse columns that decode to more than the bytes of the file make credible."""
    with reading(path):
        most = limits.most_unpacked(path.stat().st_size)
    if n_bytes > most:
        raise unpacks_too_far(path, most)


@contextmanager
def readable(path: Location, column: str | None = None) -> Iterator[None]:
    """Turn what pyarrow says about a damaged file, or about a value that Python cannot hold, into a ReadError."""
    import pyarrow as pa

    of = "" if column is None else f" (column {column!r:.40})"
    try:
        yield
    except ReadError:
        raise
    except MemoryError as error:  # ArrowMemoryError is one
        raise ReadError(
            f"{path} needs more memory than there is{of}; it is damaged, or its rows must be read in smaller chunks"
        ) from error
    except (pa.ArrowException, OSError, ValueError, OverflowError, KeyError, TypeError) as error:
        said = " ".join(str(error).split()).split(". ")[0][:160]
        raise ReadError(f"{path} is not a readable Parquet file{of}: {said}; write it again") from error


def types_of(schema: Any) -> dict[str, Any]:
    """Return the columns with their types, those of a structure as outer.inner; None for a name that occurs twice."""
    import pyarrow as pa

    types: dict[str, Any] = {}
    for field in schema:
        if pa.types.is_struct(field.type):
            types |= {f"{field.name}.{name}": kind for name, kind in types_of(field.type).items()}
        else:
            types[field.name] = None if field.name in types else field.type
    return types


def parquet_blocks(
    path: Location,
    asked: Asked,
    chunk_size: int,
    limits: ReadLimits = DEFAULT_LIMITS,
    groups: range | None = None,
    partition: dict[str, str | None] | None = None,
) -> Iterator[Block]:
    """Read a column of texts."""
    partition = partition or {}
    with open_parquet(path, limits) as file:
        with readable(path):
            types = types_of(file.schema_arrow)
        first = _first_texts(file, path, limits, types) if asked.text is None else {}
        fields = _chosen(types, asked, path, partition, first)
        rows, n_bytes = _declared(file, path)
    batch_size = max(1, min(chunk_size, _BATCH_BYTES * max(rows, 1) // max(n_bytes, 1)))
    strings = [name for name in fields.columns if name in types and _is_string(types[name]) and "." not in name]
    more: dict[str, Any] = {"columns": [name for name in fields.columns if name not in partition]}
    number = n_bytes = 0
    with open_parquet(
        path, limits, read_dictionary=strings
    ) as file:  # a text that is repeated a million times is held once
        with readable(path):
            if groups is not None:
                more["row_groups"] = list(groups)
                number = sum(file.metadata.row_group(group).num_rows for group in range(groups.start))
            batches = file.iter_batches(batch_size=batch_size, **more)
        while True:
            with readable(path):
                batch = next(batches, None)
                if batch is None:
                    return
                n_bytes += _decoded_bytes(batch)
            _check_decoded(path, n_bytes, limits)
            with readable(path, fields.text):
                texts = _texts(_column(batch, fields.text), f"{path}", number, limits)
            names = None
            if fields.name is not None and fields.name not in partition:
                with readable(path, fields.name):
                    names = named(_column(batch, fields.name).to_pylist())
            kept: dict[str, Any] = {}
            for name, field in fields.keep.items():
                with readable(path, field):
                    kept[name] = (
                        [_written(partition[field])] * len(texts)
                        if field in partition
                        else _plain(_column(batch, field)).to_pylist()
                    )
            yield Block(texts, names, kept)
            number += len(texts)


def _written(value: str | None) -> str | None:
    return None if value is None else Written(value)


def _column(batch: Any, name: str) -> Any:
    """Return a column, or what is inside of one: outer.inner."""
    import pyarrow.compute as pc

    at = batch.schema.get_field_index(name)
    if at >= 0:
        return batch.column(at)
    outer, _, inner = name.partition(".")
    return pc.struct_field(batch.column(batch.schema.get_field_index(outer)), inner.split("."))


def _texts(column: Any, where: str, number: int, limits: ReadLimits) -> Any:
    """Return texts as large strings, lists of words as lists of these; what is missing is empty."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if _is_list(column.type):
        return pc.fill_null(column.cast(pa.large_list(pa.large_string())), [])
    if pa.types.is_dictionary(column.type):
        lengths = pc.take(pc.binary_length(column.dictionary), column.indices)
    else:
        column = column.cast(pa.large_string())
        lengths = pc.binary_length(column)
    longest = pc.max(lengths).as_py() or 0
    if longest > limits.document_bytes:
        row = pc.index(lengths, pc.max(lengths)).as_py()
        raise limits.too_long(f"the text in row {number + row} of {where}")
    texts = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    texts = pc.fill_null(texts.cast(pa.large_string()), "")
    texts.validate(full=True)
    return texts


def _plain(values: Any) -> Any:
    """Return times without nanoseconds, which Python's do not have."""
    import pyarrow as pa

    kind = values.type
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return values.cast(pa.timestamp("us", kind.tz), safe=False)
    return values


def _first_texts(file: Any, path: Location, limits: ReadLimits, types: dict[str, Any]) -> dict[str, str]:
    """Return the longest of the first texts of each column of strings, where there are several columns of them."""
    strings = [column for column, kind in types.items() if _is_string(kind)]
    if len(strings) < 2:
        return {}
    with readable(path):
        batch = next(file.iter_batches(_SAMPLE_ROWS, columns=strings), None)
        if batch is None:
            return {}
        _check_decoded(path, _decoded_bytes(batch), limits)
        return {
            column: max((text for text in _column(batch, column).to_pylist() if text), key=len, default="")
            for column in strings
        }


def _chosen(
    types: dict[str, Any], asked: Asked, path: Location, partition: dict[str, str | None], first: dict[str, str]
) -> Fields:
    """Choose the columns, by first texts of those of strings, and refuse those that cannot be read."""
    sample: dict[str, object] = {
        column: first.get(column, "")
        if _is_string(kind) or str(kind) in ("binary", "large_binary")
        else ["word"]
        if _is_list(kind)
        else 0
        for column, kind in types.items()
    }
    fields = asked.fields({**sample, **dict.fromkeys(partition, 0)}, f"{path}")
    for column in fields.columns:
        if column not in partition and types[column] is None:
            raise ReadError(
                f"{path} has several columns {column!r:.40}; give each a different name, or name another column"
            )
    if sample.get(fields.text, 0) == 0:
        raise ReadError(
            f"{path}: the column {fields.text!r} holds {types.get(fields.text)!s:.60}, not strings; name a column of "
            "strings"
        )
    return fields


def _is_string(kind: Any) -> bool:
    """Tell a column of strings; None is one of several columns of one name."""
    import pyarrow as pa

    kind = kind.value_type if kind is not None and pa.types.is_dictionary(kind) else kind
    return str(kind) in ("string", "large_string", "string_view")


def _is_list(kind: Any) -> bool:
    return str(kind).startswith(("list<", "large_list<", "fixed_size_list<")) and _is_string(kind.value_type)
