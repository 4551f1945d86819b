"""Locks of folders: the system takes one off when its process ends, however it ends."""

from __future__ import annotations

import os
import sys
from pathlib import Path

if sys.platform != "win32":
    import fcntl

__all__ = ["lock_folder", "unlock"]


def lock_folder(folder: Path) -> int | None:
    """Lock a folder until it is unlocked, or this process ends.

    Parameters
    ----------
    folder : Path
        A folder that exists.

    Returns
    -------
    int or None
        What `unlock` takes; None where the system has no such locks (Windows, some network disks).

    Raises
    ------
    BlockingIOError
        If another process, or another call of this one, has the lock.
    FileNotFoundError
        If the folder was removed by whoever had the lock before.
    """
    if sys.platform == "win32":
        return None
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(os.stat(folder), os.fstat(descriptor)):  # removed, and made again
            raise FileNotFoundError(folder)
    except BaseException as error:
        os.close(descriptor)
        if isinstance(error, OSError) and not isinstance(error, BlockingIOError | FileNotFoundError):
            return None
        raise
    return descriptor


def unlock(lock: int | None) -> None:
    """Take off the lock that `lock_folder` returned."""
    if lock is not None:
        os.close(lock)
