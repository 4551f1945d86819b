"""Which format a path is in, by its name and, where that does not tell, by its content; and files of other kinds."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from stickbreak.corpus.folder import is_corpus_folder
from stickbreak.corpus.reading.decoding import checked_encoding, encoding_of, is_wide
from stickbreak.corpus.reading.files import files_below, name_within, reading, start_of, without_packing
from stickbreak.exceptions import InputError, NoDocuments, ReadError
from stickbreak.storage.plain_files import open_file
from stickbreak.storage.urls import Location

FORMATS = (
    "jsonl",
    "csv",
    "tsv",
    "parquet",
    "lines",
    "folder",
    "uci",
    "ldac",
    "svmlight",
    "mtx",
    "npz",
    "counts",
    "corpus",
)
"""Names of the formats, as `format=` takes them."""

TEXTS = frozenset(("jsonl", "csv", "tsv", "parquet", "lines", "folder"))
TABLES = frozenset(("jsonl", "csv", "tsv", "parquet"))
"""Formats with fields; a folder may hold many files of one of them."""

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
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".svm": "svmlight",
    ".mtx": "mtx",
    ".mm": "mtx",
    ".npz": "npz",
}
_UCI_START = re.compile(rb"\s*[1-9]\d*[ \t\r]*\n\s*[1-9]\d*[ \t\r]*\n\s*\d+[ \t\r]*(?:\n|\Z)")
_PAIRS = re.compile(rb"([-+]?\d+(?:\.\d*)?)((?:\s+\d+:[-+.\deE]+)*)\s*(?:#.*)?")
_ZEROS = re.compile(rb"[0\s]+")  # empty documents of LDA-C
_BINARY_STARTS = ((b"PAR1", "parquet"), (b"PK\x03\x04", "npz"), (b"%%MatrixMarket", "mtx"))

_WINDOW = 1 << 16  # bytes at either end of a file that are looked through
_IN_ZIP = (
    (b"xl/workbook", "an Excel workbook; save it as CSV (UTF-8)"),
    (b"word/document", "a Word document; save it as plain text (.txt, UTF-8)"),
    (b"ppt/presentation", "a PowerPoint file; save its text as .txt (UTF-8)"),
    (b"opendocument.spreadsheet", "an OpenDocument spreadsheet; save it as CSV (UTF-8)"),
    (b"opendocument.text", "an OpenDocument text; save it as plain text (.txt, UTF-8)"),
    (b"application/epub+zip", "an EPUB book; convert it to plain text"),
)
_STARTS = (
    (b"%PDF-", "a PDF; convert it to plain text (with pdftotext, say)"),
    (b"PAR1", "a Parquet file; name it .parquet, or give the format 'parquet'"),
    (b"ARROW1", "an Arrow (Feather) file; write it as Parquet"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive; unpack it"),
    (b"Rar!\x1a\x07", "a RAR archive; unpack it"),
    (b"SQLite format 3\0", "an SQLite database; export the table as CSV"),
    (b"\x89HDF\r\n", "an HDF5 file; export its texts as CSV or JSON lines"),
    (b"\x89PNG\r\n", "an image; give files of text"),
    (b"\xff\xd8\xff", "an image; give files of text"),
    (b"\x93NUMPY", "a NumPy array; save counts by scipy.sparse.save_npz"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office file; save it as CSV or plain text (UTF-8)"),
    (b"{\\rtf", "a rich text file (RTF); save it as plain text (.txt, UTF-8)"),
)
_PAGE = "an HTML page; save its text as .txt, or fetch the data behind it"


_NAME_ONE = f"give --format NAME (in Python: format), one of {', '.join(FORMATS)}"


def detect_format(
    path: Location, format: str | None = None, encoding: str = "utf-8", *, advice: str = _NAME_ONE
) -> str:
    """Find the format of an input."""
    if format is not None and (not isinstance(format, str) or format not in FORMATS):
        raise InputError(f"format {format!r:.40} is unknown; {_NAME_ONE}")
    if is_folder(path, format, ("folder", "corpus"), TABLES):
        with reading(path):
            return format or ("corpus" if is_corpus_folder(path) else _of_files(path))
    start = start_of(path)
    if not start:
        raise NoDocuments(f"{path} is empty; give a file with at least one document")
    name = name_within(path)
    named = format or ("uci" if name.startswith("docword") else _BY_SUFFIX.get(Path(name).suffix))
    if named is None or named in TEXTS - {"parquet"}:
        foreign = binary_kind(path, start)
        if foreign is not None and not (named is None and start.startswith(b"PAR1")):
            raise ReadError(f"{path} is {foreign}")
        head = start.removeprefix(b"\xef\xbb\xbf").lstrip()[:14].lower()
        if head.startswith((b"<!doctype html", b"<html")) and format is None and not name.endswith(".txt"):
            raise ReadError(f"{path} is {_PAGE}")
    return named or _by_content(path, start, checked_encoding(encoding), name, advice)


def _of_files(path: Location) -> str:
    """Return the format of a folder: that of its first file if all are tables, else one of texts."""
    names = sorted(name for name in files_below(path) if not os.path.basename(name).startswith("_"))
    kinds = [kind_of_name(name) for name in names]
    return kinds[0] or "folder" if kinds and all(kind in TABLES for kind in kinds) else "folder"


def kind_of_name(name: str) -> str | None:
    """Return the format that the name of a file tells."""
    return _BY_SUFFIX.get(Path(without_packing(name)).suffix)


def is_folder(path: Location, format: str | None, folders: Sequence[str], either: frozenset[str] = frozenset()) -> bool:
    """Return whether an input is a folder, as its format needs it."""
    with reading(path):
        if not path.exists():
            raise ReadError(f"{path} does not exist; check the name")
        found = path.is_dir()
    if found and format is not None and format not in folders and format not in either:
        raise ReadError(f"{path} is a folder, not a file of format {format!r}; name the file")
    if format in folders and not found:
        raise ReadError(f"{path} is a file, not a folder as the format {format!r} needs; name the folder")
    return found


def _by_content(path: Location, start: bytes, encoding: str, name: str, advice: str) -> str:
    found = next((format for sign, format in _BINARY_STARTS if start.startswith(sign)), None)
    if found is not None:
        return found
    if _UCI_START.match(start):
        return "uci"
    pairs = "ldac" if name.endswith(".dat") and _ZEROS.fullmatch(start) else _format_of_pairs(start)
    if pairs is not None:
        return pairs
    known = encoding_of(start, encoding, str(path))
    text = start.decode(known if is_wide(known) else "latin-1", "replace").removeprefix("\u00ef\u00bb\u00bf")
    suffix = Path(name).suffix
    if text.lstrip("\ufeff \t\r\n").startswith(('{"', '[{"', '["')):
        return "jsonl"
    if suffix == ".txt" and "\0" not in text:
        return "lines"
    raise ReadError(f"the format of {path} is not clear from its name or content; {advice}")


def _format_of_pairs(start: bytes) -> str | None:
    """Tell LDA-C, where each line begins with the number of its pairs, from SVMlight, where a label does."""
    lines = start.split(b"\n")
    lines = [line for line in (lines[:-1] if len(lines) > 1 else [start.rpartition(b" ")[0]]) if line.strip()]
    found = [_PAIRS.fullmatch(line.strip()) for line in lines]
    if not found or None in found or not any(match[2] for match in found if match is not None):
        return None
    counted = (match is not None and match[1] == str(match[2].count(b":")).encode() for match in found)
    return "ldac" if len(lines) == 1 or all(counted) else "svmlight"


def binary_kind(path: Location, start: bytes) -> str | None:
    """Say what a file is that holds no text that can be read here, and how to export it; None for anything else."""
    if start.startswith(b"PK\x03\x04"):
        with reading(path), open_file(path) as file:
            first = file.read(_WINDOW)
            file.seek(max(0, file.seek(0, os.SEEK_END) - _WINDOW))
            ends = first + file.read(_WINDOW)
        if b".npy" in ends:
            return None
        return next((said for member, said in _IN_ZIP if member in ends), "a zip archive; unpack it and name its files")
    if start[257:262] == b"ustar":
        return "a tar archive; unpack it and name the folder"
    return next((said for sign, said in _STARTS if start.startswith(sign)), None)
