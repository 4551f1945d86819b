"""Opening Parquet files: what pyarrow says of a damaged one is a ReadError, and what is declared is credible."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from stickbreak.corpus.reading.files import reading, size_in_words, unpacks_too_far
from stickbreak.corpus.reading.limits import ReadLimits
from stickbreak.exceptions import ReadError
from stickbreak.storage.plain_files import open_file
from stickbreak.storage.urls import Location, UrlPath

__all__ = ["check_decoded", "declared", "decoded_bytes", "opened", "parquet_file", "read_table", "readable", "types_of"]

_ROWS = 1 << 12  # that are decoded at once


@contextmanager
def opened(path: Location, limits: ReadLimits) -> Iterator[Any]:
    """Open a Parquet file whose declared size is credible.

    Parameters
    ----------
    path : Location
        The file.
    limits : ReadLimits
        How much the columns may unpack to, and how many rows may be declared.

    Yields
    ------
    pyarrow.parquet.ParquetFile

    Raises
    ------
    ReadError
        If it is no Parquet file, or declares more than its bytes make credible.
    """
    with reading(path):
        size = path.stat().st_size
    with readable(path):
        file = parquet_file(path)
    with file:
        _check_declared(path, *declared(file, path), size, limits)
        yield file


def parquet_file(path: Location, **options: Any) -> Any:
    """Open a Parquet file of this machine, or at a URL."""
    import pyarrow.parquet as pq

    with reading(path):
        open_file(path).close()
    return pq.ParquetFile(path.source() if isinstance(path, UrlPath) else path, **options)


def read_table(file: Any, path: Location, limits: ReadLimits, columns: list[str] | None = None) -> Any:
    """Read columns whole, if what they decode to is credible."""
    import pyarrow as pa

    batches, n_bytes = [], 0
    with readable(path):
        for batch in file.iter_batches(_ROWS, columns=columns):
            batches.append(batch)
            n_bytes += decoded_bytes(batch)
            check_decoded(path, n_bytes, limits)
        return pa.Table.from_batches(batches).combine_chunks() if batches else file.read(columns=columns)


def decoded_bytes(batch: Any) -> int:
    """Return how many bytes the values of a batch have, also those that its dictionaries hold once."""
    import pyarrow as pa
    import pyarrow.compute as pc

    n_bytes = 0
    for column in batch.columns:
        n_bytes += column.nbytes
        if pa.types.is_dictionary(column.type) and not pa.types.is_primitive(column.type.value_type):
            n_bytes += pc.sum(pc.take(pc.binary_length(column.dictionary), column.indices).cast("int64")).as_py() or 0
    return n_bytes


def check_decoded(path: Location, n_bytes: int, limits: ReadLimits) -> None:
    """Refuse a file whose columns decode to more than its bytes make credible: what it declares of them may be less.

    Raises
    ------
    ReadError
    """
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
    """Return the columns with their types; a name that occurs twice has the type None."""
    types: dict[str, Any] = {}
    for field in schema:
        types[field.name] = None if field.name in types else field.type
    return types


def declared(file: Any, path: Location) -> tuple[int, int]:
    """Return how many rows the file declares, and how many bytes of all columns.

    The columns of a row group are not asked: pyarrow ends the process where what is said of one is damaged.
    """
    with readable(path):
        metadata = file.metadata
        groups = [metadata.row_group(g) for g in range(metadata.num_row_groups)]
        rows, n_bytes = [group.num_rows for group in groups], [group.total_byte_size for group in groups]
    if min([*rows, *n_bytes, metadata.num_rows], default=0) < 0:
        raise ReadError(f"{path} is damaged: it declares a negative number of rows or bytes; fetch or write it again")
    return max(sum(rows), metadata.num_rows), sum(n_bytes)


def _check_declared(path: Location, rows: int, n_bytes: int, size: int, limits: ReadLimits) -> None:
    if rows > limits.most_declared(size):
        raise ReadError(
            f"{path} declares {rows:,} rows but has only {size:,} bytes; raise the limit with --max-declared (in "
            "Python: limits=ReadLimits(declared_size=...))"
        )
    if n_bytes > limits.most_unpacked(size):
        raise ReadError(
            f"{path} declares columns of {size_in_words(n_bytes)} but has only {size:,} bytes; raise the limit with "
            "--max-unpacked-bytes (in Python: limits=ReadLimits(unpacked_bytes=...))"
        )
