"""Outputs that are either complete or absent: written beside the target, then renamed onto it.

A reader never sees half a file. A failure (disk full, no permission, Ctrl-C) leaves the target as it was, and nothing
beside it. A writer that is killed leaves a hidden file or folder beside the target, whose name ends in ``.tmp``.

A symbolic link is followed, as `open` does: what it points to is written or replaced, and the link stays.
"""

import contextlib
import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from stickbreak.exceptions import WriteError
from stickbreak.storage.places import PathLike

__all__ = ["TAKEN", "bring_back", "follow", "replace_file", "replace_folder", "told_as_write_error"]

TAKEN = "Add --force (in Python: overwrite=True) to replace it."
_LONGEST = 60  # characters of a name that a temporary one takes over
_TRIES = 20  # to put a folder in its place while others do the same
_REASONS = {
    errno.ENOSPC: "the disk is full; free some space or choose another place",
    errno.EDQUOT: "the disk quota is used up; free some space or choose another place",
    errno.EACCES: "permission denied; choose a place that you may write to",
    errno.EPERM: "permission denied; choose a place that you may write to",
    errno.EROFS: "the file system is read-only; choose another place",
    errno.EIO: "the disk reports an error; check it or choose another place",
    errno.ENOENT: "its parent folder does not exist; create it first",
    errno.ENOTDIR: "its parent is not a folder; choose another place",
    errno.EISDIR: "it is a folder; give the name of a file",
    errno.ENAMETOOLONG: "the name is too long; choose a shorter one",
    errno.ELOOP: "it is a symbolic link that leads back to itself; remove the link or choose another place",
}
_OVERTAKEN = (errno.ENOENT, errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR)  # another writer was quicker


@contextlib.contextmanager
def replace_file(path: PathLike, *, lasting: bool = True) -> Iterator[Path]:
    """Give a temporary path near `path`; rename it onto `path` when the block ends without an error.

    Parameters
    ----------
    path : str or PathLike
        The file to be written; an existing file is replaced, and stays as it is until the new one is
        complete. A symbolic link is followed.
    lasting : bool
        Wait until the file is on the disk. Without that it stays after the process is killed, but may be damaged
        where the machine loses its power.

    Yields
    ------
    Path
        Where to write; its ending is that of the file. When the block raises, the file there is removed.

    Raises
    ------
    WriteError
        If the system refuses (disk full, no permission, ...): every OSError of the block becomes this.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with replace_file(folder / "answer.txt") as temporary:
    ...     _ = temporary.write_text("42")
    >>> (folder / "answer.txt").read_text()
    '42'
    """
    with told_as_write_error(path):
        target = follow(path)
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
        if target.exists() and not target.is_file():  # renamed onto /dev/null, a file would take its place
            raise WriteError(f"cannot write {target}: it is a device or a pipe; give the name of a file")
        with _workplace(target) as workplace:
            temporary = workplace / target.name
            yield temporary
            if lasting:
                _flush(temporary)
            os.replace(temporary, target)


@contextlib.contextmanager
def replace_folder(path: PathLike, *, overwrite: bool = False) -> Iterator[Path]:
    """Give a new empty folder near `path`; rename it onto `path` when the block ends without an error.

    Parameters
    ----------
    path : str or PathLike
        The folder to be written. A symbolic link is followed.
    overwrite : bool
        Replace a folder (or file) that is already there. The old one stays until the new one is complete; it is then
        set aside for the moment of a rename. The caller decides whether what is there may go.

    Yields
    ------
    Path
        The folder to fill. When the block raises, it is removed.

    Raises
    ------
    WriteError
        If `path` exists and `overwrite` is false, or when the system refuses (disk full, no permission,
        ...).
    """
    with told_as_write_error(path):
        target = follow(path)
        bring_back(target)
        _refuse_existing(path, target, overwrite)
        with _workplace(target) as workplace:
            temporary = workplace / "new"
            temporary.mkdir()
            yield temporary
            for file in temporary.rglob("*"):
                if file.is_file():
                    _flush(file)
            for attempt in range(_TRIES):
                _refuse_existing(path, target, overwrite)  # it may have appeared meanwhile
                try:
                    if os.path.lexists(target):
                        _remove(_aside(target))
                        os.rename(target, _aside(target))
                    os.rename(temporary, target)
                    break
                except OSError as error:
                    bring_back(target)
                    if error.errno not in _OVERTAKEN or attempt + 1 == _TRIES:
                        raise
            _remove(_aside(target))


def bring_back(path: PathLike) -> None:
    """Put a folder back in its place that a writer had set aside when it was killed, or when a rename failed."""
    with contextlib.suppress(OSError, WriteError):
        target = follow(path)
        if not os.path.lexists(target) and os.path.lexists(_aside(target)):
            os.rename(_aside(target), target)


@contextlib.contextmanager
def told_as_write_error(path: PathLike) -> Iterator[None]:
    """Tell every OSError of the block as a WriteError that names `path`."""
    try:
        yield
    except WriteError:
        raise
    except OSError as error:
        if error.errno == errno.ENOENT and os.path.isdir(os.path.dirname(os.path.realpath(path))):
            reason = f"{error.strerror}: {error.filename}"  # not the parent: some file that the block wanted
        elif error.errno is None:  # NumPy's way to say that the system took only a part
            reason = f"only a part was written ({error}); free some space, as the disk is probably full"
        else:
            reason = _REASONS.get(error.errno or 0) or error.strerror or str(error)
        raise WriteError(f"cannot write {path}: {reason}") from error


def follow(path: PathLike) -> Path:
    """Return where a path leads, whatever becomes of the working folder.

    Raises
    ------
    OSError
        If links lead in a circle.
    WriteError
        If the name cannot be one of a file.
    """
    if "\0" in os.fspath(path):
        raise WriteError(f"cannot write {str(path)!r}: a name cannot hold the character \\0; choose another name")
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    if len(os.fsencode(target.name)) > 255:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), str(path))
    return target


@contextlib.contextmanager
def _workplace(target: Path) -> Iterator[Path]:
    """Give a hidden folder beside the target, hence on the same file system, and remove it at the end."""
    workplace = target.with_name(f".{target.name[:_LONGEST]}.{secrets.token_hex(4)}.tmp")
    workplace.mkdir()
    try:
        yield workplace
    finally:
        _remove(workplace)


def _aside(target: Path) -> Path:
    """Return where what was at the target is, between the two renames that replace a folder."""
    return target.with_name(f".{target.name[:_LONGEST]}.old.tmp")


def _refuse_existing(path: PathLike, target: Path, overwrite: bool) -> None:
    if not overwrite and os.path.lexists(target):
        raise WriteError(f"{path} already exists. {TAKEN}")


def _remove(path: Path) -> None:
    """Remove a folder or file if it is there; a second time where something failed once."""
    for _ in range(2):
        if not os.path.lexists(path):
            return
        if os.path.isdir(path) and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                path.unlink()


def _flush(file: Path) -> None:
    """Wait until the content is on the disk: a full disk may show itself only here."""
    with open(file, "rb+") as handle:
        os.fsync(handle.fileno())
