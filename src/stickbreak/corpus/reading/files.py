"""Opening input files: compressed or not, decoded line by line, every failure a ReadError with its place."""

from __future__ import annotations

import contextlib
import gzip
import io
import math
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from stickbreak.corpus.reading.decoding import checked_encoding, decoded, decoded_pieces, encoding_of, line_end_of
from stickbreak.corpus.reading.limits import DEFAULT_LIMITS, ReadLimits
from stickbreak.exceptions import ReadError

__all__ = [
    "binary_lines",
    "decoded_chunks",
    "decoded_file",
    "decoded_lines",
    "open_binary",
    "path_beside",
    "reading",
    "size_in_words",
    "start_of",
    "too_long",
]

_GZIP = b"\x1f\x8b"
_ALWAYS_LINES = 1_000_000  # that any packed file may have
_LEAST_OF_A_LINE = 32  # bytes that a line of a packed file counts for: reading one costs as much as that
_PIECE = 1 << 16  # bytes


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what the system or a decompressor says about `path` into a ReadError.

    Parameters
    ----------
    path : Path
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


def _unpacks_too_far(path: Path, most: float) -> ReadError:
    return ReadError(
        f"{path} unpacks to more than {size_in_words(int(most))}; raise the limit with --max-unpacked-bytes "
        "(in Python: limits=ReadLimits(unpacked_bytes=...))"
    )


class _Unpacked(io.RawIOBase):
    """The content of a gzip file, refused where it is larger than a limit."""

    def __init__(self, packed: gzip.GzipFile, path: Path, most: int) -> None:
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
            raise _unpacks_too_far(self._path, self._most)
        buffer[: len(content)] = content
        return len(content)


@contextlib.contextmanager
def open_binary(path: Path, limits: ReadLimits = DEFAULT_LIMITS) -> Iterator[BinaryIO]:
    """Open a file for reading bytes, unpacked if it is a gzip file (whatever its name).

    Parameters
    ----------
    path : Path
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
    with reading(path):
        if path.exists() and not (path.is_file() or path.is_dir()):  # opening a pipe could wait for ever
            raise ReadError(f"{path} is neither a file nor a folder; write its content to a file first")
        with open(path, "rb") as raw:
            packed = raw.read(2) == _GZIP
            raw.seek(0)
            if not packed:
                yield raw
                return
            most = limits.most_unpacked(os.fstat(raw.fileno()).st_size)
            with gzip.open(raw, "rb") as unpacked:
                content = _Unpacked(unpacked, path, most)
                yield cast(BinaryIO, io.BufferedReader(content, _PIECE))


def start_of(path: Path, size: int = 4096) -> bytes:
    """Read the first bytes of the (unpacked) file.

    Parameters
    ----------
    path : Path
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


def binary_lines(path: Path, limits: ReadLimits = DEFAULT_LIMITS) -> Iterator[bytes]:
    """Give the lines of a file as bytes, unpacked, with their ends; none is held that is longer than the limit.

    Parameters
    ----------
    path : Path
        The file.
    limits : ReadLimits
        How long a line may be.

    Yields
    ------
    bytes

    Raises
    ------
    ReadError
        If the file cannot be read or a line is too long.
    """
    with open_binary(path, limits) as file:
        number = 0
        while line := file.readline(limits.document_bytes + 1):
            number += 1
            if len(line) > limits.document_bytes:
                raise too_long(f"line {number} of {path}", limits)
            yield line


def decoded_lines(path: Path, encoding: str = "utf-8", limits: ReadLimits = DEFAULT_LIMITS) -> Iterator[str]:
    r"""Give the lines of a text file, unpacked and decoded, one at a time, with their ends.

    Parameters
    ----------
    path : Path
        The file. A byte order mark at its start is dropped; one of UTF-16 or UTF-32 tells the encoding.
    encoding : str
        Its encoding.
    limits : ReadLimits
        How long a line may be.

    Yields
    ------
    str

    Raises
    ------
    ReadError
        If the file cannot be read, a line is too long, or the file is not in this encoding: line and byte are named.
    """
    encoding = encoding_of(start_of(path), checked_encoding(encoding), str(path))
    most = _most_unpacked(path, limits)
    for number, line in enumerate(_lines_in(path, encoding, limits), start=1):
        if number > _ALWAYS_LINES and number * _LEAST_OF_A_LINE > most:  # a gigabyte of them packs into a megabyte
            raise _unpacks_too_far(path, most)
        yield line


def _most_unpacked(path: Path, limits: ReadLimits) -> float:
    """Return how many bytes a packed file may hold; any other holds what it has."""
    with reading(path), open(path, "rb") as raw:
        return limits.most_unpacked(os.fstat(raw.fileno()).st_size) if raw.read(2) == _GZIP else math.inf


def _lines_in(path: Path, encoding: str, limits: ReadLimits) -> Iterator[str]:
    if line_end_of(encoding) != b"\n":
        yield from _lines_of_chunks(path, encoding, limits)
        return
    offset = 0
    for number, line in enumerate(binary_lines(path, limits), start=1):
        text = decoded(line, encoding, f"{path}, line {number}", offset)
        yield text.removeprefix("\ufeff") if number == 1 else text
        offset += len(line)


def _lines_of_chunks(path: Path, encoding: str, limits: ReadLimits) -> Iterator[str]:
    """Cut lines where an end of line has more bytes than one, or another byte."""
    most = limits.document_bytes // len(line_end_of(encoding))
    number, size = 1, 0
    parts: list[str] = []
    for chunk in decoded_chunks(path, encoding, limits):
        for piece in _cut(chunk):
            parts.append(piece)
            size += len(piece)
            if size > most:
                raise too_long(f"line {number} of {path}", limits)
            if piece.endswith("\n"):
                yield "".join(parts)
                parts.clear()
                number, size = number + 1, 0
    if parts:
        yield "".join(parts)


def _cut(chunk: str) -> Iterator[str]:
    """Cut a text behind each end of line, and nowhere else (as splitlines would)."""
    *ended, rest = chunk.split("\n")
    yield from (piece + "\n" for piece in ended)
    if rest:
        yield rest


def decoded_chunks(path: Path, encoding: str = "utf-8", limits: ReadLimits = DEFAULT_LIMITS) -> Iterator[str]:
    """Give a text file, unpacked and decoded, in pieces that end anywhere.

    Parameters
    ----------
    path, encoding, limits
        As of `decoded_lines`.

    Yields
    ------
    str

    Raises
    ------
    ReadError
        As of `decoded_lines`; the byte is named.
    """
    encoding = encoding_of(start_of(path), checked_encoding(encoding), str(path))
    with open_binary(path, limits) as file:
        yield from decoded_pieces(iter(lambda: file.read(_PIECE), b""), encoding, str(path))


def decoded_file(path: Path, encoding: str = "utf-8", limits: ReadLimits = DEFAULT_LIMITS) -> str:
    """Read a whole text file that is one document.

    Parameters
    ----------
    path, encoding, limits
        As of `decoded_lines`.

    Returns
    -------
    str

    Raises
    ------
    ReadError
        As of `decoded_lines`; the byte is named.
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
    path : Path
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
