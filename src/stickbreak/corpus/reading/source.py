"""A collection on disk: what it is, how it is read, and its parts that can be read apart."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from numbers import Integral
from typing import Any, Self
from urllib.parse import unquote

import numpy as np

from stickbreak.corpus.arguments import checked_limits, checked_location, checked_optional_name
from stickbreak.corpus.reading.blocks import Block, Written, arrow_texts, named
from stickbreak.corpus.reading.decoding import (
    Dirt,
    Span,
    checked_encoding,
    decoded_file,
    encoding_of,
    is_wide,
    line_blocks,
    lines_before,
)
from stickbreak.corpus.reading.fields import ALL, Asked, NoSuchField, checked_keep
from stickbreak.corpus.reading.files import ReadLimits, files_below, packing_of, reading, start_of, without_packing
from stickbreak.corpus.reading.formats import TABLES, TEXTS, binary_kind, detect_format, kind_of_name
from stickbreak.corpus.reading.json_texts import JsonTexts
from stickbreak.corpus.reading.parquet import parquet_blocks, row_groups
from stickbreak.corpus.reading.tables import USUAL_DELIMITERS, Table, checked_delimiter, whole_rows
from stickbreak.exceptions import InputError, ReadError
from stickbreak.storage.plain_files import open_file
from stickbreak.storage.urls import Location, UrlPath

_LOG = logging.getLogger("stickbreak")
_OWN = (("model.json", "arrays.safetensors"), ("corpus.json", "indptr.npy"), ("vectors.json", "values.npy"))
TABLE_BESIDE = (
    "give a table of them with --metadata TABLE (of fit, ask and report; in Python: Corpus.from_counts(corpus, "
    "metadata=frame))"
)
_ROWS, _BYTES = 1 << 10, 1 << 20  # files that are put together, and their bytes


def line_texts(
    path: Location, encoding: str, limits: ReadLimits, dirt: Dirt, span: Span | None = None
) -> Iterator[Block]:
    """Read a text file of one document a line; an empty line is an empty document."""
    import pyarrow as pa

    for _, lines in line_blocks(path, encoding, limits, dirt, span):
        content = np.frombuffer(lines, np.uint8)
        ends = np.flatnonzero(content == ord("\n")) + 1
        starts = np.concatenate([[0], ends if lines.endswith(b"\n") else [*ends, content.size]]).astype(np.int64)
        buffers = [None, pa.py_buffer(starts), pa.py_buffer(lines)]
        yield Block(pa.Array.from_buffers(pa.large_string(), starts.size - 1, buffers))


def folder_blocks(
    path: Location, encoding: str, limits: ReadLimits, dirt: Dirt, names: Sequence[str] | None = None
) -> Iterator[Block]:
    """Read a folder of text files, one document each, with all folders in it; a name is the path inside the folder.

    Hidden files and folders are left out, and so are folders that stickbreak wrote and binary files: those that are
    told by their content (images, PDF, office files) or hold a zero byte in their first 8 KB. Files that are named
    *.txt are never left out.
    """
    found, left_out = names is not None, ""
    texts: list[str] = []
    paths: list[str] = []
    size = 0
    for name in text_files(path) if names is None else names:
        file = path / name
        if not without_packing(name).endswith(".txt"):
            start = start_of(file, 8192)
            foreign = binary_kind(file, start)
            if foreign is not None or _is_binary(start, encoding):
                left_out = left_out or (f"; {name} is {foreign}" if foreign else "")
                continue
        found = True
        texts.append(decoded_file(file, encoding, limits, dirt))
        paths.append(name)
        size += len(texts[-1])
        if len(texts) >= _ROWS or size >= _BYTES:
            yield Block(arrow_texts(texts), named(paths))
            texts, paths, size = [], [], 0
    if texts:
        yield Block(arrow_texts(texts), named(paths))
    if not found:
        raise ReadError(f"{path} holds no text files; name a folder with one file for each document{left_out}")


def text_files(path: Location) -> list[str]:
    """Return the files of a folder and of all folders in it, as paths inside it; hidden ones are left out."""
    names = sorted(files_below(path))
    own = _own_folders(names)
    if own:
        names = [name for name in names if not name.startswith(own)]
        _LOG.warning("%s holds what stickbreak has written (%s), which is not read as text", path, ", ".join(own))
    return names


def _own_folders(names: list[str]) -> tuple[str, ...]:
    """Return the folders of models, checkpoints, corpora and vectors, each with a slash at its end."""
    known = set(names)
    found = ((name.removesuffix(mark), other) for name in names for mark, other in _OWN if name.endswith(f"/{mark}"))
    return tuple(folder for folder, other in found if folder + other in known)


def _is_binary(start: bytes, encoding: str) -> bool:
    if b"\0" not in start:
        return False
    try:
        return not is_wide(encoding_of(start, encoding, ""))
    except ReadError:  # without a byte order mark
        return True


_PACKED = 4  # times smaller than its content is a packed file of texts, about
_DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"

Stamp = tuple[tuple[int, int], ...]
"""Size and time of change of files."""


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """How texts are read: arguments of `stickbreak.corpus.read`; the format is checked with the file."""

    format: str | None = None
    text_field: Any = None
    name_field: Any = None
    keep: Any = None
    encoding: str = "utf-8"
    delimiter: str | None = None
    header: bool | None = None
    bad_rows: str = "fail"
    encoding_errors: str = "strict"
    chunk_size: Any = 10_000
    limits: Any = None
    asked: Asked = field(init=False)

    def __post_init__(self) -> None:
        size = self.chunk_size
        if isinstance(size, bool) or not isinstance(size, Integral) or size < 1:
            raise InputError(f"chunk_size is {size!r:.40}; give a number of documents from 1 upwards")
        if not (self.header is None or isinstance(self.header, bool)):
            raise InputError(f"header is {self.header!r:.40}; give True, False, or None to tell it by the first row")
        for argument, known in (("bad_rows", ("fail", "skip")), ("encoding_errors", ("strict", "replace"))):
            value = getattr(self, argument)
            if value not in known:
                option = f"--{argument.replace('_', '-')}"
                raise InputError(f"{option} ({argument}) is {value!r:.40}; give {known[0]!r} or {known[1]!r}")
        text, name = (
            checked_optional_name(str(value) if isinstance(value, Integral) else value, argument)
            for value, argument in ((self.text_field, "text_field"), (self.name_field, "name_field"))
        )
        checked = {
            "asked": Asked(text, name, checked_keep(self.keep)),
            "encoding": checked_encoding(self.encoding),
            "delimiter": checked_delimiter(self.delimiter),
            "chunk_size": int(size),
            "limits": checked_limits(self.limits),
        }
        for field_name, value in checked.items():
            object.__setattr__(self, field_name, value)

    def dirt(self) -> Dirt:
        """Return what notes rows and bytes that are passed over."""
        return Dirt(self.bad_rows == "skip", self.encoding_errors == "replace", settable=True)


@dataclass(frozen=True, slots=True)
class TextSource:
    """A file or folder and its format."""

    path: Location
    kind: str  # one of FORMATS
    settings: ReadSettings
    partition: tuple[
        tuple[str, str | None], ...
    ] = ()  # columns that names of folders give, as in year=2020, and values

    @classmethod
    def checked(cls, path: object, function: str, settings: ReadSettings) -> Self:
        """Find the format of what `function` was given."""
        source = checked_location(path, function)
        found = cls(source, detect_format(source, settings.format, settings.encoding), settings)
        unsaid = settings.format is None and settings.asked.text is None
        if unsaid and found.kind in USUAL_DELIMITERS and not source.is_dir() and found.table().holds_counts:
            settings.asked.tell(
                source, "it is read as counts, a row for each document and a column for each word (--format counts)"
            )
            found = replace(found, kind="counts")
        keep = settings.asked.keep
        if keep not in ((), ALL) and found.kind not in (*TABLES, "corpus", "svmlight"):
            error = NoSuchField(
                f"{source} is of format {found.kind!r}, which has no columns beside the documents, but "
                f"{keep[0]!r:.40} is asked for; {TABLE_BESIDE}, or leave this column out"
            )
            error.field = keep[0]
            raise error
        if isinstance(source, UrlPath) and not found.holds_texts and found.kind != "corpus":
            raise ReadError(f"{source} is of format {found.kind!r}, which is read from disks only; fetch it first")
        return found

    @property
    def holds_texts(self) -> bool:
        """Whether these are texts, which are to be counted."""
        return self.kind in TEXTS

    def parts(self) -> list[TextSource]:
        """Return the files of a folder of tables; the source itself for any other."""
        with reading(self.path):
            if self.kind not in TABLES or not self.path.is_dir():
                return [self]
            names = sorted(name for name in files_below(self.path) if not os.path.basename(name).startswith("_"))
            names = [name for name in names if (self.path / name).stat().st_size] or names[:1]
        folders = [
            tuple(folder.partition("=")[::2] for folder in name.split("/")[:-1] if "=" in folder) for name in names
        ]
        return [
            replace(
                self,
                path=self.path / name,
                kind=self.settings.format or kind_of_name(name) or self.kind,
                partition=tuple((key, None if value == _DEFAULT_PARTITION else unquote(value)) for key, value in pairs),
            )
            for name, pairs in zip(names, folders, strict=True)
        ]

    def blocks(self, dirt: Dirt) -> Iterator[Block]:
        """Read a collection of texts."""
        for part in self.parts():
            yield from part._blocks(dirt)

    def _blocks(self, dirt: Dirt, span: Span | None = None, piece: Piece | None = None) -> Iterator[Block]:
        """Read a file, or a piece of it."""
        path, given = self.path, self.settings
        if self.kind == "jsonl":
            texts = JsonTexts(path, given.asked, given.encoding, given.limits)
            return texts.blocks(dirt, span, None if piece is None else piece.sample)
        if self.kind in USUAL_DELIMITERS:
            table = self.table() if piece is None or piece.table is None else piece.table
            return self._with_partition(table, dirt, span)
        if self.kind == "parquet":
            groups = None if piece is None or piece.groups is None else range(*piece.groups)
            chosen = dict(self.partition)
            return parquet_blocks(path, given.asked, given.chunk_size, given.limits, groups, chosen)
        if self.kind == "folder":
            return folder_blocks(path, given.encoding, given.limits, dirt, None if piece is None else piece.files)
        return line_texts(path, given.encoding, given.limits, dirt, span)

    def _with_partition(self, table: Table, dirt: Dirt, span: Span | None) -> Iterator[Block]:
        """Read rows, with what the names of folders say beside them."""
        asked, partition = self.settings.asked, dict(self.partition)
        own = partition if asked.keep == ALL else {name: partition[name] for name in asked.keep if name in partition}
        others = (
            asked if asked.keep == ALL else replace(asked, keep=tuple(name for name in asked.keep if name not in own))
        )
        for block in table.blocks(table.fields(others), dirt, span):
            beside = {name: [None if value is None else Written(value)] * len(block) for name, value in own.items()}
            yield replace(block, kept={**block.kept, **beside}) if own else block

    def table(self) -> Table:
        """Look at the first rows of a table with a delimiter."""
        given = self.settings
        usual = USUAL_DELIMITERS.get(self.kind) or USUAL_DELIMITERS.get(kind_of_name(self.path.name) or "", ",")
        header = True if self.kind == "counts" and given.header is None else given.header
        how: dict[str, Any] = {"header": header, "asked": given.asked, "dirt": given.dirt()}
        return Table.open(self.path, given.encoding, given.delimiter, usual, given.limits, **how)

    def pieces(self, step: int) -> Iterator[Piece]:
        """Cut texts into pieces of about `step` bytes, by the data alone; together, in order, they are all documents.

        What cannot be cut (a packed file, an array of JSON) is one piece.
        """
        for part in self.parts():
            yield from part._pieces(step)

    def _pieces(self, step: int) -> Iterator[Piece]:
        path, given = self.path, self.settings
        if self.kind == "folder":
            yield from self._pieces_of_folder(step)
            return
        stamp = _stamp(path)
        size = stamp[0][0]
        if self.kind == "parquet":
            first = n_bytes = 0
            sizes = row_groups(path, given.limits)
            for group, own in enumerate(sizes):
                n_bytes += own
                if n_bytes >= step or group + 1 == len(sizes):
                    yield Piece(self, n_bytes, stamp, groups=(first, group + 1))
                    first, n_bytes = group + 1, 0
            return
        if packing_of(path) is not None:
            yield Piece(self, _PACKED * size, stamp)
            return
        if size <= step or is_wide(encoding_of(start_of(path), given.encoding, str(path))):
            yield Piece(self, size, stamp)
            return
        sample, table = None, None
        if self.kind == "jsonl":
            sample = JsonTexts(path, given.asked, given.encoding, given.limits).sample()
            starts = _starts_of_lines(path, size, step) if sample is not None else [0, size]
        elif self.kind in USUAL_DELIMITERS:
            table = self.table()
            starts = _starts_of_rows(table, size, step)
        else:
            starts = _starts_of_lines(path, size, step)
        whole = len(starts) == 2
        for begin, end in pairwise(starts):
            yield Piece(self, end - begin, stamp, None if whole else Span(begin, end), sample, table)

    def _pieces_of_folder(self, step: int) -> Iterator[Piece]:
        files: list[str] = []
        size = 0
        for name in text_files(self.path):
            files.append(name)
            size += _stamp(self.path, (name,))[0][0]
            if size >= step:
                yield Piece(self, size, _stamp(self.path, files), files=tuple(files))
                files, size = [], 0
        if files:
            yield Piece(self, size, _stamp(self.path, files), files=tuple(files))


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive documents of a file or folder."""

    source: TextSource
    size: int  # bytes of text, about
    stamp: Stamp  # when it was cut
    span: Span | None = None  # its lines
    sample: Mapping[str, Any] | None = None  # of JSON lines: the first object of the file
    table: Table | None = None  # how a table is cut, and its columns
    groups: tuple[int, int] | None = None  # its first row group of Parquet, and the one after its last
    files: tuple[str, ...] | None = None  # its files of a folder

    def blocks(self, dirt: Dirt) -> Iterator[Block]:
        """Read the documents; what is wrong with them is added to `dirt`."""
        self._check_unchanged()
        own = self.source.settings.dirt()
        try:
            yield from self.source._blocks(own, self.span, self)
        except ReadError:
            for _ in self._with_numbers(own):  # raises, now with the number of the line
                pass
            raise
        self._check_unchanged()
        if (own.n_rows or own.n_replaced) and self.span is not None and self.span.begin:
            for _ in self._with_numbers(own := self.source.settings.dirt()):
                pass
        dirt.add(own)

    def _with_numbers(self, dirt: Dirt) -> Iterator[Block]:
        """Read once more, now that the number of the first line matters."""
        if self.span is None or self.span.begin == 0:
            return iter(())
        line = 1 + lines_before(self.source.path, self.span.begin)
        return self.source._blocks(dirt, replace(self.span, line=line), self)

    def _check_unchanged(self) -> None:
        if _stamp(self.source.path, self.files) != self.stamp:
            raise ReadError(f"{self.source.path} was changed while it was counted; count it again")


def _starts_of_lines(path: Location, size: int, step: int) -> list[int]:
    """Return where runs of lines begin, 0 first, and the size of the file last."""
    starts = [0]
    with reading(path), open_file(path) as file:
        for at in range(step, size, step):
            if at <= starts[-1]:
                continue
            file.seek(at - 1)
            while (piece := file.readline(1 << 16)) and not piece.endswith(b"\n"):
                pass
            if file.tell() < size:
                starts.append(file.tell())
    return [*starts, size]


def _starts_of_rows(table: Table, size: int, step: int) -> list[int]:
    """Return where runs of rows begin, as `_starts_of_lines` does; one run where quotes do not stand in pairs."""
    if not table.cut.quotes:
        return _starts_of_lines(table.path, size, step)
    if table.cut.escapes:
        return [0, size]
    starts, at, held = [0], 0, b""
    for lines in _raw_lines(table):
        held += lines
        end = whole_rows(held, table.cut)
        if end < 0 or len(held) > step + (1 << 22):
            return [0, size]
        content = np.frombuffer(held, np.uint8)[:end]
        quotes, ends = np.flatnonzero(content == ord('"')), np.flatnonzero(content == ord("\n"))
        rows = at + 1 + ends[np.searchsorted(quotes, ends) % 2 == 0]
        while (place := int(np.searchsorted(rows, starts[-1] + step))) < rows.size and rows[place] < size:
            starts.append(int(rows[place]))
        at, held = at + end, held[end:]
    return [*starts, size]


def _raw_lines(table: Table) -> Iterator[bytes]:
    """Give the lines of a table as its bytes are: what is wrong with them is told by whoever reads them."""
    with reading(table.path), open_file(table.path) as file:
        while block := file.read(1 << 20):
            yield block + file.readline()


def _stamp(path: Location, files: Any = None) -> Stamp:
    with reading(path):
        found = [file.stat() for file in ([path] if files is None else [path / name for name in files])]
    return tuple((one.st_size, one.st_mtime_ns) for one in found)
