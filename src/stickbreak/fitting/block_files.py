"""Files of a fit, one for each block of documents: complete or absent, never changed, removed with their folder.

A job reads the file of its block and writes a new one in its place. A job that is done twice reads the same and writes
the same.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stickbreak.exceptions import ReadError
from stickbreak.fitting.checkpoint import checksum
from stickbreak.storage.atomic import told_as_write_error

__all__ = ["File", "Folder", "remove", "whole", "write"]

EMPTY = 128  # bytes of a file without numbers, which no view can be of

Array = NDArray[Any]


class File(NamedTuple):
    """A file of a block, and what its content adds up to."""

    path: str
    checksum: int

    def read(self, *, mapped: bool = False) -> Array:
        """Return the array in it, or a view of the file, whose content is not checked.

        Raises
        ------
        ReadError
            If it is gone or damaged.
        """
        try:
            view = mapped and os.path.getsize(self.path) > EMPTY
            found: Array = np.load(self.path, mmap_mode="r" if view else None, allow_pickle=False)
        except FileNotFoundError:
            problem = "is gone"
        except (OSError, ValueError, EOFError) as error:
            problem = f"cannot be read ({error!s:.80})"
        else:
            if mapped or checksum(found) == self.checksum:
                return found
            problem = "is damaged"
        raise ReadError(
            f"{self.path}, where a fit keeps the topics of some documents, {problem}; fit again, or go on from a "
            "checkpoint with resume."
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
    with whole(path) as temporary, open(temporary, "wb") as handle:
        np.save(handle, array)
    return File(path, checksum(array))


def remove(file: File | None) -> None:
    """Remove a file, if there is one."""
    if file is not None:
        with contextlib.suppress(OSError):
            os.unlink(file.path)


class Folder:
    """A folder of a fit alone, which is removed with the last who uses it.

    Parameters
    ----------
    scratch : Path
        Where to make it.
    prefix : str, default="stickbreak-fit-"
        How its name begins.

    Raises
    ------
    WriteError
        If that cannot be done.
    """

    def __init__(self, scratch: Path, prefix: str = "stickbreak-fit-") -> None:
        with told_as_write_error(scratch):
            scratch.mkdir(parents=True, exist_ok=True)
            self.path = tempfile.mkdtemp(prefix=prefix, dir=scratch.resolve())
        self._remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
        self._n_given = 0

    def next(self) -> int:
        """Return a number that no other file of this folder has in its name."""
        self._n_given += 1
        return self._n_given
