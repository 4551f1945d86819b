"""Files that hold no text that can be read here: what they are, by their content, and how to export them."""

from __future__ import annotations

import os

from stickbreak.corpus.reading.files import reading
from stickbreak.storage.plain_files import open_file
from stickbreak.storage.urls import Location

__all__ = ["binary_kind", "foreign_kind"]

_WINDOW = 1 << 16  # bytes at either end of a file that are looked through

_IN_ZIP = (
    (b"xl/workbook", "an Excel workbook; save it as CSV (UTF-8)"),
    (b"word/document", "a Word document; save it as plain text (.txt, UTF-8)"),
    (b"ppt/presentation", "a PowerPoint file; save its text as .txt (UTF-8)"),
    (b"opendocument.spreadsheet", "an OpenDocument spreadsheet; save it as CSV (UTF-8)"),
    (b"opendocument.text", "an OpenDocument text; save it as plain text (.txt, UTF-8)"),
    (b"application/epub+zip", "an EPUB book; convert it to plain text"),
)
_ARRAYS = b".npy"  # members of an .npz file
_ZIP = "a zip archive; unpack it and name the file or folder in it"
_IN_OLE = (
    ("Workbook", "an old Excel workbook (.xls); save it as CSV (UTF-8)"),
    ("WordDocument", "an old Word document (.doc); save it as plain text (.txt, UTF-8)"),
)
_OLE = "an old Office file; save it as CSV or plain text (UTF-8)"
_PDF = "a PDF; convert it to plain text (with pdftotext, say)"
_STARTS = (
    (b"%PDF-", _PDF),
    (b"PAR1", "a Parquet file; name it .parquet, or give the format 'parquet'"),
    (b"ARROW1", "an Arrow (Feather) file; write it as Parquet"),
    (b"FEA1", "a Feather file; write it as Parquet"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive; unpack it"),
    (b"\xfd7zXZ\0", "an .xz file; unpack it, or pack it by gzip"),
    (b"BZh", "a .bz2 file; unpack it, or pack it by gzip"),
    (b"\x28\xb5\x2f\xfd", "a .zst file; unpack it, or pack it by gzip"),
    (b"Rar!\x1a\x07", "a RAR archive; unpack it"),
    (b"SQLite format 3\0", "an SQLite database; export the table as CSV"),
    (b"\x89HDF\r\n", "an HDF5 file; export its texts as CSV or JSON lines"),
    (b"\x89PNG\r\n", "an image; give files of text"),
    (b"\xff\xd8\xff", "an image; give files of text"),
    (b"\x93NUMPY", "a NumPy array; save counts by scipy.sparse.save_npz"),
)
_WRITTEN = (
    (b"%pdf-", _PDF),
    (b"{\\rtf", "a rich text file (RTF); save it as plain text (.txt, UTF-8)"),
)
_HTML = (b"<!doctype html", b"<html")
_PAGE = "an HTML page; save its text as .txt, or fetch the data behind it"


def foreign_kind(path: Location, start: bytes) -> str | None:
    """Say what a file is that holds neither plain text nor counts, and how to export it.

    Parameters
    ----------
    path : Location
        The file.
    start : bytes
        Its first bytes (unpacked), some thousands.

    Returns
    -------
    str or None
        "an Excel workbook; save it as CSV (UTF-8)", say; None for anything else.
    """
    head = start.removeprefix(b"\xef\xbb\xbf").lstrip()[:14].lower()
    if head.startswith(_HTML):
        return None if path.name.lower().removesuffix(".gz").endswith(".txt") else _PAGE  # its lines may be wanted
    written = next((said for signature, said in _WRITTEN if head.startswith(signature)), None)
    return written or binary_kind(path, start)


def binary_kind(path: Location, start: bytes) -> str | None:
    """Say what a binary file is; None for what is written in plain bytes, such as HTML.

    Parameters
    ----------
    path : Location
        The file.
    start : bytes
        Its first bytes (unpacked), some thousands.

    Returns
    -------
    str or None
    """
    if b"\0" not in start and start.isascii():
        return None
    if start.startswith(b"PK\x03\x04"):
        ends = _ends_of(path)
        if _ARRAYS in ends:
            return None
        return next((said for member, said in _IN_ZIP if member in ends), _ZIP)
    if start.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        ends = _ends_of(path)
        return next((said for stream, said in _IN_OLE if stream.encode("utf-16-le") in ends), _OLE)
    if start[257:262] == b"ustar":
        return "a tar archive; unpack it and name the folder"
    return next((said for signature, said in _STARTS if start.startswith(signature)), None)


def _ends_of(path: Location) -> bytes:
    """Read both ends of a file as it lies on disk: the list of a zip archive is at its end."""
    with reading(path), open_file(path) as file:
        first = file.read(_WINDOW)
        file.seek(max(0, os.fstat(file.fileno()).st_size - _WINDOW))
        return first + file.read(_WINDOW)
