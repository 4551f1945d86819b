"""How much memory this machine has, and memory that is given back to it."""

from __future__ import annotations

import math
import mmap
import os
from typing import Any

from numpy.typing import NDArray


def memory_installed() -> float:
    """Return the installed memory in bytes; infinite where the system does not tell."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return math.inf


def give_back(array: NDArray[Any]) -> None:
    """Give the memory of a view of a file back; if it is used once more it is read once more.

    The view must be one that nobody has written to. An array in memory stays as it is.
    """
    base: Any = array
    while base is not None and not isinstance(base, mmap.mmap):
        base = getattr(base, "base", None)
    if base is not None and hasattr(base, "madvise"):  # Windows has none
        base.madvise(mmap.MADV_DONTNEED)
