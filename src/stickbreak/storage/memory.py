"""How much memory this machine has."""

from __future__ import annotations

import math
import os


def memory_installed() -> float:
    """Return the installed memory in bytes; infinite where the system does not tell."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return math.inf
