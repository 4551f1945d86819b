"""A folder of one user alone, which is removed with it; those of users that were killed are removed by the next one."""

from __future__ import annotations

import re
import shutil
import socket
import tempfile
import weakref
from pathlib import Path

from stickbreak.storage.atomic import told_as_write_error
from stickbreak.storage.locks import lock_folder, unlock

__all__ = ["OwnFolder"]

_RANDOM = re.compile(r"[a-z0-9_]{8}")  # how `tempfile.mkdtemp` ends a name


class OwnFolder:
    """A new folder, locked, with the name of this machine in its name.

    It is removed with the object, or with the process. A process that is killed leaves its folder, but not its lock. So
    the next one that makes a folder of the same kind in the same place removes it. It does so on the same machine only:
    some network disks lock for each machine apart. Where there are no locks, nothing is removed.

    Parameters
    ----------
    parent : Path
        Where to make it.
    kind : str
        How its name begins.

    Attributes
    ----------
    path : str
        Absolute.

    Raises
    ------
    WriteError
        If that cannot be done.
    """

    def __init__(self, parent: Path, kind: str) -> None:
        machine = re.sub(r"[^A-Za-z0-9.]", "_", socket.gethostname())[:60]
        prefix = f"{kind}-{machine}-"
        with told_as_write_error(parent):
            parent.mkdir(parents=True, exist_ok=True)
            _remove_abandoned(parent, prefix)
            self.path, lock = _locked(parent.resolve(), prefix)
        self._remove = weakref.finalize(self, _end, self.path, lock)

    def close(self) -> None:
        """Remove the folder now."""
        self._remove()


def _locked(parent: Path, prefix: str) -> tuple[str, int | None]:
    """Make a folder and lock it."""
    while True:
        path = tempfile.mkdtemp(prefix=prefix, dir=parent)
        try:
            return path, lock_folder(Path(path))
        except (BlockingIOError, FileNotFoundError):
            continue  # another process took it for abandoned before it was locked, and removes it


def _end(path: str, lock: int | None) -> None:
    shutil.rmtree(path, ignore_errors=True)
    unlock(lock)


def _remove_abandoned(parent: Path, prefix: str) -> None:
    """Remove the folders of this kind and machine that nobody has locked."""
    for folder in parent.iterdir():
        if folder.name.startswith(prefix) and _RANDOM.fullmatch(folder.name[len(prefix) :]):
            try:
                lock = lock_folder(folder)
            except OSError:  # in use, or just removed
                continue
            if lock is not None:
                _end(str(folder), lock)
