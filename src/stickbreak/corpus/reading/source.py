"""A collection on disk: what it is, and how it is read."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

from stickbreak.corpus.arguments import checked_limits, checked_location, checked_optional_name
from stickbreak.corpus.reading.decoding import checked_encoding
from stickbreak.corpus.reading.delimiters import checked_delimiter
from stickbreak.corpus.reading.fields import ALL, Asked, checked_keep
from stickbreak.corpus.reading.formats import detect_format
from stickbreak.corpus.reading.json_sources import json_records
from stickbreak.corpus.reading.limits import ReadLimits
from stickbreak.corpus.reading.parquet_source import parquet_records
from stickbreak.corpus.reading.records import Records
from stickbreak.corpus.reading.tables import csv_records
from stickbreak.corpus.reading.text_sources import folder_records, line_records
from stickbreak.exceptions import InputError, ReadError
from stickbreak.storage.urls import Location, UrlPath

__all__ = ["ReadSettings", "TextSource"]

USUAL_DELIMITERS = {"csv": ",", "tsv": "\t"}
_TEXTS = frozenset(("jsonl", "csv", "tsv", "parquet", "lines", "folder"))
_WITH_FIELDS = _TEXTS - {"lines", "folder"}


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """How texts are read; every field is checked."""

    format: str | None
    asked: Asked
    encoding: str
    delimiter: str | None
    chunk_size: int
    limits: ReadLimits

    @classmethod
    def checked(
        cls,
        *,
        format: str | None = None,
        text_field: object = None,
        name_field: object = None,
        keep: object = None,
        encoding: object = "utf-8",
        delimiter: object = None,
        chunk_size: Any = 10_000,
        limits: object = None,
    ) -> Self:
        """Check the arguments of `stickbreak.corpus.read`; the format is looked at with the file."""
        if isinstance(chunk_size, bool) or not isinstance(chunk_size, Integral) or chunk_size < 1:
            raise InputError(f"chunk_size is {chunk_size!r:.40}; give a number of documents from 1 upwards")
        encoding = checked_encoding(encoding)
        text, name = checked_optional_name(text_field, "text_field"), checked_optional_name(name_field, "name_field")
        return cls(
            format,
            Asked(text, name, checked_keep(keep)),
            encoding,
            checked_delimiter(delimiter),
            int(chunk_size),
            checked_limits(limits),
        )


@dataclass(frozen=True, slots=True)
class TextSource:
    """A file or folder and its format."""

    path: Location
    kind: str  # one of FORMATS
    settings: ReadSettings

    @classmethod
    def checked(cls, path: object, function: str, settings: ReadSettings) -> Self:
        """Find the format of what `function` was given.

        Raises
        ------
        InputError
            If it is not a path, or the format is unknown.
        ReadError
            If there is nothing that can be read.
        """
        source = checked_location(path, function)
        found = cls(source, detect_format(source, settings.format, settings.encoding), settings)
        if settings.asked.keep not in ((), ALL) and found.kind not in (*_WITH_FIELDS, "corpus"):
            raise ReadError(f"{source} is of format {found.kind!r}, which has no fields; leave out --keep (keep=...)")
        if isinstance(source, UrlPath) and not found.holds_texts and found.kind != "corpus":
            raise ReadError(f"{source} is of format {found.kind!r}, which is read from disks only; fetch it first")
        return found

    @property
    def holds_texts(self) -> bool:
        """Whether these are texts, which are to be counted."""
        return self.kind in _TEXTS

    def records(self) -> Records:
        """Open a collection of texts."""
        path, given = self.path, self.settings
        if self.kind == "jsonl":
            return json_records(path, given.asked, given.encoding, given.limits)
        if self.kind in USUAL_DELIMITERS:
            usual = USUAL_DELIMITERS[self.kind]
            return csv_records(path, given.asked, given.encoding, given.delimiter, usual, given.limits)
        if self.kind == "parquet":
            return parquet_records(path, given.asked, given.chunk_size, given.limits)
        read_all = folder_records if self.kind == "folder" else line_records
        return read_all(path, given.encoding, given.limits)
