"""Tables of texts with a delimiter: CSV, TSV and what spreadsheets make of them."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from stickbreak.corpus.reading.delimiters import likely_delimiter
from stickbreak.corpus.reading.fields import Asked, Fields
from stickbreak.corpus.reading.files import too_long
from stickbreak.corpus.reading.limits import DEFAULT_LIMITS, ReadLimits
from stickbreak.corpus.reading.lines import decoded_lines
from stickbreak.corpus.reading.records import Records, Written, name_of
from stickbreak.exceptions import ReadError
from stickbreak.storage.urls import Location

__all__ = ["Table", "csv_records"]

_LEAST = 64  # characters that a line counts for: a million empty lines in one field are a quote that does not end
_SAMPLE_LINES, _SAMPLE_CHARACTERS = 100, 1 << 18  # by which the delimiter is told


def csv_records(
    path: Location,
    asked: Asked,
    encoding: str,
    delimiter: str | None,
    usual: str = ",",
    limits: ReadLimits = DEFAULT_LIMITS,
) -> Records:
    """Read a table whose first line names the columns.

    Parameters
    ----------
    path : Location
        The file, perhaps gzipped. Fields may be quoted by ", and then hold line ends.
    asked : Asked
        The columns to read, see `stickbreak.corpus.reading.fields.choose_fields`; a column of numbers is not taken
        for the text by itself.
    encoding : str
        Of the file.
    delimiter : str or None
        The character between two fields; None: told by the first rows.
    usual : str
        The delimiter that this kind of file should have.
    limits : ReadLimits
        How long a row may be.

    Yields
    ------
    tuple of (str or None, str, mapping)

    Raises
    ------
    ReadError
        For a missing column, a row that does not fit the header, a quote that does not end.
    """
    table = Table.opened(path, encoding, delimiter, usual, limits)
    fields: Fields | None = None
    header: list[str] = []
    for row in table:
        if not table.n_rows:
            header = row
            continue
        if fields is None:
            sample_row = {key: 0.0 if _is_number(value) else value for key, value in zip(header, row, strict=True)}
            cut = "" if table.delimiter == usual else f", cut at {table.delimiter!r} (--delimiter),"
            fields = asked.fields(sample_row, f"{path}{cut}")
            text_column = header.index(fields.text)
            name_column = None if fields.name is None else header.index(fields.name)
            kept = [(column, header.index(column)) for column in fields.keep]
        name = None if name_column is None else name_of(row[name_column])
        yield name, row[text_column], {column: Written(row[place]) for column, place in kept}


@dataclass(slots=True)
class Table:
    """The rows of a table with a delimiter, the header first; each has as many fields as the header.

    Attributes
    ----------
    path : Location
    delimiter : str
        As asked for, or as the first rows tell.
    n_rows : int
        Rows given so far, without the header.
    line : int
        The line on which the row that was given last ends.
    """

    path: Location
    delimiter: str
    source: _RowLines
    n_rows: int = -1
    line: int = 0

    @classmethod
    def opened(cls, path: Location, encoding: str, delimiter: str | None, usual: str, limits: ReadLimits) -> Table:
        """Open a table; the parameters are those of `csv_records`."""
        lines = decoded_lines(path, encoding, limits)
        sample = _first_lines(lines)
        if delimiter is None:
            delimiter = likely_delimiter(
                sample, usual, whole=len(sample) < _SAMPLE_LINES and _size(sample) < _SAMPLE_CHARACTERS
            )
        return cls(path, delimiter, _RowLines(chain(sample, lines), path, limits))

    def __iter__(self) -> Iterator[list[str]]:
        """Yield the header, then the rows; empty lines are passed over.

        Raises
        ------
        ReadError
            For a row that does not fit the header, a quote that does not end.
        """
        longest = min(self.source.limits.document_bytes, sys.maxsize)  # the default of 128 KB is less than a document
        csv.field_size_limit(max(csv.field_size_limit(), longest))
        rows = csv.reader(self.source, delimiter=self.delimiter, strict=True)
        n_columns: int | None = None
        while (row := self._next(rows)) is not None:
            if n_columns is None:
                n_columns = len(row)
            elif not row:
                continue
            elif len(row) != n_columns:
                raise _ragged(f"{self.path}, line {rows.line_num}", len(row), n_columns, self.delimiter)
            self.n_rows, self.line = self.n_rows + 1, rows.line_num
            yield row

    def _next(self, rows: Iterator[list[str]]) -> list[str] | None:
        self.source.begin_row()
        try:
            return next(rows, None)
        except csv.Error as error:
            if "new-line" in str(error):  # a bare carriage return
                raise ReadError(
                    f"{self.path}, line {self.source.first} ends in a bare carriage return; save the file with the "
                    "line ends of Unix or Windows"
                ) from error
            raise ReadError(
                f"{self.path}, line {self.source.first}: the row here is not a valid table row ({error}); check its "
                "quotes"
            ) from error


class _RowLines:
    """The lines of a table, of which one row may not take more than the limit."""

    def __init__(self, lines: Iterator[str], path: Location, limits: ReadLimits) -> None:
        self._lines, self._path, self.limits = lines, path, limits
        self._number = self._size = 0
        self.first = 1  # line on which the row begins

    def __iter__(self) -> Iterator[str]:
        return self

    def begin_row(self) -> None:
        self.first, self._size = self._number + 1, 0

    def __next__(self) -> str:
        line = next(self._lines)
        self._number += 1
        self._size += max(len(line), _LEAST)
        if self._size > self.limits.document_bytes:
            raise too_long(
                f"the row of {self._path} that begins on line {self.first} (perhaps a quote is not closed)", self.limits
            )
        return line


def _first_lines(lines: Iterator[str]) -> list[str]:
    sample: list[str] = []
    size = 0
    for line in lines:
        sample.append(line)
        size += len(line)
        if len(sample) >= _SAMPLE_LINES or size >= _SAMPLE_CHARACTERS:
            break
    return sample


def _size(lines: list[str]) -> int:
    return sum(map(len, lines))


def _ragged(where: str, n_fields: int, n_columns: int, delimiter: str) -> ReadError:
    """Say that a row does not fit, and in which direction the way out is."""
    shown = "a tab" if delimiter == "\t" else repr(delimiter)
    repair = f"quote fields that hold {shown}" if n_fields > n_columns else "complete the row"
    return ReadError(
        f"{where} has {n_fields} fields but the header names {n_columns}, with {shown} between them; {repair}, or name "
        "the right delimiter (--delimiter)"
    )


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
