"""A new folder of one user, which is removed with it."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path

from stickbreak.storage.atomic import told_as_write_error

__all__ = ["TemporaryFolder"]


class TemporaryFolder:
    """A new folder in `parent`, whose name begins with `kind`; it is removed with the object, or with the process.

    A process that is killed leaves its folder.

    Attributes
    ----------
    path : str
        Absolute.

    Raises
    ------
    WriteError
        If it cannot be made.
    """

    def __init__(self, parent: Path, kind: str) -> None:
        with told_as_write_error(parent):
            parent.mkdir(parents=True, exist_ok=True)
            self.path = tempfile.mkdtemp(prefix=f"{kind}-", dir=parent.resolve())
        self._remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def close(self) -> None:
        """Remove the folder now."""
        self._remove()
