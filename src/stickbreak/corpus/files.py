"""Opening input files: compressed or not, decoded line by line, every failure a ReadError with its place."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from stickbreak.exceptions import InputError, ReadError

__all__ = ["decoded", "decoded_lines", "open_binary", "path_beside", "reading", "start_of"]

_GZIP = b"\x1f\x8b"


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


@contextlib.contextmanager
def open_binary(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading bytes, unpacked if it is a gzip file (whatever its name).

    Parameters
    ----------
    path : Path
        The file.

    Yields
    ------
    binary file

    Raises
    ------
    ReadError
        When the file, or something that the block reads of it, cannot be read.
    """
    with reading(path), open(path, "rb") as raw:
        packed = raw.read(2) == _GZIP
        raw.seek(0)
        if not packed:
            yield raw
        else:
            with gzip.open(raw, "rb") as unpacked:
                yield cast(BinaryIO, unpacked)


def start_of(path: Path, size: int = 4096) -> bytes:
    """Read the first bytes of the (unpacked) file.

    Parameters
    ----------
    path : Path
        The file.
    size : int
        At most so many bytes.

    Returns
    -------
    bytes
    """
    with open_binary(path) as file:
        return file.read(size)


def decoded_lines(path: Path, encoding: str = "utf-8") -> Iterator[str]:
    r"""Give the lines of a text file, unpacked and decoded, one at a time, with their ends.

    Parameters
    ----------
    path : Path
        The file. A byte order mark at its start is dropped.
    encoding : str
        Its encoding, in which a line must end with the byte "\n".

    Yields
    ------
    str

    Raises
    ------
    ReadError
        When the file cannot be read, or is not in this encoding: line and byte are named.
    """
    _check_encoding(encoding)
    offset = 0
    with open_binary(path) as file:
        for number, line in enumerate(file, start=1):
            text = decoded(line, encoding, f"{path}, line {number}", offset)
            yield text.removeprefix("\ufeff") if number == 1 else text
            offset += len(line)


def decoded(content: bytes, encoding: str, where: str, offset: int = 0) -> str:
    """Decode bytes strictly.

    Parameters
    ----------
    content : bytes
        A line or a whole file.
    encoding : str
        Its encoding.
    where : str
        File, and line if there is one, for the message.
    offset : int
        Place of `content` in the file, in bytes.

    Returns
    -------
    str

    Raises
    ------
    ReadError
        Naming the first byte that does not fit.
    """
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise ReadError(
            f"{where} is not {encoding.upper()}: byte 0x{content[error.start]:02x} at position "
            f"{offset + error.start} of the file; convert the file or pass its encoding, such as 'latin-1'"
        ) from error


def _check_encoding(encoding: str) -> None:
    try:
        line_end = "\n".encode(encoding)
    except (LookupError, UnicodeError) as error:
        raise InputError(f"encoding {encoding!r} is unknown; use a name such as 'utf-8' or 'latin-1'") from error
    if line_end.removeprefix(codecs.BOM_UTF8) != b"\n":  # utf-8-sig is fine
        raise InputError(f"encoding {encoding!r} cannot be read by lines; convert the file to UTF-8")


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
