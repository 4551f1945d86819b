"""A table with a row for each document: dates and categories of documents that hold nothing but counts."""

from __future__ import annotations

from typing import Any

from stickbreak.corpus.corpus import Corpus
from stickbreak.corpus.metadata import Gatherer
from stickbreak.corpus.reading.decoding import Dirt
from stickbreak.corpus.reading.formats import detect_format
from stickbreak.corpus.reading.limits import DEFAULT_LIMITS, ReadLimits
from stickbreak.corpus.reading.parquet import opened, read_table
from stickbreak.corpus.reading.tables import USUAL_DELIMITERS, Table
from stickbreak.exceptions import InputError, ReadError
from stickbreak.storage.urls import Location

__all__ = ["read_beside", "with_columns"]


def read_beside(path: Location, encoding: str = "utf-8", limits: ReadLimits | None = None) -> Any:
    """Read all columns of a CSV, TSV or Parquet file, as a pyarrow.Table; dates are recognised as in texts.

    Raises
    ------
    ReadError
        If it is no such table, or cannot be read.
    """
    limits, kind = limits or DEFAULT_LIMITS, detect_format(path, None, encoding)
    if kind == "parquet":
        with opened(path, limits) as file:
            return read_table(file, path, limits)
    if kind not in USUAL_DELIMITERS:
        raise ReadError(f"{path} is of format {kind!r}; give a table with a row for each document, as CSV or Parquet")
    found = Table.opened(path, encoding, None, USUAL_DELIMITERS[kind], limits, header=True)
    columns = found.columns
    if len(set(columns)) < len(columns):
        twice = next(name for name in columns if columns.count(name) > 1)
        raise ReadError(f"{path} has several columns {twice!r:.40}; give each a different name")
    gatherer = Gatherer(columns)
    for chunk in found.chunks(columns, Dirt()):
        gatherer.add(chunk, len(chunk[columns[0]]), written=True)
    return gatherer.typed()


def with_columns(corpus: Corpus, table: Any, path: Location) -> Corpus:
    """Return a corpus with the columns of a table beside its counts.

    Raises
    ------
    InputError
        If there is not one row for each document, or the documents have a column of the same name.
    """
    if table.num_rows != corpus.n_documents:
        raise InputError(
            f"{path} has {table.num_rows} rows for {corpus.n_documents} documents; give one row for each document, in "
            "their order"
        )
    if corpus.metadata is None:
        return Corpus.from_counts(corpus, metadata=table)
    columns = {name: corpus.metadata[name] for name in corpus.metadata.column_names}
    for name in table.column_names:
        if name in columns:
            raise InputError(f"the documents and {path} both have a column {name!r:.40}; rename one of them")
        columns[name] = table[name]
    return Corpus.from_counts(corpus, metadata=columns)
