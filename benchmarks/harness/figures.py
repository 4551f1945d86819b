"""Matplotlib, for the benchmarks that draw."""

from __future__ import annotations

from typing import Any


def pyplot() -> Any:
    """Return matplotlib's pyplot, which draws into files."""
    # Only here: tables can be made without matplotlib.
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    return plt
