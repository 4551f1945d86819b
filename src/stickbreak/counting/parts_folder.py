"""The folder of the parts: of one count at a time, and kept for the next call where it does not come to its end."""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stickbreak.exceptions import WriteError
from stickbreak.storage.atomic import told_as_write_error
from stickbreak.storage.locks import lock_folder, unlock
from stickbreak.storage.plain_files import read_json

__all__ = ["folder_of_parts"]

_MARK = "parts.json"
_KIND = "stickbreak parts"


@contextmanager
def folder_of_parts(target: Path) -> Iterator[Path]:
    """Give the folder of the parts of a corpus, locked; it is removed when all is done, and stays where it is not.

    The system takes the lock off when the process ends, so that the folder of one that was killed can be used again.

    Parameters
    ----------
    target : Path
        The corpus folder to make.

    Yields
    ------
    Path

    Raises
    ------
    WriteError
        If another process counts to the same place, or the folder was not made to count, or cannot be made.
    """
    folder = target.with_name(f"{target.name}.parts")
    with told_as_write_error(folder):
        lock = _locked(folder, target)
        try:
            _sign(folder, target)
        except BaseException:
            unlock(lock)
            raise
    try:
        yield folder
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        unlock(lock)


def _locked(folder: Path, target: Path) -> int | None:
    """Make the folder if there is none, and lock it."""
    while True:
        folder.mkdir(exist_ok=True)
        try:
            return lock_folder(folder)
        except FileNotFoundError:
            continue  # whoever had it is done, and has removed it
        except BlockingIOError:
            raise WriteError(
                f"{target} is being counted by {_user_of(folder)}; wait until that ends, or choose another name"
            ) from None


def _user_of(folder: Path) -> str:
    """Say who uses a folder."""
    try:
        told = read_json(folder / _MARK)
        return f"process {int(told['process'])} on {told['machine']!s:.100}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"


def _sign(folder: Path, target: Path) -> None:
    """Say in the folder what it is, and who uses it."""
    mark = folder / _MARK
    if not mark.is_file() and any(folder.iterdir()):
        raise WriteError(f"{folder} exists and was not made to count to {target.name}; remove it or rename it")
    user = {"kind": _KIND, "process": os.getpid(), "machine": socket.gethostname()}
    mark.write_text(json.dumps(user) + "\n", encoding="utf-8")
