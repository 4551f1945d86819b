"""Opening input files: compressed or not, decoded line by line, every failure a ReadError with its place."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from stickbreak.corpus.reading.decoding import checked_encoding, decoded, encoding_of
from stickbreak.corpus.reading.limits import DEFAULT_LIMITS, ReadLimits
from stickbreak.exceptions import ReadError
from stickbreak.storage.plain_files import open_file
from stickbreak.storage.urls import Location

__all__ = [
    "decoded_file",
    "is_packed",
    "open_binary",
    "path_beside",
    "reading",
    "size_in_words",
    "start_of",
    "too_long",
    "unpacks_too_far",
]

_GZIP = b"\x1f\x8b"
_PIECE = 1 << 16  # bytes


@contextlib.contextmanager
def reading(path: Location) -> Iterator[None]:
    """Turn what the system or a decompressor says about `path` into a ReadError.

    Parameters
    ----------
    path : Location
        The file that the block reads.

    Raises
    ------
    ReadError
        For a missing, forbidden, truncated or corrupt file.
    """
    try:
        yield
    except FileNotFoundError as error:
        raise ReadError(f"{path} does not exist; check the name") from error
    except PermissionError as error:
        raise ReadError(f"{path} may not be read: permission denied; change its permissions") from error
    except IsADirectoryError as error:
        raise ReadError(f"{path} is a folder where a file is needed; name the file") from error
    except EOFError as error:
        raise ReadError(f"{path} is a truncated .gz file: it ends too early; fetch it again") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise ReadError(f"{path} is a corrupt .gz file ({error}); fetch it again") from error
    except OSError as error:
        raise ReadError(f"{path} cannot be read: {error.strerror or error}") from error


def unpacks_too_far(path: Location, most: float) -> ReadError:
    """Return the error about a packed file that holds more than `most` bytes."""
    return ReadError(
        f"{path} unpacks to more than {size_in_words(int(most))}; raise the limit with --max-unpacked-bytes "
        "(in Python: limits=ReadLimits(unpacked_bytes=...))"
    )


class _Unpacked(io.RawIOBase):
    """The content of a gzip file, refused where it is larger than a limit."""

    def __init__(self, packed: gzip.GzipFile, path: Location, most: int) -> None:
        self._packed, self._path, self._most = packed, path, most

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._packed.seek(offset, whence)

    def tell(self) -> int:
        return self._packed.tell()

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        content = self._packed.read(len(buffer))
        if self._packed.tell() > self._most:
            raise unpacks_too_far(self._path, self._most)
        buffer[: len(content)] = content
        return len(content)


def is_packed(path: Location) -> bool:
    """Return whether a file is a gzip file, whatever its name."""
    with reading(path), open_file(path) as raw:
        return raw.read(2) == _GZIP


@contextlib.contextmanager
def open_binary(path: Location, limits: ReadLimits = DEFAULT_LIMITS) -> Iterator[BinaryIO]:
    """Open a file for reading bytes, unpacked if it is a gzip file (whatever its name).

    Parameters
    ----------
    path : Location
        The file.
    limits : ReadLimits
        How much a gzip file may hold.

    Yields
    ------
    binary file

    Raises
    ------
    ReadError
        If the file, or something that the block reads of it, cannot be read, or unpacks to more than the limit.
    """
    with reading(path), open_file(path) as raw:
        packed = raw.read(2) == _GZIP
        raw.seek(0)
        if not packed:
            yield raw
            return
        most = limits.most_unpacked(path.stat().st_size)
        with gzip.open(raw, "rb") as unpacked:
            content = _Unpacked(unpacked, path, most)
            yield cast(BinaryIO, io.BufferedReader(content, _PIECE))


def start_of(path: Location, size: int = 4096) -> bytes:
    """Read the first bytes of the (unpacked) file.

    Parameters
    ----------
    path : Location
        The file.
    size : int
        The largest number of bytes.

    Returns
    -------
    bytes
    """
    with open_binary(path) as file:
        return file.read(size)


def size_in_words(n_bytes: int) -> str:
    """Write a number of bytes for a message.

    Parameters
    ----------
    n_bytes : int
        At least 0.

    Returns
    -------
    str

    Examples
    --------
    >>> size_in_words(1 << 26), size_in_words(1500)
    ('64 MiB', '1,500 bytes')
    """
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:.4g} {name}"
    return f"{n_bytes:,} bytes"


def too_long(what: str, limits: ReadLimits) -> ReadError:
    """Return the error about a line or document above the limit.

    Parameters
    ----------
    what : str
        Names it: "line 3 of FILE".
    limits : ReadLimits
        With the limit.

    Returns
    -------
    ReadError
    """
    return ReadError(
        f"{what} is longer than {size_in_words(limits.document_bytes)}; raise the limit with --max-document-bytes "
        "(in Python: limits=ReadLimits(document_bytes=...))"
    )


def decoded_file(path: Location, encoding: str = "utf-8", limits: ReadLimits = DEFAULT_LIMITS) -> str:
    """Read a whole text file that is one document.

    Parameters
    ----------
    path, encoding, limits
        As of `stickbreak.corpus.reading.lines.decoded_lines`.

    Returns
    -------
    str

    Raises
    ------
    ReadError
        If the file cannot be read, is too long, or not in this encoding; the byte is named.
    """
    encoding = checked_encoding(encoding)
    with open_binary(path, limits) as file:
        content = file.read(limits.document_bytes + 1)
    if len(content) > limits.document_bytes:
        raise too_long(f"the document {path}", limits)
    return decoded(content, encoding_of(content[:4096], encoding, str(path)), str(path)).removeprefix("\ufeff")


def path_beside(path: Path, name: str) -> Path | None:
    """Find a file in the folder of `path`, also with .gz at the end.

    Parameters
    ----------
    path : Location
        A file.
    name : str
        The name of the other file.

    Returns
    -------
    Path or None
    """
    for candidate in (path.parent / name, path.parent / f"{name}.gz"):
        if os.path.isfile(candidate):
            return candidate
    return None
