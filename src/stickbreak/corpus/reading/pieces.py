"""Parts of texts that can be read apart: lines of a plain file, row groups of Parquet, some files of a folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from stickbreak.corpus.reading.decoding import encoding_of, line_end_of
from stickbreak.corpus.reading.fields import Fields
from stickbreak.corpus.reading.files import is_packed, reading, start_of
from stickbreak.corpus.reading.json_blocks import json_blocks
from stickbreak.corpus.reading.json_sources import json_line_fields
from stickbreak.corpus.reading.lines import Span, line_starts
from stickbreak.corpus.reading.parquet_file import opened, readable
from stickbreak.corpus.reading.parquet_source import parquet_records
from stickbreak.corpus.reading.records import Records
from stickbreak.corpus.reading.source import TextSource
from stickbreak.corpus.reading.text_blocks import TextBlock, blocks_of
from stickbreak.corpus.reading.text_sources import folder_records, line_records, text_files
from stickbreak.exceptions import ReadError
from stickbreak.storage.plain_files import open_file
from stickbreak.storage.urls import Location

__all__ = ["Piece", "pieces_of"]

_PACKED = 4  # times smaller than its content is a gzip file of texts, about

Stamp = tuple[tuple[int, int], ...]
"""Size and time of change of files."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive documents of a file or folder.

    Attributes
    ----------
    source : TextSource
    size : int
        Bytes of text, about.
    stamp : tuple of (int, int)
        Size and time of change of each of its files, when they were cut.
    span : Span or None
        Its lines.
    fields : Fields or None
        Of JSON lines: as the first object of the file decided.
    groups : tuple of (int, int) or None
        Its first row group of Parquet, and the one after its last.
    files : tuple of str or None
        Its files of a folder.
    """

    source: TextSource
    size: int
    stamp: Stamp
    span: Span | None = None
    fields: Fields | None = None
    groups: tuple[int, int] | None = None
    files: tuple[str, ...] | None = None

    def blocks(self) -> Iterator[TextBlock]:
        """Read the documents.

        Raises
        ------
        ReadError
            As `stickbreak.corpus.read`, or if a file is no longer what it was when it was cut.
        """
        self._check_unchanged()
        try:
            yield from self._blocks(self.span)
        except ReadError:
            if self.span is not None and self.span.begin:  # again, now that the number of the first line matters
                for _ in self._blocks(replace(self.span, line=1 + _lines_before(self.source.path, self.span.begin))):
                    pass
            raise
        self._check_unchanged()

    def _check_unchanged(self) -> None:
        if _stamp(self.source.path, self.files) != self.stamp:
            raise ReadError(f"{self.source.path} was changed while it was counted; count it again")

    def _blocks(self, span: Span | None) -> Iterator[TextBlock]:
        if self.source.kind != "jsonl":
            return blocks_of(self._records(span))
        given = self.source.settings
        return json_blocks(self.source.path, given.asked, given.encoding, given.limits, span, self.fields)

    def _records(self, span: Span | None) -> Records:
        path, given = self.source.path, self.source.settings
        if self.files is not None:
            return folder_records(path, given.encoding, given.limits, self.files)
        if self.groups is not None:
            return parquet_records(path, given.asked, given.chunk_size, given.limits, range(*self.groups))
        if span is None:
            return self.source.records()
        return line_records(path, given.encoding, given.limits, span)


def pieces_of(source: TextSource, step: int) -> Iterator[Piece]:
    """Cut texts into pieces, by the data alone.

    Parameters
    ----------
    source : TextSource
        Texts.
    step : int
        Bytes of a piece, about. What cannot be cut (a packed file, a table with quotes) is one piece.

    Yields
    ------
    Piece
        Together, in order, they are all documents.

    Raises
    ------
    ReadError
        If a file cannot be read.
    """
    path, given = source.path, source.settings
    if source.kind == "folder":
        yield from _pieces_of_folder(source, step)
        return
    stamp = _stamp(path)
    size = stamp[0][0]
    if source.kind == "parquet":
        yield from _pieces_of_parquet(source, stamp, step)
    elif is_packed(path):
        yield Piece(source, _PACKED * size, stamp)
    elif size <= step or source.kind not in ("jsonl", "lines") or not _has_plain_lines(source):
        yield Piece(source, size, stamp)
    else:
        fields = None
        if source.kind == "jsonl":
            fields = json_line_fields(path, given.asked, given.encoding, given.limits)
            if fields is None:
                yield Piece(source, size, stamp)
                return
        for begin, end in pairwise(line_starts(path, size, step)):
            yield Piece(source, end - begin, stamp, span=Span(begin, end), fields=fields)


def _pieces_of_folder(source: TextSource, step: int) -> Iterator[Piece]:
    files: list[str] = []
    size = 0
    for name in text_files(source.path):
        files.append(name)
        size += _stamp(source.path, (name,))[0][0]
        if size >= step:
            yield Piece(source, size, _stamp(source.path, files), files=tuple(files))
            files, size = [], 0
    if files:
        yield Piece(source, size, _stamp(source.path, files), files=tuple(files))


def _pieces_of_parquet(source: TextSource, stamp: Stamp, step: int) -> Iterator[Piece]:
    with opened(source.path, source.settings.limits) as file, readable(source.path):
        metadata = file.metadata
        sizes = [int(metadata.row_group(group).total_byte_size) for group in range(metadata.num_row_groups)]
    first = size = 0
    for group, n_bytes in enumerate(sizes):
        size += n_bytes
        if size >= step or group + 1 == len(sizes):
            yield Piece(source, size, stamp, groups=(first, group + 1))
            first, size = group + 1, 0


def _has_plain_lines(source: TextSource) -> bool:
    """Whether a line ends where a byte 10 stands."""
    encoding = encoding_of(start_of(source.path), source.settings.encoding, str(source.path))
    return line_end_of(encoding) == b"\n"


def _stamp(path: Location, files: Any = None) -> Stamp:
    with reading(path):
        found = [file.stat() for file in ([path] if files is None else [path / name for name in files])]
    return tuple((one.st_size, one.st_mtime_ns) for one in found)


def _lines_before(path: Location, end: int) -> int:
    """Count the lines before a byte of a file."""
    n_lines = 0
    with reading(path), open_file(path) as file:
        while end > 0 and (block := file.read(min(end, 1 << 20))):
            n_lines, end = n_lines + block.count(b"\n"), end - len(block)
    return n_lines
