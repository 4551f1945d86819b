"""Which format a path is in, by its name and, where that does not tell, by its content."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from pathlib import Path

from stickbreak.corpus.folder import is_corpus_folder
from stickbreak.corpus.reading.decoding import checked_encoding, encoding_of, line_end_of
from stickbreak.corpus.reading.files import reading, start_of
from stickbreak.corpus.reading.foreign import binary_kind, foreign_kind
from stickbreak.exceptions import InputError, NoDocuments, ReadError
from stickbreak.storage.urls import Location

__all__ = ["FORMATS", "detect_format", "is_folder"]

FORMATS = ("jsonl", "csv", "tsv", "parquet", "lines", "folder", "uci", "ldac", "mtx", "npz", "corpus")
"""Names of the formats, as `format=` takes them."""

_BY_SUFFIX = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".ldac": "ldac",
    ".mtx": "mtx",
    ".mm": "mtx",
    ".npz": "npz",
}
_UCI_START = re.compile(rb"\s*[1-9]\d*[ \t\r]*\n\s*[1-9]\d*[ \t\r]*\n\s*\d+[ \t\r]*(?:\n|\Z)")
_LDAC_START = re.compile(rb"\s*(?:0|\d+(?:\s+\d+:\d+)+)\s*")
_TEXTS = frozenset(("jsonl", "csv", "tsv", "lines"))
_BINARY_STARTS = ((b"PAR1", "parquet"), (b"PK\x03\x04", "npz"), (b"%%MatrixMarket", "mtx"))


def detect_format(path: Location, format: str | None = None, encoding: str = "utf-8") -> str:
    """Find the format of an input.

    Parameters
    ----------
    path : Location
        A file or folder.
    format : str or None
        The format asked for, one of FORMATS; it overrides the name and the content.
    encoding : str
        Of text files: in UTF-16 the zero bytes of a text file mean nothing.

    Returns
    -------
    str
        One of FORMATS.

    Raises
    ------
    ReadError
        If the path does not exist, is empty, its format cannot be told, or it is a file of another kind (a workbook,
        a PDF).
    InputError
        If `format` is unknown.
    """
    if format is not None and (not isinstance(format, str) or format not in FORMATS):
        raise InputError(f"format {format!r:.40} is unknown; use one of {', '.join(FORMATS)}")
    if is_folder(path, format, ("folder", "corpus")):
        with reading(path):
            return format or ("corpus" if is_corpus_folder(path) else "folder")
    start = start_of(path)
    if not start:
        raise NoDocuments(f"{path} is empty; give a file with at least one document")
    named = format or _by_name(path)
    if named is None or named in _TEXTS:
        foreign = foreign_kind(path, start)
        lines = format == "lines" and binary_kind(path, start) is None  # written in plain bytes: its lines are wanted
        if foreign is not None and not (lines or (named is None and start.startswith(b"PAR1"))):
            raise ReadError(f"{path} is {foreign}")
    return named or _by_content(path, start, checked_encoding(encoding))


def is_folder(path: Location, format: str | None, folders: Sequence[str], either: Sequence[str] = ()) -> bool:
    """Return whether an input is a folder.

    Parameters
    ----------
    path : Location
    format : str or None
        The format asked for.
    folders : sequence of str
        The formats that are folders.
    either : sequence of str, default=()
        The formats that are a file or a folder.

    Raises
    ------
    ReadError
        If the path does not exist, or is a folder and the format that of a file, or the other way round.
    """
    with reading(path):
        if not path.exists():
            raise ReadError(f"{path} does not exist; check the name")
        found = path.is_dir()
    if found and format not in (None, *folders, *either):
        raise ReadError(f"{path} is a folder, not a file of format {format!r}; name the file")
    if format in folders and not found:
        raise ReadError(f"{path} is a file, not a folder as the format {format!r} needs; name the folder")
    return found


def _by_name(path: Location) -> str | None:
    name = path.name.lower().removesuffix(".gz")
    if name.startswith("docword"):
        return "uci"
    return _BY_SUFFIX.get(Path(name).suffix)


def _readable(start: bytes, encoding: str) -> str:
    """Decode the first bytes so far as the signs of a format can be seen in them."""
    if line_end_of(encoding) == b"\n":
        return start.removeprefix(codecs.BOM_UTF8).decode("latin-1")
    try:
        return start.decode(encoding, "ignore")
    except UnicodeError:  # of codecs that ignore nothing
        return ""


def _by_content(path: Location, start: bytes, encoding: str) -> str:
    for signature, format in _BINARY_STARTS:
        if start.startswith(signature):
            return format
    if _UCI_START.match(start):
        return "uci"
    line = start.split(b"\n", 1)[0]
    if _LDAC_START.fullmatch(line if b"\n" in start else line.rpartition(b" ")[0]):
        return "ldac"
    text = _readable(start, encoding_of(start, encoding, str(path)))
    if text.lstrip("\ufeff \t\r\n").startswith(('{"', '[{"')):
        return "jsonl"
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix == ".dat":
        return "ldac"
    if suffix == ".txt" and "\0" not in text:
        return "lines"
    raise ReadError(f"the format of {path} is not clear from its name or content; name one of {', '.join(FORMATS)}")
