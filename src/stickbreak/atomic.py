"""Outputs that are either complete or absent: written beside the target, then renamed onto it.

A reader never sees half a file. A failure (disk full, no permission, Ctrl-C) leaves the target as it was,
and nothing beside it.
"""

import contextlib
import errno
import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from stickbreak.exceptions import WriteError

__all__ = ["replace_file", "replace_folder"]

_HERE, _RENAME_EXCHANGE = -100, 2  # AT_FDCWD and the flag of renameat2, as Linux defines them
_REASONS = {
    errno.ENOSPC: "the disk is full; free some space or choose another place",
    errno.EDQUOT: "the disk quota is used up; free some space or choose another place",
    errno.EACCES: "permission denied; choose a place that you may write to",
    errno.EPERM: "permission denied; choose a place that you may write to",
    errno.EROFS: "the file system is read-only; choose another place",
    errno.ENOENT: "its parent folder does not exist; create it first",
    errno.ENOTDIR: "its parent is not a folder; choose another place",
    errno.EISDIR: "it is a folder; give the name of a file",
    errno.ENAMETOOLONG: "the name is too long; choose a shorter one",
}


@contextlib.contextmanager
def replace_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path beside `path`; rename it onto `path` when the block ends without an error.

    Parameters
    ----------
    path : str or PathLike
        The file to be written; an existing file is replaced, and stays as it is until the new one is
        complete.

    Yields
    ------
    Path
        Where to write. When the block raises, the file there is removed.

    Raises
    ------
    WriteError
        When the system refuses (disk full, no permission, ...): every OSError of the block becomes this.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with replace_file(folder / "answer.txt") as temporary:
    ...     _ = temporary.write_text("42")
    >>> (folder / "answer.txt").read_text()
    '42'
    """
    target = Path(path)
    with _told_as_write_error(target):
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
        if target.exists() and not target.is_file():  # renamed onto /dev/null, a file would take its place
            raise WriteError(f"cannot write {target}: it is a device or a pipe; give the name of a file")
        temporary = _beside(target)
        try:
            yield temporary
            _flush(temporary)
            os.replace(temporary, target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _flush_directory(target.absolute().parent)


@contextlib.contextmanager
def replace_folder(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[Path]:
    """Give a new empty folder beside `path`; rename it onto `path` when the block ends without an error.

    Parameters
    ----------
    path : str or PathLike
        The folder to be written.
    overwrite : bool
        Replace a folder (or file) that is already there. The old one stays until the new one is complete.
        The caller decides whether what is there may go.

    Yields
    ------
    Path
        The folder to fill. When the block raises, it is removed.

    Raises
    ------
    WriteError
        When `path` exists and `overwrite` is false, or when the system refuses (disk full, no permission,
        ...).
    """
    target = Path(path)
    with _told_as_write_error(target):
        _refuse_existing(target, overwrite)
        temporary = _beside(target)
        temporary.mkdir()
        try:
            yield temporary
            for file in sorted(temporary.rglob("*")):
                _flush_directory(file) if file.is_dir() else _flush(file)
            _flush_directory(temporary)
            _refuse_existing(target, overwrite)  # it may have appeared while the block ran
            _swap(temporary, target)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
        _flush_directory(target.absolute().parent)


def _swap(temporary: Path, target: Path) -> None:
    """Put `temporary` in the place of `target`, in one step where the system can exchange two folders.

    Elsewhere what was there is set aside, and brought back on failure; a kill between the two renames leaves it
    beside the target, under its hidden name.
    """
    if not os.path.lexists(target):
        os.rename(temporary, target)
        return
    if _exchange(temporary, target):
        _remove(temporary)
        return
    old = _beside(target)
    os.rename(target, old)
    try:
        os.rename(temporary, target)
    except BaseException:
        os.rename(old, target)
        raise
    _remove(old)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two paths in one step, where the system can: at no moment is one of them missing.

    Only Linux can (renameat2), and not on every file system; False says that nothing was done.
    """
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):  # a C library without it
        return False
    renameat2.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    renameat2.restype = ctypes.c_int
    return bool(renameat2(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _RENAME_EXCHANGE) == 0)


def _remove(old: Path) -> None:
    if old.is_dir() and not old.is_symlink():
        shutil.rmtree(old, ignore_errors=True)
    else:
        old.unlink()


def _refuse_existing(target: Path, overwrite: bool) -> None:
    if not overwrite and os.path.lexists(target):
        raise WriteError(f"{target} already exists; choose another name or ask to overwrite it")


def _beside(target: Path) -> Path:
    """Name a path in the same folder (hence the same file system) that is not in use; hidden on Unix."""
    return target.absolute().with_name(f".{target.name[:60]}.{secrets.token_hex(4)}.tmp")


@contextlib.contextmanager
def _told_as_write_error(target: Path) -> Iterator[None]:
    try:
        yield
    except WriteError:
        raise
    except OSError as error:
        parent = target.absolute().parent
        if error.errno == errno.ENOENT and parent.is_dir():
            reason = f"{error.strerror}: {error.filename}"  # not the parent: some file that the block wanted
        elif error.errno is None:  # NumPy's way to say that the system took only a part
            reason = f"only a part was written ({error}); free some space, as the disk is probably full"
        else:
            reason = _REASONS.get(error.errno or 0) or error.strerror or str(error)
        raise WriteError(f"cannot write {target}: {reason}") from error


def _flush(file: Path) -> None:
    """Wait until the content is on the disk: a full disk may show itself only here."""
    with open(file, "rb+") as handle:
        os.fsync(handle.fileno())


def _flush_directory(folder: Path) -> None:
    """Make renames in `folder` durable, where the system can (it cannot on Windows)."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
