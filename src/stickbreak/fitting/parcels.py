"""Parcels: objects on their way between processes, pickled; large ones in a file of a folder that all of them see.

A file has the pickle and, beside it, the bytes of the arrays. On the machine where it was written it is mapped: arrays
are views of it, and nothing is copied before somebody writes into them. Elsewhere it is read once.
"""

from __future__ import annotations

import mmap
import pickle
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Self

from stickbreak.fitting.block_files import whole

__all__ = ["Parcel", "Unseen"]

LARGE = 1 << 16  # bytes from which on a file is quicker
ALIGNED = 64  # arrays begin at such places, as those that NumPy makes do at least on their way through a file


class Unseen(Exception):
    """A process does not see the folder of the files."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """An object on its way.

    Attributes
    ----------
    size : int
        Its bytes.
    content : bytes
        The object; empty where it is in a file.
    file : str
    ends : tuple of int
        Where the parts of the file end: the pickle, then each array. Each begins at the next multiple of 64.
    machine : str
        Where the file was written.
    """

    size: int
    content: bytes = field(repr=False)
    file: str = ""
    ends: tuple[int, ...] = ()
    machine: str = ""

    @classmethod
    def of(cls, thing: Any, path: str = "", large: int = LARGE) -> Self:
        """Pack an object.

        Parameters
        ----------
        thing : object
        path : str, optional
            The name that its file has, if it is large. Empty: it is sent as it is.
        large : int
            Bytes from which on it is.

        Raises
        ------
        WriteError
            If the disk is full.
        """
        buffers: list[pickle.PickleBuffer] = []
        if not path:
            return cls.sent(pickle.dumps(thing, protocol=pickle.HIGHEST_PROTOCOL))
        head = pickle.dumps(thing, protocol=pickle.HIGHEST_PROTOCOL, buffer_callback=buffers.append)
        parts = [memoryview(head), *(buffer.raw() for buffer in buffers)]
        size = sum(part.nbytes for part in parts)
        if size < large:
            return cls.sent(pickle.dumps(thing, protocol=pickle.HIGHEST_PROTOCOL) if buffers else head)
        return cls(size, b"", path, _written(path, parts), _machine())

    @classmethod
    def sent(cls, content: bytes) -> Self:
        """Return what is sent as it is."""
        return cls(len(content), content)

    def opened(self, *, lasting: bool = False) -> Any:
        """Return the object: another one each time, whose arrays can be written into.

        Parameters
        ----------
        lasting : bool, default=False
            It is kept, so it is read: what is mapped takes room on the disk until it goes.

        Raises
        ------
        Unseen
            If there is no such file here.
        """
        if not self.ends:
            return pickle.loads(self.content)
        try:
            with open(self.file, "rb") as handle:
                if self.machine == _machine() and not lasting:
                    content = mmap.mmap(handle.fileno(), self.ends[-1], access=mmap.ACCESS_COPY)
                else:
                    content = mmap.mmap(-1, self.ends[-1])
                    if handle.readinto(content) < self.ends[-1]:
                        raise Unseen(self.file)
        except (OSError, ValueError):
            raise Unseen(self.file) from None
        whole, ends = memoryview(content), self.ends
        parts = [whole[begin:end] for begin, end in zip(_begins(ends), ends, strict=True)]
        return pickle.loads(parts[0], buffers=parts[1:])


def _begins(ends: Sequence[int]) -> list[int]:
    """Return where each part of a file begins."""
    return [0, *(end + -end % ALIGNED for end in ends[:-1])]


def _written(path: str, parts: Sequence[memoryview]) -> tuple[int, ...]:
    """Write a file, complete or not at all; return where its parts end."""
    ends, at = [], 0
    with whole(path) as temporary, open(temporary, "wb") as handle:
        for part in parts:
            handle.write(bytes(-at % ALIGNED))
            at += -at % ALIGNED + part.nbytes
            handle.write(part)
            ends.append(at)
    return tuple(ends)


@cache
def _machine() -> str:
    """Return what tells this machine, as it runs now, from others."""
    try:
        started = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        started = ""
    return f"{socket.gethostname()} {started}"
