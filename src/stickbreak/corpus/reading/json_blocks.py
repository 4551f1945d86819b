"""JSON lines in blocks: flat objects by a kernel, all other lines as `json_records` reads them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, Self

import numpy as np

from stickbreak.corpus.kernels.json_lines import (
    ESCAPED,
    MISSING,
    NULL,
    OTHER,
    WHOLE,
    copy_texts,
    copy_values,
    scan_lines,
)
from stickbreak.corpus.metadata import column_of_values
from stickbreak.corpus.reading.fields import Asked, Fields
from stickbreak.corpus.reading.json_sources import json_line_fields, json_records, records_of_lines
from stickbreak.corpus.reading.limits import ReadLimits
from stickbreak.corpus.reading.lines import Span, count_line_ends, utf8_blocks
from stickbreak.corpus.reading.text_blocks import TextBlock, blocks_of
from stickbreak.exceptions import ReadError
from stickbreak.storage.urls import Location

__all__ = ["json_blocks"]

_AT_ONCE = 1 << 20  # bytes: most that are scanned at once
_MOST_OTHERS = 1 / 8  # of the lines of a block: with more of them Python reads it all
_NO_TEXT, _NO_NAME = (MISSING, WHOLE, OTHER), (ESCAPED, OTHER)  # Python reads such a line, or refuses it


def json_blocks(
    path: Location,
    asked: Asked,
    encoding: str,
    limits: ReadLimits,
    span: Span | None = None,
    fields: Fields | None = None,
) -> Iterator[TextBlock]:
    """Read JSON as `json_records` does, to the same documents and the same errors.

    Parameters
    ----------
    path, asked, encoding, limits, span, fields
        As of `json_records`.

    Yields
    ------
    TextBlock
    """
    blocks = utf8_blocks(path, encoding, limits, span)
    begin = next(blocks, None)
    if span is None:
        alone = begin is None or "\n" not in _text(begin[1]).strip()  # perhaps one object around a list of documents
        fields = None if alone else json_line_fields(path, asked, encoding, limits)
    if begin is None or fields is None or fields.more:
        yield from blocks_of(json_records(path, asked, encoding, limits, span, fields if span is not None else None))
        return
    first = True
    for number, lines in _together(chain([begin], blocks)):
        scanned = _Scanned.of(lines, fields)
        for begin_of_run, end, good in scanned.runs():
            if good:
                yield scanned.block(begin_of_run, end)
            else:
                others = number + begin_of_run, scanned.text(begin_of_run, end)
                yield from blocks_of(records_of_lines(path, asked, encoding, limits, others, fields, first=first))
            first = False


def _text(lines: bytes) -> str:
    return lines.decode("utf-8", "surrogatepass")


def _together(blocks: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Put blocks together until they are large: in some encodings each is a single line."""
    first, size = 0, 0
    parts: list[bytes] = []
    try:
        for number, lines in blocks:
            first = first if parts else number
            parts.append(lines)
            size += len(lines)
            if size >= _AT_ONCE:
                yield first, _joined(parts)
                parts, size = [], 0
    except ReadError:  # the lines before it may hold an error of their own
        if parts:
            yield first, _joined(parts)
        raise
    if parts:
        yield first, _joined(parts)


def _joined(parts: list[bytes]) -> bytes:
    return parts[0] if len(parts) == 1 else b"".join(parts)


@dataclass(frozen=True, slots=True)
class _Scanned:
    """Lines, and what the kernel found in them.

    Attributes
    ----------
    content : bytes
    fields : Fields
    keys : tuple of str
        The text, the name if there is one, the fields that are kept.
    spans, forms, good, starts : ndarray
        As of `scan_lines`, without lines that Python must read.
    """

    content: bytes
    fields: Fields
    keys: tuple[str, ...]
    spans: np.ndarray
    forms: np.ndarray
    good: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, content: bytes, fields: Fields) -> Self:
        """Scan lines."""
        keys = tuple(dict.fromkeys((fields.text, *([] if fields.name is None else [fields.name]), *fields.keep)))
        encoded = [key.encode("utf-8", "surrogatepass") for key in keys]
        n = count_line_ends(content) + (not content.endswith(b"\n"))
        spans, forms = np.empty((n, len(keys), 2), np.int64), np.empty((n, len(keys)), np.uint8)
        good, starts = np.empty(n, np.bool_), np.zeros(n + 1, np.int64)
        ends = np.cumsum([len(key) for key in encoded], dtype=np.int64)
        scan_lines(
            np.frombuffer(content, np.uint8),
            np.frombuffer(b"".join(encoded), np.uint8),
            ends,
            spans,
            forms,
            good,
            starts,
        )
        good &= ~np.isin(forms[:, 0], _NO_TEXT)
        if fields.name is not None:
            good &= ~np.isin(forms[:, keys.index(fields.name)], _NO_NAME)
        if np.count_nonzero(~good) > _MOST_OTHERS * n:
            good[:] = False
        return cls(content, fields, keys, spans, forms, good, starts)

    def runs(self) -> Iterator[tuple[int, int, bool]]:
        """Give runs of lines, and whether they were understood."""
        turns = 1 + np.flatnonzero(self.good[1:] != self.good[:-1])
        for begin, end in pairwise([0, *turns.tolist(), self.good.size]):
            yield begin, end, bool(self.good[begin])

    def text(self, begin: int, end: int) -> str:
        """Return lines as they are."""
        return _text(self.content[self.starts[begin] : self.starts[end]])

    def block(self, begin: int, end: int) -> TextBlock:
        """Return lines that were understood."""
        n, size = end - begin, int(self.starts[end] - self.starts[begin])
        texts, ends, plain = np.empty(size, np.uint8), np.empty(n, np.int64), np.empty(n, np.bool_)
        copy_texts(
            np.frombuffer(self.content, np.uint8),
            self.spans[begin:end, 0],
            self.forms[begin:end, 0],
            texts,
            ends,
            plain,
        )
        names, _, n_named = self._values(begin, end, self.fields.name, names=True)
        kept = {field: self._column(begin, end, field) for field in self.fields.keep}
        return TextBlock(texts[: ends[-1]].tobytes(), ends, plain, names.tobytes(), n_named, kept)

    def _values(self, begin: int, end: int, field: str | None, *, names: bool) -> tuple[np.ndarray, np.ndarray, int]:
        """Return the values of a field as they are written, where each ends, and how many are not nothing."""
        n = end - begin
        if field is None:
            return np.full(n, ord("\n"), np.uint8), np.arange(1, n + 1), 0
        place = self.keys.index(field)
        # a line has more than quotes and a line end beside a value
        out, ends = np.empty(int(self.starts[end] - self.starts[begin]) + n, np.uint8), np.empty(n, np.int64)
        content = np.frombuffer(self.content, np.uint8)
        spans, forms = self.spans[begin:end, place], self.forms[begin:end, place]
        n_values = copy_values(content, spans, forms, names, names, out, ends)
        return out[: ends[-1]], ends, int(n_values)

    def _column(self, begin: int, end: int, field: str) -> Any:
        written, ends, _ = self._values(begin, end, field, names=False)
        missing = np.isin(self.forms[begin:end, self.keys.index(field)], (MISSING, NULL))
        return column_of_values(written, ends, missing, json.loads)
