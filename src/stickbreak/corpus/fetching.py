"""A corpus folder at a URL, fetched to this machine to be opened."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from stickbreak.corpus.reading.files import reading
from stickbreak.corpus.remote_rows import mark_of_folder
from stickbreak.exceptions import ReadError
from stickbreak.storage.atomic import told_as_write_error
from stickbreak.storage.temporary_folders import TemporaryFolder
from stickbreak.storage.urls import UrlPath

__all__ = ["fetched"]

_BLOCK = 1 << 22  # bytes


@contextmanager
def fetched(url: UrlPath, names: Sequence[str]) -> Iterator[tuple[Path, int]]:
    """Give a copy of a corpus folder on this machine, and the number of its files.

    The copy has no name any more when the block ends. What is still mapped then stays on the disk until it is not, also
    where the process is killed.

    Parameters
    ----------
    url : UrlPath
    names : sequence of str
        Files that the folder may have.

    Yields
    ------
    tuple of (Path, int)

    Raises
    ------
    ReadError
        If there is no such folder, or it cannot be read; errors of the block name the URL.
    WriteError
        If the disk is full.
    """
    own = TemporaryFolder(Path(tempfile.gettempdir()), "stickbreak-fetched")
    folder = Path(own.path)
    try:
        with reading(url):
            if not url.is_dir():
                raise ReadError(f"{url} is not a folder, or does not exist; check the name")
            mark = _mark(url)
            for name in names:
                _fetch(url / name, folder / name)
        try:
            yield folder, mark
        except ReadError as error:
            raise ReadError(str(error).replace(own.path, str(url))) from error
    finally:
        own.close()


def _mark(url: UrlPath) -> int:
    try:
        return mark_of_folder(url)
    except FileNotFoundError as error:
        raise ReadError(f"{url} is not a whole corpus folder: {error} is missing; name one made by count") from error


def _fetch(file: UrlPath, target: Path) -> None:
    """Copy a file, if there is one."""
    try:
        source = file.open()
    except FileNotFoundError:
        return
    with source, open(target, "wb") as copy:
        while block := source.read(_BLOCK):
            with told_as_write_error(tempfile.gettempdir()):
                copy.write(block)
