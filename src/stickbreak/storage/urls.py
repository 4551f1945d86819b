"""Files and folders that a URL names (s3://, gs://, ...): what readers ask of a path, asked of storage elsewhere.

pyarrow opens what it knows itself, and fsspec all else. Credentials come from where these look for them.
"""

from __future__ import annotations

import atexit
import io
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast
from urllib.parse import unquote, urlsplit

from stickbreak.exceptions import InputError, ReadError
from stickbreak.storage.places import is_url, place_of, without_secrets

__all__ = ["Location", "UrlPath", "location_of"]

_SIGNS: dict[str, Callable[[str], str]] = {"*": lambda sign: "[^/]*", "[": lambda sign: sign.replace("[!", "[^")}
_BUFFER = 1 << 20  # bytes that are asked for at once, at least: each request takes tens of milliseconds


def _part(pattern: str) -> str:
    """Return the regular expression of one part of a pattern and of the slash behind it."""
    if pattern == "**":
        return r"(?:[^/]+/)*"
    signs = re.split(r"(\*|\[[^]]+\])", pattern)
    return "".join(_SIGNS.get(sign[:1], re.escape)(sign) for sign in signs) + "/"


def location_of(given: object) -> Location:
    """Return the place that a path or URL names; file:///folder is a path, and "-" a file with standard input.

    Raises
    ------
    InputError
        If no file system can have it.
    """
    if isinstance(given, UrlPath):
        return given
    if not (isinstance(given, str) and is_url(given)):
        place = place_of(given)
        path = "-" if str(place) == "/dev/stdin" else str(place)
        return _spooled(path) if _is_read_once(path) else place
    if not given.lower().startswith("file://"):
        return UrlPath(given)
    parts = urlsplit(given)
    if parts.netloc not in ("", "localhost"):
        raise InputError(f"{without_secrets(given):.100} names the machine {parts.netloc!r:.60}; give file:///path.")
    return Path(unquote(parts.path))


def _is_read_once(path: str) -> bool:
    """Tell standard input ("-"), and what the shell puts in place of a command."""
    if path == "-":
        return True
    try:
        return path.startswith(("/dev/fd/", "/proc/self/fd/")) and stat.S_ISFIFO(os.stat(path).st_mode)
    except OSError:
        return False


@lru_cache
def _spooled(path: str) -> Path:
    """Return a file with the content of what can be read once; it is removed at the end of the process."""
    folder = tempfile.mkdtemp(prefix="stickbreak-input-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    target = Path(folder, "standard-input")
    try:
        with open(0 if path == "-" else path, "rb", closefd=path != "-") as source, open(target, "wb") as copy:
            shutil.copyfileobj(source, copy)
    except OSError as error:
        raise ReadError(f"{path} cannot be read: {error.strerror or error!s:.160}") from error
    return target


class Stat(NamedTuple):
    """What is asked of the state of a file."""

    st_size: int
    st_mtime_ns: int  # 0 where the storage does not tell


@dataclass(frozen=True, slots=True, repr=False)
class UrlPath:
    """A file or folder at a URL, as jobs name it.

    It has the methods of `pathlib.Path` that readers use, and raises what they raise. It is no `os.PathLike`: what is
    given to a function that opens paths would be looked for on this machine.

    Attributes
    ----------
    url : str
        With credentials, if they are part of it; `str` leaves them out.
    """

    url: str

    def __str__(self) -> str:
        """Return the URL for a message, without credentials and options."""
        return without_secrets(self.url)

    def __repr__(self) -> str:
        return f"UrlPath({str(self)!r})"

    def __truediv__(self, name: str) -> UrlPath:
        """Return what is inside."""
        head, mark, query = self.url.partition("?")
        return UrlPath(f"{head.rstrip('/')}/{name}{mark}{query}")

    @property
    def name(self) -> str:
        """The last part of the path."""
        return str(self).rstrip("/").rpartition("/")[2]

    def absolute(self) -> UrlPath:
        """Return it as it is: a URL depends on no folder."""
        return self

    def exists(self) -> bool:
        """Return whether there is a file or folder."""
        return not self._is("NotFound")

    def is_file(self) -> bool:
        """Return whether it is a file."""
        return self._is("File")

    def is_dir(self) -> bool:
        """Return whether it is a folder."""
        return self._is("Directory")

    def stat(self) -> Stat:
        """Return the size and the time of change of a file."""
        info = self._info()
        if info.type.name == "NotFound":
            raise FileNotFoundError(str(self))
        if info.type.name != "File":
            raise IsADirectoryError(str(self))
        return Stat(int(info.size), int(info.mtime_ns or 0))

    def open(self, mode: str = "rb") -> BinaryIO:
        """Open a file for reading bytes, at any place of it."""
        assert mode == "rb"
        return cast(BinaryIO, io.BufferedReader(self.source(), _BUFFER))

    def source(self) -> Any:
        """Open a file as pyarrow reads it."""
        storage, path = _opened(self.url)
        return storage.open_input_file(path)

    def range(self, begin: int, n_bytes: int) -> bytes:
        """Return some bytes of a file: fewer where it ends."""
        with self.source() as file:
            return bytes(file.read_at(n_bytes, begin))

    def iterdir(self) -> Iterator[UrlPath]:
        """Give what is in a folder."""
        return (self / name for name, _ in self.below(recursive=False))

    def matches(self) -> list[UrlPath]:
        """Return the files that this matches as a pattern: *, [abc], and ** for any folders."""
        head, mark, query = self.url.partition("?")
        if any(sign in head.split("/")[2] for sign in "*["):
            raise InputError(
                f"{self} has a pattern in the name of a bucket or machine; name it in full, and give patterns behind "
                "it, such as s3://bucket/*.jsonl."
            )
        at = head.rindex("/", 0, min(head.index(sign) for sign in "*[" if sign in head))
        pattern = re.compile("".join(map(_part, head[at + 1 :].split("/"))))
        base = UrlPath(f"{head[:at]}{mark}{query}")
        return [base / name for name, is_file in base.below() if is_file and pattern.fullmatch(f"{name}/")]

    def below(self, *, recursive: bool = True) -> Iterator[tuple[str, bool]]:
        """Give what is in a folder: paths inside it, and whether each is a file."""
        from pyarrow.fs import FileSelector

        storage, path = _opened(self.url)
        start = len(path.rstrip("/")) + 1
        for info in storage.get_file_info(FileSelector(path, recursive=recursive)):
            yield info.path[start:], info.type.name == "File"

    def _info(self) -> Any:
        storage, path = _opened(self.url)
        return storage.get_file_info(path)

    def _is(self, kind: str) -> bool:
        return str(self._info().type.name) == kind


Location = Path | UrlPath
"""Where something is to be read."""


def _opened(url: str) -> tuple[Any, str]:
    """Return the storage of a URL, and the path in it.

    Raises
    ------
    InputError
        If there is no such kind of storage, or what reads it is not installed.
    ReadError
        If the storage does not answer.
    """
    head, mark, query = url.partition("?")
    scheme, _, rest = head.partition("://")
    host, _, inside = rest.partition("/")
    _, colon, password = host.partition(":")
    if colon and "@" in inside and "@" not in host and not password.isdigit():
        raise InputError(f"{without_secrets(url)} has a / in its credentials; write it as %2F, or leave them out")
    storage, root = _storage(f"{scheme}://{host}/{mark}{query}")
    return storage, f"{root.rstrip('/')}/{inside}".rstrip("/")


@lru_cache(maxsize=16)
def _storage(root: str) -> tuple[Any, str]:
    import pyarrow as pa
    from pyarrow.fs import FileSystem, FSSpecHandler, PyFileSystem

    shown = str(UrlPath(root))

    def told(error: object) -> str:
        """Return what another package says; nothing where it may repeat credentials."""
        return "no more is said: the URL has credentials or options" if "@" in root or "?" in root else str(error)

    try:
        return cast("tuple[Any, str]", FileSystem.from_uri(root))
    except pa.ArrowInvalid as error:
        reason = told(error)
    except OSError as error:
        raise ReadError(f"{shown} does not answer ({told(error):.160}); check the name and the connection") from None
    try:
        import fsspec
    except ImportError:
        raise InputError(
            f"{shown} is storage that pyarrow does not know; install what reads it: pip install 'stickbreak[urls]', "
            "and the package of that storage"
        ) from None
    try:
        storage, path = fsspec.core.url_to_fs(root)
    except (ImportError, ValueError) as error:
        raise InputError(f"{shown} cannot be read: {told(error):.200} ({reason:.100}); name another URL") from None
    except OSError as error:
        raise ReadError(f"{shown} does not answer ({told(error):.160}); check the name and the connection") from None
    return PyFileSystem(FSSpecHandler(storage)), path
