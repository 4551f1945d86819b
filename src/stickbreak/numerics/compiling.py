"""`njit` as the kernels use it: Numba's, with Numba's cache of machine code, which never stops a fit.

Compiled kernels are kept in the folder that NUMBA_CACHE_DIR names; if it names none, in ``__pycache__`` of the package,
or where that may not be written, in the user's folder for caches. A folder must take some megabytes, else the next one
is tried; without any, every process compiles for itself. A damaged file of the cache ends a fit with an error of
Numba's: then remove the folder.

Numba sees only changes of the file that a kernel is in, not of the kernels that it calls. So the folder has a name of
its own for each state of the source.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

__all__ = ["KERNELS", "counts", "folder_of_kernels", "njit"]

# What a kernel does not say of these it would inherit from the kernel that happens to call it first: then the last bits
# of a fit would depend on what was compiled before.
_OWN: dict[str, Any] = {"fastmath": False, "error_model": "python"}
# Numba also makes a way for C to call each kernel. Nobody does, and it is compiled like the rest.
_LEFT_OUT: dict[str, Any] = {"no_cfunc_wrapper": True}
_ROOM, _PROBE = 1 << 28, 1 << 20  # bytes that must be free; bytes that are written to see whether that works
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
                kernel = numba.njit(cache=True, **settings)(function)
            finally:
                numba.config.CACHE_DIR = given  # type: ignore[attr-defined]
        KERNELS.append(kernel)
        return kernel

    return compiled


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
    _log.warning(
        "compiled kernels cannot be kept in %s, so every process compiles them again; set NUMBA_CACHE_DIR to a folder "
        "with space that you may write to",
        " or ".join(map(str, places)),
    )
    return None


def _takes_files(folder: Path) -> bool:
    """Tell whether a folder may be written and has space: Numba ends with an error where a kernel cannot be kept."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            return file.write(bytes(_PROBE)) == _PROBE and shutil.disk_usage(folder).free > _ROOM
    except OSError:
        return False


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
