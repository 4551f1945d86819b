"""Tables with a delimiter: CSV, TSV and what spreadsheets and databases make of them.

PyArrow cuts blocks of sound rows; Python's csv module reads all others row by row, and says which row is wrong.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from stickbreak.corpus.reading.blocks import Block, arrow_texts, named
from stickbreak.corpus.reading.decoding import Dirt, Span, line_blocks
from stickbreak.corpus.reading.fields import Asked, Fields, found_in
from stickbreak.corpus.reading.files import ReadLimits
from stickbreak.exceptions import InputError, NoDocuments, ReadError
from stickbreak.storage.urls import Location

USUAL_DELIMITERS = {"csv": ",", "tsv": "\t"}
_NAMES = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
_CANDIDATES = (",", ";", "\t", "|")
_NONE = "\x1f"  # cuts nothing: a table of one column
_SAMPLE_LINES, _SAMPLE_BYTES = 100, 1 << 18
_SAMPLE_ROWS = 20
_MOST_BEFORE, _LEAST_AFTER = 20, 6  # lines: of a title above a table, and of the table
_ROWS = 1 << 12  # that are put together where they are read one by one
_LEAST = 64  # bytes that a line counts for: a million empty lines in one field are a quote that does not end
_WORDS_OF_A_TEXT = 5
_NO_HEADER = "; if the first row does not name the columns, give --no-header (in Python: header=False)"
_COUNTS = "; if it holds counts, with a row for each document and a column for each word, give --format counts"
_FEW, _FEW_WORDS = 3, 10  # columns of numbers: from these on they may be, and are, counts of words
_NAMES_OF_DOCUMENTS = ("", "id", "name", "title", "document")
_WRAPPED = re.compile(r'"(.*)"', re.DOTALL)


def checked_delimiter(delimiter: object) -> str | None:
    r"""Return the delimiter that was asked for: one character, or "tab", "comma", "semicolon", "pipe"; or None.

    Examples
    --------
    >>> checked_delimiter("tab"), checked_delimiter(";")
    ('\t', ';')
    """
    if delimiter is None:
        return None
    found = _NAMES.get(delimiter, delimiter) if isinstance(delimiter, str) else ""
    if len(found) != 1 or found in '"\r\n\0\ufeff':
        raise InputError(f"--delimiter (delimiter) is {delimiter!r:.40}; give one character, such as ';', or 'tab'")
    return found


@dataclass(frozen=True, slots=True)
class Cut:
    """How rows are cut into fields."""

    delimiter: str
    quotes: bool = True  # a field may be in quotes, and then hold delimiters and ends of lines
    escapes: bool = False  # quotes in it are written with a backslash

    def reader(self, lines: Iterator[str]) -> Iterator[list[str]]:
        """Return what cuts lines."""
        how: dict[str, Any] = {
            "quoting": csv.QUOTE_MINIMAL if self.quotes else csv.QUOTE_NONE,
            "escapechar": "\\" if self.escapes else None,
        }
        return csv.reader(lines, delimiter=self.delimiter, strict=True, **how)


@dataclass(frozen=True, slots=True)
class Table:
    """A table of which the columns are known."""

    path: Location
    encoding: str
    limits: ReadLimits
    cut: Cut
    columns: tuple[str, ...]  # their names; numbers from 0 where there is no header
    n_before: int  # lines before the first row
    rows: tuple[tuple[str, ...], ...]  # the first ones

    @classmethod
    def open(
        cls,
        path: Location,
        encoding: str,
        delimiter: str | None,
        usual: str,
        limits: ReadLimits,
        *,
        header: bool | None = None,
        asked: Asked | None = None,
        dirt: Dirt | None = None,
    ) -> Table:
        """Look at the first rows."""
        csv.field_size_limit(max(csv.field_size_limit(), min(limits.document_bytes, sys.maxsize)))
        sample, whole = _sample(path, encoding, limits, dirt)
        n_before = 0
        named = re.fullmatch(r'"?sep=(.|\\t)"?', sample[0].strip(" \r\n")) if sample else None
        if named is not None:  # for Excel
            delimiter, n_before, sample = delimiter or _NAMES.get(named[1], named[1]), 1, sample[1:]
        above = 0 if header is False else _lines_above(sample, delimiter, usual, whole=whole)
        n_before, sample = n_before + above, sample[above:]
        cut, lines, passed = (
            _likely_cut(sample, delimiter, usual, whole=whole),
            list(map(str.encode, sample)),
            Dirt(True),
        )
        top = _Rows(cut, lines, 1 + n_before, path, limits, None, passed)
        first = next(iter(top), None)
        if first is None:
            if whole and not any(line.strip() for line in sample):
                raise NoDocuments(f"{path} is empty; give a file with at least one document")
            bare = sample and "\r" in sample[0].rstrip("\r\n")
            wrong = (
                "ends in a bare carriage return; save it with the line ends of Unix or Windows"
                if bare
                else "begins a row that cannot be read; check its quotes"
            )
            raise ReadError(f"{path}, line {1 + n_before} {wrong}")
        below = _Rows(cut, lines[top.at :], 1 + n_before + top.at, path, limits, len(first), passed)
        rows = list(islice(below, _SAMPLE_ROWS))
        if above and asked is not None:
            shown = ", ".join(first)
            asked.tell(path, f"lines above the table that are left out: {n_before}; its columns are {shown:.200}")
        if header is None:
            header = _is_header(first, rows, asked or Asked())
            if not header and asked is not None:
                asked.tell(
                    path,
                    "the first row looks like the others, so it is read as a document and the columns are numbered "
                    "from 0; if it names the columns, give --header (in Python: header=True)",
                )
        columns = tuple(name.strip() for name in first) if header else tuple(map(str, range(len(first))))
        known = tuple(map(tuple, rows if header else [first, *rows]))
        return cls(path, encoding, limits, cut, columns, n_before + top.at if header else n_before, known)

    def fields(self, asked: Asked) -> Fields:
        """Choose the columns by the first rows; those of the same name are refused."""
        values: dict[str, object] = {}
        for place, name in enumerate(self.columns):
            filled = [row[place] for row in self.rows if row[place]]
            texts = [text for text in filled if not _is_number(text)]
            values[name] = max(texts, key=len) if texts else (0.0 if filled else "")
        twice = {name for name in self.columns if self.columns.count(name) > 1}
        shown = f" (cut at {self.cut.delimiter!r}, --delimiter)" if self.cut.delimiter not in (",", "\t", _NONE) else ""
        first, *others = values.values()
        may_be_counts = len(others) >= _FEW and all(isinstance(value, float) for value in others)
        if may_be_counts and isinstance(first, str) and len(first.split()) < 2:
            values[self.columns[0]] = 0.0  # a name, no text
        hint = _NO_HEADER + (_COUNTS if may_be_counts else "")
        fields = asked.fields(values, f"{self.path}{shown}", hint=hint)
        needed = twice & set(fields.columns) or (twice if found_in(values, asked.text or "text") in twice else set())
        if needed:
            raise ReadError(
                f"{self.path} has several columns {min(needed)!r:.40}; give each a different name, or name other "
                "columns"
            )
        return fields

    @property
    def name_column(self) -> str | None:
        """The first column of a table of counts, where it names the documents."""
        first = self.columns[0]
        is_name = first.casefold() in _NAMES_OF_DOCUMENTS or not all(_is_number(row[0] or "0") for row in self.rows)
        return first if is_name else None

    @property
    def holds_counts(self) -> bool:
        """Whether the first rows are counts of many words: no number is negative, and the columns have names."""
        cells = [cell for row in self.rows for cell in row[1:] if cell]
        first = self.columns[0].casefold()
        words = max((len(row[0].split()) for row in self.rows if not _is_number(row[0])), default=0)
        return (
            len(self.columns) > _FEW_WORDS
            and self.columns[1] != "1"
            and (first in _NAMES_OF_DOCUMENTS or words < (1 if first == "text" else _WORDS_OF_A_TEXT))
            and bool(cells)
            and all(_is_number(cell) and float(cell) >= 0 for cell in cells)
        )

    def blocks(self, fields: Fields, dirt: Dirt, span: Span | None = None) -> Iterator[Block]:
        """Read the rows as documents."""
        for columns in self.chunks(fields.columns, dirt, span):
            texts = columns[fields.text]
            names = None if fields.name is None else named(columns[fields.name])
            kept = {name: columns[field] for name, field in fields.keep.items()}
            yield Block(texts, names, kept, written=True)

    def chunks(self, wanted: Sequence[str], dirt: Dirt, span: Span | None = None) -> Iterator[dict[str, Any]]:
        """Give some columns as Arrow arrays of large strings, some thousand rows at once."""
        blocks = line_blocks(self.path, self.encoding, self.limits, dirt, span)
        before = self.n_before if span is None or span.begin == 0 else 0
        places = [self.columns.index(name) for name in wanted]
        held, number = b"", 1  # lines, and the number of the first one
        while True:
            block = next(blocks, None)
            if block is not None:
                number, held = (number, held + block[1]) if held else block
            while before and held:
                held = held.partition(b"\n")[2]
                number, before = number + 1, before - 1
            if not held:
                if block is None:
                    return
                continue
            end = whole_rows(held, self.cut)
            if end == 0 and block is not None and len(held) <= self.limits.document_bytes:
                continue
            parsed = self._parsed(held[:end], wanted) if end > 0 else None
            if parsed is not None:
                number, held = number + held.count(b"\n", 0, end), held[end:]
                if len(parsed[wanted[0]]):
                    yield parsed
                continue
            lines = io.BytesIO(held).readlines()
            n_lines = len(lines)
            rows = _Rows(self.cut, lines, number, self.path, self.limits, len(self.columns), dirt, blocks)
            reading, some = iter(rows), [[""]]
            while rows.at < n_lines and some:
                some = list(islice(rows.until(reading, n_lines), _ROWS))
                if some:
                    yield {
                        name: arrow_texts([row[at] for row in some]) for name, at in zip(wanted, places, strict=True)
                    }
            number, held = number + rows.at, b"".join(rows.lines[rows.at :])

    def _parsed(self, content: bytes, wanted: Sequence[str]) -> dict[str, Any] | None:
        """Cut sound rows with pyarrow; None where anything is not as it should be."""
        import pyarrow as pa
        import pyarrow.compute as pc
        from pyarrow import csv as arrow_csv

        if not self.cut.delimiter.isascii() or (b"\r" in content and b"\r" in content.replace(b"\r\n", b"")):
            return None
        names = [str(number) for number in range(len(self.columns))]
        included = [names[self.columns.index(name)] for name in wanted]
        try:
            table = arrow_csv.read_csv(
                pa.BufferReader(content),
                read_options=arrow_csv.ReadOptions(use_threads=False, block_size=len(content) + 1, column_names=names),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=self.cut.delimiter,
                    quote_char='"' if self.cut.quotes else False,
                    escape_char="\\" if self.cut.escapes else False,
                    newlines_in_values=self.cut.quotes,
                ),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(included, pa.large_string()),
                    include_columns=included,
                    strings_can_be_null=False,
                ),
            )
        except pa.ArrowInvalid:
            return None
        columns = {name: _array(table.column(at)) for at, name in enumerate(wanted)}
        longest = max(pc.max(pc.binary_length(column)).as_py() or 0 for column in columns.values())
        if longest > self.limits.document_bytes:
            return None
        if not self.cut.quotes and b'"' in content:
            columns = {
                name: arrow_texts([_unwrapped(text) for text in column.to_pylist()]) for name, column in columns.items()
            }
        return columns


def numbers_in(column: Any, where: str, *, blank: str | None = None) -> np.ndarray:
    """Return a column of texts as numbers, with those for what is blank."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pc.utf8_trim_whitespace(column)
    if blank is not None:
        texts = pc.if_else(pc.equal(texts, ""), blank, texts)
    try:
        return np.asarray(texts.cast(pa.float64()))
    except pa.ArrowInvalid:
        wrong = next(text for text in texts.to_pylist() if not _is_plain(text))
        raise ReadError(f"{where} holds {wrong!r:.40}, not numbers; leave that column or row out") from None


def _is_plain(text: str) -> bool:
    """Tell whether Arrow reads a text as a number, as it does not read 1_000 and digits of other scripts."""
    import pyarrow as pa

    try:
        pa.scalar(text).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def _array(column: Any) -> Any:
    """Return the one array of a column."""
    import pyarrow as pa

    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _unwrapped(text: str) -> str:
    """Take the quotes off a field that stands in quotes, of a table that has none that mean something."""
    found = _WRAPPED.fullmatch(text)
    return text if found is None else found[1].replace('""', '"')


def whole_rows(content: bytes, cut: Cut) -> int:
    """Return where the last whole row of lines ends; 0: none does, -1: a quote stands where it may mean something else.

    Each first quote of a pair must follow a delimiter, the begin of a line or a quote, and behind each second one must
    be a delimiter, the end of a line or a quote. Then the rows are those that Python's csv reads, too.
    """
    if not cut.quotes or b'"' not in content:
        return len(content)
    array = np.frombuffer(content, np.uint8)
    places = np.flatnonzero(array == ord('"'))
    if cut.escapes:
        if b"\\\\" in content:
            return -1
        places = places[(places == 0) | (array[places - 1] != ord("\\"))]
    elif not places.size:
        return len(content)
    end = len(content)
    if places.size % 2:
        end = content.rfind(b"\n", 0, int(places[-1])) + 1
        places = places[places < end]
        if places.size % 2:
            return -1
    opens, closes = places[0::2], places[1::2]
    marks = np.array([ord(cut.delimiter), 10, 13, 34], np.uint8) if ord(cut.delimiter) < 128 else None
    if marks is None:
        return -1
    before = array[opens[opens > 0] - 1]
    behind = array[closes[closes + 1 < len(content)] + 1]
    sound = np.isin(before, marks).all() and np.isin(behind, marks).all()
    return end if sound else -1


class _Rows:
    """Rows read one by one; one that is wrong is read again with other quotes, then refused or left out."""

    def __init__(
        self,
        cut: Cut,
        lines: list[bytes],
        number: int,
        path: Location,
        limits: ReadLimits,
        n_columns: int | None,
        dirt: Dirt,
        more: Iterator[tuple[int, bytes]] | None = None,  # blocks of lines that follow
    ) -> None:
        self._cut, self.lines, self._number, self._path = cut, lines, number, path
        self._limits, self._n_columns, self._dirt, self._more = limits, n_columns, dirt, more
        self.at = 0  # the next line

    def until(self, rows: Iterator[list[str]], n_lines: int) -> Iterator[list[str]]:
        """Give the rows that begin in the first lines."""
        while self.at < n_lines and (row := next(rows, None)) is not None:
            yield row

    def __iter__(self) -> Iterator[list[str]]:
        n = self._n_columns
        while True:
            start = self.at
            row, error = self._row(self._cut)
            end = self.at
            if end == start:
                return
            if error is None and not row:  # an empty line
                continue
            if error is None and n is not None and not any(row[n:]):  # delimiters at the end
                row = row[:n]
            if error is None and n in (None, len(row)):
                yield row if self._cut.quotes else [_unwrapped(text) for text in row]
                continue
            other = self._otherwise(start, end)
            if other is not None:
                yield other
                continue
            self.at = end if error is None else start + 1  # a row that was closed: all of it
            self._wrong(self._number + start, row, error)

    def _row(self, cut: Cut) -> tuple[list[str], str | None]:
        """Take a row; return it, and what is wrong with it."""
        size, first = 0, self._number + self.at

        def lines() -> Iterator[str]:
            nonlocal size
            while self.at < len(self.lines) or self._has_more():
                line = self.lines[self.at]
                self.at += 1
                size += max(len(line), _LEAST)
                if size > self._limits.document_bytes:
                    raise self._limits.too_long(
                        f"the row of {self._path} that begins on line {first} (perhaps a quote is not closed)"
                    )
                yield line.decode()

        try:
            return next(cut.reader(lines()), []), None
        except csv.Error as error:
            return [], str(error)

    def _has_more(self) -> bool:
        self.lines += (line for _, block in islice(self._more or (), 1) for line in io.BytesIO(block))
        return self.at < len(self.lines)

    def _otherwise(self, start: int, end: int) -> list[str] | None:
        """Read a row that is wrong with other quotes; None where that does not help."""
        taken = b"".join(self.lines[start:end])
        if self._n_columns is None or b'"' not in taken:
            return None
        others = [replace(self._cut, escapes=True)] if b'\\"' in taken else []
        if self._cut.delimiter == "\t":
            others.append(replace(self._cut, quotes=not self._cut.quotes))
        for cut in others:
            self.at = start
            row, error = self._row(cut)
            if error is None and len(row) == self._n_columns:
                return row if cut.quotes else [_unwrapped(text) for text in row]
        return None

    def _wrong(self, line: int, row: list[str], error: str | None) -> None:
        """Refuse or note a row."""
        where = f"{self._path}, line {line}"
        if error is not None and "new-line" in error:
            self._dirt.row(
                f"{where} ends in a bare carriage return", "save the file with the line ends of Unix or Windows"
            )
        elif error is not None:
            self._dirt.row(f"{where}: the row here is not a valid table row ({error})", "check its quotes")
        else:
            delimiter, n = self._cut.delimiter, self._n_columns or 0
            shown = "a tab" if delimiter == "\t" else repr(delimiter)
            repair = f"quote fields that hold {shown}" if len(row) > n else "complete the row"
            if self._dirt.settable:
                repair += ", name the right delimiter (--delimiter)"
            self._dirt.row(f"{where} has {len(row)} fields but the header names {n}, with {shown} between them", repair)


def _sample(path: Location, encoding: str, limits: ReadLimits, dirt: Dirt | None) -> tuple[list[str], bool]:
    """Return the first lines, and whether they are all."""
    known = Dirt(replace_bytes=dirt is None or dirt.replace_bytes, settable=dirt is not None)
    sample: list[str] = []
    size = 0
    for _, block in line_blocks(path, encoding, limits, known):
        for line in io.BytesIO(block):
            sample.append(line.decode())
            size += len(line)
            if len(sample) >= _SAMPLE_LINES or size >= _SAMPLE_BYTES:
                return sample, False
    return sample, True


def _lines_above(lines: Sequence[str], delimiter: str | None, usual: str, *, whole: bool) -> int:
    """Return how many lines of a title stand above a table: those that have fewer fields than the rows below."""
    cuts = [Cut(mark) for mark in ([delimiter] if delimiter is not None else dict.fromkeys((usual, *_CANDIDATES)))]
    for n in range(min(_MOST_BEFORE + 1, max(len(lines) - _LEAST_AFTER, 1))):
        if n and not lines[n].strip():
            continue
        for cut in cuts:
            width, rows, sound = _widths(lines[n:], cut, whole=whole)
            if width > 1 and sound and rows == {width}:
                names = next(cut.reader(iter(lines[n:])))
                above = list(cut.reader(iter(lines[:n])))
                is_head = all(name.strip() and not _is_number(name) for name in names) and len(set(names)) == width
                if names and not is_head and width > 2 and names[0].strip() and not any(names[1:]):
                    break  # a title, filled up with delimiters
                filled = all(len(row) < width or not any(row[1:]) for row in above)
                return n if is_head and filled else 0
    return 0


def _likely_cut(lines: Sequence[str], delimiter: str | None, usual: str, *, whole: bool) -> Cut:
    """Tell how rows are cut by the first lines.

    A delimiter fits if it cuts the header into two or more fields and every row into as many. The usual one is taken if
    it fits; else the one that fits and gives most fields. If none fits, the usual one is taken if it cuts the header;
    else, where none cuts it, the table has one column.
    """
    candidates = [delimiter] if delimiter is not None else list(dict.fromkeys((usual, *_CANDIDATES)))
    cuts = [Cut(mark) for mark in candidates]
    if "\t" in candidates:
        cuts.insert(cuts.index(Cut("\t")) + 1, Cut("\t", quotes=False))
    if any('\\"' in line for line in lines):
        cuts += [Cut(mark, escapes=True) for mark in candidates]
    widths = {cut: _widths(lines, cut, whole=whole) for cut in cuts}
    fitting = [cut for cut, (header, rows, sound) in widths.items() if header > 1 and sound and rows <= {header}]
    own = [cut for cut in fitting if cut.delimiter == (delimiter or usual)]
    if own:
        return own[0]
    if fitting:
        return max(fitting, key=lambda cut: widths[cut][0])
    if delimiter is not None or widths[Cut(usual)][0] > 1:
        return Cut(delimiter or usual)
    most = max(cuts, key=lambda cut: widths[cut][0])
    if widths[most][0] > 1 and min(widths[most][1], default=1) > 1:
        return most
    header, rows, sound = widths[Cut(usual)]
    return Cut(usual if sound and rows <= {header} and header == widths[most][0] else _NONE)


def _widths(lines: Sequence[str], cut: Cut, *, whole: bool) -> tuple[int, set[int], bool]:
    """Return the number of fields of the header, those of the rows, and whether the quotes are sound."""
    taken = 0

    def counted() -> Iterator[str]:
        nonlocal taken
        for line in lines:
            taken += 1
            yield line

    widths: list[int] = []
    sound = True
    try:
        widths.extend(len(row) for row in cut.reader(counted()) if row)
    except csv.Error:
        sound = not whole and taken >= len(lines)  # a quote that ends on a later line
    else:
        widths = widths if whole or len(widths) < 2 else widths[:-1]
    return (widths[0] if widths else 0), set(widths[1:]), sound


def _is_header(first: list[str], others: list[list[str]], asked: Asked) -> bool:
    """Tell whether the first row names the columns: a number or a text of several words is no name."""
    known = dict.fromkeys(first)
    wanted = [name for name in (asked.text, asked.name, *asked.keep, "text") if name is not None]
    if any(found_in(known, name) is not None for name in wanted):
        return True
    if any(_is_number(name) for name in first):
        return False
    if not others:
        return True
    long = [
        place
        for place, name in enumerate(first)
        if len(name.split()) >= _WORDS_OF_A_TEXT and not name.rstrip().endswith("?")
    ]
    return not any(any(len(row[place].split()) >= _WORDS_OF_A_TEXT for row in others) for place in long)


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
