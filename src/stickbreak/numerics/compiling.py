"""`njit` as the kernels use it: Numba's, with a cache of machine code that can speed up a fit and never stop one.

Compiled kernels are kept in the first of these places that can be written, and looked for in all of them:

1. the folder that NUMBA_CACHE_DIR names; if it names none, `__pycache__` beside the source, then Numba's folder in
   the home of the user;
2. a folder of this user in the folder for temporary files, if it is this user's alone: cached code is executed.

So a place that may only be read (the image of a container, warmed when it was built) still serves. An entry is
believed only if its checksum fits what was compiled: the source of the kernel and of all kernels that it calls, the
types, the processor, the versions. Whatever fails in the cache, the kernel is compiled.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import os
import pickle
import secrets
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

__all__ = ["TALLY", "njit"]

# What a kernel does not say of these it would inherit from the kernel that happens to call it first: then the last bits
# of a fit would depend on what was compiled before.
_OWN: dict[str, Any] = {"fastmath": False, "error_model": "python"}
# Numba also makes a way for C to call each kernel. Nobody does, and it is compiled like the rest.
_LEFT_OUT: dict[str, Any] = {"no_cfunc_wrapper": True}

_log = logging.getLogger("stickbreak")
_PACKAGE = __name__.partition(".")[0]
_DIGEST = hashlib.sha256().digest_size
_CODE = attrgetter("library", "lifted")  # of what Numba compiled: machine code, and loops that are kernels of their own


@dataclass(slots=True)
class Tally:
    """What this process compiled, what it found compiled, and where that is.

    Attributes
    ----------
    compiled, kept, loaded : int
        Kernels, one for each combination of types: those compiled, those of them that were kept, those found.
    folders : set of Path
        Where they were found and kept.
    temporary : bool
        Whether some were kept in the folder for temporary files.
    """

    compiled: int = 0
    kept: int = 0
    loaded: int = 0
    folders: set[Path] = field(default_factory=set)
    temporary: bool = False


TALLY = Tally()


def njit(*, cache: bool, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return the decorator of a kernel: `numba.njit`, with a cache that never stops a fit.

    Parameters
    ----------
    cache : bool
        Keep the machine code for later processes.
    **options
        As `numba.njit` takes them.

    Returns
    -------
    callable
        From the function to the kernel.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        kernel = numba.njit(**{**_OWN, **_LEFT_OUT, **options})(function)
        if cache and hasattr(kernel, "_cache"):  # without: NUMBA_DISABLE_JIT, the function itself
            kernel._cache = _KernelCache(function)
        return kernel

    return compiled


@dataclass(frozen=True, slots=True)
class _Place:
    """A folder of compiled kernels; one in the folder for temporary files must be this user's alone."""

    folder: Path
    private: bool = False

    def read(self, name: str) -> bytes | None:
        """Return what a file holds, None if there is none that may be trusted."""
        try:
            if self.private and not _is_ours_alone(self.folder):
                return None
            descriptor = os.open(self.folder / name, os.O_RDONLY | getattr(os, "O_BINARY", 0) | self._no_link)
            with open(descriptor, "rb") as file:
                if self.private and hasattr(os, "getuid") and os.fstat(descriptor).st_uid != os.getuid():
                    return None
                return file.read()
        except OSError:
            return None

    @property
    def _no_link(self) -> int:
        return getattr(os, "O_NOFOLLOW", 0) if self.private else 0

    def write(self, name: str, content: bytes) -> None:
        """Write a file, complete or not at all; OSError if the system refuses."""
        if self.private:
            with contextlib.suppress(FileExistsError):
                self.folder.mkdir(mode=0o700)
            if not _is_ours_alone(self.folder):
                raise PermissionError(f"{self.folder} is not a folder of this user alone")
        else:
            self.folder.mkdir(parents=True, exist_ok=True)
        temporary = self.folder / f"{name}.{secrets.token_hex(8)}.tmp"
        try:
            with open(temporary, "xb") as file:  # by the umask: the image of a container is read by other users
                file.write(content)
            os.replace(temporary, self.folder / name)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise


def _is_ours_alone(folder: Path) -> bool:
    """Tell whether a folder is one (not a link) that only this user may read and write."""
    found = os.lstat(folder)
    if not hasattr(os, "getuid"):  # Windows: the folder for temporary files is the user's own
        return stat.S_ISDIR(found.st_mode)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


def _places(beside: Path) -> list[_Place]:
    """List where kernels of a source folder are kept, the best place first."""
    own = f"stickbreak_{hashlib.sha256(os.fsencode(beside)).hexdigest()[:16]}"
    given: str = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    if given:
        folders = [Path(given).absolute() / own]
    else:
        home = Path(AppDirs(appname="numba", appauthor=False).user_cache_dir)  # type: ignore[no-untyped-call]
        folders = [beside / "__pycache__", home / own]
    places = [_Place(folder) for folder in folders if folder.is_absolute()]  # "~" that nobody expands: no home
    with contextlib.suppress(OSError):  # no folder for temporary files
        user, temporary = f"-{os.getuid()}" if hasattr(os, "getuid") else "", Path(tempfile.gettempdir()).absolute()
        if temporary != Path.cwd():  # what Python takes where no folder for temporary files can be written
            places.append(_Place(temporary / f"stickbreak-kernels{user}", private=True))
    return places


@functools.cache
def _stamp(module: str) -> str:
    """Return the hash of what the kernels of a module are compiled from, beside their types.

    That is its source, the modules of ours that it takes kernels and types from, and the constants that it imports:
    Numba copies all of these into the machine code.
    """
    known = vars(sys.modules[module])
    spec = known["__spec__"]
    digest = hashlib.sha256(spec.loader.get_data(spec.origin))
    homes = {str(getattr(value, "__module__", "")) for name, value in known.items() if not name.startswith("__")}
    for home in sorted(home for home in homes - {module} if home.partition(".")[0] == _PACKAGE):
        digest.update(_stamp(home).encode())
    for name in sorted(known):
        if isinstance(known[name], int | float | np.generic):
            digest.update(f"{name}={known[name]!r};".encode())
    return digest.hexdigest()


class _KernelCache(NullCache):
    """The cache of one kernel, in the shape that a Numba dispatcher asks for."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._version = f"{numba.__version__} {sys.implementation.cache_tag}"
        self._places: list[_Place] = []
        self._stamp: str | None = None
        with _never_stopping("found"):
            spec = sys.modules[function.__module__].__spec__
            self._stamp = _stamp(function.__module__) + hashlib.sha256(function.__code__.co_code).hexdigest()
            self._places = _places(Path(str(spec and spec.origin)).absolute().parent)

    @property
    def cache_path(self) -> str | None:
        """The first place."""
        return str(self._places[0].folder) if self._places else None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the kernel for some types as it was kept, None if it must be compiled."""
        target_context.refresh()
        with _never_stopping("read"):
            name, identity = self._identity(sig, target_context.codegen())
            for place in self._places:
                content = place.read(name)
                if content is None or content[:_DIGEST] != _checksum(identity, content[_DIGEST:]):
                    continue  # not there, stale or damaged
                parts = pickle.loads(content[_DIGEST:])
                found = CompileResult._rebuild(target_context, *parts)  # type: ignore[no-untyped-call]
                TALLY.loaded += 1
                TALLY.folders.add(place.folder)
                return found
        return None

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Keep a kernel that was just compiled in the first place that takes it."""
        TALLY.compiled += 1
        with _never_stopping("written"):
            code, lifted = _CODE(cres)
            if not self._places or code.has_dynamic_globals or not all(part.can_cache for part in lifted):
                return
            name, identity = self._identity(sig, cres.codegen)
            payload: bytes = dumps(cres._reduce())  # type: ignore[no-untyped-call]
            content = _checksum(identity, payload) + payload
            refusals = []
            for place in self._places:
                try:
                    place.write(name, content)
                except OSError as error:
                    refusals.append(f"{place.folder}: {error.strerror or error}")
                    continue
                TALLY.kept += 1
                TALLY.folders.add(place.folder)
                TALLY.temporary |= place.private
                if place.private:
                    _tell_of_temporary(place.folder, refusals[0])
                return
            raise OSError("; ".join(refusals))

    def _identity(self, sig: Any, codegen: Any) -> tuple[str, bytes]:
        """Return the name of the file for some types on this processor, and all that its content depends on."""
        function = self._function
        key = f"{sig} {codegen.magic_tuple()} {sys.implementation.cache_tag}"
        name = f"{function.__module__}.{function.__qualname__}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.nbc"
        return name, f"{key} {self._version} {self._stamp}".encode()


def _checksum(identity: bytes, payload: bytes) -> bytes:
    return hashlib.sha256(hashlib.sha256(identity).digest() + payload).digest()


@contextlib.contextmanager
def _never_stopping(what: str) -> Iterator[None]:
    """Let a failure of the cache be a line of the log, whatever it is: the kernel is compiled in any case."""
    try:
        yield
    except Exception as error:
        _tell_of_failure(what, f"{type(error).__name__}: {error}")


_told: set[str] = set()


def _tell_of_failure(what: str, reason: str) -> None:
    if "failure" not in _told:
        _told.add("failure")
        _log.warning(
            "compiled kernels cannot be %s (%s), so every process compiles them again; set NUMBA_CACHE_DIR to a "
            "folder that you may write to",
            what,
            reason,
        )


def _tell_of_temporary(folder: Path, refusal: str) -> None:
    if "temporary" not in _told:
        _told.add("temporary")
        _log.info(
            "compiled kernels are kept in %s for now (%s); set NUMBA_CACHE_DIR to a permanent folder", folder, refusal
        )
