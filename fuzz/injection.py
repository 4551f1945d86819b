"""Counts the calls by which files are written, and does something at one of them."""

from __future__ import annotations

import builtins
import contextlib
import errno
import io
import os
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

ERRORS = (errno.ENOSPC, errno.EACCES, errno.EIO, errno.EROFS)
_OF_OS = ("rename", "replace", "mkdir", "unlink", "remove", "rmdir", "fsync", "scandir")
Action = Callable[[str], None]


class Calls:
    """The calls so far, by name; `action` is told the name of call number `at` (from 0) before it happens."""

    def __init__(self, at: int | None = None, action: Action | None = None) -> None:
        self.names: list[str] = []
        self._at, self._action = at, action

    def note(self, name: str) -> None:
        """Count a call; at the one that was chosen, act."""
        self.names.append(name)
        if len(self.names) - 1 == self._at and self._action is not None:
            self._action(name)


def failing(error: int) -> Action:
    """Return an action that fails a call as the system would."""

    def fail(name: str) -> None:
        raise OSError(error, os.strerror(error))

    return fail


class _File:
    """A file being written: every write and the closing are counted."""

    def __init__(self, file: Any, calls: Calls) -> None:
        self._file, self._calls = file, calls

    def write(self, data: Any) -> int:
        """Write, as a call of its own."""
        self._calls.note("write")
        return int(self._file.write(data))

    def writelines(self, lines: Any) -> None:
        """Write the lines one by one."""
        for line in lines:
            self.write(line)

    def close(self) -> None:
        """Close: what is still in a buffer is written here."""
        if self._file.closed:
            return
        try:
            self._calls.note("close")
        finally:
            self._file.close()

    def __enter__(self) -> _File:
        return self

    def __exit__(self, *given: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


@contextlib.contextmanager
def watched(calls: Calls) -> Iterator[Calls]:
    """Count all calls that write, rename, make or remove."""
    real_open, real_os_open = builtins.open, os.open

    def opened(file: Any, mode: str = "r", *given: Any, **named: Any) -> Any:
        if not set(mode) & set("wax+"):
            return real_open(file, mode, *given, **named)
        calls.note("open")
        return _File(real_open(file, mode, *given, **named), calls)

    def os_opened(path: Any, flags: int, *given: Any, **named: Any) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR):
            calls.note("open")
        elif os.path.isdir(path):
            calls.note("open folder")
        return real_os_open(path, flags, *given, **named)

    def counted(name: str) -> Any:
        real = getattr(os, name)

        def call(*given: Any, **named: Any) -> Any:
            calls.note(name)
            return real(*given, **named)

        return mock.patch.object(os, name, call)

    with contextlib.ExitStack() as stack:
        for place in (builtins, io):
            stack.enter_context(mock.patch.object(place, "open", opened))
        stack.enter_context(mock.patch.object(os, "open", os_opened))
        for name in _OF_OS:
            stack.enter_context(counted(name))
        yield calls
