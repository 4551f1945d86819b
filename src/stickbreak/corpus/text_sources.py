"""Files that hold texts: JSON lines, tables, plain lines, folders. Each gives (name, text) one at a time."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stickbreak.corpus.fields import choose_fields
from stickbreak.corpus.files import decoded, decoded_lines, open_binary, reading, start_of
from stickbreak.exceptions import ReadError

__all__ = ["Records", "csv_records", "folder_records", "jsonl_records", "line_records", "parquet_records"]

Records = Iterator[tuple[str | None, str]]
"""Documents: a name, or None where the row number serves, and a text."""

_LONGEST_FIELD = 2**31 - 1  # of a CSV file; Python's default of 128 KB is less than a long document


def jsonl_records(path: Path, text_field: str | None, name_field: str | None, encoding: str) -> Records:
    """Read JSON lines: an object with a text field, or a bare string, on each line; empty lines are skipped.

    Parameters
    ----------
    path : Path
        The file, perhaps gzipped.
    text_field, name_field : str or None
        See `stickbreak.corpus.fields.choose_fields`; the first object decides for all.
    encoding : str
        Of the file.

    Yields
    ------
    tuple of (str or None, str)
        A null text is an empty document.

    Raises
    ------
    ReadError
        For a malformed line (its number is named), a missing field, a text that is no string.
    """
    fields: tuple[str, str | None] | None = None
    for number, line in enumerate(decoded_lines(path, encoding), start=1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        value = _parsed(line, where)
        if isinstance(value, str):
            yield None, value
            continue
        if not isinstance(value, dict):
            raise ReadError(
                f"{where} holds a JSON {_KINDS.get(type(value), 'value')}; each line must be one object or string"
            )
        if fields is None:
            fields = choose_fields(value, text_field, name_field, where)
        elif fields[0] not in value:
            choose_fields(value, fields[0], None, where)  # raises: the field is missing here
        text_key, name_key = fields
        yield _name(value.get(name_key) if name_key else None), _text(value[text_key], text_key, where)


_KINDS = {list: "array", int: "number", float: "number", bool: "true or false", type(None): "null"}


def _parsed(line: str, where: str) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise ReadError(
            f"{where} is not valid JSON ({error.msg} at column {error.colno}); repair or remove this line"
        ) from error
    except ValueError as error:  # Python refuses to convert a number of thousands of digits
        raise ReadError(f"{where} holds a number of too many digits; repair or remove this line") from error
    except RecursionError as error:
        raise ReadError(f"{where} is nested too deeply to be a document; repair or remove this line") from error


def csv_records(path: Path, text_field: str | None, name_field: str | None, encoding: str, delimiter: str) -> Records:
    """Read a table of comma- or tab-separated values whose first line names the columns.

    Parameters
    ----------
    path : Path
        The file, perhaps gzipped. Fields may be quoted by ", and then hold line ends.
    text_field, name_field : str or None
        See `stickbreak.corpus.fields.choose_fields`; a column of numbers is not taken for the text by itself.
    encoding : str
        Of the file.
    delimiter : str
        The character between two fields.

    Yields
    ------
    tuple of (str or None, str)

    Raises
    ------
    ReadError
        For a missing column, a row that does not fit the header, a quote that does not end.
    """
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_FIELD))
    rows = csv.reader(decoded_lines(path, encoding), delimiter=delimiter, strict=True)
    try:
        header = next(rows, None)
        if header is None:
            return
        columns: tuple[int, int | None] | None = None
        for row in rows:
            if not row:
                continue
            where = f"{path}, line {rows.line_num}"
            if len(row) != len(header):
                raise ReadError(
                    f"{where} has {len(row)} fields but the header names {len(header)}; quote fields that "
                    "hold the delimiter"
                )
            if columns is None:
                sample = {key: 0.0 if _is_number(value) else value for key, value in zip(header, row, strict=True)}
                text_key, name_key = choose_fields(sample, text_field, name_field, f"{path}")
                columns = header.index(text_key), None if name_key is None else header.index(name_key)
            text_column, name_column = columns
            yield None if name_column is None else _name(row[name_column]), row[text_column]
    except csv.Error as error:
        raise ReadError(
            f"{path}, line {rows.line_num} is not a valid table ({error}); check the quotes of this row"
        ) from error


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def parquet_records(path: Path, text_field: str | None, name_field: str | None, chunk_size: int) -> Records:
    """Read a text column of a Parquet file.

    Parameters
    ----------
    path : Path
        The file.
    text_field, name_field : str or None
        See `stickbreak.corpus.fields.choose_fields`.
    chunk_size : int
        So many rows are in memory at once.

    Yields
    ------
    tuple of (str or None, str)
        A null text is an empty document.

    Raises
    ------
    ReadError
        When the file is no Parquet file, or its column is missing or holds no strings.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with reading(path):
        try:
            with pq.ParquetFile(path) as file:
                types = {field.name: str(field.type) for field in file.schema_arrow}
                sample = {column: "" if "string" in kind else 0 for column, kind in types.items()}
                text_key, name_key = choose_fields(sample, text_field, name_field, f"{path}")
                if sample[text_key] != "":
                    raise ReadError(
                        f"{path}: the column {text_key!r} holds {types[text_key]}, not strings; "
                        "name a column of strings"
                    )
                columns = [text_key] if name_key is None else [text_key, name_key]
                for batch in file.iter_batches(batch_size=chunk_size, columns=columns):
                    texts = batch.column(text_key).to_pylist()
                    names = [None] * len(texts) if name_key is None else batch.column(name_key).to_pylist()
                    for name, text in zip(names, texts, strict=True):
                        yield _name(name), text or ""
        except pa.ArrowInvalid as error:
            raise ReadError(f"{path} is not a readable Parquet file ({str(error).split('. ')[0]})") from error


def line_records(path: Path, encoding: str) -> Records:
    """Read a text file of one document a line; an empty line is an empty document.

    Parameters
    ----------
    path : Path
        The file, perhaps gzipped.
    encoding : str
        Of the file.

    Yields
    ------
    tuple of (None, str)
    """
    for line in decoded_lines(path, encoding):
        yield None, line


def folder_records(path: Path, encoding: str) -> Records:
    """Read a folder of text files, one document each, with all folders in it.

    Parameters
    ----------
    path : Path
        The folder. Hidden files and folders are left out, and so are files that hold a zero byte in their
        first 8 KB (they are no text), unless they are named *.txt.
    encoding : str
        Of the files.

    Yields
    ------
    tuple of (str, str)
        The name is the path inside the folder, with slashes; documents come in the order of these names.

    Raises
    ------
    ReadError
        When there is no text file, or one is not in this encoding.
    """
    found = False
    for name in sorted(_files_below(path)):
        file = path / name
        if not name.lower().endswith((".txt", ".txt.gz")) and b"\0" in start_of(file, 8192):
            continue
        found = True
        with open_binary(file) as handle:
            content = handle.read()
        yield name, decoded(content, encoding, str(file)).removeprefix("\ufeff")
    if not found:
        raise ReadError(f"{path} holds no text files; name a folder with one file for each document")


def _files_below(path: Path) -> Iterator[str]:
    with reading(path):
        for folder, folders, files in os.walk(path):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in files:
                file = Path(folder, name)
                if not name.startswith(".") and file.is_file():
                    yield file.relative_to(path).as_posix()


def _name(value: object) -> str | None:
    return None if value is None or value == "" else str(value)


def _text(value: object, field: str, where: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        kind = _KINDS.get(type(value), "object")
        raise ReadError(f"{where}: the field {field!r} holds a JSON {kind}, not a string; name the field of the text")
    return value
