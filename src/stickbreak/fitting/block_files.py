"""Files of a fit, one for each block of documents: complete or absent, never changed, removed with their folder.

A job reads the file of its block and writes a new one in its place. A job that is done twice reads the same and writes
the same.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stickbreak.exceptions import ReadError
from stickbreak.storage.atomic import told_as_write_error
from stickbreak.storage.checksums import checksum
from stickbreak.storage.own_folders import OwnFolder

__all__ = ["File", "Folder", "remove", "unreadable", "whole", "write"]

Array = NDArray[Any]


class File(NamedTuple):
    """A file of a block: the bytes of an array, and what they add up to."""

    path: str
    checksum: int
    dtype: str = "|u1"
    shape: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """Number of values."""
        return int(np.prod(self.shape))

    def read(self, *, mapped: bool = False) -> Array:
        """Return the array in it, or a view of the file, whose content is not checked.

        Raises
        ------
        ReadError
            If it is gone or damaged.
        """
        try:
            if mapped and self.size:  # there is no view of nothing
                return np.memmap(self.path, self.dtype, "r", shape=self.shape)
            found = np.fromfile(self.path, self.dtype)
        except FileNotFoundError:
            problem = "is gone"
        except (OSError, ValueError) as error:
            problem = f"cannot be read ({error!s:.80})"
        else:
            if found.size == self.size and checksum(found.reshape(self.shape)) == self.checksum:
                return found.reshape(self.shape)
            problem = "is damaged"
        raise unreadable(self.path, problem)


def unreadable(path: str, problem: str) -> ReadError:
    """Return the error for a file that a fit cannot go on with."""
    return ReadError(
        f"{path}, where a fit keeps what belongs to some documents, {problem}; leave the scratch folder alone while a "
        "fit runs, and fit again, or go on from a checkpoint with resume."
    )


@contextlib.contextmanager
def whole(path: str) -> Iterator[str]:
    """Give a temporary path; what was written there takes the name `path` when the block ends without an error.

    Unlike `storage.atomic.replace_file` it does not wait for the disk: no fit goes on from these files after a crash.

    Raises
    ------
    WriteError
        If the system refuses: the disk is full.
    """
    temporary = f"{path}.{secrets.token_hex(4)}"
    with told_as_write_error(path):
        try:
            yield temporary
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise


def write(path: str, array: Array) -> File:
    """Write an array to a file, which is complete or not there.

    Raises
    ------
    WriteError
        If the system refuses: the disk is full.
    """
    content = np.ascontiguousarray(array)
    with whole(path) as temporary, open(temporary, "wb") as handle:
        handle.write(content.reshape(-1).view(np.uint8).data)
    return File(path, checksum(content), content.dtype.str, content.shape)


def remove(file: File | None) -> None:
    """Remove a file, if there is one."""
    if file is not None:
        with contextlib.suppress(OSError):
            os.unlink(file.path)


class Folder(OwnFolder):
    """A folder of a fit alone, which is removed with the last who uses it.

    Parameters
    ----------
    scratch : Path
        Where to make it.

    Raises
    ------
    WriteError
        If that cannot be done.
    """

    def __init__(self, scratch: Path) -> None:
        super().__init__(scratch, "stickbreak-fit")
        self._n_given = 0

    def next(self) -> int:
        """Return a number that no other file of this folder has in its name."""
        self._n_given += 1
        return self._n_given
