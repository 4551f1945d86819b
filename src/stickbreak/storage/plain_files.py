"""Opening files that others name: only what is a file, and of JSON and TOML no more than memory and stack can hold."""

from __future__ import annotations

import errno
import json
import os
import stat
import tomllib
from pathlib import Path
from typing import Any, BinaryIO

from stickbreak.storage.urls import Location, UrlPath

__all__ = ["open_file", "read_json", "read_text", "read_toml"]

_MOST_TEXT = 1 << 30  # bytes: a model of forty million words has such a model.json
_MOST_LEVELS = 100


def open_file(path: Location) -> BinaryIO:
    """Open a file for reading bytes.

    Parameters
    ----------
    path : Location

    Raises
    ------
    OSError
        If it cannot be read, or is a pipe, a device or a socket: those can wait or go on for ever.
    """
    return path.open("rb") if isinstance(path, UrlPath) else open(path, "rb", opener=_descriptor)


def _descriptor(path: str, flags: int) -> int:
    """Open a file or folder; Python itself refuses the folder."""
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # else a pipe would wait for a writer
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "it is neither a file nor a folder; write its content to a file first", path)


def read_text(path: Path, encoding: str = "utf-8", most: int = _MOST_TEXT) -> str:
    """Read a whole text file.

    Raises
    ------
    OSError
        As `open_file`.
    ValueError
        If it is longer than `most` bytes, or in another encoding.
    """
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise ValueError(f"it is longer than {most:,} bytes")
        return file.read(size).decode(encoding)


def read_json(path: Path, most: int = _MOST_TEXT) -> Any:
    """Read a JSON file; with the errors of `read_text`, and `ValueError` where it is damaged or deep."""
    try:
        return _checked_depth(json.loads(read_text(path, most=most)))
    except RecursionError:
        raise _too_deep() from None


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file; with the errors of `read_json`."""
    try:
        return dict(_checked_depth(tomllib.loads(read_text(path))))
    except RecursionError:
        raise _too_deep() from None


def _checked_depth(value: Any) -> Any:
    """Refuse nesting that would overflow the stack of whoever walks through it later."""
    level = [value]
    for _ in range(_MOST_LEVELS):
        level = [
            inner
            for outer in level
            if isinstance(outer, (dict, list))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return value
    raise _too_deep()


def _too_deep() -> ValueError:
    return ValueError("it is nested too deeply")
