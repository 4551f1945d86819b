"""Outputs that are either complete or absent: written beside the target, then renamed onto it.

A reader never sees half a file. A failure (disk full, no permission, Ctrl-C) leaves the target as it was, and nothing
beside it. What is written grows in a hidden folder beside the target, its workplace, which the writer keeps locked. A
writer that is killed leaves its workplace there. The next one that writes the same target, or reads it in vain,
removes it: the system has taken the lock off, so a writer that lives is never disturbed. Where the system has no such
locks (Windows, some network disks), nothing is removed.

A symbolic link is followed, as `open` does: what it points to is written or replaced, and the link stays.
"""

import contextlib
import errno
import os
import re
import secrets
import shutil
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

from stickbreak.exceptions import WriteError
from stickbreak.storage.locks import lock_folder, unlock
from stickbreak.storage.places import PathLike

__all__ = ["TAKEN", "clear_up", "follow", "replace_file", "replace_folder", "told_as_write_error"]

TAKEN = "Add --force (in Python: overwrite=True) to replace it."
_HERE, _RENAME_EXCHANGE = -100, 2  # AT_FDCWD and the flag of renameat2, as Linux defines them
_NEW, _OLD = "new", "old"  # in the workplace of a folder: what is written; what was at the target
_LONGEST = 200  # bytes of a name that a workplace takes over: most file systems allow 255
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
_LOST = (errno.EIO, errno.ENOSPC, errno.EDQUOT)  # what has been written may not be on the disk
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
        where the machine loses its power: for files that are needed for minutes, and looked at before they are used.

    Yields
    ------
    Path
        Where to write; it has the name of the file. When the block raises, the file there is removed.

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
        if lasting:
            with contextlib.suppress(OSError):  # the new file is in its place
                _flush_directory(target.parent)


@contextlib.contextmanager
def replace_folder(path: PathLike, *, overwrite: bool = False) -> Iterator[Path]:
    """Give a new empty folder near `path`; rename it onto `path` when the block ends without an error.

    Parameters
    ----------
    path : str or PathLike
        The folder to be written. A symbolic link is followed.
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
        If `path` exists and `overwrite` is false, or when the system refuses (disk full, no permission,
        ...).
    """
    with told_as_write_error(path):
        target = follow(path)
        _refuse_existing(path, target, overwrite)
        with _workplace(target) as workplace:
            temporary = workplace / _NEW
            temporary.mkdir()
            yield temporary
            for file in sorted(temporary.rglob("*")):
                _flush_directory(file) if file.is_dir() else _flush(file)
            _flush_directory(temporary)
            _swap(temporary, target, path, overwrite)
        with contextlib.suppress(OSError):  # the new folder is in its place
            _flush_directory(target.parent)


def clear_up(path: PathLike) -> None:
    """Put right what a writer of `path` left that was killed: bring back what it had set aside, remove its workplace.

    Parameters
    ----------
    path : str or PathLike
        Where it was to write. Nothing happens where the system refuses: the next writer tries again.
    """
    with contextlib.suppress(OSError, WriteError):
        target = follow(path)
        for workplace in _workplaces(target):
            with contextlib.suppress(OSError):  # such as the lock of a writer that lives
                lock = lock_folder(workplace)
                try:
                    _bring_back(workplace, target)
                    if lock is not None:
                        _remove(workplace)
                finally:
                    unlock(lock)


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
    return target


@contextlib.contextmanager
def _workplace(target: Path) -> Iterator[Path]:
    """Give a folder beside the target (hence on the same file system), locked until it is removed."""
    clear_up(target)
    workplace, lock = _new_workplace(target)
    try:
        yield workplace
    finally:
        try:
            with contextlib.suppress(OSError):
                _bring_back(workplace, target)
                _remove(workplace)
        finally:
            unlock(lock)


def _new_workplace(target: Path) -> tuple[Path, int | None]:
    """Make a workplace and lock it."""
    while True:
        workplace = target.with_name(f"{_prefix(target)}{secrets.token_hex(4)}.tmp")
        workplace.mkdir()
        try:
            return workplace, lock_folder(workplace)
        except (BlockingIOError, FileNotFoundError):
            continue  # another writer came before the lock, and removes what it takes for left behind
        except BaseException:
            _remove(workplace)
            raise


def _prefix(target: Path) -> str:
    """Return how the names of the workplaces of a target begin; hidden on Unix."""
    name = os.fsencode(target.name)
    return f".{target.name}." if len(name) <= _LONGEST else f".{target.name[:40]}~{zlib.crc32(name):08x}."


def _workplaces(target: Path) -> list[Path]:
    """Return the workplaces that writers of a target have, or have left."""
    pattern = re.compile(re.escape(_prefix(target)) + r"[0-9a-f]{8}\.tmp")
    with os.scandir(target.parent) as entries:
        return [Path(entry) for entry in entries if pattern.fullmatch(entry.name) and not entry.is_symlink()]


def _swap(temporary: Path, target: Path, path: PathLike, overwrite: bool) -> None:
    """Put `temporary` in the place of `target`, in one step where the system can exchange two folders.

    Elsewhere what was there is set aside in the workplace: `_bring_back` undoes that if it ends there, and `clear_up`
    after a kill between the two renames.
    """
    for attempt in range(_TRIES):
        _refuse_existing(path, target, overwrite)  # it may have appeared meanwhile
        try:
            if os.path.lexists(target):
                if _exchange(temporary, target):
                    return
                os.rename(target, temporary.with_name(f"{_OLD}{attempt}"))
            os.rename(temporary, target)
            return
        except OSError as error:
            if error.errno not in _OVERTAKEN or attempt + 1 == _TRIES:
                raise


def _bring_back(workplace: Path, target: Path) -> None:
    """Put what was set aside in a workplace back in its place, if nothing else is there now."""
    if os.path.lexists(target):
        return
    for attempt in reversed(range(_TRIES)):
        if os.path.lexists(workplace / f"{_OLD}{attempt}"):
            os.rename(workplace / f"{_OLD}{attempt}", target)
            return


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


def _remove(path: Path) -> None:
    """Remove a folder or file; a second time where something failed once."""
    for _ in range(2):
        if os.path.isdir(path) and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                path.unlink()
        if not os.path.lexists(path):
            return


def _refuse_existing(path: PathLike, target: Path, overwrite: bool) -> None:
    if not overwrite and os.path.lexists(target):
        raise WriteError(f"{path} already exists. {TAKEN}")


def _flush(file: Path) -> None:
    """Wait until the content is on the disk: a full disk may show itself only here."""
    with open(file, "rb+") as handle:
        os.fsync(handle.fileno())


def _flush_directory(folder: Path) -> None:
    """Make renames in `folder` durable, where the system can (it cannot on Windows)."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno in _LOST:
            raise
