"""`njit` as the kernels use it: Numba's, with Numba's cache of machine code, which never stops a fit.

Compiled kernels are kept in the folder that NUMBA_CACHE_DIR names; if it names none, in ``__pycache__`` of the package,
or where that may not be written, in the user's folder for caches. Where a kernel cannot be kept, as on a full disk,
every process compiles it again. A damaged file of the cache is written again.

Numba sees only changes of the file that a kernel is in, not of the kernels that it calls. So the folder has a name of
its own for each state of the source.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache

__all__ = ["KERNELS", "counts", "folder_of_kernels", "njit"]

# What a kernel does not say of these it would inherit from the kernel that happens to call it first: then the last bits
# of a fit would depend on what was compiled before.
_OWN: dict[str, Any] = {"fastmath": False, "error_model": "python"}
# Numba also makes a way for C to call each kernel. Nobody does, and it is compiled like the rest.
_LEFT_OUT: dict[str, Any] = {"no_cfunc_wrapper": True}
_SOURCE = Path(__file__).parents[1]

_log = logging.getLogger("stickbreak")
KERNELS: list[Any] = []
"""All kernels of this process, which know what they compiled (`stats`)."""


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
        settings = {**_OWN, **_LEFT_OUT, **options}
        top = sys.modules[function.__module__.partition(".")[0]]
        folder = folder_of_kernels(*getattr(top, "__path__", ())) if cache else None
        given = numba.config.CACHE_DIR  # type: ignore[attr-defined]
        if folder is None:
            kernel = numba.njit(**settings)(function)
        else:
            numba.config.CACHE_DIR = folder  # type: ignore[attr-defined]
            try:
                kernel = numba.njit(**settings)(function)
                if hasattr(kernel, "enable_caching"):  # without: NUMBA_DISABLE_JIT
                    kernel._cache = _Cache(function)
            finally:
                numba.config.CACHE_DIR = given  # type: ignore[attr-defined]
        KERNELS.append(kernel)
        return kernel

    return compiled


class _Cache(FunctionCache):
    """Numba's cache of one kernel, in which a file that cannot be read or written counts as missing."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what was compiled for some types; None where that is not there, or damaged."""
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # any: it depends on which byte of a file is damaged
            _log.info("a compiled kernel in %s is damaged (%s); it is compiled again", self.cache_path, error)
            self._keep(self.flush)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled for some types, where there is space."""
        self._keep(super().save_overload, sig, data)

    def _keep(self, write: Callable[..., None], *arguments: Any) -> None:
        """Write a file of the cache; keep nothing of this kernel where that does not work."""
        try:
            write(*arguments)
        except OSError as error:
            self.disable()
            _say_not_kept(f"{self.cache_path} ({error.strerror})")


@functools.cache
def _say_not_kept(place: str) -> None:
    """Warn, once for each place."""
    _log.warning(
        "compiled kernels cannot be kept in %s, so every process compiles them again; set NUMBA_CACHE_DIR to a folder "
        "with space that you may write to",
        place,
    )


def counts() -> tuple[int, int]:
    """Return how many kernels this process has compiled and loaded, one for each combination of types."""
    stats = [kernel.stats for kernel in KERNELS if hasattr(kernel, "stats")]  # without: NUMBA_DISABLE_JIT
    return sum(sum(s.cache_misses.values()) for s in stats), sum(sum(s.cache_hits.values()) for s in stats)


@functools.cache
def folder_of_kernels(package: str = str(_SOURCE)) -> str | None:
    """Return where compiled kernels of a package, such as this one, are kept; None where they cannot be."""
    given: str = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    home = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    places = [Path(given).absolute()] if given else [_SOURCE / "__pycache__", home / "stickbreak"]
    name = f"kernels-{_state_of({str(_SOURCE), package})}"
    for place in places:
        if place.is_absolute() and _takes_files(place / name):
            return str(place / name)
    _say_not_kept(" or ".join(map(str, places)))
    return None


def _takes_files(folder: Path) -> bool:
    """Tell whether a folder may be written: Numba ends with an error where it may not."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def _state_of(packages: set[str]) -> str:
    """Return a name for the state of all modules of kernels of some packages, by their sizes and times of change."""
    digest = hashlib.sha256()
    files = (
        os.path.join(folder, name) for one in sorted(packages) for folder, _, names in os.walk(one) for name in names
    )
    for file in sorted(file for file in files if file.endswith(".py") and ("kernel" in file or "numerics" in file)):
        found = os.stat(file)
        digest.update(f"{file} {found.st_size} {found.st_mtime_ns};".encode())
    return digest.hexdigest()[:16]
