"""Opening input: files, URLs and standard input, unpacked, within limits; every failure is a ReadError."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from stickbreak.exceptions import InputError, ReadError
from stickbreak.storage.plain_files import open_file
from stickbreak.storage.urls import Location, UrlPath

_MOST_GROWTH = 200  # of a packed file; text packs to a tenth of its size, counts to a thirtieth
_ALWAYS_UNPACKED = 1 << 28  # bytes that any packed file may hold


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """Limits of what a file may require, so that a small or damaged file cannot take all the memory.

    Attributes
    ----------
    document_bytes : int
        Maximum number of bytes of one line, one document or one JSON value.
    unpacked_bytes : int or None
        Maximum number of bytes of a compressed file, or of one member of an archive, once it is unpacked. None: 200
        times the size of the file, and at least 256 MiB.
    declared_size : int
        Number of documents, or words, that any header may declare. A larger number is accepted only up to the number
        of bytes of the file.

    Raises
    ------
    InputError
        If a limit is not a positive whole number.
    """

    document_bytes: int = 1 << 26
    unpacked_bytes: int | None = None
    declared_size: int = 1_000_000

    def __post_init__(self) -> None:
        for name in ("document_bytes", "unpacked_bytes", "declared_size"):
            value = getattr(self, name)
            if value is None and name == "unpacked_bytes":
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise InputError(f"{name} is {value!r}; give a positive whole number")

    def most_unpacked(self, packed_bytes: int) -> int:
        """Return how many bytes a packed file of this size may hold."""
        if self.unpacked_bytes is not None:
            return self.unpacked_bytes
        return max(_ALWAYS_UNPACKED, _MOST_GROWTH * packed_bytes)

    def most_declared(self, n_bytes: int) -> int:
        """Return how many documents or words a file of `n_bytes` (unpacked) bytes may declare."""
        return max(self.declared_size, n_bytes)

    def check_shape(self, path: Path, shape: tuple[int, int], n_bytes: int) -> None:
        """Refuse a file that declares more documents or words (D, W) than its unpacked bytes make credible."""
        for size, what in zip(shape, ("documents", "words"), strict=True):
            if size > self.most_declared(n_bytes):
                raise ReadError(
                    f"{path} declares {size} {what} in {n_bytes} bytes; if that is right, raise the limit with "
                    f"--max-declared (in Python: limits=ReadLimits(declared_size={size}))"
                )

    def too_long(self, what: str) -> ReadError:
        """Return the error about a line or document ("line 3 of FILE") above the limit."""
        return ReadError(
            f"{what} is longer than {size_in_words(self.document_bytes)}; raise the limit with --max-document-bytes "
            "(in Python: limits=ReadLimits(document_bytes=...))"
        )


def size_in_words(n_bytes: int) -> str:
    """Write a number of bytes for a message.

    Examples
    --------
    >>> size_in_words(1 << 26), size_in_words(1500)
    ('64 MiB', '1,500 bytes')
    """
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:.4g} {name}"
    return f"{n_bytes:,} bytes"


DEFAULT_LIMITS = ReadLimits()


PACKED = (".gz", ".bz2", ".xz", ".zst", ".lz4", ".zip")
"""Endings of packed files."""

_SIGNS = (
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bz2"),
    (b"\xfd7zXZ\0", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\x04\x22\x4d\x18", "lz4"),
    (b"PK\x03\x04", "zip"),
)
_PIECE = 1 << 16  # bytes


@contextlib.contextmanager
def reading(path: Location | str) -> Iterator[None]:
    """Turn what the system or a decompressor says about a file into a ReadError."""
    try:
        yield
    except ReadError:
        raise
    except FileNotFoundError as error:
        raise ReadError(f"{path} does not exist; check the name") from error
    except PermissionError as error:
        raise ReadError(f"{path} may not be read: permission denied; change its permissions") from error
    except IsADirectoryError as error:
        raise ReadError(f"{path} is a folder where a file is needed; name the file") from error
    except EOFError as error:
        raise ReadError(f"{path} is a truncated packed file: it ends too early; fetch it again") from error
    except (gzip.BadGzipFile, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
        raise ReadError(f"{path} is a corrupt packed file ({error!s:.80}); fetch it again") from error
    except RuntimeError as error:  # of zipfile: a password, or a way to pack that it does not know
        raise ReadError(f"{path} cannot be unpacked ({error!s:.80}); unpack it by another program") from error
    except OSError as error:
        raise ReadError(f"{path} cannot be read: {error.strerror or error!s:.160}") from error


def unpacks_too_far(path: Location, most: float) -> ReadError:
    """Return the error about a packed file that holds more than `most` bytes."""
    return ReadError(
        f"{path} unpacks to more than {size_in_words(int(most))}; raise the limit with --max-unpacked-bytes "
        "(in Python: limits=ReadLimits(unpacked_bytes=...))"
    )


class _Unpacked(io.RawIOBase):
    """The content of a packed file, refused where it is larger than a limit."""

    def __init__(self, content: Any, path: Location, most: int) -> None:
        self._content, self._path, self._most, self._n_bytes = content, path, most, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        content = self._content.read(len(buffer))
        self._n_bytes += len(content)
        if self._n_bytes > self._most:
            raise unpacks_too_far(self._path, self._most)
        buffer[: len(content)] = content
        return len(content)


def packing_of(path: Location) -> str | None:
    """Return how a file is packed ("gzip", "bz2", "xz", "zstd", "lz4", "zip"), by its content; None if it is not."""
    with reading(path), open_file(path) as raw:
        start = raw.read(8)
        packing = next((name for sign, name in _SIGNS if start.startswith(sign)), None)
        if packing == "zip":
            raw.seek(0)
            try:
                names = _members(raw)
            except (zipfile.BadZipFile, RuntimeError, ValueError, struct.error, EOFError):  # whoever reads it says so
                return None
            if any(name.endswith(".npy") for name in names) or _of_an_office(names):
                return None
        return packing


def _members(raw: Any) -> list[str]:
    """Return the files of a zip archive, without what systems add to it."""
    with zipfile.ZipFile(raw) as archive:
        names = [name for name in archive.namelist() if name and not name.endswith("/")]
    return [name for name in names if not name.startswith("__MACOSX/") and not os.path.basename(name).startswith(".")]


def _of_an_office(names: list[str]) -> bool:
    """Tell the files of an office program, or a book, which are archives, too."""
    return any(name == "mimetype" or name.startswith(("xl/", "word/", "ppt/", "META-INF/")) for name in names)


def without_packing(name: str) -> str:
    """Return a name in lower case without the ending of a packed file."""
    name = name.lower()
    return next((name.removesuffix(ending) for ending in PACKED if name.endswith(ending)), name)


def name_within(path: Location) -> str:
    """Return the name of a file, in lower case, once it is unpacked: of an archive that of its one member."""
    if path.name.lower().endswith(".zip") and packing_of(path) == "zip":
        with reading(path), open_file(path) as raw:
            return os.path.basename(_only_member(raw, path)).lower()
    return without_packing(path.name)


def _only_member(raw: Any, path: Location) -> str:
    names = _members(raw)
    if len(names) != 1:
        shown = ", ".join(names[:3]) or "none"
        raise ReadError(
            f"{path} is a zip archive of {len(names)} files ({shown:.120}); unpack it, and name the folder or one of "
            "them"
        )
    return names[0]


@contextlib.contextmanager
def open_binary(path: Location, limits: ReadLimits = DEFAULT_LIMITS) -> Iterator[BinaryIO]:
    """Open a file for reading bytes, unpacked where it is packed, whatever its name."""
    packing = packing_of(path)
    with reading(path), open_file(path) as raw, contextlib.ExitStack() as opened:
        if packing is None:
            yield raw
            return
        content: Any
        if packing in ("zstd", "lz4"):
            import pyarrow as pa

            content = opened.enter_context(pa.CompressedInputStream(pa.PythonFile(raw, "r"), packing))
        elif packing == "zip":
            archive = opened.enter_context(zipfile.ZipFile(raw))
            content = opened.enter_context(archive.open(_only_member(raw, path)))
        else:
            openers: dict[str, Any] = {"gzip": gzip.open, "bz2": bz2.open, "xz": lzma.open}
            content = opened.enter_context(openers[packing](raw, "rb"))
        most = limits.most_unpacked(path.stat().st_size)
        yield cast(BinaryIO, io.BufferedReader(_Unpacked(content, path, most), _PIECE))


def start_of(path: Location, size: int = 4096) -> bytes:
    """Read the first bytes of the (unpacked) file."""
    with open_binary(path) as file:
        return file.read(size)


def path_beside(path: Path, name: str) -> Path | None:
    """Find a file in the folder of `path`, also with .gz at the end."""
    found = (path.parent / name, path.parent / f"{name}.gz")
    return next((candidate for candidate in found if os.path.isfile(candidate)), None)


def files_below(path: Location) -> Iterator[str]:
    """Give the files of a folder and of all folders in it that are not hidden, as paths inside it."""
    with reading(path):
        if isinstance(path, UrlPath):
            inside = (name for name, is_file in path.below() if is_file)
            yield from (name for name in inside if not any(part.startswith(".") for part in name.split("/")))
            return
        for folder, folders, files in os.walk(path):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in files:
                file = Path(folder, name)
                if not name.startswith(".") and file.is_file():
                    yield file.relative_to(path).as_posix()
